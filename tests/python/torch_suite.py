#!/usr/bin/env python3
"""torch_suite.py: runs tests of PyTorch's own one by one, with RMCP or without, and compares the two; for
torch_suite.sh.

usage: torch_suite.py run LOG FILE PATTERN [EVERY]   tests of FILE whose names match; RMCP_SUITE=1: with RMCP
       torch_suite.py table FOLDER                   a table of all pairs of logs NAME.own and NAME.rmcp in FOLDER

A line of a log is a test's name, its outcome, its time, RMCP's passes and PyTorch's during it, and the end of the
error. What is there already is not run again. A test that ends its process is a crash; the tests behind it run in a new
one. EVERY runs one test of so many, the same ones every time; N:K the Kth part of N. RMCP_SUITE_DEVICE: cpu unless it
says another. Exit status of a table: 1 when a test is lost.
"""
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import warnings
import zlib

SECONDS = int(os.environ.get("RMCP_SUITE_SECONDS", "300"))  # for one test
GOOD = "passed", "failed as expected"


# ---- running ----

def names_in(log):
    return {line.split("\t")[0] for line in log.read_text().splitlines()} if log.exists() else set()


def flat(suite):
    for entry in suite:
        if isinstance(entry, unittest.TestSuite):
            yield from flat(entry)
        else:
            yield entry


class Gone:
    """In the place of something that the tests of an older PyTorch import and a newer one does not have: nothing."""

    def __call__(self, *_, **__):
        return False

    def __iter__(self):
        return iter(())


def execute(spec, module):
    """Import the tests; what is not there any more is replaced, for tests that do without it."""
    for _ in range(50):
        try:
            return spec.loader.exec_module(module)
        except ImportError as error:
            missing = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
            if not missing or missing[2] not in sys.modules:
                raise
            setattr(sys.modules[missing[2]], missing[1], Gone())
    raise ImportError("too much is missing")


def load(file):
    sys.argv = [str(file)]  # PyTorch's own parser reads them
    root = next(folder for folder in file.parents if folder.name == "test")
    sys.path[:0] = [str(file.parent), str(root)]
    os.chdir(root)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    execute(spec, module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def outcome_of(result):
    for outcome, found in (("failed", result.errors + result.failures), ("skipped", result.skipped),
                           ("failed as expected", result.expectedFailures)):
        if found:
            text = str(found[-1][1]).split("To execute this test, run")[0]  # a hint, the same below every error
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Failed|Unsupported|Decomp)\b", line)]
            return outcome, " ".join((errors or lines)[-1:])[:300]
    return ("failed", "unexpected success") if result.unexpectedSuccesses else ("passed", "")


def out_of_time(*_):
    raise TimeoutError(f"more than {SECONDS} seconds")


def run_tests(log, file, pattern, every):
    """In a process of its own; what ends it early leaves the name of its test in LOG.now."""
    adapter = None
    if os.environ.get("RMCP_SUITE") == "1":
        import rmcp.torch as adapter
        warnings.simplefilter("ignore", adapter.RmcpWarning)
        adapter.enable(os.environ.get("RMCP_SUITE_DEVICE", "cpu"))
    done, now = names_in(log), log.with_suffix(log.suffix + ".now")
    tests = [test for test in flat(load(file)) if re.search(pattern, test.id(), re.I)]
    parts, part = (int(number) for number in (every + ":0").split(":")[:2])
    tests = [test for test in tests if zlib.crc32(test.id().encode()) % parts == part]
    print(f"{log.name}: {len(tests)} tests, {len(done)} done before", flush=True)
    signal.signal(signal.SIGALRM, out_of_time)
    for test in tests:
        if test.id() in done:
            continue
        now.write_text(test.id())
        if adapter:
            adapter.reset_stats()
        result, start = unittest.TestResult(), time.monotonic()
        signal.alarm(SECONDS)
        try:
            unittest.TestSuite([test]).run(result)
        finally:
            signal.alarm(0)
        outcome, why = outcome_of(result)
        stats = adapter.stats() if adapter else None
        counts = (stats.calls, stats.fallbacks) if stats else (0, 0)
        with open(log, "a", encoding="utf-8") as file:
            print(test.id(), outcome, f"{time.monotonic() - start:.2f}", *counts, why.replace("\t", " "), sep="\t",
                  file=file)
    now.unlink(missing_ok=True)


def run(log, file, pattern, every="1"):
    log = pathlib.Path(log).resolve()
    now = log.with_suffix(log.suffix + ".now")
    while True:
        child = subprocess.run([sys.executable, __file__, "child", log, file, pattern, every])
        if child.returncode == 0:
            return 0
        if not now.exists() or now.read_text() in names_in(log):
            print(f"{log.name}: {file} cannot be loaded (exit status {child.returncode})")
            return 1
        with open(log, "a", encoding="utf-8") as out:
            print(now.read_text(), "crashed", 0, 0, 0, f"exit status {child.returncode}", sep="\t", file=out)
        now.unlink()


# ---- comparing ----

def read(log):
    rows = (line.split("\t") for line in log.read_text(encoding="utf-8").splitlines())
    return {row[0]: row[1:] for row in rows}


def table(folder):
    lost = 0
    print("| tests | run | pass without RMCP | pass with | passes in RMCP | left to PyTorch | lost | won |")
    print("|---|---|---|---|---|---|---|---|")
    notes = []
    for log in sorted(pathlib.Path(folder).glob("*.own")):
        other = log.with_suffix(".rmcp")
        if not other.exists():
            continue
        own, ours = read(log), read(other)
        both = [name for name in own if name in ours]
        good = [[name for name in both if rows[name][0] in GOOD] for rows in (own, ours)]
        gone = [name for name in good[0] if ours[name][0] not in (*GOOD, "skipped")]
        won = [name for name in good[1] if own[name][0] not in (*GOOD, "skipped")]
        counts = [sum(int(ours[name][column]) for name in both) for column in (2, 3)]
        print(f"| {log.stem} | {len(both)} | {len(good[0])} | {len(good[1])} | {counts[0]} | {counts[1]} "
              f"| {len(gone)} | {len(won)} |")
        notes += [f"lost in {log.stem}: {name}: {ours[name][0]}: {ours[name][4]}" for name in gone]
        notes += [f"won in {log.stem}: {name}: was {own[name][0]}: {own[name][4]}" for name in won]
        lost += len(gone)
    print("", *notes, sep="\n")
    return int(lost > 0)


if __name__ == "__main__":
    command, words = sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:]
    if command == "child":
        run_tests(pathlib.Path(words[0]), pathlib.Path(words[1]), words[2], words[3])
        sys.stdout.flush()
        os._exit(0)  # threads of the tests may wait for ever
    if command == "run" and len(words) in (3, 4):
        sys.exit(run(*words))
    if command == "table" and len(words) == 1:
        sys.exit(table(*words))
    print(__doc__, file=sys.stderr)
    sys.exit(2)
