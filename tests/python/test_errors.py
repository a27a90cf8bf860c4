"""Wrong inputs are exceptions with code, place and remedy."""

import pickle
from pathlib import Path

import pytest
from conftest import TOPOLOGIES

import forestcoll as fc

A100 = TOPOLOGIES / "dgx-a100-x2.json"
PAIR = {
    "format": "forestcoll-topology",
    "version": 1,
    "nodes": [{"id": "gpu[0-1]", "type": "compute"}],
    "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": 25}],
}


def test_a_topology_with_errors() -> None:
    wrong = {**PAIR, "links": [{"src": "gpu0", "dst": "gpu7", "bandwidth": "50GBs"}]}
    with pytest.raises(fc.Error) as raised:
        fc.Topology.from_dict(wrong)
    error = raised.value
    assert error.code.startswith("E")
    assert error.place.startswith("topology.json: /links/0")
    assert error.exit_code == 2
    assert len(error.diagnostics) == 2
    assert str(error.diagnostics[0]) in str(error)
    assert all(finding.severity == "error" for finding in error.diagnostics)


def test_the_name_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    file.write_text("{")
    with pytest.raises(fc.Error) as raised:
        fc.load(file)
    assert raised.value.place.startswith(f"{file}: ")
    with pytest.raises(FileNotFoundError):
        fc.load(tmp_path / "absent.json")
    with pytest.raises(fc.Error) as raised:
        fc.synthesize(A100, k=1).simulate(parameters=tmp_path / "absent.json")
    assert raised.value.exit_code == 4
    assert raised.value.code == "IO"
    assert raised.value.place == str(tmp_path / "absent.json")


@pytest.mark.parametrize(
    "options, code, says",
    [
        ({"size": "0x"}, "S03", "--size"),
        ({"collective": "broadcast"}, "S02", "needs a root"),
        ({"root": 3}, "S02", "has no root"),
        ({"collective": "sum"}, "S03", "sum"),
        ({"height": 3}, "S05", "--height"),
        ({"size": "1M", "format": "forest"}, "S04", "--size"),
    ],
)
def test_a_wrong_request(options, code: str, says: str) -> None:
    with pytest.raises(fc.Error) as raised:
        fc.synthesize(A100, **options)
    assert raised.value.code == code
    assert says in str(raised.value)
    assert raised.value.exit_code == 2


def test_what_does_not_fit() -> None:
    with pytest.raises(fc.Error) as raised:
        fc.synthesize(A100, k=13, sms=4)
    assert raised.value.exit_code == 3
    assert raised.value.code.startswith("T")
    assert raised.value.remedy


def test_names() -> None:
    for call, code in [
        (lambda: fc.generate("dgx-a1000"), "G01"),
        (lambda: fc.generate("dgx-a100", gpus=3), "G02"),
        (lambda: fc.generate("dgx-a100", boxes="many"), "G03"),
        (lambda: fc.compare(A100, algorithms=["nccl-rings"]), "B09"),
    ]:
        with pytest.raises(fc.Error) as raised:
            call()
        assert raised.value.code == code, raised.value


def test_what_is_not_here() -> None:
    with pytest.raises(TypeError):
        fc.synthesize(A100, output="x.xml")
    with pytest.raises(ValueError):
        fc.run("batch", str(TOPOLOGIES))
    with pytest.raises(ValueError):
        fc.run("--quiet", "batch", str(TOPOLOGIES))
    with pytest.raises(ValueError):
        fc.Schedule("<algo/>").simulate()
    with pytest.raises(fc.Error):  # no standard input of the process is read
        fc.run("bound", "-")


@pytest.mark.parametrize("fabric", [5, None, [1, 2], b"fabric.json"])
def test_what_is_no_fabric(fabric) -> None:
    with pytest.raises(TypeError, match="a fabric is .*, not "):
        fc.bound(fabric)


def test_numbers_are_no_files() -> None:
    for call in (lambda: fc.load(0), lambda: fc.read_schedule(0), lambda: fc.verify(0)):
        with pytest.raises(TypeError):
            call()


def test_a_schedule_of_others_has_no_rates() -> None:
    for rate in ("algbw", "optimum"):
        with pytest.raises(ValueError, match="not made here"):
            getattr(fc.Schedule("<algo/>"), rate)


def test_part_of_a_byte() -> None:
    ring = fc.generate("ring", nodes=2)
    for amount in (1.5, float("nan"), "many"):
        with pytest.raises(ValueError):
            fc.synthesize(ring, "alltoall", format="flows", demand=[[0, amount], [8192, 0]])
    for amount in (4096, 4096.0):
        assert fc.synthesize(ring, "alltoall", format="flows", demand=[[0, amount], [8192, 0]])


def test_pickle() -> None:
    with pytest.raises(fc.Error) as raised:
        fc.Topology.from_dict({**PAIR, "nodes": 3, "links": []})
    error = raised.value
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert (copy.code, copy.place, copy.remedy) == (error.code, error.place, error.remedy)
    assert copy.exit_code == error.exit_code
    assert list(map(str, copy.diagnostics)) == list(map(str, error.diagnostics))
    assert str(pickle.loads(pickle.dumps(fc.Error([], 70, "said")))) == "said"


def test_warnings() -> None:
    useless = {**PAIR, "nodes": [*PAIR["nodes"], {"id": "sw", "type": "switch"}]}
    with pytest.warns(fc.ForestcollWarning, match="W0") as warned:
        fc.Topology.from_dict(useless)
    assert {each.filename for each in warned} == {__file__}


def test_any_command() -> None:
    answer = fc.run("explain", "E05")
    assert answer.code == 0
    assert b"E05" in answer.out
    with pytest.raises(fc.Error) as raised:
        fc.run("topo", "check", "a.json", files={"a.json": b"{}"})
    assert raised.value.place == "a.json"
    files = {"t.json": fc.generate("ring", nodes=4).text.encode(), "t.dot": b""}
    assert fc.run("topo", "convert", "t.json", "-o", "t.dot", files=files).files["t.dot"]
