#!/usr/bin/env python3
"""test_torch.py: batch normalisation of the CPU device against PyTorch's, with gradients, in every mode
that PyTorch has.

Both get the same numbers. PyTorch computes in double, so that what differs is ours; once more in its own
float32, where the two must agree as closely as float32 allows.
"""
import ctypes
import itertools
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
try:
    import numpy
    import torch
    import rmcp_ctypes as rmcp
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from rmcp import _library as c

F = torch.nn.functional
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
# How much of a value the last rounding may take, and f32 inside.
CLOSE = {"f32": 2e-5, "f16": 1.5e-3, "bf16": 1.2e-2}
ACTIVATIONS = {
    "": lambda z: z,
    "relu": torch.relu,
    "leaky0.125": lambda z: F.leaky_relu(z, 0.125),
    "clamp-0.5x1.5": lambda z: F.hardtanh(z, -0.5, 1.5),
}
PARAMETERS = ("scale", "bias", "running_mean", "running_variance")


class Norm:
    """One batch normalisation on the CPU device, by case string; tensors are contiguous torch tensors
    in the problem's layout."""

    def __init__(self, device, text, algorithm=None):
        self.problem, pass_ = c.BatchNorm(), ctypes.c_int()
        self.library = c.library()
        self.library.rmcp_batchnorm_parse(text.encode(), self.problem, pass_)
        self.plan = ctypes.c_void_p()
        options = c.PlanOptions(algorithm=algorithm.encode() if algorithm else None)
        self.library.rmcp_batchnorm_plan(device.handle, self.problem, pass_.value, options, self.plan)
        n = self.library.rmcp_plan_workspace(self.plan)
        self.workspace = rmcp.aligned_empty((max(n, 1),), numpy.uint8)
        self.bytes = n

    def __call__(self, **tensors):
        bound = c.BatchNormTensors(workspace_bytes=self.bytes)
        bound.workspace = rmcp.memory_of(self.workspace)
        for name, tensor in tensors.items():
            assert tensor.is_contiguous(), name
            setattr(bound, name, c.Memory(base=tensor.data_ptr(), offset=0))
        self.library.rmcp_batchnorm_execute(self.plan, None, bound)

    def close(self):
        self.library.rmcp_plan_destroy(self.plan)


def shape_text(shape):
    space = shape[2:] or (1,)
    return f"n{shape[0]}c{shape[1]}" + "".join(f"{a}{b}" for a, b in zip("thw"[3 - len(space):], space))


def to_layout(tensor, layout):
    """A contiguous copy of an N C … tensor in the layout, and back."""
    return tensor.movedim(1, -1).contiguous() if layout == "nhwc" else tensor.contiguous()


def from_layout(tensor, layout):
    return tensor.movedim(-1, 1) if layout == "nhwc" else tensor


def draw(shape, parameters, dtype, seed):
    g = torch.Generator().manual_seed(seed)
    data = {"x": torch.randn(shape, generator=g) * 1.5 + 0.7, "dy": torch.randn(shape, generator=g)}
    data = {name: value.to(dtype) for name, value in data.items()}
    for name in PARAMETERS:
        data[name] = torch.rand(parameters, generator=g) + 0.5
    data["bias"] -= 1
    return data


def theirs(data, mode, training, activation, epsilon, momentum, double):
    """PyTorch's results: y, running statistics, gradients of x, scale and bias."""
    real = torch.float64 if double else torch.float32
    x, dy, scale, bias, mean, variance = (
        data[name].to(real).clone() for name in ("x", "dy", *PARAMETERS))
    x.requires_grad_(), scale.requires_grad_(), bias.requires_grad_()
    shape = x.shape
    flat = x.reshape(shape[0], -1) if mode == "activation" else x
    z = F.batch_norm(flat, mean, variance, scale, bias, training, momentum, epsilon)
    y = ACTIVATIONS[activation](z).reshape(shape)
    y.backward(dy)
    return {"y": y.detach(), "running_mean": mean, "running_variance": variance, "dx": x.grad,
            "dscale": scale.grad, "dbias": bias.grad}


def cases():
    shapes = [(4, 3, 5, 7), (2, 16, 8, 8), (9, 5), (3, 6, 50), (2, 4, 3, 5, 6), (1, 130, 3, 3), (33, 2, 31, 17),
              (2, 1, 150, 150)]
    for shape, layout, mode in itertools.product(shapes, ("nchw", "nhwc"), ("spatial", "activation")):
        if mode == "activation" and shape[0] == 1:
            continue  # PyTorch refuses a single value
        yield shape, layout, mode


