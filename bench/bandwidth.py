#!/usr/bin/env python3
"""Memory bandwidth of the operations that it bounds, beside that of a copy on the same device.

usage: bandwidth.py [--rmcp build/rmcp] [--device cuda] [--images 256] [--only TEXT] [--types f32,f16,bf16] [--bar 80]
                    [--json FILE] [--list]

Every operation moves tensors of 256 channels of 56 x 56 or of that many elements, each element counted once: read or
written. A copy is that of the same tensor, in the same type. Times are the shortest of 20, by the GPU's clock. The end
says for each type how many of the cases have --bar per cent of the copy's bandwidth, and which have less.
"""
import argparse
import json
import subprocess
import sys

CHANNELS, SIDE = 256, 56


def last(channels, *space):
    """Strides of (n, c, *space) with the channels last."""
    strides, step = [], channels
    for n in reversed(space):
        strides.insert(0, step)
        step *= n
    return "x".join(str(s) for s in [step, 1] + strides)


def cases(images):
    """(name, case) of every operation, without the type."""
    c, s, half = CHANNELS, SIDE, SIDE // 2
    image, elements = f"{images}x{c}x{s}x{s}", images * c * s * s
    nhwc, small = last(c, s, s), last(c, half, half)
    yield "copy", f"tensor:{image}:copy"
    for mode in ("relu", "tanh", "logistic", "elu:alpha1", "leaky:alpha0.1"):
        words = f"{mode}:alpha1:beta1" if mode == "tanh" else mode
        for way in ("fwd", "bwd"):
            yield f"{mode.split(':')[0]} {way}", f"act:{image}:{way}:{words}"
    rows = elements // 4096
    for way in ("fwd", "bwd"):
        for length in (256, 1024, 4096, 32768):
            yield f"softmax of {length} {way}", f"softmax:{elements // length}x{length}:{way}"
        yield f"log softmax of 4096 {way}", f"softmax:{rows}x4096:{way}:log"
        for channels in (21, 256, 1000):
            lines = elements // channels // 64 // 28
            yield f"softmax of {channels} channels {way}", f"softmax:64x{channels}x{lines}x28:{way}"
        tensors = ("x", "y") if way == "fwd" else ("y", "dy", "dx")
        yield (f"softmax of 256 channels last {way}",
               f"softmax:{image}:{way}" + "".join(f":{t}/{nhwc}" for t in tensors))
    for way in ("fwd", "bwd"):
        inner, outer = ("x", "y") if way == "fwd" else ("dx", "dy")
        channels_last = f":{inner}/{nhwc}:{outer}/{small}"
        for order, more in (("", ""), (" last", channels_last)):
            index = f":index/{small}" if more else ""
            yield f"max 3x3 / 2{order} {way}", f"pool:{image}:{way}:max:window3:stride2:pad1{more}{index}"
            yield f"max 2x2 / 2{order} {way}", f"pool:{image}:{way}:max:window2:stride2{more}{index}"
            yield f"mean 2x2 / 2{order} {way}", f"pool:{image}:{way}:avg:window2:stride2{more}"
        yield f"mean 3x3 / 2 {way}", f"pool:{image}:{way}:avg:window3:stride2:pad1"
        yield f"mean 3x3 / 1 {way}", f"pool:{image}:{way}:avg:window3:stride1:pad1"
        yield f"max 3x3 / 1 {way}", f"pool:{image}:{way}:max:window3:stride1:pad1"
        yield f"max of u64 in images 3x3 / 2 {way}", f"pool:{image}:{way}:max:u64:image:window3:stride2:pad1"
    yield "max 3x3 / 2 without index fwd", f"pool:{image}:fwd:max:none:window3:stride2:pad1"
    yield "mean of images fwd", f"pool:{image}:fwd:avg:window{s}"
    yield "mean of images bwd", f"pool:{image}:bwd:avg:window{s}"
    for way in ("fwd", "bwd"):
        for kind in ("cross", "within"):
            yield f"LRN {kind} {way}", f"lrn:{image}:{way}:{kind}"
        tensors = ("x", "y", "scale") if way == "fwd" else ("x", "y", "scale", "dy", "dx")
        yield f"LRN cross last {way}", f"lrn:{image}:{way}:cross" + "".join(f":{t}/{nhwc}" for t in tensors)
    yield "LRN cross without scale fwd", f"lrn:{image}:fwd:cross:plain"
    for length in (256, 1024, 4096, 16384):
        for way in ("fwd:saved", "bwd:saved:data", "bwd:saved"):
            name = way.replace(":saved", "").replace("bwd:data", "bwd, dx alone")
            yield f"layer norm of {length} {name}", f"norm:{elements // length}x{length}:layer:{way}"
    for way in ("fwd:saved", "bwd:saved"):
        yield f"T5 norm of 4096 {way[:3]}", f"norm:{rows}x4096:t5:{way}"
        yield f"group norm {way[:3]}", f"norm:{images}x{c}x{s * s}:group:groups32:{way}"


def typed(case, kind):
    return case if kind == "f32" else f"{case}:{kind}"


def below(names, shares, bar):
    """How many shares reach the bar, in words, and the names of those that do not, the lowest first."""
    misses = sorted((share, name) for name, share in zip(names, shares) if share < bar)
    text = f"{len(shares) - len(misses)} of {len(shares)} cases have {100 * bar:.0f} % of a copy"
    return text + "".join(f"\n  {100 * share:5.1f} % {name}" for share, name in misses)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rmcp", default="build/rmcp")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--only", action="append", help="operations whose names contain this")
    parser.add_argument("--types", default="f32,f16,bf16")
    parser.add_argument("--bar", type=float, default=80, help="per cent of a copy's bandwidth that a case should have")
    parser.add_argument("--list", action="store_true", help="print the cases and time none")
    parser.add_argument("--json", help="also write all times to this file")
    given = parser.parse_args()
    types = given.types.split(",")
    wanted = [(name, case) for name, case in cases(given.images)
              if name == "copy" or not given.only or any(part in name for part in given.only)]
    texts = [typed(case, kind) for _, case in wanted for kind in types]
    if given.list:
        print("\n".join(texts))
        return 0
    command = [given.rmcp, "bench", "--device", given.device, "--json", *texts]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        sys.exit(f"{given.rmcp}: {error.strerror}; --rmcp says where it is")
    if not run.stdout:
        sys.exit("nothing was timed; rmcp said why above")
    results = json.loads(run.stdout)["results"]
    if len(results) != len(texts):
        sys.exit(f"{len(results)} of {len(texts)} cases were timed; rmcp said why above")
    rates = [row["bytes"] / row["seconds_best"] * 1e-9 for row in results]
    print(f"| operation | {' | '.join(types)} |\n|---|{'---|' * len(types)}")
    for i, (name, _) in enumerate(wanted):
        mine = rates[i * len(types):(i + 1) * len(types)]
        cells = [f"{rate:.0f}, {100 * rate / copy:.0f} %" for rate, copy in zip(mine, rates)]
        print(f"| {name} | {' | '.join(cells)} |")
    if len(wanted) > 1:
        names = [name for name, _ in wanted[1:]]
        for i, kind in enumerate(types):
            shares = [rate / rates[i] for rate in rates[len(types) + i::len(types)]]
            print(f"{kind}: {below(names, shares, given.bar / 100)}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump([dict(row, name=wanted[i // len(types)][0], type=types[i % len(types)])
                       for i, row in enumerate(results)], file, indent=1)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
