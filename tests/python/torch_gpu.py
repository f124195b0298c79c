#!/usr/bin/env python3
"""torch_gpu.py: rmcp.torch on a GPU against PyTorch's own kernels (cuDNN): values, losses, modes, times.

usage: torch_gpu.py [--device cuda|cpu] [--cases 500] [--only NAME,…] [--json FILE]

RMCP_LIBRARY names librmcp. Each section runs by itself; the exit status is 1 when one failed. With
--device cpu everything is small and what needs a GPU is left out: a rehearsal.
"""
import argparse
import contextlib
import copy
import json
import sys
import threading
import time
import traceback
import warnings

import torch_support as support
import torch
import torch.nn.functional as F
from torch import nn

import rmcp
import rmcp.torch

FACTOR, FLOOR = 8.0, 2e-4  # bound of losses: FACTOR * (distance of PyTorch's float32 to float64) + FLOOR
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
sections, options, fallbacks = {}, None, {}


def section(function):
    sections[function.__name__] = function
    return function


class Skip(Exception):
    """A section that this machine cannot run."""


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def gpu():
    return options.device != "cpu"


def need_gpu():
    if not gpu():
        raise Skip("needs a GPU")


def wait():
    if gpu():
        torch.cuda.synchronize()


@contextlib.contextmanager
def ours(**arguments):
    """RMCP inside; its counters start at zero, and fallbacks go to the summary."""
    rmcp.torch.reset_stats()
    arguments = {"strict": True, **arguments}
    with rmcp.torch.enabled(torch.device(options.device).type, **arguments):
        yield
    for reason, count in rmcp.torch.stats().reasons.items():
        fallbacks[reason] = fallbacks.get(reason, 0) + count


# ---- networks, so that torchvision need not be there ----

class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        def norm(conv):
            return nn.Sequential(conv, nn.BatchNorm2d(conv.out_channels))
        self.body = nn.Sequential(norm(nn.Conv2d(inputs, width, 1, bias=False)), nn.ReLU(),
                                  norm(nn.Conv2d(width, width, 3, stride, 1, bias=False)), nn.ReLU(),
                                  norm(nn.Conv2d(width, 4 * width, 1, bias=False)))
        nn.init.zeros_(self.body[-1][1].weight)  # a usual start, and far less chaotic
        self.skip = nn.Identity()
        if stride > 1 or inputs != 4 * width:
            self.skip = norm(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False))

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


def initialised(model):
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return model.to(options.device)


def resnet50(blocks=(3, 4, 6, 3)):
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for i, count in enumerate(blocks):
        for j in range(count):
            layers.append(Bottleneck(inputs, 64 << i, 2 if i and not j else 1))
            inputs = 4 * (64 << i)
    return initialised(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 100)))


def vgg16():
    torch.manual_seed(0)
    layers, inputs = [], 3
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if width:
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU()]
            inputs = width
        else:
            layers.append(nn.MaxPool2d(2))
    return initialised(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(), nn.Linear(25088, 512), nn.ReLU(),
                                     nn.Linear(512, 100)))


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
                         nn.Conv2d(32, 64, 3, stride=2, groups=2), nn.ReLU(), nn.ConvTranspose2d(64, 16, 2, stride=2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)).to(options.device)


def data(batch, size, classes=100, form=torch.contiguous_format):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(batch, 3, size, size, generator=generator).to(options.device).contiguous(memory_format=form)
    return x, torch.randint(classes, (batch,), generator=generator).to(options.device)


