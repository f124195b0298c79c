#!/usr/bin/env python3
"""Modelled times of the original MIOpen's convolutions, solver by solver; nothing here was measured on a card.

usage: model_miopen.py RMCP MIOPEN_FIND RESULTS [--card NAME] [--batch N…] [--network NAME…] [--pass NAME…] [--sample N]
                       [--limit SECONDS] [--ours RESULTS]

RMCP is build/rmcp, MIOPEN_FIND is tests/timing/miopen_find.cpp compiled where MIOpen is; run it there. Each layer and
pass is one call of MIOpen's find in its normal mode: every solver that takes the layer is compiled and called some
times. The time of a solver is that of all its kernels in one call. Naive kernels are tried only where channels have
groups, since they take 20 to 60 times as long as others; F(2x2, 3x3) for 1x1, forward and data gradient, only with one
image, where F(3x3, 2x2) was never slower. Each solver is a line of the file RESULTS, which the next run reads; a layer
that takes longer than --limit has a line that says so. --ours prints a table beside the results of model_networks.py.
"""
import argparse
import csv
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES = {"fwd": "FWD", "bwd_data": "BWD", "bwd_weights": "WRW"}
NAMES = {"resnet50v1.5": "ResNet-50", "vgg16": "VGG-16", "mobilenetv2": "MobileNetV2", "fwd": "forward",
         "bwd_data": "data gradient", "bwd_weights": "weight gradient"}
TRIED = re.compile(r"\[EvaluateInvokers\] (?!Selected)(\S+): (.*): ([0-9.e+-]+) (?:<|>=) ")
FIND_CALLS = 8  # of each solver, by MIOpen 6.4.3
RUNTIME = ("__amd_rocclr", "kernel_of_the_runtime")


