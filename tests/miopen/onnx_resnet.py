#!/usr/bin/env python3
"""Writes a small residual network as an ONNX file, without the onnx package: onnx_resnet.py FILE [f16]

Its convolutions are those of a ResNet: 7x7 with stride 2, 3x3, 3x3 with stride 2, 1x1 with stride 2, one grouped
and one depthwise. ONNX is Protocol Buffers; the numbers below are the fields of onnx.proto3.
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

    def weight(self, dims):
        """An initializer, scaled so that activations keep their size."""
        count, fan_in = math.prod(dims), math.prod(dims[1:]) or 1
        scale = math.sqrt(3 / fan_in) if len(dims) > 1 else 0.1
        values = [self.random() * scale for _ in range(count)]
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
            else:
                body = b"".join(number(8, v) for v in value) + number(20, 7)
            node += text(5, text(1, key) + body)
        self.nodes += text(1, node)
        return output

    def conv(self, x, c, k, size, stride=1, groups=1):
        pad = size // 2
        return self.node("Conv", [x, self.weight([k, c // groups, size, size]), self.weight([k])],
                         kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4, group=groups)

    def relu(self, x):
        return self.node("Relu", [x])

    def block(self, x, c, k, stride, groups=1):
        y = self.relu(self.conv(x, c, k, 3, stride))
        y = self.conv(y, k, k, 3, groups=groups)
        if stride != 1 or c != k:
            x = self.conv(x, c, k, 1, stride)
        return self.relu(self.node("Add", [x, y]))


def value_info(name, kind, dims):
    shape = b"".join(text(1, number(1, d)) for d in dims)
    return text(1, name) + text(2, text(1, number(1, kind) + text(2, shape)))


def main():
    kind = FLOAT16 if "f16" in sys.argv[2:] else FLOAT
    graph = Graph(kind)
    x = graph.relu(graph.conv("image", 3, 16, 7, 2))
    x = graph.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    x = graph.block(x, 16, 16, 1)
    x = graph.block(x, 16, 32, 2, groups=4)
    x = graph.block(x, 32, 32, 1, groups=32)
    x = graph.node("GlobalAveragePool", [x])
    x = graph.node("Flatten", [x])
    x = graph.node("Gemm", [x, graph.weight([10, 32]), graph.weight([10])], transB=1)
    body = (graph.nodes + text(2, "resnet") + graph.weights + text(11, value_info("image", kind, [2, 3, 32, 32]))
            + text(12, value_info(x, kind, [2, 10])))
    with open(sys.argv[1], "wb") as file:
        file.write(number(1, 7) + text(8, text(1, "") + number(2, 13)) + text(7, body))


if __name__ == "__main__":
    main()