def train(model, x, labels, steps, lr=0.002, autocast=None, scaler=None):
    """Losses of a few steps on one batch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        kind = torch.device(options.device).type
        with torch.autocast(kind, dtype=autocast) if autocast else contextlib.nullcontext():
            loss = F.cross_entropy(model(x), labels)
        if scaler:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
        losses.append(loss.detach())
    return [float(loss) for loss in losses]


def milliseconds(model, x, labels, steps):
    """Mean time of a training step after some that are not counted."""
    train(model, x, labels, 3)
    wait()
    start = time.perf_counter()
    train(model, x, labels, steps)
    wait()
    return (time.perf_counter() - start) / steps * 1e3


def count_passes(model, steps):
    """Every convolution ran in RMCP, in every step; the first of a network needs no input gradient."""
    n = sum(isinstance(module, CONVOLUTIONS) for module in model.modules())
    expected = {"forward": n * steps, "input gradient": (n - 1) * steps, "weight gradient": n * steps}
    got = rmcp.torch.stats().by_pass
    check(got == expected, f"RMCP did {got}, not {expected}")


# ---- sections ----

@section
def sweep():
    judge = support.sweep(options.device, options.cases, seed=20)
    return f"{options.cases} random calls, {judge.passes} passes in RMCP, all within the bound"


def losses_and_times(make, batch, size, steps, lr=0.002):
    x, labels = data(batch, size)
    exact = train(make().double(), x.double(), labels, steps, lr)
    theirs = train(make(), x, labels, steps, lr)
    model = make()
    with ours():
        got = train(model, x, labels, steps, lr)
    count_passes(model, steps)
    bound = FACTOR * max(abs(a - b) for a, b in zip(theirs, exact)) + FLOOR
    worst = max(abs(a - b) for a, b in zip(got, exact))
    between = max(abs(a - b) for a, b in zip(got, theirs))
    text = (f"losses {got[0]:.4f} … {got[-1]:.4f} (PyTorch {theirs[-1]:.4f}, float64 {exact[-1]:.4f}); RMCP - float64 "
            f"{worst:.2e}, bound {bound:.2e}, RMCP - PyTorch {between:.2e}")
    check(bound < 0.02 * exact[0], "a bound too loose to mean anything: " + text)
    check(worst <= bound, text)
    return text


def step_times(make, batch, size, steps):
    x, labels = data(batch, size)
    torch.backends.cudnn.benchmark = True
    try:
        theirs = milliseconds(make(), x, labels, steps)
        with ours():
            got = milliseconds(make(), x, labels, steps)
        text = f"batch {batch} at {size}x{size}, float32: RMCP {got:.1f} ms per step, PyTorch {theirs:.1f}"
        if gpu():
            torch.backends.cudnn.allow_tf32 = True
            text += f", PyTorch with TF32 {milliseconds(make(), x, labels, steps):.1f}"
        return text
    finally:
        torch.backends.cudnn.benchmark = torch.backends.cudnn.allow_tf32 = False


@section
def resnet50_losses():
    return losses_and_times(resnet50, 16 if gpu() else 4, 128 if gpu() else 64, 20 if gpu() else 2)


@section
def vgg16_losses():
    # Without batch normalisation a larger step size doubles a rounding error at every step.
    return losses_and_times(vgg16, 16 if gpu() else 2, 128 if gpu() else 32, 20 if gpu() else 2, lr=2e-4)


@section
def resnet50_times():
    return step_times(resnet50, 32 if gpu() else 2, 224 if gpu() else 64, 10 if gpu() else 1)


@section
def vgg16_times():
    return step_times(vgg16, 32 if gpu() else 2, 224 if gpu() else 32, 10 if gpu() else 1)


@section
def autocast_float16():
    dtype = torch.float16 if gpu() else torch.bfloat16
    x, labels = data(8, 64, 10)

    def run(model):
        scaler = torch.cuda.amp.GradScaler() if gpu() else None
        return train(model, x, labels, 10, 0.05, dtype, scaler)

    exact = train(small(), x, labels, 10, 0.05)
    model = small()
    with ours():
        got = run(model)
    count_passes(model, 10)
    types = {row.case.split(":")[1] for row in rmcp.torch.stats().rows}  # CPU autocast may leave some out
    check(types == {"f16"} if gpu() else "bf16" in types, f"types {types}")
    theirs = run(small()) if gpu() else exact  # bfloat16 of PyTorch stops on some CPUs
    worst = max(abs(a - b) for a, b in zip(got, exact))
    bound = 4 * max(abs(a - b) for a, b in zip(theirs, exact)) + 0.02
    check(worst <= bound, f"{worst:.2e} from float32, bound {bound:.2e}")
    return f"losses {worst:.2e} from float32, PyTorch {max(abs(a - b) for a, b in zip(theirs, exact)):.2e}"


@section
def channels_last():
    x, labels = data(8, 48, 10, torch.channels_last)
    expected = train(small(), x, labels, 5)
    model = small().to(memory_format=torch.channels_last)
    with ours():
        output = model[0](x)
        check(output.is_contiguous(memory_format=torch.channels_last), "the output is not channels_last")
        rmcp.torch.reset_stats()
        got = train(model, x, labels, 5)
    count_passes(model, 5)
    layouts = {row.case.split(":")[2] for row in rmcp.torch.stats().rows}
    check(layouts == {"nhwc"}, f"layouts {layouts}")
    worst = max(abs(a - b) for a, b in zip(got, expected))
    check(worst < 1e-3, f"losses differ by {worst:.2e}")
    return f"all in NHWC; losses {worst:.2e} apart"


@section
def volumes():
    """3-D outputs have the strides that PyTorch's have, twice: the second call may go another way."""
    x, w = torch.randn(2, 8, 6, 7, 8, device=options.device), torch.randn(8, 8, 3, 3, 3, device=options.device)
    formats = (torch.contiguous_format, torch.channels_last_3d)
    for form_x in formats:
        for form_w in formats:
            tensors = x.contiguous(memory_format=form_x), w.contiguous(memory_format=form_w)
            for call in (F.conv3d, F.conv_transpose3d):
                expected = call(*tensors)
                with ours():
                    for _ in range(2):
                        got = call(*tensors)
                check(got.stride() == expected.stride(), f"strides {got.stride()}, PyTorch's {expected.stride()}")
                check(float((got - expected).abs().max()) < 1e-3, "wrong values")
    return "strides as PyTorch's"


