"""Which layers are compared: lists of networks, batches, types, layouts and passes; their classes; random ones."""
import csv
import dataclasses
import math
import pathlib
import random

from rmcp import _api as api
from rmcp import _library as c

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
LISTS = ("networks", "torchvision", "deepbench", "layers")
MAX_BYTES = 2 << 30  # of one tensor


@dataclasses.dataclass
class Layer:
    """One pass of one convolution, and the networks that have it (as often as the number says)."""
    case: str
    problem: c.Problem
    pass_: int
    kind: str
    tuning: str
    networks: dict


def class_of(p):
    """The class of a problem: how many dimensions first, then what makes its channels special, then its filter."""
    dims = p.dims or 2
    filters, strides, dilations = p.filter[:dims], p.stride[:dims], p.dilation[:dims]
    if dims != 2:
        return f"{dims}-D"
    if p.groups > 1:
        return "depthwise" if p.groups == p.c else "grouped"
    if any(d > 1 and f > 1 for d, f in zip(dilations, filters)):
        return "dilated"
    if p.c <= 4:
        return "first layer"
    strided = " strided" if any(s > 1 for s in strides) else ""
    if max(filters) == 1:
        return "1x1" + strided
    if set(filters) == {3}:
        return "3x3" + strided
    return "larger filters"  # and those that are neither: 2x2, 1x7


