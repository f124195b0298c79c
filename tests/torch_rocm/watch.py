#!/usr/bin/env python3
"""Runs a program as it is and holds each operation that it does on the card against the CPU: watch.py WAY PROGRAM
ARGUMENT… in the chroot; the last line of stdout is JSON. --cpu in front of WAY: as if the CPU were the card, to try
this program.

WAY is original, adapter or dropin, as for cell.py. Before an operation of PyTorch (those that autograd and optimizers
call, too), what the card has of its inputs is copied to the CPU, and the operation is done there as well, in the same
types and in double precision. The bound is cell.py's: four times the distance that the CPU's float32 has from double
precision, and 1e-5 (float16: two times, and 1e-3); integers must be the same. So no operation is judged by the rounding
of an earlier one, and random numbers need not be the CPU's. What has random numbers or has no equal on the CPU is
counted and not judged."""
import collections
import json
import multiprocessing
import os
import runpy
import sys
import traceback

arguments = sys.argv[1:]
on_cpu = arguments[0] == "--cpu"
way, program, *rest = arguments[on_cpu:]
if not on_cpu:
    sys.path.insert(0, "/torch/rmcp/python")
    import card  # noqa: F401  before torch
import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten  # noqa: E402

CARD = "cpu" if on_cpu else "cuda"
aten = torch.ops.aten
FLOATS = (torch.float32, torch.float16, torch.float64)
# They leave what a tensor contains open, or only look at it.
NOTHING = ("empty", "new_empty", "resize_", "set_", "is_pinned", "_pin_memory", "record_stream",
           "_local_scalar_dense", "_has_", "is_same_size", "_cudnn_", "_fused_sdp_choice", "_use_", "lift", "detach",
           "alias", "is_set_to")  # fmt: skip


def batch_norm(x, weight, bias, mean, var, training, momentum, epsilon):
    return aten.native_batch_norm(x, weight, bias, mean, var, training, momentum, epsilon)[: 3 if training else 1]


def batch_norm_backward(x, grad, weight, mean, var, save_mean, save_var, epsilon):
    return aten.native_batch_norm_backward(grad, x, weight, mean, var, save_mean, save_var, True, epsilon, [True] * 3)


def recurrent(x, weights, n_each, hx, cx, mode, _size, n_layers, batch_first, dropout, train, both_ways, sizes, _state):
    if len(sizes) or (dropout and train):
        raise NotImplementedError("packed or with dropout")
    function = (torch.rnn_relu, torch.rnn_tanh, torch.lstm, torch.gru)[mode]
    state = (hx, cx) if mode == 2 else hx
    return function(x, state, weights, n_each == 4, n_layers, 0.0, train, both_ways, batch_first)


def convolution(x, weight, bias, *conf):
    return aten.convolution(x, weight, bias, *conf[:6])


def gradient_of(which):
    def gradient(grad, other, size, *conf):
        x, weight = (grad.new_zeros(size), other) if which == 0 else (other, grad.new_zeros(size))
        mask = [which == 0, which == 1, False]
        return aten.convolution_backward(grad, x, weight, None, *conf[:6], mask)[which]

    return gradient


# What only a card has, by what the CPU has for it.
EQUAL = {
    "miopen_batch_norm": batch_norm, "miopen_batch_norm_backward": batch_norm_backward, "miopen_rnn": recurrent,
    "conv_forward": convolution, "conv_input_gradient": gradient_of(0), "conv_weight_gradient": gradient_of(1),
}  # fmt: skip


