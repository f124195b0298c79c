#!/usr/bin/env python3
"""The encoder against LLVM 19's assembler: random instructions of our table, printed, assembled by
llvm-mc; its words must be ours, and what we refuse to write it must refuse, too.

check_encode_llvm.py ENCODE_SAMPLES [--count N] [--chip CHIP]... [--log FILE] [--show N]
By hand, with --count 1000000: goes on after the batches that the log has. Without llvm-mc: skipped."""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys

BATCH = 20000
CHIPS = ["gfx1010", "gfx1012", "gfx1030", "gfx1010+wave64", "gfx1030+wave64", "gfx1011", "gfx1013"]
# LLVM prints these without the suffix of their longer forms, so that the text says too little.
SAME_TEXT = {"v_nop", "v_pipeflush", "v_clrexcp"}


def assemble(mc, chip, texts):
    """The words of each text, or the error."""
    name, _, wave = chip.partition("+")
    command = [mc, "-arch=amdgcn", "-mcpu=" + name, "--show-encoding"]
    if wave:
        command.append("-mattr=+wavefrontsize64,-wavefrontsize32")
    run = subprocess.run(command, input="\n".join(texts) + "\n", capture_output=True, text=True)
    errors = {}
    for line in run.stderr.splitlines():
        found = re.match(r"<stdin>:(\d+):\d+: error: (.*)", line)
        if found:
            errors.setdefault(int(found[1]) - 1, found[2])
    given = re.findall(r"encoding: \[([^\]]*)\]", run.stdout)
    if len(given) + len(errors) != len(texts):
        sys.exit(f"llvm-mc took {len(given)} and refused {len(errors)} of {len(texts)} lines")
    answers, at = [], iter(given)
    for i in range(len(texts)):
        if i in errors:
            answers.append(errors[i])
            continue
        code = bytes(int(b, 16) for b in next(at).split(","))
        answers.append([int.from_bytes(code[k:k + 4], "little") for k in range(0, len(code), 4)])
    return answers


def check_batch(args, mc, chip, seed, count, tally):
    made = subprocess.run([args.samples, chip, str(seed), str(count)], capture_output=True, text=True)
    if made.returncode:
        sys.exit("encode_samples: " + made.stderr)
    rows = []
    for line in made.stdout.splitlines():
        words, text, refusal = line.split("\t")
        words = [int(w, 16) for w in words.split()]
        if text.startswith("v_pk_fmac_f16_dpp"):
            tally["of a form that LLVM lacks"] += 1
        elif text in SAME_TEXT and len(words) > 1:
            tally["without a text of their own"] += 1
        else:
            rows.append((words, text, refusal))
    for (words, text, refusal), theirs in zip(rows, assemble(mc, chip, [r[1] for r in rows])):
        taken = isinstance(theirs, list)
        if taken and not refusal and theirs == words:
            tally["the same words"] += 1
            continue
        if not taken and refusal:
            tally["refused by both"] += 1
            continue
        kind = ("LLVM refuses" if not taken else "we refuse" if refusal else "other words")
        tally["different"] += 1
        if tally["different"] <= args.show:
            answer = " ".join(f"{w:08x}" for w in theirs) if taken else theirs
            ours = " ".join(f"{w:08x}" for w in words)
            print(f"{chip} {kind}: {text}\n  ours {ours} {refusal}\n  LLVM {answer}")


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("samples")
    parse.add_argument("--count", type=int, default=4000)
    parse.add_argument("--chip", action="append")
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--show", type=int, default=20)
    parse.add_argument("--log")
    args = parse.parse_args()
    mc = shutil.which("llvm-mc-19")
    if not mc:
        print("skipped: no llvm-mc-19")
        return 77
    done = set()
    if args.log and os.path.exists(args.log):
        with open(args.log) as log:
            done = {tuple(line.split()[:3]) for line in log}
    bad = 0
    for chip in args.chip or CHIPS:
        tally = collections.Counter()
        for at in range(0, args.count, BATCH):
            seed, count = args.seed + at // BATCH, min(BATCH, args.count - at)
            if (chip, str(seed), str(count)) in done:
                tally["in the log already"] += count
                continue
            batch = collections.Counter()
            check_batch(args, mc, chip, seed, count, batch)
            tally += batch
            if args.log and not batch["different"]:
                with open(args.log, "a") as log:
                    print(chip, seed, count, batch["the same words"], batch["refused by both"],
                          file=log)
        bad += tally["different"]
        tally["different"] += 0
        print(f"{chip}: " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items())), flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
