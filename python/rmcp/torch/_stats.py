"""Counts of what ran where: one row per layer shape and pass, one per reason for a fallback."""
import contextlib
import threading

from .. import _api
from .. import _library as c
from . import _config, _native

OPERATIONS = ("forward", "input gradient", "weight gradient")
MAX_ROWS = 10000  # shapes without end (every image another size) must not fill the memory


class Row:
    """One pass of one layer shape, or one fallback with its reason."""

    def __init__(self, case, pass_name, device, reason=None):
        self.case = case
        self.pass_name = pass_name
        self.device = device
        self.reason = reason  # why PyTorch's own kernel ran; None: RMCP did
        self.algorithm = ""
        self.calls = 0
        self.seconds = None   # total; None where it was not measured
        self.table = None     # that it is counted in

    def __repr__(self):
        return f"Row({self.case!r}, calls={self.calls}, algorithm={self.algorithm!r}, reason={self.reason!r})"


def table(titles, rows):
    """Text columns under titles; numbers to the right."""
    cells = [titles, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(titles))]
    numeric = [all(not isinstance(row[i], str) or row[i] in ("", "-") for row in rows) for i in range(len(titles))]
    lines = ["  ".join(cell.rjust(w) if right else cell.ljust(w)
                       for cell, w, right in zip(row, widths, numeric)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def checked():
    """What RMCP_CHECK has found, or None when it is not set or the library is not needed yet."""
    if c.loaded() is None:
        return None
    check = _api.check()
    return check if check.on else None


class _Number(float):
    """A number printed with three significant digits."""

    def __str__(self):
        return f"{float(self):.3g}"


class Stats:
    """What stats() returns: .rows, .calls, .fallbacks, .by_pass; prints as a table.

    .disabled: RMCP_DISABLE keeps RMCP from doing anything. .check: what RMCP_CHECK has found since the
    process began (rmcp.Check), or None when it is not set or nothing has run yet.
    """

    def __init__(self, rows):
        self.rows = rows
        self.disabled = _config.DISABLED
        self.check = checked()

    @property
    def calls(self):
        """Convolutions (passes) that RMCP did."""
        return sum(row.calls for row in self.rows if row.reason is None)

    @property
    def fallbacks(self):
        """Convolutions (passes) that PyTorch's own kernels did."""
        return sum(row.calls for row in self.rows if row.reason is not None)

    @property
    def by_pass(self):
        """RMCP's calls: {"forward": …, "input gradient": …, "weight gradient": …}."""
        counts = {"forward": 0, "input gradient": 0, "weight gradient": 0}
        for row in self.rows:
            if row.reason is None:
                counts[row.pass_name] += row.calls
        return counts

    @property
    def reasons(self):
        """Fallbacks by reason."""
        counts = {}
        for row in self.rows:
            if row.reason is not None:
                counts[row.reason] = counts.get(row.reason, 0) + row.calls
        return counts

    def __str__(self):
        def milliseconds(row):
            return "-" if row.seconds is None else _Number(row.seconds * 1e3)

        text = f"RMCP: {self.calls} convolutions, {self.fallbacks} left to PyTorch's own kernels"
        if self.disabled:
            text += "; RMCP_DISABLE is set, so RMCP does nothing"
        if self.check:
            text += f"\n{self.check}"
        ours = [row for row in self.rows if row.reason is None]
        theirs = [row for row in self.rows if row.reason is not None]
        if ours:
            text += "\n" + table(["layer", "pass", "device", "algorithm", "calls", "ms"],
                                 [[row.case, row.pass_name, row.device, row.algorithm, row.calls,
                                   milliseconds(row)] for row in ours])
        if theirs:
            text += "\n" + table(["left to PyTorch", "pass", "device", "calls", "reason"],
                                 [[row.case, row.pass_name, row.device, row.calls, row.reason] for row in theirs])
        return text


_lock = threading.Lock()
_rows = {}


def after_fork():
    global _lock
    _lock = threading.Lock()


def count(key, make_row, algorithm="", seconds=None):
    """Add one call to the row of `key`, made by make_row() the first time. Returns it."""
    with _lock:
        row = _rows.get(key)
        if row is None:
            if len(_rows) >= MAX_ROWS:
                return None
            row = _rows[key] = make_row()
            row.table = _rows
        row.calls += 1
        row.algorithm = algorithm
        if seconds is not None:
            row.seconds = (row.seconds or 0.0) + seconds
        return row


def count_again(row, algorithm, seconds):
    """The same for a row that count() gave; False when it is none of the table's any more."""
    with _lock:
        if row.table is not _rows:
            return False
        row.calls += 1
        row.algorithm = algorithm
        if seconds is not None:
            row.seconds = (row.seconds or 0.0) + seconds
        return True


def _add_native(copies):
    """Rows of the native part, added to those of the same layer, pass and device."""
    known = {(row.case, row.pass_name, row.device, row.reason): row for row in copies}
    for case, device, algorithm, reason, operation, calls, seconds in _native.rows():
        key = case, OPERATIONS[operation], device, reason
        row = known.get(key)
        if row is None:
            row = known[key] = Row(*key)
            copies.append(row)
        row.calls += calls
        row.algorithm = algorithm
        if seconds is not None:
            row.seconds = (row.seconds or 0.0) + seconds


def snapshot():
    with _lock:
        copies = []
        for row in _rows.values():
            copy = Row(row.case, row.pass_name, row.device, row.reason)
            copy.algorithm, copy.calls, copy.seconds = row.algorithm, row.calls, row.seconds
            copies.append(copy)
    _add_native(copies)
    return Stats(copies)


def reset():
    global _rows
    with _lock:
        _rows = {}
    _native.rows(reset=True)


@contextlib.contextmanager
def preserved():
    """What is counted inside is forgotten at the end."""
    global _rows
    kept, _rows = _rows, {}
    try:
        yield
    finally:
        _rows = kept
