"""The differentiable convolution: aten::convolution's arguments in, RMCP's operators below.

A convolution is linear in each of its two factors, so each of its gradients is again a convolution
of one of the three kinds, and gradients of any order stay in RMCP.
"""
import contextlib

import torch

from . import _config, _engine, _native, _ops, _problem, _stats
from ._problem import conf_of

_rmcp = torch.ops.rmcp
observer = None  # report() looks at every call through it


def _wants_graph(*tensors):
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def _apply(input, weight, bias, conf, last):
    if _wants_graph(input, weight, bias):
        return Convolution.apply(input, weight, bias, conf, last)
    return _forward(input, weight, bias, conf, last)


def _input_gradient(grad, weight, size, conf, last):
    if _wants_graph(grad, weight):
        return InputGradient.apply(grad, weight, size, conf, last)
    return _below_input_gradient(grad, weight, size, conf, last)


def _weight_gradient(grad, input, size, conf, last):
    if _wants_graph(grad, input):
        return WeightGradient.apply(grad, input, size, conf, last)
    return _below_weight_gradient(grad, input, size, conf, last)


_engine_wants = torch._C._will_engine_execute_node


def _wanted(ctx):
    """Which gradients will be used: torch.autograd.grad may ask for that of the input alone."""
    wanted = list(ctx.needs_input_grad[:3])
    if sum(wanted) > 1:
        nodes = ctx.next_functions
        for i in range(3):
            try:
                wanted[i] = wanted[i] and _engine_wants(nodes[i][0])
            except RuntimeError:
                pass  # it is not the engine that calls, or the program asks for this very tensor's gradient
    return wanted


def _check_saved(saved, size, grad):
    """Raise when a hook on saved tensors gave another tensor back: its memory will be read as that of the one saved."""
    if saved.shape != size or saved.dtype != grad.dtype or saved.device != grad.device:
        raise RuntimeError(f"rmcp.torch: a saved tensor came back as {tuple(saved.shape)} of {saved.dtype} on "
                           f"{saved.device}; it was {tuple(size)} of {grad.dtype} on {grad.device}")


# Below autograd: through the operators where somebody may be looking, else without that detour.

def _forward(input, weight, bias, conf, last):
    if _problem.unobserved(input, weight, bias):
        return _ops.forward(input, weight, bias, conf, last)
    return _rmcp.conv_forward(input, weight, bias, *conf, last)


def _below_input_gradient(grad, weight, size, conf, last):
    if _problem.unobserved(grad, weight):
        return _ops.input_gradient(grad, weight, size, conf, last)
    return _rmcp.conv_input_gradient(grad, weight, size, *conf, last)


def _below_weight_gradient(grad, input, size, conf, last):
    if _problem.unobserved(grad, input):
        return _ops.weight_gradient(grad, input, size, conf, last)
    return _rmcp.conv_weight_gradient(grad, input, size, *conf, last)


class Convolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias, conf, last):
        ctx.conf, ctx.last = conf, last
        ctx.sizes = input.shape, weight.shape
        # Only what a gradient needs is kept: a frozen layer does not hold its input.
        ctx.save_for_backward(input if ctx.needs_input_grad[1] else None,
                              weight if ctx.needs_input_grad[0] else None)
        return _forward(input, weight, bias, conf, last)

    @staticmethod
    def backward(ctx, grad):
        input, weight = ctx.saved_tensors
        grads = [None] * 5
        wanted = _wanted(ctx)
        if wanted[0]:
            _check_saved(weight, ctx.sizes[1], grad)
            grads[0] = _input_gradient(grad, weight, ctx.sizes[0], ctx.conf, ctx.last)
        if wanted[1]:
            _check_saved(input, ctx.sizes[0], grad)
            grads[1] = _weight_gradient(grad, input, ctx.sizes[1], ctx.conf, ctx.last)
        if wanted[2]:
            # Summed in float32 whatever the type, as RMCP sums.
            grads[2] = grad.sum([0, *range(2, grad.dim())], dtype=torch.float32).to(grad.dtype)
        return tuple(grads)


class InputGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, grad, weight, size, conf, last):
        ctx.conf, ctx.last, ctx.weight_size = conf, last, weight.shape
        ctx.save_for_backward(grad, weight)
        return _below_input_gradient(grad, weight, size, conf, last)

    @staticmethod
    def backward(ctx, second):
        grad, weight = ctx.saved_tensors
        grads = [None] * 5
        if ctx.needs_input_grad[0]:
            grads[0] = _apply(second, weight, None, ctx.conf, ctx.last)
        if ctx.needs_input_grad[1]:
            grads[1] = _weight_gradient(grad, second, ctx.weight_size, ctx.conf, ctx.last)
        return tuple(grads)


class WeightGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, grad, input, size, conf, last):
        ctx.conf, ctx.last, ctx.input_size = conf, last, input.shape
        ctx.save_for_backward(grad, input)
        return _below_weight_gradient(grad, input, size, conf, last)

    @staticmethod
    def backward(ctx, second):
        grad, input = ctx.saved_tensors
        grads = [None] * 5
        if ctx.needs_input_grad[0]:
            grads[0] = _apply(input, second, None, ctx.conf, ctx.last)
        if ctx.needs_input_grad[1]:
            grads[1] = _input_gradient(grad, second, ctx.input_size, ctx.conf, ctx.last)
        return tuple(grads)


class PyTorchsOwn(torch.autograd.Function):
    """aten::convolution as PyTorch differentiates it, where it is left to PyTorch and somebody looks on."""

    @staticmethod
    def forward(ctx, input, weight, bias, conf):
        ctx.conf = conf
        ctx.bias_size = None if bias is None else [bias.shape[0]]
        ctx.save_for_backward(input, weight)
        return _ops.seen_forward(input, weight, bias, conf)

    @staticmethod
    def backward(ctx, grad):
        input, weight = ctx.saved_tensors
        return (*_ops.pytorch_backward(grad, input, weight, ctx.conf, ctx.needs_input_grad[:3], ctx.bias_size), None)


def _beyond_classes(input, weight, bias):
    """Whether a graph is wanted of sizes that are symbols, in a PyTorch (1.13) whose autograd.Function takes none."""
    return _ops.OLD_SYMBOLS and _wants_graph(input, weight, bias) and _problem.symbolic(input, weight)


def _is_seen(input, weight, bias):
    """Whether modes or tracers other than torch.jit's see what PyTorch does with a convolution. It then comes by
    here once more, below autograd, if it is computed. Transforms do not see it, and take no class of ours."""
    return not _problem.unobserved(input, weight) and torch._C._get_tracing_state() is None and \
        _problem.under_transform(input, weight, bias) is None and not _beyond_classes(input, weight, bias)


def _pytorchs_own(input, weight, bias, conf):
    if bias is not None and _beyond_classes(input, weight, bias):  # nor does _convolution take a bias there
        for _ in range(input.dim() - 2):
            bias = bias.unsqueeze(-1)
        return _ops.pytorch_forward(input, weight, None, conf) + bias
    if not _is_seen(input, weight, bias):
        return _ops.pytorch_forward(input, weight, bias, conf)
    if _wants_graph(input, weight, bias):
        return PyTorchsOwn.apply(input, weight, bias, conf)
    return _ops.seen_forward(input, weight, bias, conf)


def _refusal(input, weight, bias, conf):
    """Why PyTorch's own operator is to do it: a reason, "" where that is no news, or None: RMCP does it."""
    _problem.same_device(input, weight, bias)
    if _problem.malformed(input, weight, bias, conf):
        return ""  # PyTorch's message says what is wrong
    if observer is not None:
        observer(input, weight, bias, conf)
    reason = _problem.refusal(input, weight, bias, conf)
    if reason is None and _beyond_classes(input, weight, bias):
        reason = "this PyTorch does not differentiate tensors of symbolic sizes"
    if reason is None and (input.numel() == 0 or weight.numel() == 0):
        return ""  # nothing to compute: PyTorch returns empty tensors and zero gradients without a kernel
    return reason


@contextlib.contextmanager
def _untraced():
    """torch.jit.trace sees nothing of what happens inside."""
    state = torch._C._get_tracing_state()
    torch._C._set_tracing_state(None)
    try:
        yield
    finally:
        torch._C._set_tracing_state(state)


class _Known:
    """What was decided of a signature."""

    __slots__ = ("conf", "last", "reason", "row")

    def __init__(self, conf, last, reason):
        self.conf, self.last = conf, last
        self.reason = reason  # why PyTorch does it; None: RMCP does
        self.row = None       # of the table, once such a call was counted


_known = {}  # by signature
MAX_KNOWN = 1024


def forget():
    """Decide anew: the settings have changed."""
    _known.clear()


