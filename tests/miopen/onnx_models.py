#!/usr/bin/env python3
"""Writes a small network as an ONNX file, without the onnx package: onnx_models.py MODEL FILE [f16]

MODEL is alexnet, googlenet, resnet or vgg: the layers of the original, with few channels on small images.
resnet has 7x7 with stride 2, 3x3, 3x3 with stride 2, 1x1 with stride 2, one grouped and one depthwise convolution;
alexnet and googlenet have LRN, googlenet concatenations, average pooling and batch norm.
ONNX is Protocol Buffers; the numbers below are the fields of onnx.proto3.
"""
import math
import struct
import sys

FLOAT, FLOAT16 = 1, 10


def varint(value):
    out = bytearray()
    while True:
        low = value & 127
        value >>= 7
        out.append(low | (128 if value else 0))
        if not value:
            return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


class Graph:
    def __init__(self, kind):
        self.kind, self.nodes, self.weights, self.n_names, self.state = kind, b"", b"", 0, 1

    def name(self):
        self.n_names += 1
        return f"t{self.n_names}"

    def random(self):
        """A number in [-1, 1), the same in every run."""
        self.state = (self.state * 1103515245 + 12345) % (1 << 31)
        return self.state / (1 << 30) - 1

    def weight(self, dims, around=0.0):
        """An initializer, scaled so that activations keep their size; with a constant added."""
        count, fan_in = math.prod(dims), math.prod(dims[1:]) or 1
        scale = math.sqrt(3 / fan_in) if len(dims) > 1 else 0.1
        values = [around + self.random() * scale for _ in range(count)]
        raw = struct.pack(f"<{count}{'f' if self.kind == FLOAT else 'e'}", *values)
        name = self.name()
        tensor = b"".join(number(1, d) for d in dims) + number(2, self.kind) + text(8, name) + text(9, raw)
        self.weights += text(5, tensor)
        return name

    def node(self, operator, inputs, **attributes):
        output = self.name()
        node = b"".join(text(1, i) for i in inputs) + text(2, output) + text(3, output) + text(4, operator)
        for key, value in attributes.items():
            if isinstance(value, int):
                body = number(3, value) + number(20, 2)
            elif isinstance(value, float):
                body = varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
            else:
                body = b"".join(number(8, v) for v in value) + number(20, 7)
            node += text(5, text(1, key) + body)
        self.nodes += text(1, node)
        return output

    def conv(self, x, c, k, size, stride=1, groups=1, pad=None):
        pad = size // 2 if pad is None else pad
        return self.node("Conv", [x, self.weight([k, c // groups, size, size]), self.weight([k])],
                         kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4, group=groups)

    def relu(self, x):
        return self.node("Relu", [x])

    def step(self, x, c, k, size, stride=1, **more):
        """A convolution and what follows it."""
        return self.relu(self.conv(x, c, k, size, stride, **more))

    def norm(self, x, c):
        return self.node("BatchNormalization", [x, self.weight([c], 1.0), self.weight([c]), self.weight([c]),
                                                self.weight([c], 1.0)], epsilon=1e-3)

    def pool(self, x, size=3, stride=2, pad=1, kind="MaxPool"):
        return self.node(kind, [x], kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4)

    def lrn(self, x):
        return self.node("LRN", [x], size=5, alpha=0.01, beta=0.75, bias=1.0)

    def block(self, x, c, k, stride, groups=1):
        y = self.step(x, c, k, 3, stride)
        y = self.conv(y, k, k, 3, groups=groups)
        if stride != 1 or c != k:
            x = self.conv(x, c, k, 1, stride)
        return self.relu(self.node("Add", [x, y]))

    def inception(self, x, c, k):
        """Four branches of k channels each."""
        return self.node("Concat", [self.step(x, c, k, 1), self.step(self.step(x, c, k, 1), k, k, 3),
                                    self.step(self.step(x, c, k, 1), k, k, 5),
                                    self.step(self.pool(x, 3, 1, 1), c, k, 1)], axis=1)

    def linear(self, x, c, k):
        return self.node("Gemm", [x, self.weight([k, c]), self.weight([k])], transB=1)

    def end(self, x, c):
        return self.linear(self.node("Flatten", [self.node("GlobalAveragePool", [x])]), c, 10)


def alexnet(g, x):
    x = g.pool(g.lrn(g.step(x, 3, 16, 11, 4, pad=2)), 3, 2, 0)
    x = g.pool(g.lrn(g.step(x, 16, 24, 5, groups=2)), 3, 2, 0)
    x = g.step(g.step(g.step(x, 24, 32, 3), 32, 32, 3, groups=2), 32, 16, 3, groups=2)
    x = g.relu(g.linear(g.node("Flatten", [g.pool(x, 3, 2, 0)]), 16, 24))
    return g.node("Softmax", [g.linear(x, 24, 10)], axis=1)


def googlenet(g, x):
    x = g.lrn(g.pool(g.step(x, 3, 16, 7, 2)))
    x = g.pool(g.lrn(g.step(g.step(x, 16, 16, 1), 16, 24, 3)))
    x = g.inception(x, 24, 8)
    x = g.inception(g.norm(x, 32), 32, 8)
    return g.node("Softmax", [g.end(g.pool(x, 3, 1, 1, "AveragePool"), 32)], axis=1)


def resnet(g, x):
    x = g.pool(g.step(x, 3, 16, 7, 2))
    x = g.block(x, 16, 16, 1)
    x = g.block(x, 16, 32, 2, groups=4)
    x = g.block(x, 32, 32, 1, groups=32)
    return g.end(x, 32)


def vgg(g, x):
    x = g.pool(g.step(g.step(x, 3, 16, 3), 16, 16, 3), 2, 2, 0)
    x = g.pool(g.step(g.step(x, 16, 32, 3), 32, 32, 3), 2, 2, 0)
    x = g.pool(g.step(g.step(x, 32, 32, 3), 32, 32, 3), 2, 2, 0)
    x = g.node("Flatten", [x])
    return g.node("Softmax", [g.linear(g.relu(g.linear(x, 32 * 4 * 4, 32)), 32, 10)], axis=1)


MODELS = {"alexnet": (alexnet, 63), "googlenet": (googlenet, 32), "resnet": (resnet, 32), "vgg": (vgg, 32)}


def value_info(name, kind, dims):
    shape = b"".join(text(1, number(1, d)) for d in dims)
    return text(1, name) + text(2, text(1, number(1, kind) + text(2, shape)))


def main():
    model, size = MODELS[sys.argv[1]]
    kind = FLOAT16 if "f16" in sys.argv[3:] else FLOAT
    graph = Graph(kind)
    y = model(graph, "image")
    body = (graph.nodes + text(2, sys.argv[1]) + graph.weights
            + text(11, value_info("image", kind, [2, 3, size, size])) + text(12, value_info(y, kind, [2, 10])))
    with open(sys.argv[2], "wb") as file:
        file.write(number(1, 7) + text(8, text(1, "") + number(2, 13)) + text(7, body))


if __name__ == "__main__":
    main()
