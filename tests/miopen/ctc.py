#!/usr/bin/env python3
"""ctc.py: CTC losses through MIOpen's calls, in PyTorch's own order, against PyTorch on the CPU: losses and gradients,
with labels on the device and on the host; and calls that must be refused.

usage: MIOPEN=…/libMIOpen.so.1 [HIP=…] ctc.py [PROBLEMS [SEED]]; without HIP device memory is the host's, as it is
for RMCP_DEVICE=cpu."""
import ctypes as c
import os
import random
import sys

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TYPES = {torch.float32: 1, torch.float16: 0}
BAD_PARAMETER, UNKNOWN = 3, 7
library = c.CDLL(os.environ["MIOPEN"])
hip = c.CDLL(os.environ["HIP"], mode=c.RTLD_GLOBAL) if os.environ.get("HIP") else None


def status(name, *arguments):
    return getattr(library, name)(*arguments)


def call(name, *arguments):
    code = status(name, *arguments)
    if code != 0:
        raise RuntimeError(f"{name}: status {code}")


class Memory:
    """Device memory that holds a tensor."""

    def __init__(self, tensor):
        self.tensor = tensor.detach().contiguous().clone()
        self.bytes = self.tensor.numel() * self.tensor.element_size()
        self.pointer = c.c_void_p(self.tensor.data_ptr())
        if hip:
            self.pointer = c.c_void_p()
            assert hip.hipMalloc(c.byref(self.pointer), c.c_size_t(max(self.bytes, 4))) == 0
            assert hip.hipMemcpy(self.pointer, c.c_void_p(self.tensor.data_ptr()), c.c_size_t(self.bytes), 1) == 0

    def read(self):
        if hip:
            assert hip.hipDeviceSynchronize() == 0
            assert hip.hipMemcpy(c.c_void_p(self.tensor.data_ptr()), self.pointer, c.c_size_t(self.bytes), 2) == 0
        return self.tensor

    def __del__(self):
        if hip:
            hip.hipFree(self.pointer)