def _rows(name):
    with open(DATA / f"{name}.csv", newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def read_list(name):
    """(network, tuning, count, case without type and layout); a case that names its batch keeps it."""
    for row in _rows(name):
        if name == "networks":
            yield (row["net"], "seen", int(row["count"]),
                   f"c{row['C']}h{row['H']}w{row['W']}k{row['K']}r{row['R']}s{row['S']}p{row['pad']}"
                   f"u{row['stride']}g{row['groups']}")
        elif name == "deepbench":
            if row["set"] == "training":
                yield ("deepbench", "seen", 1,
                       f"n{row['N']}c{row['C']}h{row['H']}w{row['W']}k{row['K']}r{row['R']}s{row['S']}"
                       f"p{row['pad_h']}x{row['pad_w']}u{row['stride_h']}x{row['stride_w']}")
        else:
            yield row["network"], row["tuning"], int(row["count"]), row["case"]


def _between(draw, low, high):
    """A whole number, its logarithm even."""
    return min(high, int(math.exp(draw.uniform(math.log(low), math.log(high + 1)))))


def draw_case(draw):
    """A random layer: sizes log-uniform, the usual filters more often than odd ones."""
    dims = draw.choices((1, 2, 3), (1, 7, 1))[0]
    kind = draw.choices(("dense", "depthwise", "grouped"), (7, 2, 1))[0]
    groups = 1 if kind == "dense" else _between(draw, 2, 512 if kind == "depthwise" else 32)
    each = [1 if kind == "depthwise" else _between(draw, 1, 1024 if kind == "dense" else 64) for _ in range(2)]
    text = f"n{_between(draw, 1, 64)}c{groups * each[0]}k{groups * each[1]}g{groups}"
    filters = [draw.choices((1, 3, 5, 7, 2, 4, 11), (6, 8, 2, 2, 1, 1, 1))[0]] * dims
    if draw.random() < 0.15:
        filters = [draw.choice((1, 2, 3, 5, 7)) for _ in range(dims)]
    stride = draw.choices((1, 2, 3, 4), (8, 4, 1, 1))[0]
    dilation = draw.choices((1, 2, 4, 6), (9, 1, 1, 1))[0] if max(filters) > 1 else 1
    sizes = [_between(draw, 1, {1: 16000, 2: 256, 3: 32}[dims]) for _ in range(dims)]
    if draw.random() < 0.7:
        sizes = [sizes[0]] * dims
    pads = [draw.choice((0, (f - 1) * dilation // 2)) for f in filters]
    reach = [(f - 1) * dilation + 1 - 2 * pad for f, pad in zip(filters, pads)]
    sizes = [max(size, least) for size, least in zip(sizes, reach)]
    if dims == 3:
        text += f"t{sizes[0]}x{filters[0]}"
    if dims > 1:
        text += f"h{sizes[-2]}r{filters[-2]}"
    return text + f"w{sizes[-1]}s{filters[-1]}p{'x'.join(map(str, pads))}u{stride}d{dilation}"


def _fits(problem, options):
    shape = c.Shape()
    c.library().rmcp_conv_describe(problem, shape)
    return (options.min_gflop <= shape.flops * 1e-9 <= options.max_gflop
            and max(shape.x_bytes, shape.w_bytes, shape.y_bytes) <= MAX_BYTES)


def _listed(options):
    """(network, tuning, count, problem) of the lists, for each batch, type and layout that is wanted."""
    for name in options.list or LISTS:
        for network, tuning, count, case in read_list(name):
            if options.network and not any(part in network for part in options.network):
                continue
            base, _ = api.parse(case)
            # Only DeepBench's layers come with a batch of their own.
            for n in (base.n,) if case.startswith("n") else options.batch:
                for type_ in options.type:
                    for layout in options.layout:
                        problem = c.Problem.from_buffer_copy(base)
                        problem.n, problem.type = n, c.TYPE_NAMES.index(type_)
                        problem.layout = c.LAYOUT_NAMES.index(layout)
                        yield network, tuning, count, problem


def _random(options):
    draw = random.Random(options.seed)
    drawn = 0
    while drawn < options.random:
        problem, _ = api.parse(draw_case(draw))
        problem.type = c.TYPE_NAMES.index(draw.choice(options.type))
        problem.layout = c.LAYOUT_NAMES.index(draw.choice(options.layout))
        if _fits(problem, options):
            drawn += 1
            yield "random", "unseen", 1, problem


def _named(options):
    """(network, tuning, count, problem, passes) of everything that was asked for."""
    passes = [c.PASS_NAMES.index(name) for name in options.passes]
    if options.case:
        for text in options.case:
            problem, pass_ = api.parse(text)
            yield "case", "seen", 1, problem, passes if pass_ is None else [pass_]
        return
    for row in _random(options) if options.random else _listed(options):
        yield (*row, passes)


def deal(layers, seed):
    """The layers in random order, but one of each class and pass in turn: what is stopped early, or cut to a sample,
    has still seen them all."""
    shuffler, piles = random.Random(seed), {}
    for layer in layers:
        piles.setdefault((layer.kind, layer.pass_), []).append(layer)
    for pile in piles.values():
        shuffler.shuffle(pile)
    for i in range(max(map(len, piles.values()), default=0)):
        for key in sorted(piles):
            if i < len(piles[key]):
                yield piles[key][i]


def choose(options):
    """The Layers that the options ask for, equal ones once; and the number of layers of each whole network, as
    {"network|batch|type|layout|pass": number}, to know which networks were measured completely."""
    found, sizes = {}, {}
    for network, tuning, count, problem, passes in _named(options):
        kind = class_of(problem)
        wanted = (options.case or _fits(problem, options)) and (not options.kind or kind in options.kind)
        for pass_ in passes:
            case = api.case_string(problem, pass_)
            key = "|".join((network, str(problem.n), c.TYPE_NAMES[problem.type], c.LAYOUT_NAMES[problem.layout],
                            c.PASS_NAMES[pass_]))
            sizes.setdefault(key, set()).add(case)
            if not wanted:
                continue
            layer = found.setdefault(case, Layer(case, problem, pass_, kind, tuning, {}))
            layer.networks[network] = layer.networks.get(network, 0) + count
            if tuning == "seen":
                layer.tuning = "seen"
    # Only now, since a layer that one network shows to tuning is not unseen in another.
    layers = [layer for layer in found.values() if options.tuning in (None, layer.tuning)]
    layers = list(deal(layers, options.seed))
    return (layers[:options.sample] if options.sample else layers), {key: len(cases) for key, cases in sizes.items()}
