#!/usr/bin/env python3
"""test_torch.py: the reference and the oneDNN path against PyTorch, pass by pass.

PyTorch computes in float64 from inputs rounded to the type under test. RMCP_SEED repeats the
random part.
"""
import os
import random
import sys
import unittest

try:
    import numpy
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: PyTorch cannot be imported: {error}")
    sys.exit(77)

import rmcp_ctypes as rmcp

ALGORITHMS = ("reference", "onednn")
TORCH_TYPES = (torch.float32, torch.float16, torch.bfloat16)
ROUNDOFF = (2.0**-24, 2.0**-11, 2.0**-8)      # of one rounding to the type
SMALLEST = (2.0**-149, 2.0**-24, 2.0**-133)   # its smallest denormal number
SEED = int(os.environ.get("RMCP_SEED", random.SystemRandom().randrange(2**32)))
N_RANDOM = 200
SUM_FACTOR = 4  # of the bound eps_f32 * sum |a b| * sqrt(length)

SHAPES = (
    "n2c5w13k4s3", "n1c4w17k6s5p2u2d2g2", "n2c3w9k5s4p0-3u3",
    "n2c8h7w9k6r3s3p1", "n1c3h12w11k8r5s3p2x1u2x1", "n2c4h9w8k6r1s1", "n1c16h8w8k32r1s1u2",
    "n2c6h10w9k4r3s2p1-2x0-1u2x3", "n1c8h11w11k12r3s3p2d2g4", "n2c12h8w8k12r3s3p1g12",
    "n1c6h9w9k12r3s3p1u2g6", "n1c32h6w6k16r3s3p1", "n1c4h8w8k3r2s2p0-1x1-0",
    "n1c4t5x3h6w7k5r3s3p1", "n2c4t4x2h5w6k6r3s1p1x0-1x0u1x2x1g2", "n1c3t7x3h5w5k3r1s1p2x0x0d2x1x1g3",
)


def to_array(tensor, problem):
    """A logical N C ... tensor as an array in the problem's layout and type."""
    if problem.layout == rmcp.NHWC and tensor.dim() > 1:
        tensor = tensor.movedim(1, -1)
    tensor = tensor.to(TORCH_TYPES[problem.type]).contiguous()
    if problem.type == rmcp.BF16:
        return tensor.view(torch.int16).numpy().view(numpy.uint16)
    return tensor.numpy()


def to_tensor(array, problem):
    """The inverse, in float64."""
    if problem.type == rmcp.BF16:
        tensor = torch.from_numpy(array.view(numpy.int16)).view(torch.bfloat16)
    else:
        tensor = torch.from_numpy(array)
    tensor = tensor.double()
    return tensor.movedim(-1, 1) if problem.layout == rmcp.NHWC and tensor.dim() > 1 else tensor


def make_inputs(problem, generator):
    """Random float64 tensors x, w, y, bias that the type represents exactly."""
    inputs = {}
    for name in ("x", "w", "y", "bias"):
        shape = rmcp.array_shape(problem, name)
        if problem.layout == rmcp.NHWC and len(shape) > 1:
            shape = (shape[0], shape[-1], *shape[1:-1])
        values = torch.randn(shape, generator=generator, dtype=torch.float64)
        inputs[name] = values.to(TORCH_TYPES[problem.type]).double()
    return inputs


def activate(p, v):
    if p.activation == rmcp.RELU:
        return F.relu(v)
    if p.activation == rmcp.LEAKY_RELU:
        return F.leaky_relu(v, p.slope)
    return v.clamp(p.clamp_low, p.clamp_high) if p.activation == rmcp.CLAMP else v


def convolution(p, x, w, bias=None):
    """PyTorch's convolution; padding apart, which conv takes only when symmetric."""
    d = p.dims
    pads = [side for i in reversed(range(d)) for side in (p.pad_begin[i], p.pad_end[i])]
    conv = (F.conv1d, F.conv2d, F.conv3d)[d - 1]
    return conv(F.pad(x, pads), w, bias, list(p.stride[:d]), 0, list(p.dilation[:d]), p.groups)


