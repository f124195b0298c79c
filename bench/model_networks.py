#!/usr/bin/env python3
"""Modelled times of our convolutions in whole networks on an RDNA1 card; nothing here was measured on one.

usage: model_networks.py MODEL_CARD KERNELS RESULTS [--card NAME] [--batch N] [--network NAME…] [--pass NAME…]
                         [--mhz N] [--sample N] [--table]

MODEL_CARD is build/bench/model_card, KERNELS the folder with the code objects for gfx1010. Each layer is a line of the
file RESULTS, which the next run reads: it goes on where it was ended. --table only prints what is there, as Markdown.
"""
import argparse
import collections
import csv
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES = ["fwd", "bwd_data", "bwd_weights"]


def layers(network, batch):
    """(name, count, case without its pass)"""
    with open(os.path.join(HERE, "../data/networks.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["net"] == network:
                yield (row["layer"], int(row["count"]), "n{}c{C}h{H}w{W}k{K}r{R}s{S}p{pad}u{stride}g{groups}".format(batch, **row),
                       row["C"] == "3")


def key_of(o, case):
    return "\t".join([o.card, str(o.mhz), str(o.sample), case])


def read(path):
    found = {}
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 8:
                found["\t".join(fields[:4])] = fields[4:]
    return found


def model(o, case):
    command = [o.model_card, "--sample", str(o.sample)] + (["--mhz", str(o.mhz)] if o.mhz else [])
    run = subprocess.run(command + [o.kernels, o.card, case], capture_output=True, text=True)
    for line in run.stdout.splitlines():
        if line.startswith("case\t"):
            return line.split("\t")[2:]
    sys.exit("%s: %s" % (case, run.stderr.strip()))


def microseconds(text):
    return float(text.replace("limit ", "").split()[0])


def table(o, found):
    print("| network, N | pass | layers | modelled ms | limit ms | share | layers below half |")
    print("|---|---|---|---|---|---|---|")
    for network in o.network:
        for batch in o.batch:
            for which in o.passes:
                time = limit = 0
                counted, below, missing = 0, [], 0
                for name, count, case, first in layers(network, batch):
                    if which == "bwd_data" and first:
                        continue
                    fields = found.get(key_of(o, case + ":" + which))
                    if not fields:
                        missing += 1
                        continue
                    one, least = microseconds(fields[1]), microseconds(fields[2])
                    time += count * one
                    limit += count * least
                    counted += count
                    if least < 0.5 * one:
                        below.append((count * one, "%s %.2f (%s)" % (name, least / one, fields[8])))
                if counted:
                    below.sort(reverse=True)
                    print("| %s, %d | %s | %d%s | %.2f | %.2f | %.0f %% | %s |" % (
                        network, batch, which, counted, ", %d missing" % missing if missing else "", time / 1e3,
                        limit / 1e3, 100 * limit / time, "%d: %s" % (len(below), "; ".join(t for _, t in below[:3]))
                        if below else "none"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model_card")
    parser.add_argument("kernels")
    parser.add_argument("results")
    parser.add_argument("--card", default="rx5600xt")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--network", nargs="+", default=["resnet50v1.5", "vgg16", "mobilenetv2"])
    parser.add_argument("--pass", dest="passes", nargs="+", choices=PASSES, default=PASSES)
    parser.add_argument("--mhz", type=int, default=0)
    parser.add_argument("--sample", type=int, default=32000000)
    parser.add_argument("--table", action="store_true")
    o = parser.parse_args()
    found = read(o.results)
    if not o.table:
        wanted = collections.OrderedDict()
        for batch in o.batch:
            for network in o.network:
                for which in o.passes:
                    for _, _, case, first in layers(network, batch):
                        if which != "bwd_data" or not first:
                            wanted[case + ":" + which] = None
        for case in wanted:
            if key_of(o, case) in found:
                continue
            fields = model(o, case)
            found[key_of(o, case)] = fields
            with open(o.results, "a", encoding="utf-8") as file:
                file.write("\t".join([key_of(o, case)] + fields) + "\n")
            print(case, *fields, flush=True)
    table(o, found)


main()
