#!/usr/bin/env python3
"""elements.py: activations, GLU, PReLU, dropout, margin losses, Adam and rotary embeddings through MIOpen's calls,
against PyTorch on the CPU; and calls that must be refused.

usage: MIOPEN=…/libMIOpen.so.1 [HIP=…] elements.py [ROUNDS [SEED]]; without HIP device memory is the host's, as it is
for RMCP_DEVICE=cpu."""
import ctypes as c
import os
import random
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TYPES = {torch.float32: 1, torch.float16: 0, torch.bfloat16: 5, torch.int32: 2, torch.uint8: 3, torch.int64: 9}
CLOSE = {torch.float32: 1e-5, torch.float16: 2**-10, torch.bfloat16: 2**-7}
BAD_PARM, UNKNOWN = 3, 7
library = c.CDLL(os.environ["MIOPEN"])
hip = c.CDLL(os.environ["HIP"], mode=c.RTLD_GLOBAL) if os.environ.get("HIP") else None
handle = c.c_void_p()
one, zero = c.byref(c.c_float(1)), c.byref(c.c_float(0))


def call(name, *arguments, expect=0):
    status = getattr(library, name)(*arguments)
    if status != expect:
        raise SystemExit(f"{name}: status {status}, not {expect}")


class Tensor:
    """A torch tensor of any strides on the device, and its descriptor."""

    def __init__(self, tensor):
        self.tensor, self.name = tensor, c.c_void_p()
        n = tensor.dim()
        call("miopenCreateTensorDescriptor", c.byref(self.name))
        call("miopenSetTensorDescriptor", self.name, TYPES[tensor.dtype], n, (c.c_int * n)(*tensor.shape),
             (c.c_int * n)(*tensor.stride()))
        self.bytes = (1 + sum((a - 1) * b for a, b in zip(tensor.shape, tensor.stride()))) * tensor.element_size()
        self.at = c.c_void_p(tensor.data_ptr())
        if hip:
            self.at = c.c_void_p()
            assert hip.hipMalloc(c.byref(self.at), c.c_size_t(self.bytes)) == 0
            assert hip.hipMemcpy(self.at, c.c_void_p(tensor.data_ptr()), c.c_size_t(self.bytes), 1) == 0

    def read(self):
        if hip:
            assert hip.hipDeviceSynchronize() == 0
            assert hip.hipMemcpy(c.c_void_p(self.tensor.data_ptr()), self.at, c.c_size_t(self.bytes), 2) == 0
        return self.tensor

    @property
    def pair(self):
        return self.name, self.at

    def __del__(self):
        library.miopenDestroyTensorDescriptor(self.name)
        if hip:
            hip.hipFree(self.at)


def numbers(shape, dtype):
    """Not 0, where derivatives bend."""
    return (torch.rand(shape) * 0.98 + 0.01).mul(torch.randint(0, 2, shape) * 2 - 1).to(dtype)


def last(tensor):
    """Channels last, for tensors that have some."""
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def near(ours, theirs, what, slack=0.0):
    close, theirs = CLOSE[ours.dtype], theirs.detach().double().reshape(ours.shape)
    off = (ours.double() - theirs).abs()
    if not (off <= close * theirs.abs() + close / 8 + slack).all():
        raise SystemExit(f"{what}: off by {off.max().item()}")


def activations(rng, dtype):
    shape = rng.choice(((3, 5, 7, 6), (40,), (6, 33)))
    a, b, g = 0.757, 1.503, 2.0  # bends where no number of a 16-bit type is
    modes = (lambda x: x, torch.sigmoid, lambda x: b * torch.tanh(a * x), torch.relu, F.softplus, torch.abs,
             lambda x: (a + b * x).clamp(min=0) ** g, lambda x: x.clamp(0, a), lambda x: F.leaky_relu(x, a),
             lambda x: F.elu(x, a), lambda x: x.clamp(-a, b))
    for mode, function in enumerate(modes):
        name = c.c_void_p()
        call("miopenCreateActivationDescriptor", c.byref(name))
        alpha = -a if mode == 10 else a
        call("miopenSetActivationDescriptor", name, mode, c.c_double(alpha), c.c_double(b), c.c_double(g))
        x = last(numbers(shape, dtype))
        x = x.abs() if mode == 6 else x
        wide = x.double().requires_grad_()
        y, dy = function(wide), last(numbers(shape, dtype))
        y.backward(dy.double())
        X, Y, DY = Tensor(x), Tensor(torch.zeros_like(x)), Tensor(dy)
        call("miopenActivationForward", handle, name, one, *X.pair, zero, *Y.pair)
        near(Y.read(), y, f"activation {mode}")
        given, DX = Tensor(last(y.detach().to(dtype))), Tensor(last(torch.ones_like(x)))
        call("miopenActivationBackward", handle, name, one, *given.pair, *DY.pair, *X.pair, zero, *DX.pair)
        near(DX.read(), wide.grad, f"gradient of activation {mode}", 8 * CLOSE[dtype])
        half, two = c.byref(c.c_float(0.5)), c.byref(c.c_float(2))
        before = Y.read().double().clone()
        call("miopenActivationForward", handle, name, half, *X.pair, two, *Y.pair)
        near(Y.read(), 0.5 * y + 2 * before, f"activation {mode} with alpha and beta", 4 * CLOSE[dtype])
        call("miopenActivationForward", handle, name, one, *X.pair, zero, *X.pair)
        near(X.read(), y, f"activation {mode} in place")
        other = Tensor(numbers((2, 2), dtype))
        call("miopenActivationForward", handle, name, one, *X.pair, zero, *other.pair, expect=BAD_PARM)
        call("miopenActivationForward", handle, name, one, X.name, None, zero, *Y.pair, expect=BAD_PARM)
        call("miopenDestroyActivationDescriptor", name)