def pytorch(p, pass_, t):
    """The result by PyTorch, gradients through torch.autograd."""
    if pass_ == rmcp.CONV_FORWARD:
        return activate(p, convolution(p, t["x"], t["w"], t["bias"] if p.bias else None))
    x, w = t["x"].clone().requires_grad_(), t["w"].clone().requires_grad_()
    wanted = x if pass_ == rmcp.CONV_BACKWARD_DATA else w
    return torch.autograd.grad(convolution(p, x, w), wanted, t["y"])[0]


def sum_length(p, pass_):
    taps, pixels = numpy.prod(p.filter[:p.dims]), numpy.prod(rmcp.output_size(p))
    return float((p.c // p.groups * taps, p.k // p.groups * taps, p.n * pixels)[pass_])


def bound(p, pass_, algorithm, tensors, expected):
    """Largest difference allowed, element by element."""
    bare = rmcp.Problem.from_buffer_copy(p)
    bare.activation = rmcp.NO_ACTIVATION
    magnitude = pytorch(bare, pass_, {name: t.abs() for name, t in tensors.items()})
    length = sum_length(p, pass_)
    if algorithm == "reference":  # sums in double, rounded once or (f16, bf16) through f32
        summing = 2.0**-52 * length * magnitude
        rounding = ROUNDOFF[p.type] + (ROUNDOFF[rmcp.F32] if p.type else 0)
    else:
        summing = SUM_FACTOR * ROUNDOFF[rmcp.F32] * length**0.5 * magnitude
        rounding = ROUNDOFF[p.type]
    summing = summing * max(1.0, abs(p.slope))
    return summing + rounding * (expected.abs() + summing) + SMALLEST[p.type]


class TorchCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = rmcp.Device("cpu")
        cls.generator = torch.Generator().manual_seed(SEED)

    @classmethod
    def tearDownClass(cls):
        cls.device.close()

    def ours(self, problem, pass_, tensors, algorithm, **options):
        arrays = {name: to_array(t, problem) for name, t in tensors.items()
                  if name != "bias" or problem.bias}
        output = rmcp.convolve(self.device, problem, pass_, arrays, algorithm=algorithm, **options)
        return to_tensor(output, problem)

    def check(self, problem, pass_, algorithms=ALGORITHMS):
        tensors = make_inputs(problem, self.generator)
        expected = pytorch(problem, pass_, tensors)
        for algorithm in algorithms:
            case = rmcp.case_string(problem, pass_)
            with self.subTest(case=case, algorithm=algorithm, seed=SEED):
                try:
                    got = self.ours(problem, pass_, tensors, algorithm)
                except rmcp.Error as error:
                    if error.status == rmcp.E_UNSUPPORTED and "padding alone" in str(error):
                        continue  # oneDNN is spared such problems
                    raise
                self.assertEqual(got.shape, expected.shape)
                excess = (got - expected).abs() / bound(problem, pass_, algorithm, tensors,
                                                        expected)
                self.assertTrue(bool((excess <= 1).all()),
                                f"{case}: {float(excess.max()):.3g} times the bound")

    def check_text(self, text):
        problem, pass_ = rmcp.parse(text)
        self.check(problem, pass_)


class Passes(TorchCase):
    def sweep(self, pass_name):
        for shape in SHAPES:
            for type_name in rmcp.TYPE_NAMES:
                for layout in rmcp.LAYOUT_NAMES:
                    self.check_text(f"{shape}:{type_name}:{layout}:{pass_name}")

    def test_forward(self):
        self.sweep("fwd")

    def test_backward_data(self):
        self.sweep("bwd_data")

    def test_backward_weights(self):
        self.sweep("bwd_weights")

    def test_bias_and_activation(self):
        for shape in SHAPES[::2]:
            for type_name in rmcp.TYPE_NAMES:
                for layout in rmcp.LAYOUT_NAMES:
                    for words in (":bias", ":relu", ":bias:relu", ":bias:leaky0.1",
                                  ":bias:clamp-0.5x1.5"):
                        self.check_text(f"{shape}:{type_name}:{layout}:fwd{words}")


class Properties(TorchCase):
    def test_backward_data_is_transposed_convolution(self):
        for text, output_padding in (("n2c6h9w9k4r3s3p1u2", 0), ("n2c6h10w10k4r3s3p1u2", 1),
                                     ("n1c6h12w12k4r4s4p1u2g2", 0), ("n1c6h12w12k4r3s3p1u3", 2)):
            problem, _ = rmcp.parse(text + ":f32:nchw")
            t = make_inputs(problem, self.generator)
            expected = F.conv_transpose2d(t["y"], t["w"], None, problem.stride[0],
                                          problem.pad_begin[0], output_padding, problem.groups)
            for algorithm in ALGORITHMS:
                with self.subTest(case=text, algorithm=algorithm):
                    got = self.ours(problem, rmcp.CONV_BACKWARD_DATA, t, algorithm)
                    self.assertEqual(got.shape, expected.shape)
                    limit = bound(problem, rmcp.CONV_BACKWARD_DATA, algorithm, t, expected)
                    self.assertTrue(bool(((got - expected).abs() <= limit).all()))

    def test_passes_are_adjoint(self):
        for shape in SHAPES:
            problem, _ = rmcp.parse(shape + ":f32:nchw")
            t = make_inputs(problem, self.generator)
            for algorithm in ALGORITHMS:
                y, x, w = (self.ours(problem, pass_, t, algorithm) for pass_ in range(3))
                products = [(t["y"] * y).sum(), (x * t["x"]).sum(), (w * t["w"]).sum()]
                limit = sum(float((t[name].abs() *
                                   bound(problem, pass_, algorithm, t, value)).sum())
                            for pass_, (name, value) in enumerate((("y", y), ("x", x), ("w", w))))
                with self.subTest(case=shape, algorithm=algorithm, seed=SEED):
                    self.assertLessEqual(float(abs(products[0] - products[1])), limit)
                    self.assertLessEqual(float(abs(products[0] - products[2])), limit)

    def test_gradients_are_those_of_the_forward_pass(self):
        # Small integers and a step of 1: a convolution is linear in each operand and all sums
        # are exact in f32, so differences of our forward pass are its exact derivatives.
        for text in ("n1c2w6k2s3p1u2", "n1c2h4w5k2r2s3p1-0x1", "n1c4h4w4k2r3s3p2d2g2"):
            problem, _ = rmcp.parse(text + ":f32:nchw")
            for algorithm in ALGORITHMS:
                function = self.autograd_function(problem, algorithm)
                operands = [torch.randint(-3, 4, rmcp.array_shape(problem, name),
                                          generator=self.generator).double().requires_grad_()
                            for name in "xw"]
                with self.subTest(case=text, algorithm=algorithm, seed=SEED):
                    self.assertTrue(torch.autograd.gradcheck(function.apply, operands, eps=1.0,
                                                             atol=1e-9, rtol=0))

    def autograd_function(self, problem, algorithm):
        test = self

        class Ours(torch.autograd.Function):
            @staticmethod
            def forward(context, x, w):
                context.save_for_backward(x, w)
                return test.ours(problem, rmcp.CONV_FORWARD, {"x": x.detach(), "w": w.detach()},
                                 algorithm)

            @staticmethod
            def backward(context, dy):
                x, w = context.saved_tensors
                t = {"x": x.detach(), "w": w.detach(), "y": dy.detach()}
                return (test.ours(problem, rmcp.CONV_BACKWARD_DATA, t, algorithm),
                        test.ours(problem, rmcp.CONV_BACKWARD_WEIGHTS, t, algorithm))

        return Ours

    def test_fixed_weights_give_the_same_bits(self):
        for shape in SHAPES:
            for type_name in rmcp.TYPE_NAMES:
                for layout in rmcp.LAYOUT_NAMES:
                    problem, _ = rmcp.parse(f"{shape}:{type_name}:{layout}")
                    t = make_inputs(problem, self.generator)
                    for algorithm in ALGORITHMS:
                        for pass_ in (rmcp.CONV_FORWARD, rmcp.CONV_BACKWARD_DATA):
                            with self.subTest(case=rmcp.case_string(problem, pass_),
                                              algorithm=algorithm, seed=SEED):
                                plain = self.ours(problem, pass_, t, algorithm)
                                fixed = self.ours(problem, pass_, t, algorithm, fix_weights=True)
                                self.assertTrue(torch.equal(plain, fixed))


class NotFinite(TorchCase):
    """NaN and Inf in x or y reach the outputs that PyTorch says. Weights stay finite: a zero of
    the padding times an infinite weight is NaN only to a library that multiplies padding."""

    def check_values(self, text, pass_, change, **options):
        problem, _ = rmcp.parse(text)
        t = make_inputs(problem, self.generator)
        source = t["y"] if pass_ == rmcp.CONV_BACKWARD_DATA else t["x"]
        t["w"][..., 0] = 0.0  # Inf * 0 is NaN
        change(source.view(-1))
        expected = pytorch(problem, pass_, t)
        for algorithm in (*ALGORITHMS, None):  # None: the planner's choice
            with self.subTest(case=rmcp.case_string(problem, pass_), algorithm=algorithm,
                              options=options):
                got = self.ours(problem, pass_, t, algorithm, **options)
                self.assertTrue(torch.equal(got.isnan(), expected.isnan()), "NaN elsewhere")
                self.assertTrue(torch.equal(got.isposinf(), expected.isposinf()), "+Inf elsewhere")
                self.assertTrue(torch.equal(got.isneginf(), expected.isneginf()), "-Inf elsewhere")

    def sweep(self, change):
        for text in ("n1c3h7w8k4r3s3p1", "n1c16h7w8k16r3s3p1", "n1c16h6w6k16r1s1",
                     "n2c8h9w9k8r3s3p1u2g8", "n1c4h9w9k6r3s3p2d2g2"):
            for layout in rmcp.LAYOUT_NAMES:
                for pass_ in range(3):
                    self.check_values(f"{text}:f32:{layout}", pass_, change)

    def test_nan(self):
        self.sweep(lambda flat: flat.__setitem__(flat.numel() // 2, float("nan")))

    def test_infinity(self):
        def change(flat):
            flat[flat.numel() // 3] = float("inf")
            flat[-1] = float("-inf")
        self.sweep(change)

    def test_nan_through_activations(self):
        def change(flat):
            flat[flat.numel() // 2] = float("nan")
        for words in ("relu", "leaky0.1", "clamp-0.5x1.5"):
            for text in ("n1c16h7w8k16r3s3p1", "n1c3h7w8k4r3s3p1"):
                self.check_values(f"{text}:f32:nchw:{words}", rmcp.CONV_FORWARD, change,
                                  accuracy=rmcp.STRICT)


class Random(TorchCase):
    def draw(self, rng):
        p = rmcp.Problem(dims=rng.choice((1, 2, 2, 2, 3)), n=rng.randint(1, 3),
                         groups=rng.choice((1, 1, 1, 2, 3, 4)))
        p.c, p.k = p.groups * rng.randint(1, 9), p.groups * rng.randint(1, 9)
        for i in range(p.dims):
            p.filter[i], p.stride[i] = rng.randint(1, 4), rng.randint(1, 3)
            p.dilation[i] = rng.choice((1, 1, 2, 3))
            reach = p.dilation[i] * (p.filter[i] - 1) + 1
            p.pad_begin[i], p.pad_end[i] = rng.randint(0, 2), rng.randint(0, 2)
            least = max(1, reach - p.pad_begin[i] - p.pad_end[i])
            p.input[i] = least + rng.randint(0, (30, 9, 4)[p.dims - 1])
        p.type, p.layout = rng.choice((0, 0, 1, 2)), rng.randrange(2)
        p.bias, p.activation = rng.randrange(2), rng.randrange(4)
        if p.activation == rmcp.LEAKY_RELU:
            p.slope = rng.uniform(0, 0.5)
        if p.activation == rmcp.CLAMP:
            p.clamp_low, p.clamp_high = -rng.random(), rng.random() * 3
        return p

    def test_random_problems(self):
        print(f"random problems: RMCP_SEED={SEED}", flush=True)
        rng = random.Random(SEED)
        for _ in range(N_RANDOM):
            self.check(self.draw(rng), rng.randrange(3))


if __name__ == "__main__":
    unittest.main()
