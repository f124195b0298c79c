#!/usr/bin/env python3
"""conv_activation.py: miopenConvolutionBiasActivationForward against PyTorch on the CPU, with and without z, bias and
activation; z may be y; and calls that must be refused.

usage: MIOPEN=…/libMIOpen.so.1 [HIP=…] conv_activation.py [PROBLEMS [SEED]]; without HIP device memory is the host's, as
it is for RMCP_DEVICE=cpu."""
import ctypes as c
import random
import sys

try:
    import torch
    from torch.nn import functional
    from ctc import Memory, call, close, describe, status
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

BAD_PARAMETER = 3
# Numbers of modes, and what they compute with alpha, beta and gamma.
MODES = {0: lambda x, a, b, g: x, 1: lambda x, a, b, g: x.sigmoid(), 2: lambda x, a, b, g: b * (a * x).tanh(),
         3: lambda x, a, b, g: x.relu(), 7: lambda x, a, b, g: x.clamp(0, a),
         8: lambda x, a, b, g: torch.where(x > 0, x, a * x),
         9: lambda x, a, b, g: torch.where(x > 0, x, a * x.expm1())}


class Problem:
    """A drawn call: its tensors, descriptors and memory."""

    def __init__(self, handle, r):
        self.handle, self.dtype = handle, r.choice((torch.float32, torch.float32, torch.float16))
        self.transposed, self.pad, self.stride = r.random() < 0.2, r.randint(0, 1), r.randint(1, 2)
        n, channels, k, filter = r.randint(1, 3), r.randint(1, 5), r.randint(1, 6), r.choice((1, 3))
        draw = lambda *shape: torch.randn(shape).to(self.dtype)
        self.x = draw(n, channels, r.randint(3, 9), r.randint(3, 9))
        self.w = draw(*((channels, k) if self.transposed else (k, channels)), filter, filter)
        self.alpha1, self.alpha2 = r.choice((1.0, 1.0, -0.5, 2.0)), r.choice((0.0, 1.0, 0.5))
        convolve = functional.conv_transpose2d if self.transposed else functional.conv2d
        self.plain = convolve(self.x.double(), self.w.double(), stride=self.stride, padding=self.pad)
        self.z = draw(*self.plain.shape) if r.random() < 0.6 else None
        self.bias = draw(1, self.plain.shape[1], 1, 1) if r.random() < 0.6 else None
        self.mode = r.choice((None, *MODES))
        self.numbers = (r.choice((0.5, 2.0)), r.choice((1.0, 1.5)), 1.0)
        self.in_place = self.z is not None and r.random() < 0.4

    def expected(self):
        y = self.alpha1 * self.plain
        if self.z is not None:
            y = y + self.alpha2 * self.z.double()
        if self.bias is not None:
            y = y + self.bias.double()
        return y if self.mode is None else MODES[self.mode](y, *self.numbers)

    def run(self, **other):
        """The status, and y; `other`: arguments to be another."""
        conv, activation = c.c_void_p(), c.c_void_p()
        call("miopenCreateConvolutionDescriptor", c.byref(conv))
        call("miopenInitConvolutionDescriptor", conv, int(self.transposed), self.pad, self.pad, self.stride,
             self.stride, 1, 1)
        if self.mode is not None:
            call("miopenCreateActivationDescriptor", c.byref(activation))
            call("miopenSetActivationDescriptor", activation, self.mode, *map(c.c_double, self.numbers))
        memory = {name: None if t is None else Memory(t) for name, t in
                  (("x", self.x), ("w", self.w), ("z", self.z), ("bias", self.bias))}
        memory["y"] = (memory["z"] if self.in_place
                       else Memory(torch.full(self.plain.shape, float("nan"), dtype=self.dtype)))
        a = {name: m and m.pointer for name, m in memory.items()}
        a |= {name + "_desc": m and describe(m.tensor.shape, self.dtype) for name, m in memory.items()}
        a |= other
        floats = [c.byref(c.c_float(value)) for value in (self.alpha1, self.alpha2)]
        code = status("miopenConvolutionBiasActivationForward", self.handle, floats[0], a["x_desc"], a["x"],
                      a["w_desc"], a["w"], conv, 0, None, c.c_size_t(0), floats[1], a["z_desc"], a["z"],
                      a["bias_desc"], a["bias"],
                      activation, a["y_desc"], a["y"])
        result = memory["y"].read()
        call("miopenDestroyConvolutionDescriptor", conv)
        if self.mode is not None:
            call("miopenDestroyActivationDescriptor", activation)
        return code, result


def compare(handle, seed):
    r = random.Random(seed)
    torch.manual_seed(seed)
    problem = Problem(handle, r)
    code, y = problem.run()
    # In f16 each of up to four steps rounds.
    bound = 2e-5 if problem.dtype == torch.float32 else 8e-3
    if code == 0 and close(y, problem.expected(), bound):
        return True
    settings = {name: value for name, value in vars(problem).items() if not isinstance(value, torch.Tensor)}
    print(f"wrong: seed {seed}, status {code}, {settings}")
    return False


def refused(handle):
    problem = Problem(handle, random.Random(1))
    while problem.z is None or problem.bias is None or problem.alpha2 == 0:
        problem = Problem(handle, random.Random(problem.pad * 100 + random.randrange(10**6)))
    small = describe((1, 1, 1, 1), problem.dtype)
    wrong = ({"x": None}, {"w": None}, {"y": None}, {"bias": None}, {"z_desc": small}, {"z_desc": None},
             {"y_desc": None}, {"bias_desc": describe((1, problem.plain.shape[1] + 1, 1, 1), problem.dtype)},
             {"x_desc": None})
    codes = [problem.run(**other)[0] for other in wrong]
    for other, code in zip(wrong, codes):
        if code != BAD_PARAMETER:
            print(f"wrong: {list(other)} gives status {code}")
    return all(code == BAD_PARAMETER for code in codes)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"seed {seed}")
    handle = c.c_void_p()
    call("miopenCreate", c.byref(handle))
    wrong = sum(not compare(handle, seed + i) for i in range(count)) + (not refused(handle))
    print(f"{count} problems, {wrong} wrong")
    call("miopenDestroy", handle)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
