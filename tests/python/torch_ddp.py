#!/usr/bin/env python3
"""torch_ddp.py: a small network trained for a few steps, in one process or under torchrun; prints its losses.

usage: torch_ddp.py | python3 -m torch.distributed.run --nproc_per_node 2 torch_ddp.py
"""
import os

import torch_support  # noqa: F401  (paths)
import torch
import torch.distributed as dist
from torch import nn

import rmcp.torch

STEPS, BATCH = 6, 8


def main():
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    torch.manual_seed(0)
    # GroupNorm, not BatchNorm: its numbers must not depend on how the batch is divided.
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(),
                          nn.Conv2d(16, 16, 3, stride=2, groups=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(16, 10))
    x, labels = torch.randn(STEPS, BATCH, 3, 16, 16), torch.randint(10, (STEPS, BATCH))
    rmcp.torch.enable("cpu", strict=True)
    if world > 1:
        dist.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    share = slice(rank * BATCH // world, (rank + 1) * BATCH // world)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[step, share]), labels[step, share])
        loss.backward()
        optimizer.step()
        mean = loss.detach() / world
        if world > 1:
            dist.all_reduce(mean)
        losses.append(float(mean))
    assert rmcp.torch.stats().by_pass["weight gradient"] == 2 * STEPS
    assert rmcp.torch.stats().fallbacks == 0
    if rank == 0:
        print("losses", *[f"{value:.9g}" for value in losses], flush=True)


if __name__ == "__main__":
    main()
