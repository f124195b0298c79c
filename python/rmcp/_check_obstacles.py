"""What may be in the way of RMCP in a PyTorch, each with its cure; where rmcp check then runs."""
import glob
import importlib.util
import os
import sys

from . import _library

_OFF = ("", "0")


class InTheWay(Exception):
    """Why RMCP is not used: what, in words, and what helps."""

    def __init__(self, id, what, cure):
        super().__init__(what)
        self.id, self.what, self.cure = id, what, cure


def check_library(report):
    from . import _api
    try:
        report.set(rmcp=_api.version())
    except _library.LibraryNotFound as error:
        raise InTheWay("librmcp-missing", str(error), "install RMCP's wheel, which has librmcp in it, or let "
                       "RMCP_LIBRARY name librmcp.so.0") from None
    except _library.VersionMismatch as error:
        raise InTheWay("librmcp-version", str(error), "install librmcp and the package rmcp from the same release; "
                       "unset RMCP_LIBRARY if it names an old one") from None


def check_disabled():
    if os.environ.get("RMCP_DISABLE", "") not in _OFF:
        raise InTheWay("disabled", f"RMCP_DISABLE is {os.environ['RMCP_DISABLE']}: RMCP does nothing",
                       "unset RMCP_DISABLE")


def import_torch(report):
    if importlib.util.find_spec("torch") is None:
        raise InTheWay("no-torch", f"{sys.executable} has no PyTorch",
                       "activate the environment that has it, or: rmcp check --python PYTHON; rmcp doctor says which "
                       "PyTorch suits this machine")
    try:
        import torch
        import torch.version as version
    except Exception as error:
        raise InTheWay("torch-broken", f"PyTorch cannot be imported: {type(error).__name__}: {error}",
                       "python -c 'import torch' shows it whole; rmcp explain may know it; else install PyTorch "
                       "again") from None
    report.set(torch={"version": str(getattr(torch, "__version__", getattr(version, "__version__", "?"))),
                      "hip": getattr(version, "hip", None), "cuda": getattr(version, "cuda", None)})
    return torch


def name_of(torch):
    """This PyTorch in words: "2.5.1, ROCm 6.2"."""
    kind = ("ROCm " + ".".join(torch["hip"].split(".")[:2]) if torch["hip"]
            else f"CUDA {torch['cuda']}" if torch["cuda"] else "for the CPU")
    return f"{torch['version']}, {kind}"


def no_gpu(torch, folder="/dev", environment=os.environ):
    """Why a PyTorch for GPUs sees none."""
    name = name_of(torch)
    hiding = [f"{variable}={environment[variable]}" for variable in
              ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES")
              if environment.get(variable, "0").strip() in ("", "-1")]
    if hiding:
        return InTheWay("gpu-hidden", f"{' and '.join(hiding)} hides every GPU from PyTorch",
                        "unset " + " ".join(one.split("=")[0] for one in hiding))
    if not torch["hip"]:
        return InTheWay("no-gpu", f"this PyTorch ({name}) sees no GPU",
                        "nvidia-smi tells whether the driver works; an AMD card needs a PyTorch for ROCm, and rmcp "
                        "doctor says which")
    kfd = os.path.join(folder, "kfd")
    if not os.path.exists(kfd):
        return InTheWay("no-gpu", f"this PyTorch ({name}) sees no GPU: there is no {kfd}",
                        "load the kernel's driver (sudo modprobe amdgpu), in a container pass /dev/kfd and /dev/dri; "
                        "rmcp doctor tells more")
    closed = [path for path in [kfd, *sorted(glob.glob(os.path.join(folder, "dri", "renderD*")))]
              if not os.access(path, os.R_OK | os.W_OK)]
    if closed:
        return InTheWay("no-access", f"{' and '.join(closed)} cannot be opened by this user",
                        "sudo usermod -aG render,video $USER, then log in again")
    return InTheWay("no-gpu", f"this PyTorch ({name}) sees no GPU, though {kfd} can be opened",
                    "its ROCm may not know the chip: rmcp doctor says which PyTorch does; rmcp devices whether RMCP "
                    "sees it")


def sees_gpu(torch):
    try:
        return bool(torch.cuda.is_available())
    except Exception:
        return False


def has_amd_card():
    return os.path.exists("/dev/kfd")


def choose(wish, torch, report):
    """Where tensors lie and how to enable: (device of PyTorch, arguments of enable())."""
    word, _, number = wish.partition(":")
    if wish == "cpu":
        return "cpu", {"device_types": ("cpu",)}
    if word not in ("auto", "cuda", "hip", "gpu"):
        return "cpu", {"device_types": ("cpu",), "offload": number if word == "offload" else wish}
    made_for_gpus = report.torch["hip"] or report.torch["cuda"]
    if made_for_gpus and sees_gpu(torch):
        if number and int(number) >= torch.cuda.device_count():
            raise InTheWay("no-gpu", f"PyTorch sees {torch.cuda.device_count()} GPUs, not {wish}",
                           "the first is number 0; HIP_VISIBLE_DEVICES may hide others")
        return f"cuda:{number or 0}", {"device_types": ("cuda",)}
    if made_for_gpus:
        obstacle = no_gpu(report.torch)
    else:
        obstacle = InTheWay("cpu-only-torch", f"this PyTorch ({name_of(report.torch)}) has no code for GPUs",
                            "rmcp doctor says which PyTorch suits the card; until then rmcp.torch.enable('cpu', "
                            "offload='opencl') computes convolutions on a card")
    if word != "auto":
        raise obstacle
    if made_for_gpus or has_amd_card():
        report.add(obstacle)
    report.notes.append("no GPU was used: this is about the CPU"
                        + ("" if made_for_gpus or has_amd_card() else "; this PyTorch has no code for GPUs"))
    return "cpu", {"device_types": ("cpu",)}
