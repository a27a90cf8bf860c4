"""Signals, threads and types."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from conftest import TOPOLOGIES

import forestcoll as fc

PACKAGE = Path(fc.__file__).parent


#: Of the processor, after Ctrl-C: work ends between a fraction of a second and some.
SECONDS_AT_MOST = 10


@pytest.mark.parametrize(
    "work",
    [
        "fc.synthesize(mi250, k='optimal', format='forest', effort='max')",
        "fc.synthesize(fc.generate('dgx-a100', boxes=64), 'allgather')",
        "fc.compare(fc.generate('dgx-a100', boxes=4))",
    ],
)
def test_interrupt(work: str) -> None:
    script = f"""
        import time
        import forestcoll as fc
        mi250 = fc.load({str(TOPOLOGIES / "mi250-x2.json")!r})
        print("begin", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            assert fc.bound(fc.generate("ring", nodes=4)).k
            print("interrupted", time.process_time(), flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begin\n"
        time.sleep(1)
        assert child.poll() is None, "too short to be interrupted"
        before = seconds_of(child.pid)
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=300)
    word, after = said.split()
    assert word == "interrupted"
    assert float(after) - before < SECONDS_AT_MOST


def seconds_of(pid: int) -> float:
    """What a process has taken of the processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_other_threads_go_on() -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.wait(0.002):
            counted += 1

    counting = threading.Thread(target=count)
    counting.start()
    begin = time.monotonic()
    fc.compare(TOPOLOGIES / "dgx-a100-x1.json", sizes="64M")
    seconds = time.monotonic() - begin
    done.set()
    counting.join()
    assert counted > 20 * seconds


def test_several_at_once() -> None:
    path = TOPOLOGIES / "dgx-a100-x2.json"
    texts = {}

    def make(number: int) -> None:
        collective = ("allgather", "allreduce")[number % 2]
        texts[number] = fc.synthesize(path, collective, k=1, threads=1 + number).text

    threads = [threading.Thread(target=make, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts[0] == texts[2] != texts[1] == texts[3]


def test_types(tmp_path: Path) -> None:
    assert (PACKAGE / "py.typed").exists()
    assert (PACKAGE / "_native.pyi").exists()
    mypy = shutil.which("mypy")
    if mypy is None:
        pytest.skip("mypy is not there")
    user = tmp_path / "user.py"
    user.write_text(
        "from fractions import Fraction\n"
        "import forestcoll as fc\n"
        "rate: Fraction = fc.bound('a.json').algbw['allreduce']\n"
        "text: str = fc.synthesize('a.json', size='64M').text\n"
    )
    command = [mypy, "--strict", "--ignore-missing-imports", "--no-incremental", "-p", "forestcoll"]
    result = subprocess.run(command, cwd=PACKAGE.parent, stdout=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stdout
    result = subprocess.run(
        [mypy, "--strict", "--ignore-missing-imports", "--no-incremental", str(user)],
        env={"MYPYPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert result.returncode == 0, result.stdout
