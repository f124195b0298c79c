"""The operators rmcp::conv_*: what the tracers of torch.compile and torch.jit see instead of aten's.

conv_forward, conv_input_gradient and conv_weight_gradient compute one pass each and know nothing of
autograd. `channels_last` says the format of everything they return, so that the shape functions for
tracing and the kernels cannot disagree. Where RMCP has no plan, PyTorch's own kernel gives the
result.
"""
import contextlib
import sys

import torch
from torch import _meta_registrations

from . import _config, _engine, _problem, _stats
from ._problem import conf_of, memory_format

INT_CONF = "int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups"
# Where aten::convolution takes symbols (2.0 and later), so do these.
OLD_SYMBOLS = int(torch.__version__.split(".")[0]) < 2
_SIZES, _CONF = ("int[]", INT_CONF) if OLD_SYMBOLS else ("SymInt[]", INT_CONF.replace("int", "SymInt"))
SCHEMAS = (
    f"convolution(Tensor input, Tensor weight, Tensor? bias, {_CONF}) -> Tensor",
    f"conv_forward(Tensor input, Tensor weight, Tensor? bias, {_CONF}, bool channels_last) -> Tensor",
    f"conv_input_gradient(Tensor grad, Tensor weight, {_SIZES} input_size, {_CONF}, bool channels_last)"
    " -> Tensor",
    f"conv_weight_gradient(Tensor grad, Tensor input, {_SIZES} weight_size, {_CONF}, bool channels_last)"
    " -> Tensor",
)


def _empty(size, like, last):
    return torch.empty(size, dtype=like.dtype, device=like.device, memory_format=memory_format(len(size), last))


def describe(input_size, weight_size, dtype, conf):
    """A layer that RMCP did not take, in words for the table of stats()."""
    text = f"{tuple(input_size)} * {tuple(weight_size)} {str(dtype).replace('torch.', '')}"
    return text + (" transposed" if conf[3] else "")


def note_fallback(operation, input_size, weight_size, like, conf, reason):
    """Count a pass that PyTorch's own kernel does; returns its row, which may be missing."""
    name, device = _engine.OPERATIONS[operation], str(like.device)
    key = (tuple(input_size), tuple(weight_size), like.dtype, conf, device, name, reason)
    return _stats.count(key, lambda: _stats.Row(describe(input_size, weight_size, like.dtype, conf), name, device,
                                                reason))


def _refused(operation, input_size, weight_size, like, conf, reason):
    _config.refused(reason, _config.current.strict)
    _engine.latest.reason = reason
    note_fallback(operation, input_size, weight_size, like, conf, reason)


_cudnn = (torch._C._get_cudnn_benchmark, torch._C._get_cudnn_deterministic, torch._C._get_cudnn_enabled,
          torch._C._get_cudnn_allow_tf32)


def pytorch_forward(input, weight, bias, conf):
    """PyTorch's own convolution, which aten::_convolution still leads to; differentiable."""
    benchmark, deterministic, enabled, allow_tf32 = _cudnn
    function = torch._convolution if _problem.unobserved(input, weight) else torch.ops.aten._convolution
    return function(input, weight, bias, *map(_listed, conf), benchmark(),
                    deterministic() or torch.are_deterministic_algorithms_enabled(), enabled(), allow_tf32())


_below_autograd = torch._C._AutoDispatchBelowAutograd
if not hasattr(_below_autograd, "__enter__"):  # 1.13: in force as long as the object lives
    @contextlib.contextmanager
    def _below_autograd():
        guard = torch._C._AutoDispatchBelowAutograd()
        try:
            yield
        finally:
            del guard


def seen_forward(input, weight, bias, conf):
    """PyTorch's own convolution under the name by which tracers and modes know it; below autograd."""
    with _below_autograd():
        return torch.ops.aten.convolution.default(input, weight, bias, *map(_listed, conf))


def _listed(value):
    return list(value) if isinstance(value, tuple) else value


def pytorch_backward(grad, input, weight, conf, mask, bias_size=None):
    """PyTorch's own gradients with respect to input, weight and bias, as far as `mask` asks for them."""
    return torch.ops.aten.convolution_backward(grad, input, weight, bias_size, *map(_listed, conf), list(mask))


