"""case_torch.py: problems of any operation, by case string, on tensors of PyTorch: for tests of operations."""
import torch

from rmcp import _library as c
from rmcp._case import CasePlan

TYPES = {c.F32: torch.float32, c.F16: torch.float16, c.BF16: torch.bfloat16}
CLOSE = {torch.float32: 3e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


class Memory:
    """Device memory that holds what a tensor does."""

    def __init__(self, device, tensor):
        self.device, self.bytes = device, max(tensor.numel() * tensor.element_size(), 4)
        self.memory = c.Memory()
        c.library().rmcp_buffer_create(device.handle, self.bytes, self.memory)
        c.library().rmcp_copy_to_device(device.handle, None, self.memory, tensor.data_ptr(),
                                        tensor.numel() * tensor.element_size())

    def into(self, tensor):
        c.library().rmcp_copy_to_host(self.device.handle, None, tensor.data_ptr(), self.memory,
                                      tensor.numel() * tensor.element_size())
        return tensor

    def __del__(self):
        c.library().rmcp_buffer_destroy(self.device.handle, self.memory)


def run(device, text, inputs, shapes, algorithm=None):
    """Execute `text` on `inputs`, tensors by name; returns those that it writes, whose shapes are `shapes`. What is not
    written is NaN."""
    plan = CasePlan(device, text, algorithm)
    memory, results = {}, {}
    for name, info in plan.slots.items():
        if name in inputs:
            memory[name] = Memory(device, inputs[name].detach().contiguous())
        else:
            results[name] = torch.full(shapes[name], float("nan"), dtype=TYPES[info.type])
            memory[name] = Memory(device, results[name])
        assert memory[name].bytes >= info.bytes, f"{text}: {name} has {info.bytes} bytes"
    workspace = Memory(device, torch.empty(max(plan.workspace_bytes, 4), dtype=torch.uint8))
    plan.execute({name: m.memory for name, m in memory.items()}, workspace=workspace.memory)
    c.library().rmcp_device_wait(device.handle, None)
    for name in results:
        memory[name].into(results[name])
    return results


def distance(ours, expected):
    """How far `ours` is from `expected`, relative to the largest of it; Inf where one is not a number, unless the type
    of `ours` ends there."""
    expected = torch.where(expected.to(ours.dtype).isinf(), expected.to(ours.dtype).double(), expected.double())
    ours = ours.double()
    same = ours == expected  # infinities
    difference = torch.where(same, torch.zeros_like(ours), ours - expected).abs()
    finite = expected[expected.isfinite()]
    scale = max(finite.abs().max().item() if finite.numel() else 0, 1e-3)
    worst = difference.max().item() if difference.numel() else 0
    return worst / scale if worst == worst else float("inf")
