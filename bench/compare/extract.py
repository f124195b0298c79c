#!/usr/bin/env python3
"""Prints the convolutions of torchvision's networks as rows of data/torchvision.csv.

usage: bench/compare/extract.py > data/torchvision.csv

Each network runs once on one image, and hooks see the sizes that its convolutions get; weights are random and
nothing is downloaded. A case has neither batch nor type nor layout: those are the comparison's. "unseen" marks
networks whose layers no tuning of ours may look at. data/networks.csv has ResNet-50, VGG-16 and MobileNetV2.
"""
import csv
import sys

import torch
import torchvision

IMAGE, CLIP = (1, 3, 224, 224), (1, 3, 16, 112, 112)
# name, input, whether tuning may look at it
NETWORKS = (
    ("resnet18", IMAGE, "seen"), ("efficientnet_b0", IMAGE, "seen"), ("densenet121", IMAGE, "seen"),
    ("googlenet", IMAGE, "seen"), ("shufflenet_v2_x1_0", IMAGE, "seen"), ("regnet_y_400mf", IMAGE, "seen"),
    ("regnet_x_1_6gf", IMAGE, "seen"), ("convnext_tiny", IMAGE, "seen"), ("squeezenet1_1", IMAGE, "seen"),
    ("resnext50_32x4d", IMAGE, "seen"), ("fcn_resnet50", IMAGE, "seen"), ("r3d_18", CLIP, "seen"),
    ("efficientnet_v2_s", (1, 3, 300, 300), "unseen"), ("mnasnet1_0", IMAGE, "unseen"),
    ("inception_v3", (1, 3, 299, 299), "unseen"), ("alexnet", IMAGE, "unseen"),
    ("wide_resnet50_2", IMAGE, "unseen"), ("mobilenet_v3_large", IMAGE, "unseen"),
    ("deeplabv3_resnet50", (1, 3, 240, 240), "unseen"), ("r2plus1d_18", CLIP, "unseen"),
)


def per_dimension(letter, values, default):
    """p1, p1x2, or nothing for the default."""
    if all(value == default for value in values):
        return ""
    return letter + (str(values[0]) if len(set(values)) == 1 else "x".join(map(str, values)))


def case_of(layer, size):
    """The case string of a Conv2d or Conv3d that got an input of this size."""
    *depth, height, width = size[2:]
    *deep, r, s = layer.kernel_size
    text = f"c{layer.in_channels}" + (f"t{depth[0]}x{deep[0]}" if depth else "")
    text += f"h{height}w{width}k{layer.out_channels}r{r}s{s}"
    text += per_dimension("p", layer.padding, 0) + per_dimension("u", layer.stride, 1)
    return text + per_dimension("d", layer.dilation, 1) + per_dimension("g", (layer.groups,), 1)


def builder(name):
    for module in (torchvision.models, torchvision.models.segmentation, torchvision.models.video):
        if hasattr(module, name):
            return getattr(module, name)
    sys.exit(f"torchvision {torchvision.__version__} has no {name}")


def layers(name, size):
    """{case: how often}, in the network's order."""
    make, found, known = builder(name), {}, {}
    if "resnet50" in name and name.split("_")[0] in ("fcn", "deeplabv3"):
        known["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        known.update(init_weights=False, aux_logits=False)
    network = make(weights=None, **known).eval()

    def see(layer, inputs, _output):
        case = case_of(layer, inputs[0].shape)
        found[case] = found.get(case, 0) + 1

    for layer in network.modules():
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Conv3d)):
            layer.register_forward_hook(see)
    with torch.no_grad():
        network(torch.zeros(size))
    return found


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("network", "tuning", "count", "case"))
    for name, size, tuning in NETWORKS:
        for case, count in layers(name, size).items():
            out.writerow((name, tuning, count, case))


if __name__ == "__main__":
    main()