def forward(input, weight, bias, conf, last):
    """One pass on memory that is there, below autograd."""
    form = memory_format(input.dim(), last)
    sizes = input.shape, weight.shape
    output = _empty(_problem.known_output_size(*sizes, conf), input, last)
    try:
        _engine.run(0, input.contiguous(memory_format=form), weight.contiguous(memory_format=form), output,
                    None if bias is None or conf[3] else bias.contiguous(), sizes, conf, last)
    except _engine.Refused as refused:
        _refused(0, *sizes, input, conf, str(refused))
        return pytorch_forward(input, weight, bias, conf).contiguous(memory_format=form)
    if conf[3] and bias is not None:
        output += bias.view(-1, *[1] * (input.dim() - 2))
    return output


def input_gradient(grad, weight, input_size, conf, last):
    form = memory_format(grad.dim(), last)
    sizes = torch.Size(input_size), weight.shape
    result = _empty(input_size, grad, last)
    try:
        _engine.run(1, result, weight.contiguous(memory_format=form), grad.contiguous(memory_format=form), None,
                    sizes, conf, last)
    except _engine.Refused as refused:
        _refused(1, *sizes, grad, conf, str(refused))
        result = pytorch_backward(grad, result, weight, conf, (True, False, False))[0].contiguous(memory_format=form)
    return result


def weight_gradient(grad, input, weight_size, conf, last):
    form = memory_format(grad.dim(), last)
    sizes = input.shape, torch.Size(weight_size)
    result = _empty(weight_size, grad, last)
    try:
        _engine.run(2, input.contiguous(memory_format=form), result, grad.contiguous(memory_format=form), None,
                    sizes, conf, last)
    except _engine.Refused as refused:
        _refused(2, *sizes, grad, conf, str(refused))
        result = pytorch_backward(grad, input, result, conf, (False, True, False))[1].contiguous(memory_format=form)
    return result


def conv_forward(input, weight, bias, *rest):
    return forward(input, weight, bias, conf_of(input.dim() - 2, *rest[:6]), rest[6])


def conv_input_gradient(grad, weight, input_size, *rest):
    return input_gradient(grad, weight, input_size, conf_of(grad.dim() - 2, *rest[:6]), rest[6])


def conv_weight_gradient(grad, input, weight_size, *rest):
    return weight_gradient(grad, input, weight_size, conf_of(grad.dim() - 2, *rest[:6]), rest[6])


_told = False


def _tell_inductor():
    """Our operators are to be called as they are: torch.compile need not guess that (implicit_fallbacks), nor may it
    choose other formats. Done when it traces them, for it is not loaded before."""
    global _told
    lowering = sys.modules.get("torch._inductor.lowering")
    if _told or not hasattr(lowering, "constrain_to_fx_strides"):
        return
    _told = True
    for name in ("conv_forward", "conv_input_gradient", "conv_weight_gradient"):
        operator = getattr(torch.ops.rmcp, name).default
        if operator not in lowering.lowerings:
            lowering.make_fallback(operator, layout_constraint=lowering.constrain_to_fx_strides, warn=False)


def _meta_forward(input, weight, bias, *rest):
    _tell_inductor()
    conf = conf_of(input.dim() - 2, *rest[:6])
    return _empty(_problem.output_size(input.shape, weight.shape, conf), input, rest[6])


def _meta_gradient(grad, _other, size, *rest):
    _tell_inductor()
    return _empty(size, grad, rest[6])


def _meta_convolution(input, weight, bias, *rest):
    conf = conf_of(input.dim() - 2, *rest)
    return _meta_forward(input, weight, bias, *rest, _problem.channels_last(input, weight, bias, conf))


def define():
    """Define the operators; the library object must be kept alive."""
    library = torch.library.Library("rmcp", "DEF")
    tag = getattr(torch.Tag, "pt2_compliant_tag", None) if hasattr(torch, "Tag") else None
    for schema in SCHEMAS:
        if tag is None:
            library.define(schema)
        else:
            library.define(schema, tags=(tag,))
    for name, kernel, meta in (("conv_forward", conv_forward, _meta_forward),
                               ("conv_input_gradient", conv_input_gradient, _meta_gradient),
                               ("conv_weight_gradient", conv_weight_gradient, _meta_gradient)):
        for key in ("CPU", "CUDA"):
            library.impl(name, kernel, key)
        _define_meta(library, name, meta)
    _define_meta(library, "convolution", _meta_convolution)
    if OLD_SYMBOLS:  # they are traced through this table alone, in which PyTorch's own _convolution is missing
        _meta_registrations.meta_table.setdefault(torch.ops.aten._convolution.default,
                                                  lambda *arguments: _meta_convolution(*arguments[:9]))
    return library


def _define_meta(library, name, meta):
    library.impl(name, meta, "Meta")
    if OLD_SYMBOLS:
        _meta_registrations.meta_table[getattr(torch.ops.rmcp, name).default] = meta
