#!/usr/bin/env python3
"""resnet.py: a ResNet-18 whose convolutions and batch norms are MIOpen calls, against PyTorch's own: inference and
one training step. usage: MIOPEN=…/libMIOpen.so.1 [HIP=…] [FIND=1] resnet.py [--size PIXELS] [--batch N] [--last]"""
import argparse
import copy
import sys

try:
    import torch
    import torchvision
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import miopen_calls

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=64)
parser.add_argument("--batch", type=int, default=2)
parser.add_argument("--last", action="store_true", help="channels last")
options = parser.parse_args()
library = miopen_calls.from_environment()
form = torch.channels_last if options.last else torch.contiguous_format


class Convolution(torch.autograd.Function):
    @staticmethod
    def forward(context, x, w, module):
        x, w = x.contiguous(memory_format=form), w.contiguous(memory_format=form)
        context.save_for_backward(x, w)
        context.geometry = module.padding, module.stride, module.dilation, module.groups
        sizes = [(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, p, d, k, s in
                 zip(x.shape[2:], module.padding, module.dilation, w.shape[2:], module.stride)]
        y = torch.full([x.shape[0], w.shape[0]] + sizes, 99.0).contiguous(memory_format=form)
        return library.convolve("Forward", x, w, y, *context.geometry)

    @staticmethod
    def backward(context, dy):
        x, w = context.saved_tensors
        dy = dy.contiguous(memory_format=form)
        dx = library.convolve("BackwardData", x, w, dy, *context.geometry) if context.needs_input_grad[0] else None
        return dx, library.convolve("BackwardWeights", x, w, dy, *context.geometry), None


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(context, x, scale, bias, module):
        x = x.contiguous(memory_format=form)
        context.epsilon = module.eps
        y, mean, inverse = library.normalise(x, scale, bias, module.running_mean, module.running_var, module.momentum,
                                             module.eps)
        context.save_for_backward(x, scale, mean, inverse)
        return y

    @staticmethod
    def backward(context, dy):
        x, scale, mean, inverse = context.saved_tensors
        return (*library.normalise_backward(x, dy.contiguous(memory_format=form), scale, mean, inverse,
                                            context.epsilon), None)


def through_miopen(network):
    """Let the network's convolutions and batch norms be calls of the library."""
    for module in network.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.forward = lambda x, m=module: Convolution.apply(x, m.weight, m)
        if isinstance(module, torch.nn.BatchNorm2d):
            module.forward = lambda x, m=module: (
                Norm.apply(x, m.weight, m.bias, m) if m.training else
                library.infer(x.contiguous(memory_format=form), m.weight, m.bias, m.running_mean, m.running_var, m.eps))
    return network


def step(network, inputs):
    """Output of inference, then output and gradients of a training step, and the statistics after it."""
    network.eval()
    with torch.no_grad():
        inferred = network(inputs)
    network.train()
    output = network(inputs)
    torch.nn.functional.cross_entropy(output, labels).backward()
    return [t.detach().double() for t in
            [inferred, output] + [p.grad for p in network.parameters()] +
            [b for name, b in network.named_buffers() if "running" in name]]


def distance(a, b):
    """Of all results, the largest relative one."""
    return max(((x - y).norm() / (y.norm() + 1e-30)).item() for x, y in zip(a, b))


torch.manual_seed(1)
torch.set_num_threads(1)
model = torchvision.models.resnet18(num_classes=10)
exact, own = copy.deepcopy(model).double(), copy.deepcopy(model)
images = torch.randn(options.batch, 3, options.size, options.size)
labels = torch.arange(options.batch) % 10
truth = step(exact, images.double())
pytorch = distance(step(own, images), truth)
ours = distance(step(through_miopen(model), images), truth)
computed = {name: n for name, n in sorted(library.calls.items())
            if name.endswith(("Immediate", "Training", "Inference", "NormalizationBackward")) or
            name in ("miopenConvolutionForward", "miopenConvolutionBackwardData", "miopenConvolutionBackwardWeights")}
print(f"calls: {computed}")
print(f"largest relative distance from float64: PyTorch {pytorch:.1e}, through MIOpen's ABI {ours:.1e}")
# Gradients jump where an activation near zero falls on the other side of ReLU, so the bound is wide.
sys.exit(0 if sum(computed.values()) > 120 and ours < max(10 * pytorch, 1e-3) else 1)
