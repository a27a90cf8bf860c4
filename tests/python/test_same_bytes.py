"""What the module makes is what the command line makes, byte by byte."""

import json
from pathlib import Path

import pytest
from conftest import TOPOLOGIES, Program

import forestcoll as fc

BUNDLED = sorted(TOPOLOGIES.glob("*.json"))
SMALL = [path for path in BUNDLED if len(fc.load(path).ranks) <= 16]


def name_of(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", BUNDLED, ids=name_of)
def test_forest(path: Path, program: Program) -> None:
    made = fc.synthesize(path, "allgather", k=2, format="forest")
    words = ("synth", path, "-c", "allgather", "-k", 2, "--format", "forest")
    assert made.text.encode() == program(*words)


@pytest.mark.parametrize("path", SMALL, ids=name_of)
@pytest.mark.parametrize("form", ["msccl", "mscclpp"])
def test_program(path: Path, form: str, program: Program) -> None:
    made = fc.synthesize(path, k=1, format=form)
    assert made.text.encode() == program("synth", path, "-k", 1, "--format", form)


def test_size_and_saved_file(tmp_path: Path, program: Program) -> None:
    fabric = fc.generate("dgx-a100", boxes=2)
    assert fabric.text.encode() == program("topo", "gen", "dgx-a100", "--boxes", 2)
    fabric.save(tmp_path / "fabric.json")
    made = fc.synthesize(fabric, "allreduce", size="64M")
    made.verify()
    made.save(tmp_path / "allreduce.xml")
    by_program = program("synth", tmp_path / "fabric.json", "--size", "64M")
    assert (tmp_path / "allreduce.xml").read_bytes() == by_program


@pytest.mark.parametrize(
    "options, words",
    [
        ({"drop": ["box0/nic3~ib1", "box1/gpu2"]}, ["--drop=box0/nic3~ib1", "--drop=box1/gpu2"]),
        ({"derate": {"kind=pcie": "1/2"}, "k": "max:4"}, ["--derate=kind=pcie=1/2", "-k", "max:4"]),
        ({"ranks": ["box1", "box0/gpu3"], "inplace": False}, ["--ranks=box1,box0/gpu3"]),
        ({"effort": "fast", "unfused": True, "max_height": 2},
         ["--effort=fast", "--unfused", "--max-height=2"]),
    ],
)
def test_options_are_those_of_the_program(options, words, program: Program) -> None:
    path = TOPOLOGIES / "dgx-a100-x2.json"
    options = {"k": 1, **options}
    made = fc.synthesize(path, "allgather", **options)
    given = words if "-k" in words else ["-k", 1, *words]
    assert made.text.encode() == program("synth", path, "-c", "allgather", *given)


def test_reports(program: Program) -> None:
    path = TOPOLOGIES / "dgx-a100-x2.json"
    bound = fc.bound(path, "allreduce")
    assert str(bound) + "\n" == program("bound", path, "-c", "allreduce").decode()
    json_text = program("bound", path, "-c", "allreduce", "--json")
    assert list(bound.report) == list(json.loads(json_text))

    words = ("--algorithms", "forestcoll,nccl-ring", "--sizes", "1M,64M", "--trees")
    compared = fc.compare(
        path, algorithms=["forestcoll", "nccl-ring"], sizes=["1M", "64M"], trees=True
    )
    chart = program("compare", path, *words, "--svg", "-").decode()
    assert compared.svg() == chart

    schedule = fc.synthesize(path, k=1)
    simulated = json.loads(program_on(schedule, program, "simulate", path, "--sizes=64M", "--json"))
    assert schedule.simulate("64M").seconds == {
        time["bytes"]: time["simulated_seconds"] for time in simulated["times"]
    }


def program_on(schedule: fc.Schedule, program: Program, command: str, *words: object) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "schedule.xml")
        schedule.save(file)
        return program(command, file, *words)
