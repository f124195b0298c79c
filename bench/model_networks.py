#!/usr/bin/env python3
"""Modelled times of our convolutions in whole networks on an RDNA1 card; nothing here was measured on one.

usage: model_networks.py MODEL_CARD KERNELS RESULTS [--card NAME] [--batch N] [--network NAME…] [--pass NAME…]
                         [--mhz N] [--sample N] [--table] [--layers]

MODEL_CARD is build/bench/model_card, KERNELS the folder with the code objects for gfx1010. Each layer is a line of the
file RESULTS, which the next run reads: it goes on where it was ended; what is there with a larger sample stays. --table
only prints what is there, as Markdown; --layers each layer's share of its limit; where that is below half also the
share that one kernel for the layer could have at most, and why it is low. These two are for an RX 5600 XT.
"""
import argparse
import collections
import csv
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES = ["fwd", "bwd_data", "bwd_weights"]
NAMES = {"resnet50v1.5": "ResNet-50", "vgg16": "VGG-16", "mobilenetv2": "MobileNetV2", "fwd": "forward",
         "bwd_data": "data gradient", "bwd_weights": "weight gradient"}
KERNEL_US = 5  # start and end of a kernel, kernel_us of data/cards/rdna1.timing
# The shortest kernel besides: its code, its arguments, a load, a multiply-add and a store, all from memory, as
# modelled.
CHAIN_US = 0.86
DRAM_EFFICIENCY = 0.83  # of data/cards/rdna1.timing
BYTES_S = 288e9  # of an RX 5600 XT


