#!/usr/bin/env python3
"""tested.py: prints the files that Ninja has to make for the tests of a suite, so that a build for them makes no more.

usage: tested.py BUILD SUITE
"""
import json
import os
import sys

build, suite = sys.argv[1:]


def information(name):
    with open(os.path.join(build, "meson-info", f"intro-{name}.json"), encoding="utf-8") as file:
        return json.load(file)


needed = {target for test in information("tests") if suite in (s.split(":")[-1] for s in test["suite"])
          for target in test["depends"]}
files = [file for target in information("targets") if target["id"] in needed for file in target["filename"]]
if not files:
    sys.exit(f"tested.py: no test of the suite {suite} needs anything")
print("\n".join(sorted(os.path.relpath(file, os.path.realpath(build)) for file in files)))
