#!/usr/bin/env python3
"""check_commands.py: every command line of the documents is in commands.txt, with what stands behind it; those that can
be run in seconds are run, in the order of their document, in a folder and a home of its own. In pages for owners that
holds for commands in sentences and tables, too; elsewhere these are only held against --help.

usage: check_commands.py SOURCE-DIR BUILD-DIR [--slow] [--only DOCUMENT] [--list]
  --slow   also those that take minutes; by hand
  --only   one document: docs/guide/script.md
  --list   print every command with what stands behind it, and run nothing
RMCP_PYTHON is the Python with PyTorch; without one, what needs it is skipped, and so is what needs ROCm's runtime.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import commands_in  # noqa: E402

LIMIT, LIMIT_SLOW = 300, 3600  # seconds for one command on a busy machine


FOR_OWNERS = re.compile(r"README\.md|docs/(guide/.*|faq|troubleshooting|install)\.md")


class Rule:
    """One pattern of commands.txt and the head that it stands under."""

    def __init__(self, head, pattern):
        head, _, self.says = head.partition("; says ")
        self.kind, _, self.rest = head.partition(" ")
        self.pattern = pattern
        self.regexp = re.compile(re.escape(pattern).replace(r"\*", ".*"))
        self.used = 0

    def behind(self):
        return f"{self.kind} {self.rest}".strip()


def read_rules(path):
    rules, head = [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            head = line[1:-1]
        else:
            rules.append(Rule(head, line))
    return rules


def wrong_rules(rules, source, build):
    """Rules behind which there is nothing."""
    tests = {row["name"] for row in json.loads((build / "meson-info/intro-tests.json").read_text(encoding="utf-8"))}
    for rule in rules:
        if rule.kind not in ("run", "test", "hand", "needs", "example"):
            yield f"commands.txt: no such kind: [{rule.kind} {rule.rest}]"
        if rule.kind == "test" and rule.rest not in tests:
            yield f"commands.txt: there is no test '{rule.rest}'"
        if rule.kind == "hand" and not (source / rule.rest.split()[0].rstrip(":")).is_file():
            yield f"commands.txt: {rule.rest} is not there"
        if rule.kind == "needs" and not rule.rest:
            yield f"commands.txt: {rule.pattern}: needs what?"
        if rule.kind == "run" and set(rule.rest.split()) - {"torch", "rocm", "slow", "finds", "may-find"}:
            yield f"commands.txt: [run {rule.rest}]"


class Place:
    """Where the commands of one document run: a folder with what they name, a home, a PATH."""

    def __init__(self, folder, source, build, python):
        self.folder, self.source, self.build = folder, source, build
        home, programs = folder / "home", folder / "programs"
        work = self.work = folder / "work"
        for each in (home / "venv/bin", home / "ComfyUI/venv/bin", home / "ComfyUI/custom_nodes", programs, work,
                     folder / "tmp"):
            each.mkdir(parents=True)
        (programs / "rmcp").symlink_to(build / "rmcp")
        for name in ("tests", "examples", "bench", "data"):
            (work / name).symlink_to(source / name)
        (work / "build").symlink_to(build)
        (home / "ComfyUI/main.py").write_text("print('ComfyUI')\n", encoding="utf-8")
        for path in (programs / "python", programs / "python3", home / "venv/bin/python",
                     home / "ComfyUI/venv/bin/python"):
            path.write_text(f'#!/bin/sh\nexec "{python or sys.executable}" "$@"\n', encoding="utf-8")
            path.chmod(0o755)
        for name in ("train.log", "rocm.log"):
            (work / name).write_text("RuntimeError: HIP error: invalid device function\n", encoding="utf-8")
        (work / "webui.sh").write_text("#!/bin/sh\nexec python train.py\n", encoding="utf-8")
        (work / "webui.sh").chmod(0o755)
        self.environment = {
            "HOME": str(home), "XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder / "tmp"),
            "LC_ALL": "C.UTF-8", "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "RMCP_LIBRARY": str(build / "librmcp.so"),
            "PYTHONPATH": str(source / "python"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        if python:
            self.environment["RMCP_PYTHON"] = python

    def save(self, programs):
        """Programs that the document tells the reader to save; train.py is the guide's everywhere."""
        for name, text in programs:
            (self.work / name).write_text(text, encoding="utf-8")

    def run(self, command, rule):
        """What is wrong with it, or None."""
        limit = LIMIT_SLOW if "slow" in rule.rest.split() else LIMIT
        for made in re.findall(r"--record (\S+)", command):
            (self.work / made).unlink(missing_ok=True)  # by an example before; nothing is overwritten
        try:
            done = subprocess.run(["bash", "-c", command], cwd=self.work, env=self.environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return f"no end within {limit} seconds"
        text = done.stdout.decode("utf-8", "replace")
        words = rule.rest.split()
        allowed = {1} if "finds" in words else {0, 1} if "may-find" in words else {0}
        if done.returncode not in allowed:
            return f"exit status {done.returncode}\n" + "\n".join(text.splitlines()[-15:])
        if rule.says and rule.says not in text:
            return f"it does not say '{rule.says}'\n" + "\n".join(text.splitlines()[-15:])
        return None


def lacking(rule, python, options):
    """Why a command that could be run is not, or None."""
    words = rule.rest.split()
    if "slow" in words and not options.slow:
        return "slow"
    if "torch" in words and not python:
        return "no PyTorch"
    if "rocm" in words and not shutil.which("rocminfo"):
        return "no ROCm"
    return None


def find_python(source):
    found = subprocess.run([source / "tools/find_python.sh", "numpy", "torch"], capture_output=True, text=True,
                           check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    source, build = options.source.resolve(), options.build.resolve()
    commands_in.check_itself()
    rules = read_rules(source / "tests/docs/commands.txt")
    complaints, counts, skipped, total, done = [], {}, {}, 0, set()
    help_of = commands_in.Help(build / "rmcp", source)
    python = find_python(source)
    train = commands_in.programs((source / "docs/guide/first-network.md").read_text(encoding="utf-8"))
    for path in commands_in.documents(source):
        name = str(path.relative_to(source))
        text = path.read_text(encoding="utf-8")
        complaints += [f"{name}: {complaint}" for complaint in help_of.wrong(text)]
        with tempfile.TemporaryDirectory() as folder:
            place, programs = None, []
            found = list(commands_in.commands(text))
            if FOR_OWNERS.match(name):
                found += commands_in.inline(text)
            for number, command in found:
                total += 1
                rule = next((rule for rule in rules if rule.regexp.fullmatch(command)), None)
                if not rule:
                    complaints.append(f"{name}:{number}: not in tests/docs/commands.txt: {command}")
                    continue
                rule.used += 1
                if options.list:
                    print(f"{name}:{number}\t{rule.behind()}\t{command}")
                why = "only" if options.only not in (None, name) else lacking(rule, python, options)
                if rule.kind != "run" or why or options.list:
                    counts[rule.kind] = counts.get(rule.kind, 0) + (rule.kind != "run")
                    if rule.kind == "run":
                        skipped[why] = skipped.get(why, 0) + 1
                    continue
                if not place:
                    place = Place(pathlib.Path(folder), source, build, python)
                    programs = train + commands_in.programs(text)
                    place.save(programs)
                same = (command.replace("python3 ", "python "), *(body for file, body in programs if file in command))
                if "torch" in rule.rest.split() and same in done:
                    counts["run"] += 1  # the same program, from another document: once is enough
                    continue
                began = time.monotonic()
                wrong = place.run(command, rule)
                counts["run"] = counts.get("run", 0) + 1
                print(f"{time.monotonic() - began:6.1f} s  {name}:{number}  {command}", flush=True)
                done.add(same)
                if wrong:
                    complaints.append(f"{name}:{number}: {command}: {wrong}")
    complaints += wrong_rules(rules, source, build)
    for rule in rules:
        if not rule.used:
            print(f"note: commands.txt: no document has: {rule.pattern}")
    for line in complaints:
        print("WRONG " + line)
    print(f"{total} commands: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()) if n) +
          (f"; not run here: {skipped}" if skipped else "") +
          f"; {help_of.n_options} options of rmcp named, {len(complaints)} wrong")
    if total < 100:
        sys.exit("so few cannot be right")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
