#!/usr/bin/env python3
"""finetune_resnet18.py: fits the last block of torchvision's ResNet-18 to four classes, the rest frozen.

usage: finetune_resnet18.py [--weights FILE] [--device cpu|cuda] [--offload opencl] [--steps 40]

Without --weights (a state_dict of torchvision's resnet18) the frozen part is random, which shows the
mechanics, not the use, of pretraining.
"""
import sys

import common
import torch
from torch import nn


def pretrained(path):
    from torchvision.models import resnet18
    torch.manual_seed(0)
    model = resnet18()
    if path:
        model.load_state_dict(torch.load(path, map_location="cpu"))
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for parameter in model.layer4.parameters():
        parameter.requires_grad_(True)
    model.fc = nn.Linear(512, len(common.SHAPES))
    return model


def main():
    weights = None
    if "--weights" in sys.argv:
        at = sys.argv.index("--weights")
        weights = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    options = common.arguments("Fine-tune a ResNet-18.", steps=40, batch=16)
    generator = torch.Generator().manual_seed(1)
    model = pretrained(weights).to(options.device)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.003, momentum=0.9)
    progress = common.Progress(options.steps)
    for _ in range(options.steps):
        x, labels = (t.to(options.device) for t in common.images(options.batch, 64, generator))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        progress.step(loss)
    common.summary()
    common.save_curve(progress.losses, options.curve, "fine-tuning ResNet-18 in RMCP")


if __name__ == "__main__":
    main()
