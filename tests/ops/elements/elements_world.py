"""elements_world.py: torch tensors of any strides through rmcp on any device, and how near results must be."""
import ctypes

import torch
from rmcp import _library as c
from rmcp._api import Device
from rmcp._case import CasePlan

WORDS = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
ROUNDING = {torch.float32: 2**-23, torch.float16: 2**-11, torch.bfloat16: 2**-8}
SMALLEST = {torch.float32: 2**-120, torch.float16: 2**-24, torch.bfloat16: 2**-120}
LARGEST = {torch.float32: 3.4e38, torch.float16: 65504, torch.bfloat16: 3.38e38}


def text(sizes):
    return "x".join(map(str, sizes))


def strides(name, tensor):
    return "" if tensor.is_contiguous() else f":{name}/{text(tensor.stride())}"


def laid_out(rng, tensor):
    """The same values, packed or in another order of the dimensions, maybe with a gap behind the fastest."""
    if tensor.dim() < 2 or rng.random() < 0.4:
        return tensor.contiguous()
    order = list(range(tensor.dim()))
    rng.shuffle(order)
    sizes = [tensor.shape[i] for i in order]
    room = torch.zeros(*sizes[:-1], sizes[-1] + rng.randrange(3), dtype=tensor.dtype).narrow(-1, 0, sizes[-1])
    result = room.permute([order.index(i) for i in range(tensor.dim())])
    result.copy_(tensor)
    return result


def close(ours, theirs, dtype, what, slack=0):
    """Within a few roundings; beyond the type's largest number, infinite."""
    theirs = theirs.detach().reshape(ours.shape)
    got = ours.double()
    bound = (8 if dtype == torch.float32 else 1.01) * ROUNDING[dtype] * theirs.abs() + 4e-6 * theirs.abs()
    right = (got - theirs).abs() <= bound + SMALLEST[dtype] + slack
    right |= (theirs.abs() * 1.001 >= LARGEST[dtype]) & torch.isinf(got)
    if not right.all():
        place = tuple(int(i) for i in (~right).nonzero()[0])
        raise SystemExit(f"wrong: {what} at {place}: {got[place]} instead of {theirs[place]}")


class World:
    """A device. run() executes a case; every tensor that it writes has the results afterwards."""

    def __init__(self, spec):
        self.device, self.host, self.runs = Device(spec), spec == "cpu", 0
        self.library = c.library()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.device.close()

    def _buffer(self, bytes_):
        memory = c.Memory()
        self.library.rmcp_buffer_create(self.device.handle, max(bytes_, 1), memory)
        return memory

    def run(self, case, tensors, algorithm=None, scalars=None):
        self.runs += 1
        with CasePlan(self.device, case, None if self.host else algorithm) as plan:
            bound, spans, extra = {}, {}, None
            for name, info in plan.slots.items():
                tensor = tensors[name]
                if self.host:
                    bound[name] = tensor.data_ptr()
                    continue
                span = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
                spans[name] = span * tensor.element_size()
                assert spans[name] == info.bytes, f"{case}: {name} has {info.bytes} bytes, not {spans[name]}"
                bound[name] = self._buffer(spans[name])
                self.library.rmcp_copy_to_device(self.device.handle, None, bound[name], tensor.data_ptr(), spans[name])
            if plan.workspace_bytes:
                extra = self._buffer(plan.workspace_bytes)
            plan.execute(bound, workspace=extra, scalars=scalars)
            self.device.wait()
            for name, span in spans.items():
                if plan.slots[name].written:
                    self.library.rmcp_copy_to_host(self.device.handle, None, ctypes.c_void_p(tensors[name].data_ptr()),
                                                   bound[name], span)
                self.library.rmcp_buffer_destroy(self.device.handle, bound[name])
            if extra is not None:
                self.library.rmcp_buffer_destroy(self.device.handle, extra)
