#!/usr/bin/env python3
"""Modelled times of rocBLAS's products for the convolutions of a network; nothing here was measured on a card.

usage: model_rocblas.py RMCP SGEMM RESULTS [--card NAME] [--batch N] [--network NAME] [--ours RESULTS [--sample N]]

RMCP is build/rmcp, SGEMM is tests/timing/sgemm.cpp compiled where rocBLAS is; run it there. Forward only, as MIOpen has
it with matrix products: 1x1 with stride 1 is one call for all images, others are one product for each image, and the
time of im2col is not counted, in their favour. Each product is a line of the file RESULTS, which the next run reads.
--ours prints a table beside the results of model_networks.py, with all layers of the same shape in one row.
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def shapes(network):
    """Distinct layers: (names, count, case without images and pass, products of one image or more, channels of a
    group)"""
    found = {}
    with open(os.path.join(HERE, "../data/networks.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["net"] == network and row["groups"] == "1":
                case = "c{C}h{H}w{W}k{K}r{R}s{S}p{pad}u{stride}g1".format(**row)
                names, count = found.get(case, ([], 0))
                found[case] = (names + [row["layer"]], count + int(row["count"]))
    for case, (names, count) in found.items():
        c, h, w, k, r, s, p, u = map(int, re.match(r"c(\d+)h(\d+)w(\d+)k(\d+)r(\d+)s(\d+)p(\d+)u(\d+)", case).groups())
        pixels = ((h + 2 * p - r) // u + 1) * ((w + 2 * p - s) // u + 1)
        yield names, count, case, "%dx%dx%d" % (pixels, k, c * r * s), r * s == 1 and u == 1


def model(o, product):
    command = [o.rmcp, "sim", "--timing", "--gpu", o.card, "--checks", "none", "--json", "--", o.sgemm, product]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    kernels = json.loads(text[text.index("{\n"):])["modelled"]
    return sum(k["seconds"] for k in kernels if k["kernel"].startswith("Cijk")), len(kernels)


def ours(o):
    found = {}
    for line in open(o.ours, encoding="utf-8"):
        fields = line.rstrip("\n").split("\t")
        if fields[0] == o.card and (not o.sample or fields[2] == str(o.sample)):
            found[fields[3]] = (float(fields[5].split()[0]), float(fields[6].split()[1]), fields[4].rstrip("*"))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rmcp")
    parser.add_argument("sgemm")
    parser.add_argument("results")
    parser.add_argument("--card", default="rx5600xt")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--network", default="resnet50v1.5")
    parser.add_argument("--ours")
    parser.add_argument("--sample", type=int, default=0)
    o = parser.parse_args()
    known = {}
    if os.path.exists(o.results):
        known = {tuple(line.split("\t")[:2]): float(line.split("\t")[2]) for line in open(o.results, encoding="utf-8")}
    beside = ours(o) if o.ours else {}
    if beside:
        print("| layers | shape | rocBLAS ms | ours ms (algorithm) | times |\n|---|---|---|---|---|")
    total = [0, 0]
    for names, count, case, product, batched in shapes(o.network):
        product += "x%d" % o.batch if batched and o.batch > 1 else ""
        if (o.card, product) not in known:
            if beside:
                continue
            seconds, kernels = model(o, product)
            if not seconds:
                sys.exit("%s: none of %d kernels is a product" % (product, kernels))
            known[o.card, product] = seconds
            with open(o.results, "a", encoding="utf-8") as file:
                file.write("%s\t%s\t%.9g\n" % (o.card, product, seconds))
            print(product, "%.3f us" % (1e6 * seconds), flush=True)
        mine = beside.get("n%d%s:fwd" % (o.batch, case))
        if mine:
            theirs = known[o.card, product] * (1 if batched else o.batch) * 1e3
            total[0] += theirs * count
            total[1] += mine[0] / 1e3 * count
            print("| %s%s | %s | %.3f | %.3f (%s) | %.1f |" % (
                names[0], " and %d more" % (count - 1) if count > 1 else "", case, theirs, mine[0] / 1e3, mine[2],
                theirs * 1e3 / mine[0]))
    if beside:
        print("| all | | %.2f | %.2f | %.1f |" % (total[0], total[1], total[0] / total[1]))


main()
