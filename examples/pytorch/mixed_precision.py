#!/usr/bin/env python3
"""mixed_precision.py: trains with autocast: float16 on a GPU, bfloat16 on the CPU; weights stay float32.

usage: mixed_precision.py [--device cpu|cuda] [--offload opencl] [--steps 100]
"""
import common
import torch
from torch import nn
from train_cnn import network


def main():
    options = common.arguments("Train with mixed precision.", steps=100, batch=32)
    kind = torch.device(options.device).type
    dtype = torch.float16 if kind == "cuda" else torch.bfloat16
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = network().to(options.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.cuda.amp.GradScaler(enabled=kind == "cuda")  # float16 gradients need it, bfloat16 do not
    progress = common.Progress(options.steps)
    for _ in range(options.steps):
        x, labels = (t.to(options.device) for t in common.images(options.batch, generator=generator))
        optimizer.zero_grad()
        with torch.autocast(kind, dtype=dtype):
            loss = nn.functional.cross_entropy(model(x).float(), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        progress.step(loss.detach())
    types = sorted({row.case.split(":")[1] for row in common.rmcp.torch.stats().rows})
    print(f"types of the convolutions: {', '.join(types)}")
    common.summary()
    common.save_curve(progress.losses, options.curve, f"mixed precision ({str(dtype)[6:]}) in RMCP")


if __name__ == "__main__":
    main()
