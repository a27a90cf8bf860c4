"""The wheel: the package, its compiled part and the program, which CMake builds.

CMAKE_ARGS in the environment has further words for CMake, such as -DFORESTCOLL_YAML=OFF.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "wheel"


def version() -> str:
    """The one of the header that the program and the written files quote."""
    header = (ROOT / "include" / "forestcoll" / "version.hpp").read_text()
    found = re.search(r'kVersion = "([^"]+)"', header)
    assert found
    return found.group(1)


def pybind11_dir() -> str:
    """Where CMake finds pybind11: of the Python package, or else as the system has it."""
    try:
        import pybind11
    except ImportError:
        return ""
    return "-Dpybind11_DIR=" + pybind11.get_cmake_dir()


class CMakeBuild(build_ext):
    """Builds the extension, and beside it the program."""

    def build_extension(self, ext: Extension) -> None:
        configure = ["cmake", "--preset", "python", "-B", str(BUILD), pybind11_dir()]
        configure += ["-DPython_EXECUTABLE=" + sys.executable]
        configure += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        subprocess.run(list(filter(None, configure)), cwd=ROOT, check=True)
        targets = ["--target", "forestcoll_python", "forestcoll_cli"]
        subprocess.run(["cmake", "--build", str(BUILD), *targets], check=True)
        [built] = (BUILD / "python" / "forestcoll").glob("_native*.so")
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built, target)


setup(
    version=version(),
    packages=["forestcoll"],
    package_data={"forestcoll": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("forestcoll._native", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    data_files=[("bin", [os.path.relpath(BUILD / "bin" / "forestcoll", HERE)])],
)
