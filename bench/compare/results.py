"""The folder of a comparison: results.csv, one row a layer, to which a later run adds; what it was measured with."""
import csv
import json
import pathlib

COLUMNS = {"case": str, "class": str, "pass": str, "type": str, "layout": str, "batch": int, "networks": str,
           "tuning": str, "status": str, "ours_us": float, "cudnn_us": float, "ratio": float, "algorithm": str,
           "workspace": int, "gflop": float, "gbyte": float, "difference": float, "best_algorithm": str,
           "best_us": float, "factor": float, "candidates": str, "plan_ms": float, "search_ms": float,
           "spent_ms": float, "note": str}
# candidates: algorithm=microseconds~estimated, with spaces between
# plan_ms: our planning; search_ms: PyTorch's first call, with cuDNN's search; spent_ms: all that the row cost
# status: ok; alone: PyTorch cannot do it; candidate: right, but a candidate that was not chosen is wrong;
# mismatch: ours differs from PyTorch's; failed: an error of ours or of the device


class Mixed(Exception):
    """The folder holds results of something else."""


def _read(path):
    """The rows that are whole: a process that was killed may leave half a line."""
    if not path.is_file():
        return []
    rows = []
    with open(path, newline="", encoding="utf-8") as file:
        for raw in csv.DictReader(file):
            try:
                rows.append({name: kind(raw[name]) if raw[name] != "" else None for name, kind in COLUMNS.items()})
            except (KeyError, TypeError, ValueError):
                continue
    return rows


class Results:
    """Rows by case; kept in a folder where there is one."""

    def __init__(self, folder=None):
        self.folder = pathlib.Path(folder) if folder else None
        self.rows, self.settings, self._file = {}, {}, None
        if self.folder:
            self.rows = {row["case"]: row for row in _read(self.folder / "results.csv")}
            kept = self.folder / "settings.json"
            if kept.is_file():
                self.settings = json.loads(kept.read_text(encoding="utf-8"))

    def begin(self, settings):
        """From now on rows are added; raises Mixed when those that are there were measured with something else."""
        if self.rows and self.settings != settings:
            differ = [name for name in {**self.settings, **settings}
                      if self.settings.get(name) != settings.get(name)]
            raise Mixed(f"{self.folder} holds results with another {', '.join(sorted(differ))}; name a new folder")
        self.settings = settings
        if not self.folder:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write("settings.json", json.dumps(settings, indent=1) + "\n")
        # Written anew, since the last line may be half a one.
        self._file = open(self.folder / "results.csv", "w", newline="", encoding="utf-8")
        self._writer = csv.DictWriter(self._file, COLUMNS, lineterminator="\n")
        self._writer.writeheader()
        self._writer.writerows(self.rows.values())
        self._file.flush()

    def add(self, row):
        row = {**dict.fromkeys(COLUMNS), **row}
        self.rows[row["case"]] = row
        if self._file:
            self._writer.writerow(row)
            self._file.flush()

    def write(self, name, text):
        if self.folder:
            (self.folder / name).write_text(text, encoding="utf-8")
