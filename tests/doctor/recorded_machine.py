# A recorded machine (machines/README.md) that a test changes, one thing at a time, and asks rmcp doctor about.
import io
import json
import re
import subprocess
import tarfile

NODES = "/sys/class/kfd/kfd/topology/nodes"


class Machine:
    """Paths and what is there: a text, or a link as ("link", target)."""

    def __init__(self, file):
        self.files, self.expected, path, lines = {}, [], None, []
        for line in open(file, encoding="utf-8"):
            if line.startswith("@ "):
                words = line.split()
                path, lines = words[1], []
                self.files[path] = ("link", words[3]) if len(words) == 4 else lines
            elif path and isinstance(self.files[path], list):
                lines.append(line)
            elif line.startswith("! "):
                self.expected.append(line[2:].strip())
        self.files = {at: "".join(is_) if isinstance(is_, list) else is_ for at, is_ in self.files.items()}
        self.main = None

    def copy(self):
        other = Machine.__new__(Machine)
        other.files, other.expected, other.main = dict(self.files), list(self.expected), self.card()
        return other

    # ---- what is there ----

    def card(self):
        """The PCI folder of the AMD card with the most memory."""
        cards = [at.rsplit("/", 1)[0] for at, is_ in self.files.items() if at.endswith("/vendor") and "1002" in is_]
        return max(cards, default="", key=lambda at: int(self.files.get(at + "/mem_info_vram_total", "0")))

    def nodes(self):
        """Numbers of the nodes that are GPUs."""
        found = []
        for at, is_ in self.files.items():
            match = re.fullmatch(NODES + r"/(\d+)/properties", at)
            if match and re.search(r"^gfx_target_version [1-9]", is_, re.M):
                found.append(int(match[1]))
        return sorted(found)

    def version(self):
        text = self.files[f"{NODES}/{self.nodes()[0]}/properties"]
        return int(re.search(r"^gfx_target_version (\d+)", text, re.M)[1])

    def torch(self):
        """The folder that holds torch."""
        for at in self.files:
            if at.endswith("/torch/version.py"):
                return at[: -len("/torch/version.py")]
        return None

    def library(self, name):
        """The path of one of the libraries that PyTorch brings; None: it brings none."""
        at = f"{self.torch()}/torch/lib/{name}"
        return at if at in self.files else None

    def is_container(self):
        return any(at in self.files for at in ("/.dockerenv", "/run/.containerenv", "/.singularity.d")) or \
            "lxc" in str(self.files.get("/run/systemd/container", "")) or \
            "lxc" in str(self.files.get("/proc/1/cgroup", ""))

    # ---- changes ----

    def put(self, at, text):
        self.files[at] = text
        return self

    def link(self, at, target):
        self.files[at] = ("link", target)
        return self

    def remove(self, pattern):
        """Whatever is there by a regular expression for the whole path."""
        for at in [at for at in self.files if re.fullmatch(pattern, at)]:
            del self.files[at]
        return self

    def replace(self, at, pattern, instead):
        self.files[at] = re.sub(pattern, instead, self.files[at], flags=re.M)
        return self

    def variable(self, name, value):
        """Set a variable; None takes it away."""
        lines = [one for one in self.files.get("/rmcp/environment", "").splitlines() if not one.startswith(name + "=")]
        if value is not None:
            lines.append(f"{name}={value}")
        self.files["/rmcp/environment"] = "".join(one + "\n" for one in lines)
        return self

    def line(self, at, text):
        self.files[at] = self.files.get(at, "") + text + "\n"
        return self

    def log(self, text):
        return self.line("/rmcp/kernel.log", text)

    def device(self, pattern, error, mode=None):
        """What opening the devices says that a regular expression names; None takes them away."""
        lines = []
        for one in self.files.get("/rmcp/devices", "").splitlines():
            words = one.split()
            if re.fullmatch(pattern, words[0]):
                if error is None:
                    continue
                words[5], words[2] = error, mode or words[2]
            lines.append(" ".join(words) + "\n")
        self.files["/rmcp/devices"] = "".join(lines)
        return self

    # ---- the question ----

    def ask(self, rmcp, work):
        """The report and the exit status."""
        with tarfile.open(work, "w", format=tarfile.USTAR_FORMAT) as tar:
            for at, is_ in sorted(self.files.items()):
                entry = tarfile.TarInfo("." + at)
                if isinstance(is_, tuple):
                    entry.type, entry.linkname = tarfile.SYMTYPE, is_[1]
                    tar.addfile(entry)
                else:
                    entry.size = len(is_.encode())
                    tar.addfile(entry, io.BytesIO(is_.encode()))
        done = subprocess.run([rmcp, "doctor", "--json", "--root", work], capture_output=True, text=True, check=False)
        return json.loads(done.stdout), done.returncode
