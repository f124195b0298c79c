"""From the arguments of aten::convolution to a problem of rmcp.h, or to the reason why not."""
import functools

import torch

from .. import _library as c

TYPES = {torch.float32: c.F32, torch.float16: c.F16, torch.bfloat16: c.BF16}
FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def _plain_types():
    """Tensor types whose data we may read or, for the tracers of torch.compile, pass on."""
    types = {torch.Tensor, torch.nn.Parameter}
    try:
        from torch._subclasses import FakeTensor
        types.add(FakeTensor)
        from torch._subclasses.functional_tensor import FunctionalTensor
        types.add(FunctionalTensor)
    except ImportError:
        pass  # an older PyTorch has neither
    return types


PLAIN_TYPES = _plain_types()
REAL_TYPES = {torch.Tensor, torch.nn.Parameter}

_forward_ad = torch.autograd.forward_ad
try:
    from torch._C._functorch import peek_interpreter_stack as _transform  # 2.0 and later
except ImportError:
    _transforms = getattr(torch._C, "_are_functorch_transforms_active", None)  # 1.13, with functorch

    def _transform():
        return True if _transforms is not None and _transforms() else None


_tracing = torch._C._get_tracing_state
_modes = getattr(torch._C, "_len_torch_dispatch_stack", None)
if _modes is None:  # before 2.0
    _mode = getattr(torch._C, "_get_torch_dispatch_mode", None)

    def _modes():
        return _mode is not None and _mode() is not None


def unobserved(*tensors):
    """Whether nobody would notice that an operator is not called by its name: no tracer, transform or mode, and
    tensors that are memory, or None."""
    if _tracing() is not None or _modes() or _transform() is not None or _is_batching():
        return False
    for tensor in tensors:
        if tensor is not None and (type(tensor) not in REAL_TYPES or _functional(tensor) or _is_neg(tensor) or
                                   _is_zeros(tensor)):
            return False
    return True


# Of the plain type are wrappers for functionalisation, tensors that are to be read with the other sign, zeros without
# memory, and the batches of is_grads_batched. An operator that is called by its name gets plain ones instead.
_is_neg, _is_zeros = torch.Tensor.is_neg, torch.Tensor._is_zerotensor


def _is_batching():
    return False


if hasattr(torch._C, "_vmapmode_increment_nesting"):  # is_grads_batched; nothing asks for the depth alone
    def _is_batching():
        depth = torch._C._vmapmode_increment_nesting()
        torch._C._vmapmode_decrement_nesting()
        return depth > 1


_functional = getattr(torch, "_is_functional_tensor", None) or (lambda tensor: False)


@functools.lru_cache(maxsize=4096)
def _conf(n, *arguments):
    def spread(values):
        return values * n if len(values) == 1 else values
    stride, padding, dilation, transposed, output_padding, groups = arguments
    return (spread(stride), spread(padding), spread(dilation), bool(transposed), spread(output_padding), groups)


def conf_of(n, stride, padding, dilation, transposed, output_padding, groups):
    """(stride, padding, dilation, transposed, output_padding, groups) as tuples. Lists of one element
    serve all `n` dimensions, as in PyTorch. Numbers may be symbols of a tracer."""
    arguments = tuple(stride), tuple(padding), tuple(dilation), transposed, tuple(output_padding), groups
    try:
        return _conf(n, *arguments)
    except TypeError:  # symbols cannot be hashed, so they are not remembered
        return _conf.__wrapped__(n, *arguments)


def output_size(input_size, weight_size, conf):
    """Size of the result; may hold numbers below 1 when the arguments make no sense."""
    stride, padding, dilation, transposed, output_padding, groups = conf
    space = []
    for i, (size, taps) in enumerate(zip(input_size[2:], weight_size[2:])):
        reach = dilation[i] * (taps - 1) + 1
        if transposed:
            space.append((size - 1) * stride[i] - 2 * padding[i] + reach + output_padding[i])
        else:
            space.append((size + 2 * padding[i] - reach) // stride[i] + 1)
    channels = weight_size[1] * groups if transposed else weight_size[0]
    return (input_size[0], channels, *space)


known_output_size = functools.lru_cache(maxsize=4096)(output_size)  # for sizes that are plain numbers


def _like_channels_last(tensor):
    """Whether the strides are those of channels_last, decided as PyTorch itself does."""
    size, stride = tensor.shape, tensor.stride()
    least = 0
    if stride[1] == 0:
        return False
    for d in (1, *range(len(size) - 1, 1, -1), 0):
        if size[d] == 0 or stride[d] < least:
            return False
        if d == 0 and least == stride[1]:  # N111, NC11: both orders, so the plain one
            return False
        least = stride[d] * size[d] if size[d] > 1 else stride[d]
    return True


# How PyTorch chooses the format of a result, where it tells (2.0 and later).
_select_backend = getattr(torch._C, "_select_conv_backend", None)
_backend_format = getattr(torch._C, "_conv_determine_backend_memory_format", None)


def _volume_channels_last(input, weight, bias, conf):
    """Whether PyTorch itself gives the result of a 3-D convolution in channels_last_3d: that differs between its
    releases and the kernels that it has."""
    if getattr(torch.version, "hip", None):
        return True
    if _backend_format is None:
        return input.device.type != "cpu"
    try:
        backend = _select_backend(input, weight, bias, *conf[:4], conf[4], conf[5], None)
        return _backend_format(input, weight, backend) == torch.channels_last_3d
    except (RuntimeError, TypeError):
        return True


def channels_last(input, weight, bias, conf):
    """Whether PyTorch would give the result in channels_last."""
    if input.dim() not in FORMATS or not (_like_channels_last(input) or _like_channels_last(weight)):
        return False
    return input.dim() == 4 or type(input) not in REAL_TYPES or _volume_channels_last(input, weight, bias, conf)


def memory_format(dim, last):
    return FORMATS[dim] if last else torch.contiguous_format


def malformed(input, weight, bias, conf):
    """Whether PyTorch has an error message for these arguments."""
    stride, padding, dilation, transposed, output_padding, groups = conf
    n = input.dim() - 2
    if n < 1 or weight.dim() != n + 2 or any(len(v) != n for v in (stride, padding, dilation)):
        return True
    # Each number on its own: the smallest of symbols would bind them to each other.
    if groups < 1 or any(v < 1 for v in (*stride, *dilation)) or any(p < 0 for p in padding):
        return True
    if transposed and (len(output_padding) != n or any(o < 0 for o in output_padding) or any(
            o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation))):
        return True
    if weight.dtype != input.dtype or (bias is not None and bias.dtype != input.dtype):
        return True
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    if input.shape[1] != channels or weight.shape[0] % groups:
        return True
    size = output_size(input.shape, weight.shape, conf)
    if bias is not None and (bias.dim() != 1 or bias.shape[0] != size[1]):
        return True
    return any(s < 1 for s in size[2:])


