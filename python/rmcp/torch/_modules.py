"""nn.Conv2d and its relatives on RMCP, for choosing layers by hand: same constructor, same state_dict.

They need no enable(): each calls the operator rmcp::convolution by name.
"""
import torch
import torch.nn.functional as F
from torch import nn


def _autocast_dtype(kind):
    """The type that autocast wants for tensors on a kind of device; None when it is off."""
    if hasattr(torch, "get_autocast_dtype"):  # 2.4 and later
        return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
    if kind == "cpu":
        return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else None
    return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else None


def _autocast(tensors):
    """What autocast does to PyTorch's own convolutions."""
    dtype = _autocast_dtype(tensors[0].device.type)
    if dtype is None:
        return tensors
    return [t.to(dtype) if t is not None and t.dtype == torch.float32 else t for t in tensors]


def _call(module, input, weight, bias, padding, transposed, output_padding):
    """rmcp::convolution with or without a batch dimension."""
    n = len(module.kernel_size)
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{type(module).__name__} takes {n + 1} or {n + 2} dimensions; "
                           f"this input has {input.dim()}")
    batched = input if input.dim() == n + 2 else input.unsqueeze(0)
    batched, weight, bias = _autocast([batched, weight, bias])
    output = torch.ops.rmcp.convolution(batched, weight, bias, module.stride, padding, module.dilation, transposed,
                                        output_padding, module.groups)
    return output if input.dim() == n + 2 else output.squeeze(0)


class _Conv:
    def _conv_forward(self, input, weight, bias):
        n = len(self.kernel_size)
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * n
        elif padding == "valid":
            padding = (0,) * n
        elif padding == "same":
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            padding = tuple(t // 2 for t in total)
            if any(t % 2 for t in total):  # one more zero at the end, as in PyTorch
                input = F.pad(input, [side for t in reversed(total) for side in (0, t % 2)])
        return _call(self, input, weight, bias, padding, False, (0,) * n)


class Conv1d(_Conv, nn.Conv1d):
    """nn.Conv1d computed by RMCP."""


class Conv2d(_Conv, nn.Conv2d):
    """nn.Conv2d computed by RMCP."""


class Conv3d(_Conv, nn.Conv3d):
    """nn.Conv3d computed by RMCP."""


class _ConvTranspose:
    def forward(self, input, output_size=None):
        extra = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size,
                                     len(self.kernel_size), self.dilation)
        return _call(self, input, self.weight, self.bias, self.padding, True, extra)


class ConvTranspose1d(_ConvTranspose, nn.ConvTranspose1d):
    """nn.ConvTranspose1d computed by RMCP."""


class ConvTranspose2d(_ConvTranspose, nn.ConvTranspose2d):
    """nn.ConvTranspose2d computed by RMCP."""


class ConvTranspose3d(_ConvTranspose, nn.ConvTranspose3d):
    """nn.ConvTranspose3d computed by RMCP."""