def shapes(network):
    """Distinct layers: (names, count, case without images and pass)"""
    found = {}
    with open(os.path.join(HERE, "../data/networks.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["net"] == network:
                case = "c{C}h{H}w{W}k{K}r{R}s{S}p{pad}u{stride}g{groups}".format(**row)
                names, count = found.get(case, ([], 0))
                found[case] = (names + [row["layer"]], count + int(row["count"]))
    return [(names, count, case) for case, (names, count) in found.items()]


def model(o, case):
    """(solver, microseconds, kernels) of all that were tried, and why there are none."""
    environment = dict(os.environ, MIOPEN_FIND_MODE="1", MIOPEN_LOG_LEVEL="5")
    if "g1:" in case:
        for which in PASSES.values():
            environment["MIOPEN_DEBUG_CONV_DIRECT_NAIVE_CONV_" + which] = "0"
    if "r1s1" in case and not case.startswith("n1c") and not case.endswith("weights"):
        environment["MIOPEN_DEBUG_AMD_WINOGRAD_RXS_F2X3_G1"] = "0"
    command = [o.rmcp, "sim", "--timing", "--sample-only", "--sample", str(o.sample), "--gpu", o.card, "--checks",
               "none", "--allow-reports", "--json", "--", o.miopen_find, case]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=o.limit, env=environment)
    except subprocess.TimeoutExpired:
        return [], "more than %d s" % o.limit
    tried = [(m[1], m[2].split("/"), 1e3 * float(m[3])) for m in map(TRIED.search, run.stderr.splitlines()) if m]
    at = run.stdout.find("{\n")
    if not tried or at < 0:
        return [], "exit status %d: %s" % (run.returncode, " ".join(run.stderr.split("\n")[-8:])[:300])
    kernels = json.loads(run.stdout[at:])["modelled"]
    return [(solver, time if names != [""] else products(kernels, tried, time), ",".join(names))
            for solver, names, time in tried], ""


def products(kernels, tried, time):
    """Of solvers with matrix products the log has the time of events, with what the host did between kernels. The
    kernels' own: all that no other solver has, by the calls of the find, which are as many for each solver."""
    others = {name for _, names, _ in tried for name in names}
    mine = [k for k in kernels if k["kernel"] not in others and not k["kernel"].startswith(RUNTIME)]
    alone = sum(names == [""] for _, names, _ in tried) == 1 and not any(k["dispatches"] % FIND_CALLS for k in mine)
    return 1e6 * sum(k["seconds"] for k in mine) / FIND_CALLS if mine and alone else time


def read(path):
    found = {}
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            card, sample, case, solver, time, kernels = line.rstrip("\n").split("\t")
            found.setdefault((card, case), []).append((solver, float(time), kernels))
    return found


def ours(o):
    found, samples = {}, {}
    for line in open(o.ours, encoding="utf-8"):
        fields = line.rstrip("\n").split("\t")
        if fields[0] == o.card and fields[1] == "0" and int(fields[2]) >= samples.get(fields[3], 0):
            samples[fields[3]] = int(fields[2])
            found[fields[3]] = float(fields[5].split()[0])
    return found


def kind(solver):
    for part, name in (("2x3", "F(2,3)"), ("3x2", "F(3,2)"), ("Gemm", "product"), ("Naive", "naive")):
        if part in solver:
            return name
    return solver


def table(o, found):
    """Of each layer the fastest solver, ours and how many times as long theirs takes."""
    mine = ours(o)
    columns = [(batch, which) for batch in o.batch for which in o.passes]
    for network in o.network:
        print("\n| %s | | %s |" % (NAMES[network], " | ".join("%s, %d" % (NAMES[w], b) for b, w in columns)))
        print("|---|---|" + "---|" * len(columns))
        sums = [[0, 0, 0] for _ in columns]
        for names, count, case in shapes(network):
            cells = []
            for (batch, which), total in zip(columns, sums):
                whole = "n%d%s:%s" % (batch, case, which)
                tried = sorted((t, s) for s, t, _ in found.get((o.card, whole), []) if t > 0)
                if not tried or whole not in mine:
                    cells.append("")
                    total[2] += which != "bwd_data" or not case.startswith("c3h")
                    continue
                total[0] += count * tried[0][0]
                total[1] += count * mine[whole]
                cells.append("%.0f %s, %.0f: **%.1f**" % (tried[0][0], kind(tried[0][1]), mine[whole],
                                                          tried[0][0] / mine[whole]))
            if any(cells):
                print("| %s%s | %s | %s |" % (names[0], " and %d more" % (count - 1) if count > 1 else "", case,
                                              " | ".join(cells)))
        print("| all | | %s |" % " | ".join(
            "%.2f, %.2f ms: **%.2f**%s" % (a / 1e3, b / 1e3, a / b, ", %d missing" % n if n else "") if b else ""
            for a, b, n in sums))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rmcp")
    parser.add_argument("miopen_find")
    parser.add_argument("results")
    parser.add_argument("--card", default="rx5600xt")
    parser.add_argument("--batch", type=int, nargs="+", default=[1])
    parser.add_argument("--network", nargs="+", default=["resnet50v1.5"])
    parser.add_argument("--pass", dest="passes", nargs="+", choices=PASSES, default=list(PASSES))
    parser.add_argument("--sample", type=int, default=32000000)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--ours")
    o = parser.parse_args()
    found = read(o.results)
    if o.ours:
        table(o, found)
        return
    for batch in o.batch:
        for network in o.network:
            for which in o.passes:
                for _, _, case in shapes(network):
                    case = "n%d%s:%s" % (batch, case, which)
                    if (o.card, case) in found or (which == "bwd_data" and "c3h" in case):
                        continue
                    tried, why = model(o, case)
                    found[o.card, case] = tried = tried or [("none", 0, why.replace("\t", " "))]
                    with open(o.results, "a", encoding="utf-8") as file:
                        for solver, time, kernels in tried:
                            file.write("%s\t%d\t%s\t%s\t%.3f\t%s\n" % (o.card, o.sample, case, solver, time, kernels))
                    print(case, *("%s %.1f us" % (s, t) if t else w for s, t, w in tried), sep="  ", flush=True)


main()
