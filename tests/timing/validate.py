#!/usr/bin/env python3
"""The model of time beside figures that others measured on RDNA1 cards and published; by hand, some minutes.

usage: validate.py RMCP FOLDER [NAME…] [--table]

Kernels of the same kind (measured.cl) are compiled by clang-19 and run on the model, at the game and at the boost clock
of the card, since most figures come without a clock. Results are kept in FOLDER, one file each; what is there is not
run again. The range of each row says how far the model's answer moves between the fast and the slow reading of its
sources (data/cards/rdna1.timing), at the boost clock. "rate" is in the unit of the published figure.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CLOCKS = {"rx5700xt": (1755, 1905), "rx5600xt": (1375, 1560), "rx5700": (1625, 1725), "rx5500xt": (1717, 1845)}
L0 = ["buf:65536", "buf:4194304", "u32:0"]
LOADS = 1048576 * 256  # of all work-items


class Check:
    """One kernel; `rate` makes the published unit of seconds."""

    def __init__(self, name, card, kernel, grid, args, unit, rate, measured, source, note="", sample=16000000):
        self.name, self.card, self.kernel, self.grid, self.args = name, card, kernel, grid, args
        self.unit, self.rate, self.measured, self.source, self.note = unit, rate, measured, source, note
        self.clocks, self.sample = CLOCKS[card], sample


def loads(name, kernel, format, width, milliseconds, note=""):
    return Check(name, "rx5700xt", kernel, 1048576, L0 + ["u32:%d" % format], "TB/s",
                 lambda s: LOADS * width / s / 1e12, LOADS * width * 30 / (milliseconds * 1e-3) / 1e12,
                 "sebbbi/perftest", note)


# clpeak of an RX 6900 XT, by compute units and clock: 80 units at what its float figure says (25406 = 80 * 128 * f).
RDNA2 = 25406e9 / (80 * 128)
PER_CLOCK = {"half2": 49399e9 / RDNA2 / 80, "double": 1610e9 / RDNA2 / 80}
CELLS = 256 ** 3
CHECKS = [
    loads("L0 R32f", "l0_r32f", 22, 4, 4.697),
    loads("L0 RG32f", "l0_rg32f", 64, 8, 6.223),
    loads("L0 RGBA32f", "l0_rgba32f", 77, 16, 13.312),
    loads("L0 RGBA32f random", "l0_rgba32f_random", 77, 16, 12.819),
    loads("L0 raw Load", "l0_raw", 22, 4, 6.361, "one parameter was fitted to these three"),
    loads("L0 raw Load2", "l0_raw2", 22, 8, 9.648, "fitted"),
    loads("L0 raw Load4", "l0_raw4", 22, 16, 16.076, "fitted"),
    loads("L0 raw Load4 unaligned", "l0_raw4_unaligned", 22, 16, 25.387,
          "the model knows no price of unaligned addresses"),
    Check("L0 latency", "rx5500xt", "chase", 32, ["buf:128", "u32:4000"], "clk", None, 110, "NaviSim",
          "a parameter of the model"),
    Check("peak fp32 FMA", "rx5700xt", "peak_f32", 720 * 256, ["buf:1474560", "f32:0.5", "i32:40"], "TFLOP/s",
          lambda s: 720 * 256 * 40 * 256 * 2 / s / 1e12, None, "64 lanes x 2 x 40 units x clock"),
    Check("peak fp16 pairs", "rx5700xt", "peak_f16x2", 720 * 256, ["buf:1474560", "i32:1", "i32:10"], "TFLOP/s",
          lambda s: 720 * 256 * 10 * 256 * 4 / s / 1e12, PER_CLOCK["half2"], "clpeak, RX 6900 XT, scaled"),
    Check("peak fp64 FMA", "rx5700xt", "peak_f64", 720 * 256, ["buf:1474560", "f64:0.5", "i32:4"], "TFLOP/s",
          lambda s: 720 * 256 * 4 * 256 * 2 / s / 1e12, PER_CLOCK["double"], "clpeak, RX 6900 XT, scaled"),
    Check("LDS reads of 16 B", "rx5700xt", "lds_read", 720 * 256, ["buf:1474560", "i32:100"], "TB/s",
          lambda s: 720 * 256 * 100 * 64 / s / 1e12, None, "128 B x 40 units x clock"),
    Check("copy, 128 MB", "rx5600xt", "copy", 128 * 2 ** 20 // 64, ["buf:134217728", "buf:134217728"], "GB/s",
          lambda s: 2 * 128 * 2 ** 20 / s / 1e9, None, "288 GB/s, none was published"),
    Check("D3Q19 fp32 (FluidX3D)", "rx5600xt", "lattice", CELLS,
          ["buf:%d" % (76 * CELLS), "buf:%d" % (76 * CELLS), "buf:%d" % CELLS, "u32:8", "f32:1"], "GB/s",
          lambda s: 153 * CELLS / s / 1e9, 173.8, "FluidX3D README", "theirs is another kernel of the same traffic"),
    Check("GEMV, 4 bits (llama tg128)", "rx5700xt", "gemv_q4", 32 * 65536,
          ["buf:%d" % (2304 * 65536), "buf:16384", "buf:262144"],
          "GB/s", lambda s: 2304 * 65536 / s / 1e9, 264, "llama.cpp pull 12087", "theirs is a whole network's token"),
]


def run(rmcp, check, object_, mhz, path):
    if os.path.exists(path):
        return json.load(open(path, encoding="utf-8"))
    command = [rmcp, "sim", "--timing", "--sample-only", "--checks", "none", "--json", "--sample", str(check.sample),
               "--card", check.card, "--mhz", str(mhz), "--kernel", object_, check.kernel,
               "--grid", str(check.grid), "--args"]
    if mhz == check.clocks[-1]:
        command.insert(3, "--ranges")
    found = subprocess.run(command + check.args, capture_output=True, text=True)
    if found.returncode:
        sys.exit("%s: %s" % (check.name, found.stderr or found.stdout[:500]))
    timing = json.loads(found.stdout)["timing"]
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(timing, file)
    os.rename(path + ".part", path)
    return timing


def per_load(timing, key):
    """Clocks of one load of the chain."""
    return (timing[key] - 5e-6) * timing["mhz"] * 1e6 / 4000


def cell(value):
    return "%.0f" % value if value >= 100 else "%.2f" % value if value < 10 else "%.1f" % value


def row(check, folder):
    texts = []
    span = ""
    for mhz in check.clocks:
        name = check.name.replace(" ", "_").replace(",", "").replace("/", "_")
        path = os.path.join(folder, "%s.%d.json" % (name, mhz))
        if not os.path.exists(path):
            return None
        t = json.load(open(path, encoding="utf-8"))
        rate = check.rate or (lambda s, t=t: (s - 5e-6) * t["mhz"] * 1e6 / 4000)
        units = 20 * 2 * mhz * 1e6
        measured = check.measured
        if measured is not None and check.source.startswith("clpeak"):
            measured = check.measured * units / 1e12
        if measured is None:
            measured = {"TFLOP/s": 128 * units / 1e12, "TB/s": 128 * units / 1e12, "GB/s": 288}[check.unit]
        value = rate(t["seconds"])
        texts.append("%s (%+.0f %%)" % (cell(value), 100 * (value / measured - 1)))
        if "slow_seconds" in t:
            span = "%s to %s" % tuple(cell(v) for v in sorted((rate(t["fast_seconds"]), rate(t["slow_seconds"]))))
        given = cell(measured) if check.measured is not None else cell(measured) + " (limit)"
    return "| %s, %s | %s %s | %s | %s | %s | %s |" % (
        check.name, check.card, given, check.unit, texts[0], texts[1], span,
        check.source + ("; " + check.note if check.note else ""))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--table"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    rmcp, folder, names = arguments[0], arguments[1], arguments[2:]
    os.makedirs(folder, exist_ok=True)
    object_ = os.path.join(folder, "measured.co")
    if "--table" not in sys.argv:
        subprocess.run([os.environ.get("CLANG", "clang-19"), "-x", "cl", "-cl-std=CL2.0",
                        "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1010", "-O3", "-nogpulib",
                        "-mcode-object-version=4", os.path.join(HERE, "measured.cl"),
                        "-o", object_], check=True)
        for check in CHECKS:
            if names and not any(n in check.name for n in names):
                continue
            for mhz in check.clocks:
                name = check.name.replace(" ", "_").replace(",", "").replace("/", "_")
                run(rmcp, check, object_, mhz, os.path.join(folder, "%s.%d.json" % (name, mhz)))
                print(name, mhz, flush=True)
    print("| check, card | published | modelled at the game clock | at the boost clock | range | source |")
    print("|---|---|---|---|---|---|")
    for check in CHECKS:
        text = row(check, folder)
        if text:
            print(text)


main()
