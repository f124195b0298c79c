#!/usr/bin/env python3
"""ddp.py: two processes train one network (DistributedDataParallel), their convolutions in RMCP.

usage: ddp.py [--steps 60]                 starts its two processes itself, gloo on the CPU
       torchrun --nproc_per_node 2 ddp.py  the same under torchrun
"""
import os
import socket

import common
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

PROCESSES = 2


def network():
    # GroupNorm, not BatchNorm: the result does not depend on how the batch is divided.
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(32, len(common.SHAPES)))


def work(rank, world, options):
    torch.set_num_threads(1)
    common.rmcp.torch.enable("cpu")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(100 + rank)  # each process its own images
    progress = common.Progress(options.steps)
    for _ in range(options.steps):
        x, labels = common.images(options.batch // world, generator=generator)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        mean = loss.detach() / world
        dist.all_reduce(mean)
        if rank == 0:
            progress.step(mean)
    if rank == 0:
        common.summary()
        common.save_curve(progress.losses, options.curve, f"{world} processes, DistributedDataParallel, RMCP")
    dist.destroy_process_group()


def main():
    options = common.arguments("Train with two processes.", steps=60, batch=64)
    if "RANK" in os.environ:  # under torchrun
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), options)
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    mp.spawn(work, (PROCESSES, options), nprocs=PROCESSES)


if __name__ == "__main__":
    main()