def describe(shape, dtype):
    descriptor, n = c.c_void_p(), len(shape)
    strides = [1] * n
    for i in range(n - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    call("miopenCreateTensorDescriptor", c.byref(descriptor))
    call("miopenSetTensorDescriptor", descriptor, TYPES[dtype], n, (c.c_int * n)(*shape), (c.c_int * n)(*strides))
    return descriptor


class Problem:
    """One batch, as the calls of PyTorch's LossCTC_miopen see it."""

    def __init__(self, handle, x, labels, label_lengths, input_lengths, blank, softmax, on_device):
        self.handle, self.x = handle, x
        self.lists = [torch.tensor(v, dtype=torch.int32) for v in (labels, label_lengths, input_lengths)]
        self.memory = [Memory(v) for v in self.lists] if on_device else None
        self.pointers = [m.pointer if on_device else c.c_void_p(v.data_ptr())
                         for v, m in zip(self.lists, self.memory or self.lists)]
        self.descriptor = c.c_void_p()
        call("miopenCreateCTCLossDescriptor", c.byref(self.descriptor))
        call("miopenSetCTCLossDescriptor", self.descriptor, TYPES[x.dtype], blank, c.c_bool(softmax))
        self.probs, self.gradients = describe(x.shape, x.dtype), describe(x.shape, x.dtype)

    def workspace(self):
        size = c.c_size_t(0)
        code = status("miopenGetCTCLossWorkspaceSize", self.handle, self.probs, self.gradients, *self.pointers, 0,
                      self.descriptor, c.byref(size))
        return code, size.value

    def run(self, size):
        x = Memory(self.x)
        loss = Memory(torch.full((self.x.shape[1],), float("nan"), dtype=self.x.dtype))
        gradient = Memory(torch.full_like(self.x, float("nan")))
        workspace = Memory(torch.full((max(size, 1),), 0xa5, dtype=torch.uint8))
        code = status("miopenCTCLoss", self.handle, self.probs, x.pointer, *self.pointers, loss.pointer, self.gradients,
                      gradient.pointer, 0, self.descriptor, workspace.pointer, c.c_size_t(size))
        return code, loss.read(), gradient.read()

    def close(self):
        call("miopenDestroyTensorDescriptor", self.probs)
        call("miopenDestroyTensorDescriptor", self.gradients)
        call("miopenDestroyCTCLossDescriptor", self.descriptor)


def close(ours, expected, bound):
    difference = (ours.double() - expected.double()).abs().max().item()
    return difference <= bound * max(expected.abs().max().item(), 1e-3)


def compare(handle, seed):
    r = random.Random(seed)
    torch.manual_seed(seed)
    dtype = r.choice((torch.float32, torch.float32, torch.float16))
    steps, batch, classes = r.randint(1, 12), r.randint(1, 4), r.randint(3, 9)
    x = torch.randn(steps, batch, classes).to(dtype)
    longest = r.randint(0, (steps + 1) // 2)
    labels = [[r.randrange(1, classes) for _ in range(r.randint(0, longest))] for _ in range(batch)]
    inputs = [r.randint(min(2 * len(label) + 1, steps), steps) for label in labels]
    problem = Problem(handle, x, [k for label in labels for k in label], [len(label) for label in labels], inputs, 0,
                      True, r.random() < 0.7)
    code, size = problem.workspace()
    longest = max(len(label) for label in labels)
    total, states = sum(len(label) for label in labels), 2 * longest + 1
    original = 4 * (4 * batch + total + batch * states) + 4 * (
        steps * batch * classes + steps * batch * states + 2 * batch * states)
    code_run, loss, gradient = problem.run(size)
    problem.close()
    logits = x.double().requires_grad_(True)
    expected = torch.nn.functional.ctc_loss(
        logits.log_softmax(2), torch.tensor([k for label in labels for k in label], dtype=torch.long), inputs,
        [len(label) for label in labels], reduction="none")
    expected.sum().backward()
    bound = 1e-4 if dtype == torch.float32 else 3e-3
    good = (code == 0 and code_run == 0 and size == original and close(loss, expected.detach(), bound)
            and close(gradient, logits.grad, bound))
    if not good:
        print(f"wrong: seed {seed}: {tuple(x.shape)} {dtype}, status {code} {code_run}, {size} bytes")
    return good


def refusals(handle):
    """What the original refuses, with its statuses; and what it would crash with."""
    x = torch.randn(4, 2, 5)
    wrong = 0
    for labels, label_lengths, input_lengths in (
            ([1, 2], [1, 1], [4, 5]),             # more steps than there are
            ([1, 5], [1, 1], [4, 4]),             # no class
            ([1, -1], [1, 1], [4, 4]),
            ([1, 1, 1, 2], [3, 1], [4, 4]),       # needs a fifth step
            ([1, 2, 3, 4, 1], [5, 0], [4, 4]),
            ([1, 2], [1, -1], [4, 4])):
        problem = Problem(handle, x, labels, label_lengths, input_lengths, 0, True, False)
        code, _ = problem.workspace()
        code_run, _, _ = problem.run(4096)
        problem.close()
        if code != BAD_PARAMETER or code_run != UNKNOWN:
            print(f"wrong: {labels}, {label_lengths}, {input_lengths}: status {code}, {code_run}")
            wrong += 1
    problem = Problem(handle, x, [1, 2], [1, 1], [4, 4], 0, True, False)
    small, _, _ = problem.run(8)
    none = status("miopenGetCTCLossWorkspaceSize", handle, problem.probs, problem.gradients, None, None, None, 0,
                  problem.descriptor, c.byref(c.c_size_t()))
    problem.close()
    gone = status("miopenDestroyCTCLossDescriptor", problem.descriptor)
    kind, blank, softmax = c.c_int(-1), c.c_int(-1), c.c_bool(False)
    fresh = c.c_void_p()
    call("miopenCreateCTCLossDescriptor", c.byref(fresh))
    call("miopenGetCTCLossDescriptor", fresh, c.byref(kind), c.byref(blank), c.byref(softmax))
    call("miopenDestroyCTCLossDescriptor", fresh)
    for name, good in (("a small workspace", small == BAD_PARAMETER), ("no lengths", none == BAD_PARAMETER),
                       ("a destroyed descriptor", gone == BAD_PARAMETER),
                       ("a new descriptor", (kind.value, blank.value, softmax.value) == (1, 0, True))):
        if not good:
            print(f"wrong: {name}")
            wrong += 1
    return wrong


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("RMCP_SEED") or random.randrange(10**6))
    print(f"seed {seed}")
    handle = c.c_void_p()
    call("miopenCreate", c.byref(handle))
    wrong = sum(not compare(handle, seed + i) for i in range(count)) + refusals(handle)
    call("miopenDestroy", handle)
    print(f"{count} problems, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
