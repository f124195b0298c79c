#!/usr/bin/env python3
"""The names of tests are unique and in one form, so that those of a room or an operation are told by a word.

A name is `room subject`: the folder of tests/ that the test is in, or an operation (src/engine/ops), then words of
letters, digits, full stops, plus signs and hyphens. The room is the test's first suite.

usage: check_test_names.py SOURCE-DIR BUILD-DIR
"""
import collections
import json
import pathlib
import re
import sys

FORM = re.compile(r"[a-z0-9]+( [A-Za-z0-9.+-]+)+")


def wrong(tests, rooms):
    """What is wrong with (name, suites) of tests."""
    for name, count in collections.Counter(name for name, _ in tests).items():
        if count > 1:
            yield f"{count} tests are called '{name}'"
    for name, suites in tests:
        if not FORM.fullmatch(name):
            yield f"'{name}' is not a room and a subject, words with single blanks between them"
        room = name.split(" ")[0]
        if room not in rooms:
            yield f"'{name}': there is no room or operation '{room}'"
        if suites[:1] != [room]:
            yield f"'{name}': its first suite is {suites[:1] or 'none'}, not '{room}'"


def main(source, build):
    planted = [("conv case", ["conv"]), ("conv case", ["conv"]), ("conv", ["conv"]), ("conv a, b", ["conv"]),
               ("nowhere case", ["nowhere"]), ("conv other", ["slow", "conv"])]
    if len(list(wrong(planted, {"conv"}))) != 5:
        sys.exit("the test itself does not see what is wrong")
    # Of meson-info, since `meson introspect` would want the build's folder for itself.
    with open(build / "meson-info/intro-tests.json", encoding="utf-8") as file:
        tests = [(test["name"], [suite.split(":")[-1] for suite in test["suite"]]) for test in json.load(file)]
    rooms = {path.parent.name for path in (source / "tests").rglob("meson.build")}
    rooms |= {path.name for path in (source / "src/engine/ops").iterdir() if path.is_dir()}
    rooms |= {path.stem for path in (source / "src/engine/elements/special").glob("*.c")}
    rooms |= set(re.findall(r"^F\((\w+)", (source / "src/engine/elements/functions.inc").read_text("utf-8"), re.M))
    found = list(wrong(tests, rooms - {"support", "tests"}))
    print("\n".join(found))
    print(f"{len(tests)} tests, {len(found)} names are wrong")
    sys.exit(bool(found))


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
