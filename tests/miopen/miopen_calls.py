"""miopen_calls.py: MIOpen's C ABI through ctypes, called in PyTorch's order; device memory through HIP."""
import ctypes as c
import os

import torch

TYPES = {torch.float32: 1, torch.float16: 0, torch.bfloat16: 5}


class Solution(c.Structure):
    _fields_ = [("time", c.c_float), ("workspace", c.c_size_t), ("id", c.c_uint64), ("algorithm", c.c_int)]


class Perf(c.Structure):
    _fields_ = [("algorithm", c.c_int), ("time", c.c_float), ("memory", c.c_size_t)]


class Library:
    """libMIOpen and a HIP (AMD's, or what stands in for it), with one handle."""

    def __init__(self, miopen, hip, find=False):
        self.hip = c.CDLL(hip, mode=c.RTLD_GLOBAL)
        self.library = c.CDLL(miopen)
        self.find = find
        self.known = {}  # what find mode found
        self.calls = {}  # how often each function was called
        self.handle = c.c_void_p()
        self.call("miopenCreate", c.byref(self.handle))
        self.call("miopenSetStream", self.handle, None)

    def call(self, name, *arguments):
        self.calls[name] = self.calls.get(name, 0) + 1
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: status {status}")

    def check(self, error):
        if error != 0:
            raise RuntimeError(f"HIP error {error}")

    # -- memory --

    def device(self, tensor):
        """A copy on the device: (pointer, tensor's own storage order kept)."""
        memory = Memory(self, tensor.numel() * tensor.element_size())
        tensor = tensor.detach()
        self.check(self.hip.hipMemcpy(memory.pointer, c.c_void_p(tensor.data_ptr()), c.c_size_t(memory.bytes), 1))
        return memory

    def host(self, memory, like):
        """Back again, into a tensor of the same sizes and strides."""
        result = torch.empty_like(like)
        self.check(self.hip.hipDeviceSynchronize())
        self.check(self.hip.hipMemcpy(c.c_void_p(result.data_ptr()), memory.pointer, c.c_size_t(memory.bytes), 2))
        return result

    # -- descriptors --

    def tensor(self, tensor):
        descriptor = c.c_void_p()
        self.call("miopenCreateTensorDescriptor", c.byref(descriptor))
        n = tensor.dim()
        self.call("miopenSetTensorDescriptorV2", descriptor, TYPES[tensor.dtype], n,
                  (c.c_size_t * n)(*tensor.shape), (c.c_size_t * n)(*tensor.stride()))
        return descriptor

    def convolution(self, padding, stride, dilation, groups, deterministic=False):
        descriptor, n = c.c_void_p(), len(padding)
        self.call("miopenCreateConvolutionDescriptor", c.byref(descriptor))
        self.call("miopenInitConvolutionNdDescriptor", descriptor, n, (c.c_int * n)(*padding), (c.c_int * n)(*stride),
                  (c.c_int * n)(*dilation), 0)
        self.call("miopenSetConvolutionGroupCount", descriptor, groups)
        self.call("miopenSetConvolutionAttribute", descriptor, 1, int(deterministic))
        return descriptor

    # -- convolution: x, w and y are host tensors; the one that is written gives only its shape --

    PASSES = {"Forward": ("w", "x", "y"), "BackwardData": ("y", "w", "x"), "BackwardWeights": ("y", "x", "w")}

    def convolve(self, direction, x, w, y, padding, stride, dilation, groups):
        host = {"x": x, "w": w, "y": y}
        memory = {name: self.device(tensor) for name, tensor in host.items()}
        names = {name: self.tensor(tensor) for name, tensor in host.items()}
        convolution = self.convolution(padding, stride, dilation, groups)
        order = self.PASSES[direction]
        if self.find:
            self._find(direction, order, memory, names, convolution,
                       (direction, x.shape, w.shape, tuple(padding), tuple(stride), groups))
        else:
            self._immediate(direction, order, memory, names, convolution)
        for name in names.values():
            self.call("miopenDestroyTensorDescriptor", name)
        self.call("miopenDestroyConvolutionDescriptor", convolution)
        return self.host(memory[order[2]], host[order[2]])

    def _immediate(self, direction, order, memory, names, convolution):
        first, second, result = order
        prefix = "miopenConvolution" + direction
        shapes = (self.handle, names[first], names[second], convolution, names[result])
        count = c.c_size_t()
        self.call(prefix + "GetSolutionCount", *shapes, c.byref(count))
        if not 1 <= count.value <= 10:
            raise RuntimeError(f"{count.value} solutions")
        solutions = (Solution * count.value)()
        self.call(prefix + "GetSolution", *shapes, count, c.byref(count), solutions)
        workspace = Memory(self, solutions[0].workspace)
        self.call(prefix + "Immediate", self.handle, names[first], memory[first].pointer, names[second],
                  memory[second].pointer, convolution, names[result], memory[result].pointer, workspace.pointer,
                  c.c_size_t(workspace.bytes), c.c_uint64(solutions[0].id))

    def _find(self, direction, order, memory, names, convolution, key):
        first, second, result = ("x", "w", "y") if direction == "Forward" else order
        size = c.c_size_t()
        if key not in self.known:
            self.call(f"miopenConvolution{direction}GetWorkSpaceSize", self.handle, names[order[0]], names[order[1]],
                      convolution, names[result], c.byref(size))
            workspace, perf, count = Memory(self, size.value), Perf(), c.c_int()
            self.call(f"miopenFindConvolution{direction}Algorithm", self.handle, names[first], memory[first].pointer,
                      names[second], memory[second].pointer, convolution, names[result], memory[result].pointer, 1,
                      c.byref(count), c.byref(perf), workspace.pointer, size, False)
            if count.value != 1:
                raise RuntimeError(f"{count.value} algorithms found")
            self.known[key] = (perf.algorithm, perf.memory)
        algorithm, bytes_ = self.known[key]
        workspace, one, zero = Memory(self, bytes_), c.c_float(1), c.c_float(0)
        self.call(f"miopenConvolution{direction}", self.handle, c.byref(one), names[first], memory[first].pointer,
                  names[second], memory[second].pointer, convolution, algorithm, c.byref(zero), names[result],
                  memory[result].pointer, workspace.pointer, c.c_size_t(workspace.bytes))

    # -- batch norm, spatial --

    def _parameters(self, x):
        return self.tensor(torch.empty([1, x.shape[1]] + [1] * (x.dim() - 2)))

    def normalise(self, x, scale, bias, mean, variance, factor, epsilon):
        """Training: y, saved mean, saved inverse; mean and variance are updated in place."""
        one, zero = c.c_float(1), c.c_float(0)
        memory = [self.device(t) for t in (x, x, scale, bias, mean, variance, mean, mean)]
        X, Y, S, B, M, V, SM, SI = (m.pointer for m in memory)
        x_name, p_name = self.tensor(x), self._parameters(x)
        self.call("miopenBatchNormalizationForwardTraining", self.handle, 1, c.byref(one), c.byref(zero), x_name, X,
                  x_name, Y, p_name, S, B, c.c_double(factor), M, V, c.c_double(epsilon), SM, SI)
        for name in (x_name, p_name):
            self.call("miopenDestroyTensorDescriptor", name)
        mean.copy_(self.host(memory[4], mean))
        variance.copy_(self.host(memory[5], variance))
        return self.host(memory[1], x), self.host(memory[6], mean), self.host(memory[7], mean)

    def infer(self, x, scale, bias, mean, variance, epsilon):
        one, zero = c.c_float(1), c.c_float(0)
        memory = [self.device(t) for t in (x, x, scale, bias, mean, variance)]
        X, Y, S, B, M, V = (m.pointer for m in memory)
        x_name, p_name = self.tensor(x), self._parameters(x)
        self.call("miopenBatchNormalizationForwardInference", self.handle, 1, c.byref(one), c.byref(zero), x_name, X,
                  x_name, Y, p_name, S, B, M, V, c.c_double(epsilon))
        for name in (x_name, p_name):
            self.call("miopenDestroyTensorDescriptor", name)
        return self.host(memory[1], x)

    def normalise_backward(self, x, dy, scale, saved_mean, saved_inverse, epsilon):
        """dx, dscale, dbias."""
        one, zero = c.c_float(1), c.c_float(0)
        memory = [self.device(t) for t in (x, dy, x, scale, scale, scale, saved_mean, saved_inverse)]
        X, DY, DX, S, DS, DB, SM, SI = (m.pointer for m in memory)
        x_name, p_name = self.tensor(x), self._parameters(x)
        self.call("miopenBatchNormalizationBackward", self.handle, 1, c.byref(one), c.byref(zero), c.byref(one),
                  c.byref(zero), x_name, X, x_name, DY, x_name, DX, p_name, S, DS, DB, c.c_double(epsilon), SM, SI)
        for name in (x_name, p_name):
            self.call("miopenDestroyTensorDescriptor", name)
        return self.host(memory[2], x), self.host(memory[4], scale), self.host(memory[5], scale)


class Memory:
    """Device memory that is freed with the object; NULL for none."""

    def __init__(self, library, size):
        self.library, self.bytes, self.pointer = library, size, c.c_void_p()
        if size:
            library.check(library.hip.hipMalloc(c.byref(self.pointer), c.c_size_t(size)))

    def __del__(self):
        if self.pointer:
            self.library.hip.hipDeviceSynchronize()
            self.library.hip.hipFree(self.pointer)


def from_environment():
    """The library that the test names: MIOPEN, HIP (default AMD's), FIND=1 for find mode."""
    return Library(os.environ["MIOPEN"], os.environ.get("HIP", "libamdhip64.so.5"), os.environ.get("FIND") == "1")
