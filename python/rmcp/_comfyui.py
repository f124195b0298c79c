"""A custom node for ComfyUI that lets its convolutions run in RMCP; python -m rmcp --install-comfyui puts it there.

Loading it enables RMCP. The node "RMCP statistics" shows what ran where. RMCP_TORCH names other devices than the
GPU (cpu, offload:opencl), RMCP_TORCH=0 leaves everything to PyTorch.
"""
import logging
import os


def _enable():
    """One line that says what was done."""
    wish = os.environ.get("RMCP_TORCH") or "auto"
    try:
        import torch  # noqa: F401  ComfyUI has imported it
        import rmcp.torch
        from rmcp import _enabling
        arguments = _enabling.read(wish)
        if arguments is None:
            return "RMCP: RMCP_TORCH is 0: PyTorch's own kernels do all convolutions"
        if rmcp.torch.is_enabled():
            return f"RMCP {rmcp.version()}: was enabled before"
        _enabling.enable(arguments)
    except ModuleNotFoundError as error:
        if error.name != "rmcp":
            raise
        return ("RMCP: not enabled: this Python has no package rmcp; install RMCP's wheel into the environment that "
                "ComfyUI runs in")
    except Exception as error:
        return f"RMCP: not enabled: {error}"
    if not rmcp.torch.is_enabled():
        return "RMCP: not enabled: RMCP_DISABLE is set"
    return f"RMCP {rmcp.version()}: convolutions run in RMCP ({wish})"


class RmcpStatistics:
    """Shows which convolutions RMCP did since the last time; `image` or `latent` make it run after what makes them."""

    CATEGORY = "RMCP"
    FUNCTION = "show"
    RETURN_TYPES = ("STRING",)
    RETURN_NAMES = ("text",)
    OUTPUT_NODE = True

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {}, "optional": {"image": ("IMAGE",), "latent": ("LATENT",)}}

    @classmethod
    def IS_CHANGED(cls, **_inputs):
        return float("nan")  # never the same: it runs each time

    def show(self, image=None, latent=None):
        try:
            import rmcp.torch
            text = str(rmcp.torch.stats())
            rmcp.torch.reset_stats()
        except ImportError as error:
            text = f"RMCP is not there: {error}"
        logging.info("%s", text)
        return {"ui": {"text": [text]}, "result": (text,)}


NODE_CLASS_MAPPINGS = {"RmcpStatistics": RmcpStatistics}
NODE_DISPLAY_NAME_MAPPINGS = {"RmcpStatistics": "RMCP statistics"}

logging.info("%s", _enable())