@section
def optimized():
    """torch.jit.optimize_for_inference makes fused convolutions on a GPU: these are ours, too."""
    need_gpu()
    model = torch.jit.script(nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU())
                             .to(options.device).eval())
    x = torch.randn(2, 3, 16, 16, device=options.device)
    with torch.no_grad():
        expected = model(x)
        fused = torch.jit.optimize_for_inference(model)
        with ours():
            got = fused(x)
    calls = rmcp.torch.stats().calls
    check(calls == 2, f"{calls} convolutions of 2 in RMCP")
    check(float((got - expected).abs().max()) < 1e-4, "wrong values")
    return "cudnn_convolution_relu" if "convolution_relu" in str(fused.graph) else "no fused convolution was made"


@section
def compiled():
    if not hasattr(torch, "compile"):
        raise Skip("no torch.compile")
    x, labels = data(8, 48, 10)
    expected = train(small(), x, labels, 5)
    model = small()
    with ours():
        got = train(torch.compile(model), x, labels, 5)
    count_passes(model, 5)
    worst = max(abs(a - b) for a, b in zip(got, expected))
    check(worst < 1e-3, f"losses differ by {worst:.2e}")
    return f"inductor: all passes in RMCP, losses {worst:.2e} apart"


@section
def graphs():
    need_gpu()
    model = small().train()
    inputs = [data(8, 48, 10)[0] + i for i in range(3)]
    labels = data(8, 48, 10)[1]

    def step(model, x):
        model.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), labels)
        loss.backward()
        return loss

    reference = copy.deepcopy(model)
    expected = []
    for x in inputs:
        loss = step(reference, x)
        expected.append((float(loss), [p.grad.clone() for p in reference.parameters()]))
    with ours():
        x = inputs[0].clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # plans and kernels before the capture
            for _ in range(3):
                step(model, x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        model.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            loss = step(model, x)
        count = rmcp.torch.stats().calls
        for value, (wanted, grads) in zip(inputs, expected):
            x.copy_(value)
            graph.replay()
            check(abs(float(loss) - wanted) < 1e-4, f"loss {float(loss)} after replay, not {wanted}")
            for p, g in zip(model.parameters(), grads):
                error = float((p.grad - g).abs().max() / g.abs().max().clamp_min(1e-6))
                check(error < 1e-3, f"a gradient is {error:.2e} off after replay")
        check(rmcp.torch.stats().calls == count, "replaying called Python")
    return "forward and backward captured once, replayed with three inputs"


@section
def streams():
    need_gpu()
    torch.backends.cudnn.deterministic = True  # the same bits each time
    try:
        weights = [torch.randn(64, 64, 3, 3, device="cuda") * 0.05 for _ in range(2)]
        starts = [torch.randn(8, 64, 56, 56, device="cuda") for _ in range(2)]

        def chain(i):
            x = starts[i]
            for _ in range(20):  # what is freed here is taken again by the same stream
                x = torch.tanh(F.conv2d(x, weights[i], padding=1))
            return x

        with ours():
            expected = [chain(i) for i in range(2)]
            wait()
            for _ in range(5):
                queues, got = [torch.cuda.Stream() for _ in range(2)], [None, None]
                for i, queue in enumerate(queues):
                    queue.wait_stream(torch.cuda.current_stream())
                    with torch.cuda.stream(queue):
                        got[i] = chain(i)
                wait()
                check(all(torch.equal(a, b) for a, b in zip(got, expected)), "two streams: other bits")

            def work(i):
                with torch.cuda.stream(queues[i]):
                    got[i] = chain(i)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            wait()
            check(all(torch.equal(a, b) for a, b in zip(got, expected)), "two threads: other bits")
    finally:
        torch.backends.cudnn.deterministic = False
    return "two streams, from one thread and from two: the same bits as one stream"


@section
def no_waiting():
    need_gpu()
    model, (x, labels) = small(), data(8, 48, 10)
    with ours():
        def step():
            F.cross_entropy(model(x), labels).backward()
        step()
        torch.cuda.set_sync_debug_mode("error")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        # A kernel of some milliseconds first: when the calls return before it ends, none of them waited.
        busy = torch.randn(8192, 8192, device="cuda")
        wait()
        with torch.no_grad():
            for _ in range(20):
                busy = busy @ busy * 1e-4
            done = torch.cuda.Event()
            done.record()
            model(x)
            check(not done.query(), "a convolution waited for the GPU (or the GPU is too fast for this test)")
        wait()
    return "a training step under set_sync_debug_mode('error'); the host runs ahead of the GPU"


@section
def deterministic():
    x, labels = data(8, 48, 10)
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with ours(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = nn.Conv2d(3, 32, 3).to(options.device)
            grads = []
            for _ in range(3):
                model.zero_grad()
                model(x).square().sum().backward()
                grads.append(model.weight.grad.clone())
        check(all(torch.equal(grads[0], g) for g in grads[1:]), "other bits in another run")
    finally:
        torch.use_deterministic_algorithms(False)
    return "the same bits three times"


@section
def inference():
    model, (x, _) = small().eval(), data(4, 48, 10)
    expected = model(x)
    with ours(), torch.inference_mode():
        got = model(x)
    check(rmcp.torch.stats().by_pass["forward"] == 3, str(rmcp.torch.stats().by_pass))
    error = float((got - expected).abs().max())
    check(error < 1e-4, f"{error:.2e} apart")
    return f"inference_mode: {error:.1e} apart"


@section
def wrong_device():
    need_gpu()
    with ours():
        try:
            F.conv2d(torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3, device="cuda"))
        except RuntimeError as error:
            check("the input is on cpu but the weight is on cuda:0" in str(error), str(error))
            return str(error)
    raise AssertionError("no exception")


@section
def unsupported():
    x = torch.randn(1, 3, 8, 8, device=options.device).double()
    w = torch.randn(4, 3, 3, 3, device=options.device).double()
    rmcp.torch.reset_stats()
    with rmcp.torch.enabled(torch.device(options.device).type), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        F.conv2d(x, w)
    check(rmcp.torch.stats().fallbacks == 1 and len(caught) == 1, "no warning, or no count")
    return str(caught[0].message)


@section
def host_time():
    layer, x = nn.Conv2d(16, 16, 3).to(options.device), torch.randn(1, 16, 8, 8, device=options.device)

    def microseconds():
        with torch.no_grad():
            for _ in range(20):
                layer(x)
            wait()
            start = time.perf_counter()
            for _ in range(500):
                layer(x)
            seconds = time.perf_counter() - start
            wait()
        return seconds / 500 * 1e6

    theirs = microseconds()
    with ours():
        got = microseconds()
    return f"host time of a tiny forward call: RMCP {got:.0f} us, PyTorch {theirs:.0f} us"


@section
def layers():
    model, (x, _) = resnet50((1, 1, 1, 1)), data(8 if gpu() else 2, 128 if gpu() else 64)
    with ours(timing=True):
        model(x).sum().backward()
    check(all(row.seconds for row in rmcp.torch.stats().rows), "a layer without a time")
    print(rmcp.torch.stats())
    report = rmcp.torch.report(small(), data(8, 48, 10)[0])
    print(report)
    check(report.worst < 1e-3, f"report(): {report.worst:.2e}")
    return f"stats() with times; report(): worst difference {report.worst:.1e}"


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    name = torch.cuda.get_device_name() if gpu() else "the CPU"
    print(f"PyTorch {torch.__version__}, librmcp {rmcp.version()}, {name}", flush=True)
    print("RMCP devices:", ", ".join(info.spec.decode() for info in rmcp.devices() if info.usable), flush=True)
    rows = []
    for title in [title for title in options.only.split(",") if title] or sections:
        start = time.perf_counter()
        try:
            result, text = "ok", sections[title]()
        except Skip as skip:
            result, text = "skipped", str(skip)
        except Exception as error:  # the other sections still run
            traceback.print_exc()
            result, text = "FAILED", f"{type(error).__name__}: {error}".splitlines()[0][:300]
            rmcp.torch.disable()
        rows.append({"section": title, "result": result, "seconds": time.perf_counter() - start, "text": text})
        print(f"{title}: {result} ({rows[-1]['seconds']:.1f} s): {text}", flush=True)
    print("\n== summary")
    for row in rows:
        print(f"{row['section']:18} {row['result']:8} {row['seconds']:6.1f} s  {row['text']}")
    print(f"fallbacks to PyTorch's own kernels: {sum(fallbacks.values())} {fallbacks or ''}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"torch": torch.__version__, "device": name, "sections": rows, "fallbacks": fallbacks}, file,
                      indent=1)
    return int(any(row["result"] == "FAILED" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
