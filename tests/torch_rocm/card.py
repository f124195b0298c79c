"""PyTorch's own HIP code beside a PyTorch for the CPU: to be imported before torch, in the chroot, under rmcp sim.

TORCH_ROCM_MIOPEN names another libMIOpen, TORCH_ROCM_LIBRARY another build of PyTorch's code. Each library is loaded by
itself: libtorch_cpu exports functions of LLVM, which AMD's compiler library must not find. A PyTorch for the CPU has no
Python bindings of torch.cuda: what optimizers, autocast, torch.load, copies of models and rmcp.torch ask of these is
answered here, and nothing else is changed."""
import ctypes
import os
import types

miopen = os.environ.get("TORCH_ROCM_MIOPEN", "libMIOpen.so.1")
for library in ("libamdhip64.so.6", miopen, os.environ.get("TORCH_ROCM_LIBRARY", "/torch/libtorch_hip.so")):
    ctypes.CDLL(library, os.RTLD_LOCAL | os.RTLD_NOW)

import torch  # noqa: E402
import torch.cuda  # noqa: E402

torch.version.hip = "6.4.3"
torch.cuda._lazy_init = lambda: None
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 1
torch.cuda.current_device = lambda: 0
torch.cuda.current_stream = lambda device=None: types.SimpleNamespace(cuda_stream=0)
torch._C._cuda_getCurrentRawStream = lambda index: 0
torch.cuda.is_current_stream_capturing = lambda: False
torch.cuda.get_device_name = lambda device=None: "simulated"
torch.cuda.synchronize = lambda device=None: torch.zeros(1, device="cuda").cpu()


def on_card(storage, non_blocking=False):
    there = torch.empty(storage.nbytes(), dtype=torch.uint8, device="cuda").untyped_storage()
    return there.copy_(storage, non_blocking)


def to(self, *, device, non_blocking=False):
    moves = torch.device(device).type == "cuda" and self.device.type == "cpu"
    return on_card(self, non_blocking) if moves else theirs_to(self, device=device, non_blocking=non_blocking)


theirs_to, theirs_clone = torch.UntypedStorage.to, torch.UntypedStorage.clone
torch.UntypedStorage.to = to
torch.UntypedStorage.clone = lambda self: on_card(self) if self.device.type == "cuda" else theirs_clone(self)
