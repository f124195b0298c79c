"""The version of this package, read from rmcp.h: the wheel carries it, a checkout has it in include/."""
import pathlib
import re


def _header():
    here = pathlib.Path(__file__).resolve().parent
    for path in (here / "rmcp.h", here.parents[1] / "include" / "rmcp.h"):
        if path.is_file():
            return path
    raise ImportError(f"there is no rmcp.h in {here}: install the package (docs/install.md) or use "
                      "it in a checkout")


HEADER = _header()
VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH = (
    int(number) for number in re.findall(r"^#define RMCP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$",
                                         HEADER.read_text(encoding="utf-8"), re.MULTILINE))
TEXT = f"{VERSION_MAJOR}.{VERSION_MINOR}.{VERSION_PATCH}"
