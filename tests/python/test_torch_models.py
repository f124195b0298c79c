#!/usr/bin/env python3
"""test_torch_models.py: whole networks of torchvision trained in RMCP against PyTorch's own kernels.

The bound is computed: PyTorch's own float32 result is a certain distance from its float64 result,
and ours may be a few times as far. That holds for results that vary smoothly. Gradients jump where an
activation near zero falls on the other side of ReLU or a maximum moves, so they are compared on the
same networks with SiLU and averages in these places; the networks as they are give loss and output.
"""
import copy
import sys
import unittest
import unittest.mock

import torch_support as support
import torch
from torch import nn

import rmcp.torch

try:
    import torchvision.models as zoo
except ImportError as error:
    print(f"skipped: torchvision cannot be imported: {error}")
    sys.exit(77)

FACTOR = 4.0     # of PyTorch's own distance from float64
FLOOR = 1e-6     # where PyTorch happens to be exact
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


def build(name, seed=0):
    """A network with ten classes and without dropout, whose random numbers differ between types."""
    torch.manual_seed(seed)
    model = getattr(zoo, name)(num_classes=10)
    if name.startswith("vgg"):  # its classifier is 120 million weights and no convolution
        model.classifier = nn.Sequential(nn.Linear(512 * 7 * 7, 10))
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model


def smooth(module):
    """The same network without kinks."""
    for name, child in module.named_children():
        if isinstance(child, (nn.ReLU, nn.ReLU6)):
            setattr(module, name, nn.SiLU())
        elif isinstance(child, nn.MaxPool2d):
            setattr(module, name, nn.AvgPool2d(child.kernel_size, child.stride, child.padding, child.ceil_mode))
        else:
            smooth(child)
    return module


def step(model, x, labels):
    """Loss, output and gradients of one training step."""
    model.zero_grad()
    output = model(x)
    loss = nn.functional.cross_entropy(output, labels)
    loss.backward()
    return [loss.detach(), output.detach(), *[p.grad.clone() for p in model.parameters()]]


def distance(values, exact):
    """The largest relative distance of a tensor to its exact value, in the 2-norm."""
    return max(float((a.double() - b).norm() / b.norm().clamp_min(1e-30)) for a, b in zip(values, exact)
               if float(b.norm()) > 1e-8)


class Models(unittest.TestCase):
    def check(self, name, size=64, batch=2, form=torch.contiguous_format):
        model = build(name)
        x = torch.randn(batch, 3, size, size).contiguous(memory_format=form)
        labels = torch.arange(batch) % 10
        self.compare(name, model, x, labels, form, 2)
        with unittest.mock.patch("torch.nn.functional.relu", lambda x, inplace=False: nn.functional.silu(x)):
            self.compare(name + " without kinks", smooth(model), x, labels, form, None)

    def compare(self, name, model, x, labels, form, n_compared):
        """Compare the first n_compared of loss, output, gradients; None: all."""
        exact = step(copy.deepcopy(model).double(), x.double(), labels)[:n_compared]
        theirs = step(copy.deepcopy(model), x, labels)[:n_compared]
        rmcp.torch.reset_stats()
        with rmcp.torch.enabled("cpu", strict=True):
            ours = step(copy.deepcopy(model).to(memory_format=form), x, labels)[:n_compared]
        stats = rmcp.torch.stats()
        self.check_counts(model, stats)
        print(f"{name}: {stats.calls} passes in RMCP, {distance(ours, exact):.2e} from float64, "
              f"PyTorch {distance(theirs, exact):.2e}", flush=True)
        self.assertLessEqual(distance(ours, exact), FACTOR * distance(theirs, exact) + FLOOR)

    def check_counts(self, model, stats):
        """Every convolution ran in RMCP, forward and backward. The first needs no input gradient."""
        n = sum(isinstance(module, CONVOLUTIONS) for module in model.modules())
        self.assertGreater(n, 0)
        self.assertEqual(stats.by_pass, {"forward": n, "input gradient": n - 1, "weight gradient": n})
        self.assertEqual(stats.fallbacks, 0)

    def test_resnet18(self):
        self.check("resnet18")

    def test_resnet18_channels_last(self):
        self.check("resnet18", form=torch.channels_last)

    def test_resnet50(self):
        self.check("resnet50")

    def test_vgg16(self):
        self.check("vgg16", size=32)

    def test_mobilenet_v2(self):
        self.check("mobilenet_v2")

    def test_densenet121(self):
        self.check("densenet121")

    def test_squeezenet(self):
        self.check("squeezenet1_1")

    def test_shufflenet(self):
        self.check("shufflenet_v2_x1_0")


class Training(unittest.TestCase):
    STEPS = 10

    def curve(self, model, dtype):
        torch.manual_seed(3)
        x, labels = torch.randn(8, 3, 32, 32), torch.arange(8) % 10
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        losses = []
        for _ in range(self.STEPS):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(dtype)), labels)
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        return losses

    def test_ten_steps_give_the_same_losses(self):
        model = build("resnet18")
        exact = self.curve(copy.deepcopy(model).double(), torch.float64)
        theirs = self.curve(copy.deepcopy(model), torch.float32)
        rmcp.torch.reset_stats()
        with rmcp.torch.enabled("cpu", strict=True):
            ours = self.curve(model, torch.float32)
        self.assertEqual(rmcp.torch.stats().by_pass,
                         {"forward": 200, "input gradient": 190, "weight gradient": 200})
        bound = FACTOR * max(abs(a - b) for a, b in zip(theirs, exact)) + FLOOR
        worst = max(abs(a - b) for a, b in zip(ours, exact))
        print(f"losses {ours[0]:.4f} … {ours[-1]:.4f}; {worst:.2e} from float64, bound {bound:.2e}", flush=True)
        self.assertLessEqual(worst, bound)
        self.assertLess(ours[-1], ours[0])


if __name__ == "__main__":
    unittest.main()