class Comparison(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = rmcp.Device("cpu")

    @classmethod
    def tearDownClass(cls):
        cls.device.close()

    def assert_close(self, name, ours, expected, tolerance):
        ours, expected = ours.double(), expected.double()
        self.assertFalse(torch.isnan(ours).any(), name)
        size = expected.abs() + expected.abs().mean() + 1e-6
        worst = ((ours - expected).abs() / size).max().item()
        self.assertLess(worst, tolerance, name)

    def run_ours(self, text, shape, layout, mode, dtype, data, training, activation, saved, algorithm):
        """All that ours writes for the same data, with N C … shapes."""
        head = f"{shape_text(shape)}:{text}"
        parameters = data["scale"].shape
        order = (lambda t: to_layout(t.reshape(1, *shape[1:]), layout).reshape(-1)) \
            if mode == "activation" else (lambda t: t.clone())
        back = (lambda t: from_layout(t.reshape(to_layout(torch.empty(1, *shape[1:]), layout).shape),
                                      layout).reshape(parameters)) \
            if mode == "activation" else (lambda t: t)
        x, dy = to_layout(data["x"], layout), to_layout(data["dy"], layout)
        given = {name: order(data[name]).clone() for name in PARAMETERS}
        nan = float("nan")
        y, dx = torch.full_like(x, nan), torch.full_like(x, nan)
        new = {name: torch.full(given["scale"].shape, nan)
               for name in ("saved_mean", "saved_inverse", "dscale", "dbias")}
        forward = Norm(self.device, f"{head}:{'train:running:saved' if training else 'infer'}", algorithm)
        kept = {name: new[name] for name in ("saved_mean", "saved_inverse")} if training else {}
        forward(x=x, y=y, **given, **kept)
        forward.close()
        result = {"y": from_layout(y, layout), "running_mean": back(given["running_mean"]),
                  "running_variance": back(given["running_variance"])}
        if not training:
            return result
        backward = Norm(self.device, f"{head}:bwd{':saved' if saved else ''}", algorithm)
        backward(x=x, dy=dy, dx=dx, scale=given["scale"], bias=given["bias"], **new)
        backward.close()
        return {**result, "dx": from_layout(dx, layout), "dscale": back(new["dscale"]),
                "dbias": back(new["dbias"])}

    def compare(self, shape, layout, mode, type_name, training, activation, saved, algorithm=None, double=True,
                epsilon=1e-5, momentum=0.1):
        if mode == "activation" and shape[0] < 5:
            epsilon = 0.1  # the deviation of two or three numbers may be next to nothing
        parameters = (int(numpy.prod(shape[1:])) if mode == "activation" else shape[1],)
        data = draw(shape, parameters, TYPES[type_name], seed=sum(shape))
        words = [type_name, layout, mode, f"eps{epsilon!r}", f"mom{momentum!r}"] + ([activation] if activation else [])
        ours = self.run_ours(":".join(words), shape, layout, mode, TYPES[type_name], data, training, activation,
                             saved, algorithm)
        expected = theirs(data, mode, training, activation, epsilon, momentum, double)
        bent = activation and training
        for name, value in ours.items():
            tolerance = CLOSE[type_name] if name in ("y", "dx") else CLOSE["f32"]
            if bent and name in ("dx", "dscale", "dbias"):
                tolerance *= 3
            self.assert_close(name, value, expected[name], tolerance)

    def test_every_mode(self):
        for shape, layout, mode in cases():
            for training, saved in ((True, True), (True, False), (False, False)):
                with self.subTest(shape=shape, layout=layout, mode=mode, training=training, saved=saved):
                    self.compare(shape, layout, mode, "f32", training, "", saved)

    def test_types(self):
        for shape, layout, mode in cases():
            for type_name in ("f16", "bf16"):
                with self.subTest(shape=shape, layout=layout, mode=mode, type=type_name):
                    self.compare(shape, layout, mode, type_name, True, "", True)
                    self.compare(shape, layout, mode, type_name, False, "", False)

    def test_activations(self):
        for (shape, layout, mode), activation in itertools.product(cases(), list(ACTIVATIONS)[1:]):
            with self.subTest(shape=shape, layout=layout, mode=mode, activation=activation):
                self.compare(shape, layout, mode, "f32", True, activation, True)
                self.compare(shape, layout, mode, "f32", False, activation, False)

    def test_figures(self):
        for epsilon, momentum in ((1e-3, 1.0), (1e-8, 0.25), (0.5, 0.9)):
            with self.subTest(epsilon=epsilon, momentum=momentum):
                self.compare((4, 6, 5, 5), "nchw", "spatial", "f32", True, "", True, epsilon=epsilon,
                             momentum=momentum)

    def test_the_reference_too(self):
        for shape, layout, mode in cases():
            with self.subTest(shape=shape, layout=layout, mode=mode):
                self.compare(shape, layout, mode, "f32", True, "", True, algorithm="reference")

    def test_against_their_float32(self):
        for shape, layout, mode in cases():
            with self.subTest(shape=shape, layout=layout, mode=mode):
                self.compare(shape, layout, mode, "f32", True, "", True, double=False)


if __name__ == "__main__":
    unittest.main()