def gates(rng, dtype):
    shape, dim = (4, 6, 8), rng.randrange(3)
    x = numbers(shape, dtype)
    wide = x.double().requires_grad_()
    y = F.glu(wide, dim)
    dy = numbers(y.shape, dtype)
    y.backward(dy.double())
    X, Y, DY, DX = Tensor(x), Tensor(torch.zeros(y.shape, dtype=dtype)), Tensor(dy), Tensor(torch.zeros_like(x))
    call("miopenGLUForward", handle, *X.pair, *Y.pair, dim)
    near(Y.read(), y, "GLU")
    call("miopenGLUBackward", handle, *X.pair, *DY.pair, *DX.pair, dim)
    near(DX.read(), wide.grad, "gradient of GLU")
    call("miopenGLUForward", handle, *X.pair, *Y.pair, 3, expect=BAD_PARM)
    call("miopenGLUForward", handle, *X.pair, *X.pair, dim, expect=BAD_PARM)


def prelu(rng, dtype):
    shape, n = (5, 4, 6, 7), rng.choice((1, 4))
    x, w, dy = last(numbers(shape, dtype)), numbers((n,), dtype), numbers(shape, dtype)
    wide, weights = x.double().requires_grad_(), w.double().requires_grad_()
    F.prelu(wide, weights).backward(dy.double())
    X, W, DY, DX, DW = map(Tensor, (x, w, dy, torch.zeros_like(x), torch.zeros_like(w)))
    size = c.c_size_t()
    call("miopenGetPReLUBackwardWorkspaceSize", handle, X.name, W.name, c.byref(size))
    assert size.value == (4 * x.numel() if n > 1 else (4 * x.numel() + 255) // 256 * 256 + 256), size.value
    call("miopenPReLUBackward", handle, None, size, *X.pair, *W.pair, *DY.pair, *DX.pair, *DW.pair)
    near(DX.read(), wide.grad, "PReLU's dx")
    near(DW.read(), weights.grad, "PReLU's dw", 20 * CLOSE[dtype])
    three = Tensor(numbers((3,), dtype))
    call("miopenPReLUBackward", handle, None, size, *X.pair, *three.pair, *DY.pair, *DX.pair, *three.pair,
         expect=BAD_PARM)


def dropout(rng, dtype):
    rate, shape = rng.choice((0.0, 0.3, 1.0)), (7, 30)
    name, size, reserve_size = c.c_void_p(), c.c_size_t(), c.c_size_t()
    call("miopenCreateDropoutDescriptor", c.byref(name))
    call("miopenDropoutGetStatesSize", handle, c.byref(size))
    states = Tensor(torch.zeros(size.value, dtype=torch.uint8))
    settings = (states.at, size, c.c_ulonglong(rng.randrange(2**64)), c.c_bool(False))
    call("miopenSetDropoutDescriptor", name, handle, c.c_float(rate), *settings, c.c_bool(False), 0)
    X, Y = Tensor(numbers(shape, dtype)), Tensor(torch.zeros(shape, dtype=dtype))
    call("miopenDropoutGetReserveSpaceSize", X.name, c.byref(reserve_size))
    assert reserve_size.value == X.tensor.numel()
    reserve = Tensor(torch.full((X.tensor.numel(),), 9, dtype=torch.uint8))
    forward = ("miopenDropoutForward", handle, name, X.name, *X.pair, *Y.pair)
    call(*forward, reserve.at, reserve_size)
    scale = 1 / (1 - rate) if rate < 1 else 0
    kept = reserve.read().bool().reshape(shape).clone()
    assert kept.all() if rate == 0 else not kept.any() if rate == 1 else 0.1 < kept.double().mean() < 0.97
    near(Y.read(), X.tensor.double() * kept * scale, "dropout")
    # The states stay: without a reserve space the same elements are drawn again, forward and backward.
    DX = Tensor(torch.ones(shape, dtype=dtype))
    backward = ("miopenDropoutBackward", handle, name, X.name, *X.pair, *DX.pair)
    for space in ((reserve.at, reserve_size), (None, c.c_size_t(0))):
        call(*backward, *space)
        near(DX.read(), X.tensor.double() * kept * scale, "gradient of dropout")
    call(*forward, None, c.c_size_t(0))
    near(Y.read(), X.tensor.double() * kept * scale, "dropout without reserve space")
    call(*forward, reserve.at, c.c_size_t(3), expect=UNKNOWN)
    # Counted on they draw others; restored to a copy of the states, the same as before.
    if rate == 0.3:
        call("miopenRestoreDropoutDescriptor", name, handle, c.c_float(rate), *settings, c.c_bool(True), 0)
        call(*forward, reserve.at, reserve_size)
        assert torch.equal(reserve.read().bool().reshape(shape), kept)
        call(*forward, reserve.at, reserve_size)
        second = reserve.read().bool().reshape(shape).clone()
        assert not torch.equal(second, kept)
        call(*backward, None, c.c_size_t(0))
        near(DX.read(), X.tensor.double() * second * scale, "gradient of counted dropout")
    call("miopenDestroyDropoutDescriptor", name)


def losses(rng, dtype):
    shape, mode = (6, 9, 11), rng.randrange(3)
    reduction = ("none", "sum", "mean")[mode]
    x, t, dy = numbers(shape, dtype), numbers(shape, dtype).sign(), numbers(shape, dtype)
    wide = x.double().requires_grad_()
    y = F.soft_margin_loss(wide, t.double(), reduction=reduction)
    (F.soft_margin_loss(wide, t.double(), reduction="none") / (x.numel() if mode == 2 else 1)).backward(dy.double())
    X, T, DY, DX = map(Tensor, (x, t, dy, torch.zeros_like(x)))
    Y, size = Tensor(torch.zeros(y.shape or (1,), dtype=dtype)), c.c_size_t()
    call("miopenGetSoftMarginLossForwardWorkspaceSize", handle, X.name, T.name, Y.name, mode, c.byref(size))
    assert (size.value > 4 * x.numel()) == (mode > 0)
    call("miopenSoftMarginLossForward", handle, *X.pair, *T.pair, *Y.pair, mode, None, c.c_size_t(0))
    near(Y.read(), y, f"soft margin loss, {reduction}", 1e-4)
    call("miopenSoftMarginLossBackward", handle, *X.pair, *T.pair, *DY.pair, *DX.pair, mode)
    near(DX.read(), wide.grad, f"gradient of soft margin loss, {reduction}")
    call("miopenSoftMarginLossForward", handle, *X.pair, *T.pair, *Y.pair, 3, None, c.c_size_t(0), expect=BAD_PARM)
    rows, classes, p = rng.randrange(1, 40), rng.randrange(2, 50), rng.choice((1, 2))
    x, w, t = numbers((rows, classes), dtype), numbers((classes,), dtype).abs(), torch.randint(0, classes, (rows,))
    y = F.multi_margin_loss(x.double(), t, p, 0.5, w.double(), reduction=reduction)
    X, T, W, Y = map(Tensor, (x, t, w, torch.zeros(y.shape or (1,), dtype=dtype)))
    arguments = (c.c_long(p), c.c_float(0.5), mode)
    call("miopenGetMultiMarginLossForwardWorkspaceSize", handle, X.name, T.name, W.name, Y.name, *arguments,
         c.byref(size))
    call("miopenMultiMarginLossForward", handle, *X.pair, *T.pair, *W.pair, *Y.pair, *arguments, None, c.c_size_t(0))
    near(Y.read(), y, f"multi margin loss, {reduction}", 1e-4)
    call("miopenMultiMarginLossForward", handle, *X.pair, *T.pair, *W.pair, *Y.pair, c.c_long(3), c.c_float(1), mode,
         None, c.c_size_t(0), expect=BAD_PARM)


NOTHING = (None, None)


def adam(rng, dtype):
    n, adamw, amsgrad, maximize = 77, *(rng.random() < 0.5 for _ in range(3))
    lr, decay, apart, counted = 0.05, 0.02, rng.random() < 0.5, rng.random() < 0.5
    start = numbers((n,), torch.float32)
    wide = torch.nn.Parameter(start.double())
    optimiser = (torch.optim.AdamW if adamw else torch.optim.Adam)(
        [wide], lr=lr, weight_decay=decay, amsgrad=amsgrad, maximize=maximize)
    state = [Tensor(t) for t in (start.clone(), torch.zeros(n), torch.zeros(n), torch.zeros(n))]
    steps, half = Tensor(torch.zeros(1, dtype=torch.int32)), Tensor(torch.zeros(n, dtype=torch.float16))
    scale, inf = Tensor(torch.tensor([4], dtype=torch.int32)), Tensor(torch.zeros(1, dtype=torch.uint8))
    for step in range(1, 4):
        grad = numbers((n,), torch.float32)
        wide.grad = grad.double() / (4 if counted else 1)
        optimiser.step()
        G = Tensor(grad)
        floats = [c.c_float(v) for v in (lr, 0.9, 0.999, decay, 1e-8)]
        flags = [c.c_bool(v) for v in (amsgrad, maximize, adamw)]
        most = state[3].pair if amsgrad else NOTHING
        amp = (*scale.pair, *inf.pair) if counted else NOTHING * 2
        if apart:
            new = [Tensor(torch.full((n,), 9.0)) for _ in range(4)]
            both = [(*a.pair, *b.pair) for a, b in zip(state, new)]
            more = Tensor(torch.zeros(1, dtype=torch.int32))
            call("miopenFusedAdamWithOutput", handle, *both[0], *half.pair, *G.pair, *both[1], *both[2],
                 *(both[3] if amsgrad else NOTHING * 2), *((*steps.pair, *more.pair) if counted else NOTHING * 2),
                 c.c_uint(step), *floats, *flags, *amp)
            state, steps = new, more if counted else steps
            near(half.read(), wide, "Adam's copy in f16", 1e-3)
        else:
            call("miopenFusedAdam", handle, *state[0].pair, *G.pair, *state[1].pair, *state[2].pair, *most,
                 *(steps.pair if counted else NOTHING), c.c_uint(step), *floats, *flags, *amp)
        near(state[0].read(), wide, f"Adam, step {step}")
    assert steps.read().item() == (3 if counted else 0)
    call("miopenFusedAdam", handle, *state[0].pair, *G.pair, *state[1].pair, *state[2].pair, *NOTHING, *NOTHING,
         c.c_uint(1), *floats, c.c_bool(True), *flags[1:], *NOTHING, *NOTHING, expect=BAD_PARM)
    # The package transformers' AdamW, one step from the start.
    p, m, v = start.double(), 0.1 * grad.double(), 0.001 * grad.double() ** 2
    correct = rng.random() < 0.5
    size = lr * 0.001**0.5 / 0.1 if correct else lr
    p = p - size * m / (v.sqrt() + 1e-8)
    P, M, V = (Tensor(t) for t in (start.clone(), torch.zeros(n), torch.zeros(n)))
    call("miopenTransformersAdamW", handle, *P.pair, *G.pair, *M.pair, *V.pair, *NOTHING, c.c_uint(1), *floats,
         c.c_bool(correct), *NOTHING, *NOTHING)
    near(P.read(), p - lr * decay * p, "transformers' AdamW", 1e-5)


def rotations(rng, dtype):
    x, cosine, sine, dy = (numbers(s, dtype) for s in ((3, 5, 2, 8), (5, 2, 8), (5, 2, 8), (3, 5, 2, 8)))
    wide = x.double().requires_grad_()
    turned = torch.stack((-wide[..., 1::2], wide[..., 0::2]), -1).reshape(x.shape)
    y = wide * cosine.double() + turned * sine.double()
    y.backward(dy.double())
    X, C, S, Y, DY, DX = map(Tensor, (x, cosine, sine, torch.zeros_like(x), dy, torch.zeros_like(x)))
    call("miopenRoPEForward", handle, *X.pair, *C.pair, *S.pair, *Y.pair)
    near(Y.read(), y, "RoPE", CLOSE[dtype])
    call("miopenRoPEBackward", handle, *DY.pair, *C.pair, *S.pair, *DX.pair)
    near(DX.read(), wide.grad, "gradient of RoPE", CLOSE[dtype])
    odd = Tensor(numbers((7,), dtype))
    call("miopenRoPEForward", handle, *X.pair, *odd.pair, *odd.pair, *Y.pair, expect=BAD_PARM)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("RMCP_SEED") or random.randrange(2**32))
    print(f"elements.py {rounds} {seed}")
    call("miopenCreate", c.byref(handle))
    for i in range(rounds):
        rng = random.Random(f"{seed} {i}")
        torch.manual_seed(rng.randrange(2**32))
        dtype = (torch.float32, torch.float16, torch.bfloat16)[i % 3]
        for check in (activations, gates, prelu, dropout, losses, adam, rotations):
            check(rng, dtype)
    call("miopenDestroy", handle)
    print(f"{rounds} rounds, 0 failures")


if __name__ == "__main__":
    main()
