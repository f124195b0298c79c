"""The rmcp command of a wheel: becomes the program in native/bin, which finds everything else from there."""
import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).resolve().parent / "native" / "bin" / "rmcp"
    os.environ.setdefault("RMCP_PYTHON", sys.executable)  # whose PyTorch is meant
    try:
        os.execv(str(program), ["rmcp", *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"rmcp: this package is Python alone, there is no {program}; the command comes with the wheel for "
                 "your system, with the tarball or with the Debian package rmcp")
    except OSError as error:
        sys.exit(f"rmcp: {program}: {error.strerror}")
