#!/usr/bin/env python3
"""How long compilers took: times.py LOG TARGET, with LOG as timed.sh writes it. Each object counts once, by the last
time it was compiled, so that what was compiled in several runs adds up."""
import os
import sys


def read(log):
    """Object -> (seconds on the clock, seconds of processors), of those that were compiled."""
    times = {}
    for line in open(log):
        name, clock, user, system, status = line.split()
        if status == "0":
            times[name.removeprefix("/torch/")] = float(clock), float(user) + float(system)
    return times


def told(what, rows):
    clock, busy = (sum(row[i] for row in rows) / 60 for i in (0, 1))
    return f"{what}: {len(rows)} objects, {busy:.1f} minutes of processors ({clock:.1f} on the clock)"


def main():
    log, target = sys.argv[1:3]
    if not os.path.exists(log):  # all was compiled before there was one
        return
    times = read(log)
    # What begins with a chip's name is code for it (gfx1010/…, gfx1010.pch); all else is shared.
    host = {name: row for name, row in times.items() if not name.startswith("gfx")}
    card = {name: row for name, row in times.items() if name.startswith(target)}
    print(told("compiled for the host", host.values()))
    print(told(f"compiled for {target}", card.values()))
    both = host | card
    whole = sum(busy for _, busy in both.values()) / 60
    print(f"together {whole:.1f} minutes of processors: {whole / 2:.1f} minutes of two cores with nothing else to do")
    slowest = sorted(both, key=lambda name: -both[name][1])[:5]
    print("longest:", ", ".join(f"{name} {both[name][1]:.0f} s" for name in slowest))


if __name__ == "__main__":
    main()
