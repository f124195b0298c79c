#!/usr/bin/env python3
"""build_native.py: builds the native part of rmcp.torch for the tests. usage: build_native.py STAMP

It goes into the cache folder that XDG_CACHE_HOME names. Where it cannot be built the stamp says why, and the tests of
it are skipped.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))

try:
    from rmcp.torch import _native
    text = "built" if _native.path().is_file() else str(_native.build())
except (ImportError, RuntimeError) as error:
    text = f"not built: {error}"
print(text)
pathlib.Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
