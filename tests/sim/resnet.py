#!/usr/bin/env python3
"""resnet.py: a ResNet-18, its convolutions on the simulated card, against PyTorch; run by rmcp sim."""
import copy
import pathlib
import sys

try:
    import torch
    import torchvision
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
import rmcp.torch

torch.manual_seed(1)
torch.set_num_threads(1)
model = torchvision.models.resnet18(num_classes=10).train()
exact = copy.deepcopy(model).double()
own = copy.deepcopy(model)
images, labels = torch.randn(2, 3, 64, 64), torch.tensor([3, 7])


def step(network, inputs):
    """Output and gradients of one step."""
    output = network(inputs)
    torch.nn.functional.cross_entropy(output, labels).backward()
    gradients = [p.grad.double() for p in network.parameters()]
    return [output.detach().double()] + gradients


def distance(a, b):
    """Of all results, the largest relative one."""
    return max(((x - y).norm() / (y.norm() + 1e-30)).item() for x, y in zip(a, b))


truth = step(exact, images.double())
pytorch = distance(step(own, images), truth)
rmcp.torch.enable("cpu", offload="hip")
ours = distance(step(model, images), truth)
print(f"largest relative distance from float64: PyTorch {pytorch:.1e}, on the simulated card {ours:.1e}")
# Gradients jump where an activation near zero falls on the other side of ReLU, so the bound is wide.
sys.exit(0 if ours < max(10 * pytorch, 1e-3) else 1)
