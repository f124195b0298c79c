#!/usr/bin/env python3
"""train_cnn.py: trains a small convolutional network from scratch, its convolutions in RMCP.

usage: train_cnn.py [--device cpu|cuda] [--offload opencl] [--steps 150]
"""
import common
import torch
from torch import nn


def network():
    def block(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                             nn.MaxPool2d(2))
    return nn.Sequential(block(3, 16), block(16, 32), block(32, 64), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(64, len(common.SHAPES)))


def main():
    options = common.arguments("Train a small network.", steps=150, batch=32)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = network().to(options.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    progress = common.Progress(options.steps)
    for _ in range(options.steps):
        x, labels = (t.to(options.device) for t in common.images(options.batch, generator=generator))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        progress.step(loss)
    model.eval()
    x, labels = (t.to(options.device) for t in common.images(256, generator=generator))
    with torch.inference_mode():
        right = (model(x).argmax(1) == labels).float().mean()
    print(f"accuracy on images it has not seen: {100 * float(right):.1f} %")
    common.summary()
    common.save_curve(progress.losses, options.curve, "a small network trained in RMCP")


if __name__ == "__main__":
    main()