def symbolic(*tensors):
    """Whether a size is a symbol of a tracer."""
    return any(type(size) is not int for tensor in tensors for size in tensor.shape)


def under_transform(*tensors):
    """Why not, when a transform of torch.func or forward-mode differentiation is at work."""
    if _transform() is not None:
        return "it is under a transform of torch.func"
    if getattr(_forward_ad, "_current_level", -1) >= 0 and any(
            t is not None and _forward_ad.unpack_dual(t).tangent is not None for t in tensors):
        return "it is under forward-mode differentiation"
    return None


def signature(input, weight, bias, arguments):
    """Everything that the decisions below depend on, for tensors that hold data; else None."""
    if type(input) not in REAL_TYPES or type(weight) not in REAL_TYPES or not (
            input.layout is weight.layout is torch.strided):
        return None
    if bias is None:
        third = None
    elif type(bias) in REAL_TYPES and bias.layout is torch.strided:
        third = bias.shape, bias.dtype, bias.device
    else:
        return None
    stride, padding, dilation, transposed, output_padding, groups = arguments
    device = input.device
    return (input.shape, input.stride(), input.dtype, device, weight.shape, weight.stride(), weight.dtype,
            weight.device, third, tuple(stride), tuple(padding), tuple(dilation), transposed, tuple(output_padding),
            groups, torch.get_num_threads() if device.type == "cpu" else 0)


def refusal(input, weight, bias, conf):
    """Why RMCP does not take this call, from what can be seen before planning; None: it does."""
    for tensor in (input, weight) if bias is None else (input, weight, bias):
        if type(tensor) not in PLAIN_TYPES:
            return f"a tensor is of the subclass {type(tensor).__name__}"
        if tensor.layout is not torch.strided:
            return f"a tensor has the layout {tensor.layout}"
    mode = under_transform(input, weight, bias)
    if mode is not None:
        return mode
    if input.dtype not in TYPES:
        return f"the type is {input.dtype}; RMCP has float32, float16 and bfloat16"
    if input.dim() - 2 > c.MAX_DIMS:
        return f"it has {input.dim() - 2} spatial dimensions; RMCP has up to {c.MAX_DIMS}"
    stride, padding, _dilation, transposed, output_padding, _groups = conf
    if transposed and any(p < o - o % s for p, o, s in zip(padding, output_padding, stride)):
        return "output_padding is larger than the stride and the padding"
    return None


def same_device(input, weight, bias):
    """Raise when the tensors do not live together: PyTorch may compute nonsense then."""
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tensor.device != input.device:
            raise RuntimeError(f"rmcp.torch: the input is on {input.device} but the {name} is on "
                               f"{tensor.device}; move the model or the data with .to(device)")


def make(input_size, weight_size, dtype, conf, last, bias):
    """The problem. A transposed convolution is the backward pass of the one that is described:
    its result is x and its input is y."""
    stride, padding, dilation, transposed, output_padding, groups = conf
    n = len(input_size) - 2
    if transposed:
        x_size = output_size(input_size, weight_size, conf)
        end = [p - (o - o % s) for p, o, s in zip(padding, output_padding, stride)]
    else:
        x_size, end = input_size, padding
    problem = c.Problem(dims=n, n=x_size[0], c=x_size[1], k=weight_size[0], groups=groups,
                        type=TYPES[dtype], layout=c.NHWC if last else c.NCHW,
                        bias=int(bias and not transposed))
    for target, values in ((problem.input, x_size[2:]), (problem.filter, weight_size[2:]),
                           (problem.pad_begin, padding), (problem.pad_end, end),
                           (problem.stride, stride), (problem.dilation, dilation)):
        target[:n] = [int(v) for v in values]
    return problem
