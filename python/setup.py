"""Puts rmcp.h, librmcp and the MIOpen drop-in beside it into the wheel: the librmcp that RMCP_LIBRARY names, or
../build/librmcp.so.

Without either the wheel has Python alone and takes the librmcp of the system.
"""
import os
import pathlib
import runpy
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
VERSION = runpy.run_path(str(HERE / "rmcp" / "_version.py"))


def librmcp():
    named = os.environ.get("RMCP_LIBRARY")
    path = pathlib.Path(named) if named else HERE.parent / "build" / "librmcp.so"
    if named and not path.is_file():
        raise SystemExit(f"RMCP_LIBRARY is {named}, which is no file")
    return path if path.is_file() else None


def dropin(library):
    """The files of the drop-in that belong to a librmcp: {name in the package: path}."""
    for below in ("src/miopen", "rmcp"):
        folder = library.resolve().parent / below
        files = {name: folder / name for name in ("libMIOpen.so.1", "wheel/libMIOpen.so")}
        if all(path.is_file() for path in files.values()):
            return files
    return {}


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        shutil.copyfile(VERSION["HEADER"], pathlib.Path(self.build_lib, "rmcp", "rmcp.h"))
        source = librmcp()
        if source:
            shutil.copyfile(source.resolve(), pathlib.Path(self.build_lib, "rmcp", "librmcp.so.0"))
            for name, path in dropin(source).items():
                target = pathlib.Path(self.build_lib, "rmcp", name)
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(path.resolve(), target)


class PlatformWheel(bdist_wheel):
    """Any Python 3, but one processor and system: the library is C, not an extension module."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = librmcp() is None

    def get_tag(self):
        tag = super().get_tag()
        return tag if self.root_is_pure else ("py3", "none", tag[2])


setup(version=VERSION["TEXT"], cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
