"""The small networks of `rmcp check`, and how their results are compared with PyTorch's own on the CPU.

Layers alone, without activations: nothing but convolutions, additions and copies is asked of a GPU. The engine's part
of the command has the same convolutions as case strings, data/verify-check.txt.
"""
import copy

import torch
from torch import nn

# Largest error, relative to the largest value of a tensor: above what rounding makes of two or three layers, below
# what one missing product of a sum makes.
BOUND = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 6e-2}


class Residual(nn.Module):
    def __init__(self, inner, shortcut=None):
        super().__init__()
        self.inner, self.shortcut = inner, shortcut or nn.Identity()

    def forward(self, x):
        return self.inner(x) + self.shortcut(x)


class Network:
    """A name, layers, the shape of their input, and how the tensors lie."""

    def __init__(self, name, layers, shape, dtype=torch.float32, last=False):
        self.name, self.layers, self.shape, self.dtype, self.last = name, layers, shape, dtype, last
        convolutions = (nn.modules.conv._ConvNd,)
        self.n_layers = sum(isinstance(module, convolutions) for module in layers.modules())

    @property
    def passes(self):
        """Forward, input gradient and weight gradient of each layer."""
        return 3 * self.n_layers


def networks():
    """All of them, with the same weights each time."""
    state = torch.random.get_rng_state()
    torch.manual_seed(1)
    try:
        return [
            Network("residual", nn.Sequential(
                nn.Conv2d(3, 16, 7, stride=2, padding=3, bias=False),
                Residual(nn.Sequential(nn.Conv2d(16, 16, 3, padding=1, bias=False),
                                       nn.Conv2d(16, 16, 3, padding=1, bias=False))),
                Residual(nn.Sequential(nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False),
                                       nn.Conv2d(32, 32, 3, padding=1, bias=False)),
                         nn.Conv2d(16, 32, 1, stride=2, bias=False))), (2, 3, 32, 32)),
            Network("bottleneck", Residual(nn.Sequential(
                nn.Conv2d(32, 8, 1), nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 32, 1))), (2, 32, 14, 14)),
            Network("depthwise", nn.Sequential(
                nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.Conv2d(16, 24, 1),
                nn.Conv2d(24, 24, 5, stride=2, padding=2, groups=24), nn.Conv2d(24, 8, 1)), (2, 16, 20, 20)),
            Network("groups, dilation, long filters", nn.Sequential(
                nn.Conv2d(16, 32, 3, padding=2, dilation=2, groups=4), nn.Conv2d(32, 8, (1, 7), padding=(0, 3)),
                nn.Conv2d(8, 8, (7, 1), padding=(3, 0))), (2, 16, 15, 13)),
            Network("transposed", nn.Sequential(
                nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1),
                nn.ConvTranspose2d(8, 8, 3, padding=1, groups=2)), (2, 8, 12, 12)),
            Network("1-D", nn.Sequential(
                nn.Conv1d(8, 16, 9, stride=2, padding=4), nn.Conv1d(16, 16, 3, padding=4, dilation=4),
                nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1)), (2, 8, 64)),
            Network("3-D", nn.Sequential(
                nn.Conv3d(3, 8, 3, padding=1), nn.Conv3d(8, 8, 3, stride=2, padding=1),
                nn.ConvTranspose3d(8, 4, 2, stride=2)), (1, 3, 8, 10, 10)),
            Network("channels last", nn.Sequential(
                nn.Conv2d(8, 16, 3, padding=1), nn.Conv2d(16, 8, 1)), (2, 8, 10, 10), last=True),
            Network("float16", nn.Sequential(
                nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.Conv2d(16, 8, 1, bias=False)), (2, 8, 10, 10),
                torch.float16),
            Network("bfloat16", nn.Sequential(
                nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.Conv2d(16, 8, 1, bias=False)), (2, 8, 10, 10),
                torch.bfloat16),
        ]
    finally:
        torch.random.set_rng_state(state)


class Data:
    """Input and gradient of the result, the same wherever they go."""

    def __init__(self, network):
        generator = torch.Generator().manual_seed(2)
        self.input = torch.randn(network.shape, generator=generator).to(network.dtype)
        with torch.no_grad():
            shape = copy.deepcopy(network.layers).double()(self.input.double()).shape
        self.gradient = torch.randn(shape, generator=generator).to(network.dtype)


def run(network, data, device, dtype=None):
    """Forward and backward; {name: tensor} of the result and all gradients, on the CPU."""
    dtype = dtype or network.dtype
    layers = copy.deepcopy(network.layers).to(network.dtype).to(dtype).to(device)
    x, gradient = (tensor.to(device=device, dtype=dtype) for tensor in (data.input, data.gradient))
    if network.last:
        layers, x = layers.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    x.requires_grad_(True)
    result = layers(x)
    result.backward(gradient)
    found = {"result": result.detach(), "input's gradient": x.grad}
    found.update({f"gradient of {name}": parameter.grad for name, parameter in layers.named_parameters()})
    return {name: tensor.to("cpu") for name, tensor in found.items()}


def expected(network, data):
    """PyTorch's own, on the CPU, in double precision from the same numbers. RMCP must be off."""
    return run(network, data, "cpu", torch.float64)


def compare(network, found, wanted):
    """The largest difference, relative to the largest value of its tensor, and that tensor's name."""
    worst, where = 0.0, ""
    for name, right in wanted.items():
        got = found[name].double()
        if got.shape != right.shape:
            return float("inf"), f"{name}: shape {tuple(got.shape)}, not {tuple(right.shape)}"
        error = float((got - right).abs().max() / right.abs().max().clamp_min(1e-30))
        if not error <= worst:  # NaN, too
            worst, where = (error if error == error else float("inf")), name
    return worst, where
