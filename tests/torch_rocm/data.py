#!/usr/bin/env python3
"""Small data in the places where pytorch/examples would put what it downloads: data.py EXAMPLES, in the chroot.

Digits are drawn, images are noise over a gradient, the text is a few sentences over and over, and the saved network of
fast_neural_style has random weights: enough for programs to run as they are, not to learn anything."""
import pathlib
import struct
import sys

import numpy
import torch
from PIL import Image, ImageDraw

examples = pathlib.Path(sys.argv[1])
generator = numpy.random.default_rng(1)


def digits(folder, name, n):
    """n images and labels in MNIST's format."""
    folder.mkdir(parents=True, exist_ok=True)
    labels, images = numpy.arange(n, dtype=numpy.uint8) % 10, []
    for label in labels:
        image = Image.new("L", (28, 28))
        place = int(generator.integers(6, 14)), int(generator.integers(4, 12))
        ImageDraw.Draw(image).text(place, str(label), fill=255)
        images.append(numpy.asarray(image))
    head = struct.pack(">4i", 2051, n, 28, 28)
    (folder / f"{name}-images-idx3-ubyte").write_bytes(head + numpy.stack(images).tobytes())
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, n) + labels.tobytes())


def picture(path, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    slope = numpy.linspace(0, 160, size)
    image = slope[:, None, None] / 2 + slope[None, :, None] / 2 + generator.integers(0, 90, (size, size, 3))
    Image.fromarray(image.astype(numpy.uint8)).save(path)


for place in (examples / "data", examples / "mnist_forward_forward" / "data"):
    digits(place / "MNIST" / "raw", "train", 64)
    digits(place / "MNIST" / "raw", "t10k", 32)
for part in ("train", "test"):
    picture(examples / "super_resolution" / "dataset" / "BSDS300" / "images" / part / "one.png", 270)
for part in ("train", "val"):
    for kind in ("a", "b"):
        picture(examples / "imagenet" / "sample" / part / kind / "one.png", 64)
words = examples / "word_language_model" / "data" / "small"
words.mkdir(parents=True, exist_ok=True)
sentence = "the cat sat on the mat and the dog lay by the door \n a bird sang in a tree while the sun went down \n"
for name, n in (("train", 12), ("valid", 4), ("test", 4)):
    (words / f"{name}.txt").write_text(sentence * n)
style = examples / "fast_neural_style"
picture(style / "small.png", 40)
sys.path.insert(0, str(style / "neural_style"))
import transformer_net  # noqa: E402

torch.manual_seed(1)
torch.save(transformer_net.TransformerNet().state_dict(), style / "small.pth")