def layers(network, batch):
    """(name, count, case without its pass)"""
    with open(os.path.join(HERE, "../data/networks.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["net"] == network:
                yield (row["layer"], int(row["count"]),
                       "n{}c{C}h{H}w{W}k{K}r{R}s{S}p{pad}u{stride}g{groups}".format(batch, **row), row["C"] == "3")


def key_of(o, case):
    return (o.card, str(o.mhz), case)


def read(path):
    """What was modelled, and with which sample: of several the largest."""
    found, samples = {}, {}
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            card, mhz, sample, case, *fields = line.rstrip("\n").split("\t")
            key = (card, mhz, case)
            if len(fields) > 4 and int(sample) >= samples.get(key, 0):
                found[key], samples[key] = fields, int(sample)
    return found, samples


def model(o, case):
    command = [o.model_card, "--sample", str(o.sample)] + (["--mhz", str(o.mhz)] if o.mhz else [])
    run = subprocess.run(command + [o.kernels, o.card, case], capture_output=True, text=True)
    for line in run.stdout.splitlines():
        if line.startswith("case\t"):
            return line.split("\t")[2:]
    sys.exit("%s: %s" % (case, run.stderr.strip()))


def microseconds(text):
    return float(text.replace("limit ", "").split()[0])


def least(case, fields):
    """Microseconds that one kernel for a layer takes at least: to start, to come to its first multiply-add and to store
    its last, and then its operations at the peak or its bytes at what memory can do."""
    n, c, h, w, k, r, s, p, u, g = map(
        int, re.match("n(.*)c(.*)h(.*)w(.*)k(.*)r(.*)s(.*)p(.*)u(.*)g(.*)$", case).groups())
    pixels = ((h + 2 * p - r) // u + 1) * ((w + 2 * p - s) // u + 1)
    elements = n * c * h * w + n * k * pixels + k * c // g * r * s
    limit = microseconds(fields[2])
    streamed = limit if "(dram)" in fields[2] else 4e6 * elements / BYTES_S
    return KERNEL_US + CHAIN_US + max(limit, streamed / DRAM_EFFICIENCY)


def table(o, found):
    print("| network, N | pass | layers | modelled ms | limit ms | share | at most | layers below half |")
    print("|---|---|---|---|---|---|---|---|")
    for network in o.network:
        for batch in o.batch:
            for which in o.passes:
                time = limit = floor = 0
                counted, below, missing = 0, [], 0
                for name, count, case, first in layers(network, batch):
                    if which == "bwd_data" and first:
                        continue
                    fields = found.get(key_of(o, case + ":" + which))
                    if not fields:
                        missing += 1
                        continue
                    one, ideal = microseconds(fields[1]), microseconds(fields[2])
                    time += count * one
                    limit += count * ideal
                    floor += count * least(case, fields)
                    counted += count
                    if ideal < 0.5 * one:
                        below.append((count * one, "%s %.2f (%s)" % (name, ideal / one, fields[8])))
                if counted:
                    below.sort(reverse=True)
                    print("| %s, %d | %s | %d%s | %.2f | %.2f | %.0f %% | %.0f %% | %s |" % (
                        NAMES[network], batch, NAMES[which], counted, ", %d missing" % missing if missing else "",
                        time / 1e3, limit / 1e3, 100 * limit / time, 100 * limit / floor,
                        "%d: %s" % (len(below), "; ".join(t for _, t in below[:3])) if below else "none"))


def reason(fields):
    """Why a layer is far from its limit: start and end of kernels, few workgroups, products beyond the edges of
    tensors, what waves wait for."""
    kernels = fields[9].split(" + ") if len(fields) > 9 else []
    time, fma = microseconds(fields[1]), float(fields[5].split()[1])
    starts = KERNEL_US * len(kernels)
    texts = ["%.0f %% start and end" % (100 * starts / time)] if kernels else []
    groups = max([workgroups(k.split()[-1]) for k in kernels] or [72])
    if groups < 72:
        texts.append("%d workgroups" % groups)
    made = fma * (time - starts) / microseconds(fields[2])
    if made > 1.15 and "(fma)" in fields[2] and not fields[0].startswith("winograd"):
        texts.append("%.0f %% of products beyond edges" % (100 - 100 / made))
    return ", ".join(texts + [fields[8]])


def workgroups(text):
    x, y, z = map(int, text.split(","))
    return x * y * z


def by_layer(o, found):
    for network in o.network:
        for batch in o.batch:
            print("\n## %s, %d image%s\n\n| layers | shape | %s |\n|---|---|---|---|---|" % (
                NAMES[network], batch, "s" if batch > 1 else "", " | ".join(NAMES[p] for p in o.passes)))
            distinct = collections.OrderedDict()
            for name, count, case, first in layers(network, batch):
                names, n, _ = distinct.get(case, ([], 0, first))
                distinct[case] = (names + [name], n + count, first)
            for case, (names, n, first) in distinct.items():
                cells = []
                for which in o.passes:
                    fields = found.get(key_of(o, case + ":" + which))
                    if not fields or (which == "bwd_data" and first):
                        cells.append("")
                        continue
                    share = microseconds(fields[2]) / microseconds(fields[1])
                    most = microseconds(fields[2]) / least(case, fields)
                    cells.append("%.0f %%%s" % (
                        100 * share, " of %.0f %%: %s" % (100 * most, reason(fields)) if share < 0.5 else ""))
                if any(cells):
                    print("| %s%s | %s | %s |" % (names[0], " and %d more" % (n - 1) if n > 1 else "",
                                                  case.replace("p0", "").replace("u1g", "g").replace("g1", "") if
                                                  case.endswith("g1") else case, " | ".join(cells)))


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
    parser.add_argument("--layers", action="store_true")
    o = parser.parse_args()
    found, samples = read(o.results)
    if o.layers:
        by_layer(o, found)
        return
    if not o.table:
        wanted = collections.OrderedDict()
        for batch in o.batch:
            for network in o.network:
                for which in o.passes:
                    for _, _, case, first in layers(network, batch):
                        if which != "bwd_data" or not first:
                            wanted[case + ":" + which] = None
        for case in wanted:
            if samples.get(key_of(o, case), 0) >= o.sample:
                continue
            fields = model(o, case)
            found[key_of(o, case)] = fields
            with open(o.results, "a", encoding="utf-8") as file:
                file.write("\t".join([o.card, str(o.mhz), str(o.sample), case] + fields) + "\n")
            print(case, *fields, flush=True)
    table(o, found)


main()
