"""report(): runs a model once and says of each convolution what ran where, how exactly, how fast."""
import time

import torch

from . import _autograd, _config, _engine, _hook, _native, _ops, _problem, _stats

REPEATS = 3


class Report:
    """What report() returns: .rows (dictionaries), and a table when printed."""

    def __init__(self, rows, reference):
        self.rows = rows
        self.reference = reference
        self.check = _stats.checked()  # what RMCP_CHECK has found, or None

    @property
    def worst(self):
        """The largest difference, relative to the largest value of the result it is in."""
        return max((row["difference"] for row in self.rows if row["difference"] is not None), default=0.0)

    def __str__(self):
        def number(value, scale=1.0):
            return "-" if value is None else _stats._Number(value * scale)

        against = {"pytorch": "PyTorch's own kernels", "cpu": "PyTorch on the CPU", None: "nothing"}[self.reference]
        ours = sum(row["reason"] is None for row in self.rows)
        text = (f"{ours} of {len(self.rows)} passes of convolutions run in RMCP; compared with {against}; "
                "difference: largest error / largest value")
        if _config.DISABLED:
            return "RMCP_DISABLE is set: RMCP does nothing"
        if self.check:
            text += f"\n{self.check}"
        return text + "\n" + _stats.table(
            ["layer", "pass", "shape", "device", "by", "difference", "RMCP ms", "PyTorch ms"],
            [[row["layer"], row["pass"], row["case"], row["device"],
              row["algorithm"] if row["reason"] is None else "PyTorch: " + row["reason"],
              number(row["difference"]), number(row["seconds"], 1e3), number(row["pytorch_seconds"], 1e3)]
             for row in self.rows])


def _timed(function, device):
    """Result and best seconds of a few runs; the first is not counted, it may plan."""
    def wait():
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    result, best = function(), None
    for _ in range(REPEATS):
        wait()
        start = time.perf_counter()
        function()
        wait()
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
    return result, best


class _Observer:
    """Repeats each convolution that a model makes, in RMCP and in PyTorch."""

    def __init__(self, reference, backward):
        self.reference, self.backward = reference, backward
        self.names, self.rows, self.busy = [], [], False

    def watch(self, model):
        """Hooks that keep the name of the running module; returns them."""
        handles = []
        for name, module in model.named_modules():
            handles.append(module.register_forward_pre_hook(
                lambda _module, _inputs, name=name: self.names.append(name)))
            handles.append(module.register_forward_hook(lambda *_: self.names.pop() and None))
        return handles

    def __call__(self, input, weight, bias, conf):
        if self.busy:
            return
        self.busy = True
        try:
            with torch.no_grad():
                self.observe(*(None if t is None else t.detach() for t in (input, weight, bias)), conf)
        finally:
            self.busy = False

    def observe(self, input, weight, bias, conf):
        reason = _problem.refusal(input, weight, bias, conf)
        last = reason is None and _problem.channels_last(input, weight, bias, conf)
        grad = torch.randn_like(_ops.pytorch_forward(input, weight, bias, conf)) if reason else torch.randn(
            _problem.output_size(input.shape, weight.shape, conf), dtype=input.dtype, device=input.device)
        rmcp = torch.ops.rmcp
        passes = [(lambda: rmcp.conv_forward(input, weight, bias, *conf, last),
                   lambda i, w, b, g: _ops.pytorch_forward(i, w, b, conf))]
        if self.backward:
            passes += [(lambda: rmcp.conv_input_gradient(grad, weight, input.shape, *conf, last),
                        lambda i, w, b, g: _ops.pytorch_backward(g, i, w, conf, (True, False, False))[0]),
                       (lambda: rmcp.conv_weight_gradient(grad, input, weight.shape, *conf, last),
                        lambda i, w, b, g: _ops.pytorch_backward(g, i, w, conf, (False, True, False))[1])]
        for operation, (ours, theirs) in enumerate(passes):
            self.rows.append(self.compare(operation, ours, theirs, (input, weight, bias, grad), conf, reason))

    def compare(self, operation, ours, theirs, tensors, conf, reason):
        input, weight = tensors[:2]
        row = {"layer": self.names[-1] if self.names else "", "pass": _engine.OPERATIONS[operation],
               "case": _ops.describe(input.shape, weight.shape, input.dtype, conf), "device": str(input.device),
               "algorithm": None, "reason": reason, "difference": None, "seconds": None, "pytorch_seconds": None}
        got = None
        if reason is None:
            _engine.latest.row = None
            got, row["seconds"] = _timed(ours, input.device)
            ran = _engine.latest.row
            if ran is None:
                row["reason"], row["seconds"] = _engine.latest.reason, None
            else:
                row["case"], row["device"], row["algorithm"] = ran.case, ran.device, ran.algorithm
        if self.reference is None:
            return row
        if self.reference == "cpu":
            # Half types are compared with float32 there: not all PyTorch can do them on the CPU.
            tensors = [None if t is None else t.to("cpu", torch.float32) for t in tensors]
        expected, row["pytorch_seconds"] = _timed(lambda: theirs(*tensors), tensors[0].device)
        if got is not None:
            error = (got.double().cpu() - expected.double().cpu()).abs().max()
            row["difference"] = float(error / expected.double().abs().max().cpu().clamp_min(1e-300))
        return row


def report(model, *inputs, reference="pytorch", backward=True):
    """Run model(*inputs) once; say of each convolution which device and algorithm does it, how far
    the result is from PyTorch's, and the time of both. Print the result for a table.

    reference: "pytorch" repeats each convolution with PyTorch's own kernel on the same device; "cpu"
               on the CPU, for GPUs whose own kernels crash; None leaves the comparison out.
    backward:  also both gradients of each convolution, for a random gradient of its result.
    """
    if reference not in ("pytorch", "cpu", None):
        raise ValueError(f"reference is {reference!r}; it may be 'pytorch', 'cpu' or None")
    if _config.DISABLED:
        _config.say_disabled()
        return Report([], reference)
    observer = _Observer(reference, backward)
    before = _hook.installed()
    if before is None:
        _hook.install(_config.Config(_hook.DEVICE_TYPES))
    handles = observer.watch(model)
    try:
        with _stats.preserved(), torch.no_grad():
            _autograd.observer = observer
            _native.pause(True)
            model(*inputs)
    finally:
        _native.pause(False)
        _autograd.observer = None
        for handle in handles:
            handle.remove()
        if before is None:
            _hook.remove()
    return Report(observer.rows, reference)
