"""What the tests have in common: the program beside the module, and the bundled fabrics."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Callable

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOPOLOGIES = ROOT / "topologies"

Program = Callable[..., bytes]


@pytest.fixture(scope="session")
def program() -> Program:
    """`forestcoll WORDS...` as a process of its own: its standard output."""
    path = os.environ.get("FORESTCOLL", shutil.which("forestcoll"))
    assert path, "FORESTCOLL names the program"

    def run(*words: object) -> bytes:
        command = [path, "--quiet", *map(str, words)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120).stdout

    return run
