"""python -m rmcp.torch build | status: the native part for the PyTorch at hand."""
import sys

import torch

from . import _native


def main(arguments):
    if arguments == ["build"]:
        try:
            _native.build()
        except RuntimeError as error:
            print(f"rmcp.torch: not built: {error}", file=sys.stderr)
            return 1
        arguments = ["status"]
    if arguments != ["status"]:
        print("usage: python -m rmcp.torch build | status", file=sys.stderr)
        return 2
    try:
        there = _native.library() is not None
    except ImportError as error:  # of librmcp itself
        print(f"rmcp.torch: {error}", file=sys.stderr)
        return 1
    print(f"PyTorch {torch.__version__}: the native part is "
          + (f"loaded from {_native.path()}" if there else f"not used: {_native.why_not}"))
    return 0 if there else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
