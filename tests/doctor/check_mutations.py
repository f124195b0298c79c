#!/usr/bin/env python3
"""The machines that are ready, each changed in one thing: what breaks one must change rmcp doctor's verdict.

usage: check_mutations.py RMCP TESTS-DIR [-v]
"""
import collections
import glob
import os
import sys
import tempfile

from mutations import BREAKS, HARMLESS
from recorded_machine import Machine

LEAST_MACHINES, LEAST_BROKEN = 10, 1500


def is_ready(report):
    return any(option["id"] == "nothing" for option in report["options"])


def machines(folder):
    """Those whose file says that there is nothing to do."""
    for file in sorted(glob.glob(folder + "/*/*.txt")):
        machine = Machine(file)
        machine.name = os.path.basename(file)[:-4]
        if "first nothing" in machine.expected:
            yield machine


def changed(machine, change):
    copy = machine.copy()
    copy.name = machine.name
    return change(copy)


def misses(report, status, finding, broken):
    """What is wrong with an answer."""
    found = {one["id"]: one["verdict"] for one in report["findings"]}
    first = report["options"][0]["id"]
    if not broken:
        return [] if first == "nothing" else [f"not ready, but '{first}'"]
    wrong = []
    if is_ready(report):
        wrong.append("called ready")
    if finding and finding not in found:
        wrong.append(f"no '{finding}'")
    if not {"warning", "problem"} & set(found.values()) and first in ("nothing", "fix-settings"):
        wrong.append("nothing says what is wrong")
    if (status == 1) != ("problem" in found.values()):
        wrong.append(f"exit status {status}")
    if not all(option["command"] or option["id"] in ("other-hardware", "nvidia-card") for option in report["options"]):
        wrong.append("an option without commands")
    return wrong


def main():
    rmcp, folder, verbose = sys.argv[1], sys.argv[2], "-v" in sys.argv[3:]
    failures, counts, n_machines = 0, collections.Counter(), 0
    with tempfile.TemporaryDirectory() as work:
        tar = os.path.join(work, "machine.tar")
        for machine in machines(folder):
            n_machines += 1
            for broken, rows in (True, BREAKS), (False, HARMLESS):
                for group, name, change, finding in rows:
                    one = changed(machine, change)
                    if one is None:
                        continue
                    report, status = one.ask(rmcp, tar)
                    counts[group if broken else "harmless"] += 1
                    for miss in misses(report, status, finding, broken):
                        failures += 1
                        print(f"FAIL: {machine.name}: {group}, {name}: {miss}", file=sys.stderr)
    if verbose:
        for group, n in counts.items():
            print(f"{n:6} {group}")
    n_broken = sum(counts.values()) - counts["harmless"]
    print(f"mutations: {n_machines} machines, {n_broken} broken, {counts['harmless']} harmless, {failures} failures")
    if n_machines < LEAST_MACHINES or n_broken < LEAST_BROKEN or not counts["harmless"]:
        sys.exit("too few machines or changes were tried")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
