#!/usr/bin/env python3
"""torch_first_use.py: convolutions of PyTorch on the HIP device when nothing is known of it yet: all must
run in RMCP and be right. Run by check_command.sh."""
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import torch_support  # noqa: E402, F401, skips without PyTorch
import torch  # noqa: E402

import rmcp.torch  # noqa: E402

warnings.simplefilter("error")  # a convolution that is left to PyTorch is news
torch.manual_seed(1)
torch.set_num_threads(1)
images = torch.randn(1, 4, 7, 6, requires_grad=True)
layers = torch.nn.Sequential(torch.nn.Conv2d(4, 8, 3, padding=1), torch.nn.Conv2d(8, 8, 3, stride=2, groups=8))


def step():
    """Output and gradients."""
    output = layers(images)
    return [output, *torch.autograd.grad(output.square().sum(), [images, *layers.parameters()])]


expected = step()
rmcp.torch.enable("cpu", offload="hip", strict=True)
for got, want in zip(step(), expected):
    torch.testing.assert_close(got, want)
stats = rmcp.torch.stats()
assert stats.by_pass == {"forward": 2, "input gradient": 2, "weight gradient": 2}, stats
assert stats.fallbacks == 0 and {row.device for row in stats.rows} == {"hip"}, stats
print(f"{stats.calls} convolutions in RMCP, {stats.fallbacks} in PyTorch")
