"""The two contestants of a comparison over the same memory: a plan of librmcp's and PyTorch's operator."""
import ctypes

import torch

from rmcp import _api as api
from rmcp import _library as c

TYPES = (torch.float32, torch.float16, torch.bfloat16)
# How far two right results may be apart, in parts of the largest value: both sum in f32, in another order or by
# Winograd's or Fourier's transforms, and round once.
BOUNDS = (2e-3, 2e-2, 4e-2)
WORKSPACE_ALIGNMENT = 256


class Store:
    """Memory that all layers share and that only grows: random x, w and y of each type, our output, our workspace."""

    def __init__(self, place):
        self.place = place
        self.kept = {}

    def flat(self, role, dtype, count, random):
        """The first `count` elements of a role's memory."""
        kept = self.kept.get((role, dtype))
        if kept is None or kept.numel() < count:
            self.kept.pop((role, dtype), None)  # given back before more is taken
            room = count + count // 4
            if random:
                kept = torch.rand(room, dtype=torch.float32, device=self.place).mul_(2).sub_(1).to(dtype)
            else:
                kept = torch.empty(room, dtype=dtype, device=self.place)
            self.kept[role, dtype] = kept
        return kept[:count]

    def workspace(self, n_bytes):
        """Aligned memory of at least so many bytes, as an address."""
        if not n_bytes:
            return 0
        start = self.flat("workspace", torch.uint8, n_bytes + WORKSPACE_ALIGNMENT, False).data_ptr()
        return start + -start % WORKSPACE_ALIGNMENT


def _sizes(problem, output):
    """Sizes of x, w and y as PyTorch has them. It treats one dimension as two, the first of one element."""
    dims = problem.dims
    one = [1] if dims == 1 else []
    return {"x": [problem.n, problem.c, *one, *problem.input[:dims]],
            "w": [problem.k, problem.c // problem.groups, *one, *problem.filter[:dims]],
            "y": [problem.n, problem.k, *one, *output]}


def _seen_as(flat, size, layout):
    """Flat memory as a tensor with PyTorch's order of dimensions."""
    if layout == c.NCHW:
        return flat.view(size)
    return flat.view([size[0], *size[2:], size[1]]).movedim(-1, 1)


class Contest:
    """One layer, ready for both sides."""

    WRITTEN = "yxw"  # by pass

    def __init__(self, store, layer):
        p = self.problem = layer.problem
        self.pass_, self.store = layer.pass_, store
        shape = c.Shape()
        c.library().rmcp_conv_describe(p, shape)
        self.flops = shape.flops
        self.n_bytes = shape.x_bytes + shape.w_bytes + shape.y_bytes
        dtype = TYPES[p.type]
        sizes = _sizes(p, shape.output[:p.dims])
        count = {"x": shape.x_bytes, "w": shape.w_bytes, "y": shape.y_bytes}
        width = torch.empty(0, dtype=dtype).element_size()
        self.tensors = {role: _seen_as(store.flat(role, dtype, count[role] // width, True), size, p.layout)
                        for role, size in sizes.items()}
        written = self.WRITTEN[self.pass_]
        self.out = _seen_as(store.flat("out", dtype, count[written] // width, False), sizes[written], p.layout)

    def plan(self, device, effort, algorithm=None):
        """(plan, call) of ours; raises rmcp's Error."""
        plan = api.Plan(device, self.problem, self.pass_, algorithm=algorithm, effort=effort)
        bound = c.Tensors(workspace_bytes=plan.workspace_bytes)
        for role, tensor in self.tensors.items():
            place = self.out if role == self.WRITTEN[self.pass_] else tensor
            setattr(bound, role, c.Memory(base=place.data_ptr(), offset=0))
        bound.workspace = c.Memory(base=self.store.workspace(plan.workspace_bytes), offset=0)
        execute, handle = c.library().rmcp_conv_execute, plan.handle
        stream = torch.cuda.current_stream().cuda_stream if self.out.is_cuda else None
        return plan, lambda: execute(handle, stream, bound)

    def theirs(self, dtype=None):
        """PyTorch's operator as a call that returns its result; in another type, on copies."""
        p, t = self.problem, self.tensors
        if dtype is not None:
            t = {role: tensor.to(dtype) for role, tensor in t.items()}
        if list(p.pad_begin) != list(p.pad_end):
            raise RuntimeError("PyTorch has no unequal padding")
        dims, groups = max(2, p.dims), p.groups
        stride, pad, dilation = ([default] * (dims - p.dims) + list(values[:p.dims]) for values, default in
                                 ((p.stride, 1), (p.pad_begin, 0), (p.dilation, 1)))
        rest = (stride, pad, dilation, False, [0] * dims, groups)
        x, w, y = t["x"], t["w"], t["y"]
        if self.pass_ == c.CONV_FORWARD:
            operator = torch.ops.aten.convolution.default
            return lambda: operator(x, w, None, *rest)
        mask = [self.pass_ == c.CONV_BACKWARD_DATA, self.pass_ == c.CONV_BACKWARD_WEIGHTS, False]
        which, operator = mask.index(True), torch.ops.aten.convolution_backward.default
        return lambda: operator(y, x, w, None, *rest, mask)[which]

    def difference(self, ours, expected):
        """The largest difference of our result, in parts of the largest value; NaN where we wrote none."""
        self.out.fill_(float("nan"))
        ours()
        return apart(self.out, expected)

    def close_enough(self, difference):
        return difference <= BOUNDS[self.problem.type]


def apart(result, expected):
    """The largest difference, in parts of the largest value; NaN when there is one."""
    largest = expected.abs().max().double()
    difference = (result.double() - expected.double()).abs().max()  # max of a NaN is NaN
    return float(difference / largest) if largest > 0 else float(difference)


def candidates(device, problem, pass_):
    """[(algorithm, estimated seconds)] of those that apply, the cheapest first."""
    count, options = ctypes.c_size_t(), c.PlanOptions()
    library = c.library()
    library.rmcp_conv_candidates(device.handle, problem, pass_, options, None, count)
    room = (c.Candidate * max(1, count.value))()
    room[0].struct_size = ctypes.sizeof(c.Candidate)
    library.rmcp_conv_candidates(device.handle, problem, pass_, options, room, count)
    found = [(one.algorithm.decode(), one.estimated_seconds) for one in room[:count.value] if not one.refusal]
    return sorted(found, key=lambda pair: pair[1])