def tensors(values):
    return [t for t in tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


class Host:
    """Copies on the CPU: of whole storages, so that strides and tensors that share memory stay as they are."""

    def __init__(self):
        self.storages = {}

    def of(self, value):
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if not isinstance(value, torch.Tensor):
            return value
        if value.layout != torch.strided:
            return value.cpu()
        key = value.untyped_storage().data_ptr(), value.untyped_storage().nbytes()
        if key not in self.storages:
            self.storages[key] = value.untyped_storage().clone() if on_cpu else value.untyped_storage().cpu()
        with torch.no_grad():
            copy = torch.empty(0, dtype=value.dtype)
            return copy.set_(self.storages[key], value.storage_offset(), value.shape, value.stride())


def doubled(value):
    if isinstance(value, torch.Tensor):
        return value.to(torch.float64 if value.dtype in FLOATS else value.dtype, copy=True)
    return torch.float64 if value in FLOATS else value


def flat(tensor):
    return tensor.detach().cpu().to_dense().double().flatten()


def distance(found, right):
    """Relative; infinite and missing numbers must be at the same places."""
    if found.shape != right.shape or not torch.equal(found.isfinite(), right.isfinite()):
        return float("inf")
    keep = right.isfinite()
    if keep.numel() == 0 or not keep.any():
        return 0.0
    found, right = found[keep], right[keep]
    return ((found - right).norm() / right.norm().clamp_min(1e-30)).item()


class Watch(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.operations, self.wrong = {}, {}
        self.unjudged, self.n_judged = collections.Counter(), 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = function._schema.name.split("::")[1]
        of_card = any(t.device.type == CARD for t in tensors((args, kwargs))) or CARD in str(kwargs.get("device"))
        if not of_card or name.startswith(NOTHING) or function.is_view or torch._C._get_tracing_state():
            return function(*args, **kwargs)
        if torch.Tag.nondeterministic_seeded in function.tags:
            self.unjudged[name + " (random)"] += 1
            return function(*args, **kwargs)
        try:
            before = tree_map(Host().of, (args, kwargs))
            wide = tree_map(doubled, before)  # before the operation changes them
        except RuntimeError as error:  # nested and other strange tensors
            self.unjudged[f"{name} ({str(error).splitlines()[0][:80]})"] += 1
            return function(*args, **kwargs)
        result = function(*args, **kwargs)
        written = [i for i, a in enumerate(function._schema.arguments) if a.alias_info and a.alias_info.is_write]
        try:
            plain = self.again(function, name, written, before)
            try:
                right = self.again(function, name, written, wide)
            except RuntimeError:  # it wants float32
                right = plain
        except (NotImplementedError, RuntimeError) as error:
            self.unjudged[f"{name} ({str(error).splitlines()[0][:80]})"] += 1
            return result
        found = tensors(result) + self.changed(function, written, args, kwargs)
        # Only the first result: the places of equals are free where sorting need not be stable, and what a bag keeps
        # for its backward pass is each device's own.
        free = 1 if function is aten.sort.default or name == "_embedding_bag" else None
        self.judge(name, found[:free], plain, right)
        return result

    @staticmethod
    def changed(function, written, args, kwargs):
        names = [a.name for a in function._schema.arguments]
        return tensors([args[i] if i < len(args) else kwargs.get(names[i]) for i in written])

    def again(self, function, name, written, inputs):
        args, kwargs = inputs
        result = EQUAL.get(name, function)(*args, **kwargs)
        return tensors(result) + self.changed(function, written, args, kwargs)

    def judge(self, name, found, plain, right):
        self.n_judged += 1
        for i, (one, by_type, exact) in enumerate(zip(found, plain, right)):
            # One of the two leaves empty what the other saves for the backward pass: batch norm, log_sigmoid.
            if i > 0 and 0 in (one.numel(), by_type.numel()):
                continue
            half = torch.float16 in (one.dtype, by_type.dtype)
            one, theirs_of, exact_of = flat(one), flat(by_type), flat(exact)
            if not by_type.dtype.is_floating_point:  # a position or a count: as the CPU's
                ours, theirs, bound = float(not torch.equal(one, theirs_of)), 0.0, 0.5
            else:
                if half:  # beyond its largest number
                    exact_of = torch.where(theirs_of.isfinite(), exact_of, theirs_of)
                ours, theirs = distance(one, exact_of), distance(theirs_of, exact_of)
                bound = 2 * theirs + 1e-3 if half else 4 * theirs + 1e-5
            if (name not in self.operations
                    or ours / bound > self.operations[name]["card"] / self.operations[name]["bound"]):  # fmt: skip
                self.operations[name] = {"card": ours, "cpu": theirs, "bound": bound}
            if ours > bound and name not in self.wrong:
                shapes = ", ".join(str(tuple(t.shape)) for t in plain)
                self.wrong[name] = f"{ours:.2g} away of {shapes}, the CPU's {theirs:.2g}"


def main():
    torch.set_num_threads(1)
    os.chdir(os.path.dirname(os.path.abspath(program)))
    sys.argv = [os.path.basename(program)] + rest
    sys.path.insert(0, os.getcwd())
    # As Python did before 3.14: what loads data begins as a copy of the program, without card.py in front of torch.
    multiprocessing.set_start_method("fork")
    # torchvision's own library is for another PyTorch; only its Python is used, which asks for one operator of it.
    torch.library.define("torchvision::nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    if way == "adapter":
        import rmcp.torch

        print(rmcp.torch.enable(CARD), flush=True)
    watch, status = Watch(), 0
    try:
        with watch:
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    if status:
        sys.exit(status)
    result = {"right": not watch.wrong, "judged": watch.n_judged, "wrong": watch.wrong,
              "unjudged": dict(watch.unjudged)}
    print("RESULT " + json.dumps(result | {"operations": watch.operations}), flush=True)


main()
