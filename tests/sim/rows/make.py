#!/usr/bin/python3
"""make.py LIST OUT: cases for every instruction of LIST (what `sim_rows list` prints)."""

import sys

import division
import image
import memory
import scalar
import vector
from case import assemble, write


def main():
    if "-v" in sys.argv:
        assemble.verbose = True
        sys.argv.remove("-v")
    rows = [line.split() for line in open(sys.argv[1])]
    rows = [(r[0], r[1]) + tuple(int(x) for x in r[2:]) for r in rows]
    cases = []
    for module in (vector, scalar, memory, division, image):
        cases += module.cases(rows)
    print("%d of %d cases" % (write(cases, sys.argv[2]), len(cases)))


if __name__ == "__main__":
    main()