def _plan_refusal(input, weight, bias, conf, last):
    """Why RMCP has no plan for a forward pass on memory that is there; None: it has."""
    try:
        _engine.prepare(0, input, (input.shape, weight.shape), conf, last, bias is not None and not conf[3])
    except _engine.Refused as refused:
        return str(refused)
    return None


def _leave(input, weight, bias, known):
    """Count, and warn or raise, for a call that PyTorch's own operator does."""
    if _is_seen(input, weight, bias):  # counted when it comes by again
        _config.refused(known.reason, _config.current.strict)
        return
    if known.row is not None and _stats.count_again(known.row, "", None):
        return  # and warned of before
    _config.refused(known.reason, _config.current.strict)
    if type(input) in _problem.REAL_TYPES:
        known.row = _ops.note_fallback(0, input.shape, weight.shape, input, known.conf, known.reason)


def _look(input, weight, bias, arguments, signature):
    """Decide, and remember it under the signature. None: PyTorch does it, which is no news."""
    conf = conf_of(max(input.dim() - 2, 1), *arguments)
    reason = _refusal(input, weight, bias, conf)
    last = reason is None and _problem.channels_last(input, weight, bias, conf)
    if reason is None and signature is not None:
        reason = _plan_refusal(input, weight, bias, conf, last)
    if reason == "":
        return None
    known = _Known(conf, last, reason)
    if signature is not None:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        _known[signature] = known
    return known


def _decide(input, weight, bias, arguments):
    """(configuration, channels_last, whether PyTorch's own operator is to do it)."""
    signature = known = None
    if not _config.DISABLED:
        signature = _problem.signature(input, weight, bias, arguments)
        if observer is not None or _problem.under_transform(input, weight, bias) is not None:
            signature = None
        try:
            known = _known.get(signature)
        except TypeError:  # symbols of a tracer among the arguments
            signature = None
        known = known or _look(input, weight, bias, arguments, signature)
    if known is None:
        return conf_of(max(input.dim() - 2, 1), *arguments), False, True
    if known.reason is not None:
        _leave(input, weight, bias, known)
    if _native.active and signature is not None and _problem.unobserved(input, weight):
        text = "" if known.reason is None else _ops.describe(input.shape, weight.shape, input.dtype, known.conf)
        _native.admit(input, weight, bias, arguments, known.last, text, known.reason or "")
    return known.conf, known.last, known.reason is not None


def _traced(input, weight, bias, arguments):
    """What torch.jit.trace gets to see: one node; or None: PyTorch's own operator. And the configuration."""
    with _untraced():
        conf, _, leave = _decide(input, weight, bias, arguments)
    if leave or torch.onnx.is_in_onnx_export():
        return None, conf
    return _rmcp.convolution(input, weight, bias, *conf), conf


def convolution(input, weight, bias, *arguments):
    """What stands in for aten::convolution above autograd."""
    if torch._C._get_tracing_state() is None:
        conf, last, leave = _decide(input, weight, bias, arguments)
        return _pytorchs_own(input, weight, bias, conf) if leave else _apply(input, weight, bias, conf, last)
    output, conf = _traced(input, weight, bias, arguments)
    return _pytorchs_own(input, weight, bias, conf) if output is None else output


def convolution_below_autograd(input, weight, bias, *arguments):
    """The same for inference_mode, which skips autograd."""
    if torch._C._get_tracing_state() is None:
        conf, last, leave = _decide(input, weight, bias, arguments)
        output = None if leave else _forward(input, weight, bias, conf, last)
    else:
        output, conf = _traced(input, weight, bias, arguments)
    return _ops.pytorch_forward(input, weight, bias, conf) if output is None else output


def slow_input_gradient(grad, weight, size, *rest):
    """What native.cpp calls where it has no plan, or a graph is wanted."""
    return _input_gradient(grad, weight, tuple(size), conf_of(grad.dim() - 2, *rest[:6]), rest[6])


def slow_weight_gradient(grad, input, size, *rest):
    return _weight_gradient(grad, input, tuple(size), conf_of(grad.dim() - 2, *rest[:6]), rest[6])


def named_convolution(input, weight, bias, *arguments):
    """rmcp::convolution, which the modules call and torch.jit.trace records."""
    if torch._C._get_tracing_state() is None:
        return convolution(input, weight, bias, *arguments)
    with _untraced():
        return convolution(input, weight, bias, *arguments)


def named_convolution_below_autograd(input, weight, bias, *arguments):
    with _untraced():
        return convolution_below_autograd(input, weight, bias, *arguments)
