"""Schedules, forests, verdicts, simulations and comparisons."""

from fractions import Fraction
from pathlib import Path

import pytest
from conftest import TOPOLOGIES

import forestcoll as fc

A100 = TOPOLOGIES / "dgx-a100-x2.json"


@pytest.fixture(scope="module")
def fabric() -> fc.Topology:
    return fc.load(A100)


def test_rates_are_exact(fabric: fc.Topology) -> None:
    bound = fc.bound(fabric)
    assert bound.algbw["allreduce"] == Fraction(520, 3)
    assert bound.busbw["allreduce"] == 325
    assert bound.k == 13
    assert bound.bottleneck["exit_bandwidth"] == 325
    alltoall = fc.bound(fabric, "alltoall")
    assert alltoall.algbw == {"alltoall": 50}
    assert alltoall.k is None and alltoall.bottleneck is None
    schedule = fc.synthesize(fabric, k=1)
    assert schedule.algbw == Fraction(1200, 7)
    assert schedule.optimum == Fraction(520, 3)
    assert schedule.verify().algbw == schedule.algbw
    assert "algbw on the topology: 171.429 (1200/7) GB/s" in str(schedule.verify())
    assert "98.9 % of the optimum" in str(schedule)


def test_files_are_named_by_paths(fabric: fc.Topology, tmp_path: Path) -> None:
    file = tmp_path / "allgather.xml"
    fc.synthesize(fabric, "allgather", k=1).save(file)
    for name in (file, str(file)):
        assert fc.verify(name, A100).algbw == fc.read_schedule(name, str(A100)).verify().algbw


def test_loads_are_those_of_the_trees(fabric: fc.Topology) -> None:
    """Adds up in Fractions what the checker says of the links."""
    pytest.importorskip("networkx")
    schedule = fc.synthesize(fabric, "allgather", format="forest", k="optimal")
    forest = schedule.forest
    parts = forest.k * len(forest.ranks)
    loads = {}
    for tree in forest.broadcast:
        for path in tree.edges.values():
            for link in zip(path, path[1:]):
                loads[link] = loads.get(link, 0) + Fraction(tree.multiplicity, parts)
    verdict = schedule.verify()
    assert verdict.loads == loads
    graph = verdict.to_networkx()
    slowest = max(data["load"] / data["bandwidth"] for _, _, data in graph.edges(data=True))
    assert 1 / slowest == schedule.algbw == verdict.algbw


@pytest.mark.parametrize("collective", ["allgather", "reduce_scatter", "allreduce"])
def test_forests_are_graphs(fabric: fc.Topology, collective: str) -> None:
    networkx = pytest.importorskip("networkx")
    forest = fc.synthesize(fabric, collective, format="forest", k=1).forest
    assert bool(forest.reduce) == (collective != "allgather")
    assert bool(forest.broadcast) == (collective != "reduce_scatter")
    for tree, graph in zip((*forest.reduce, *forest.broadcast), forest.to_networkx()):
        away = graph.reverse() if tree in forest.reduce else graph
        assert networkx.is_arborescence(away)
        assert set(away) == set(fabric.ranks)
        assert away.in_degree(tree.root) == 0
    with pytest.raises(ValueError):
        fc.synthesize(fabric, collective, k=1).forest


def test_a_wrong_schedule(fabric: fc.Topology, tmp_path: Path) -> None:
    right = fc.synthesize(fabric, k=1)
    assert fc.verify(right)
    wrong = fc.Schedule(right.text.replace('srcoff="8"', 'srcoff="9"', 1), fabric)
    verdict = fc.verify(wrong)
    assert not verdict
    assert verdict.findings[0].code.startswith("V")
    with pytest.raises(fc.Error) as raised:
        wrong.verify()
    assert raised.value.code == verdict.findings[0].code
    assert raised.value.exit_code == 1
    wrong.save(tmp_path / "wrong.xml")
    assert not fc.verify(str(tmp_path / "wrong.xml"))


def test_warm_start_and_demand(fabric: fc.Topology) -> None:
    before = fc.synthesize(fabric, "allgather", format="forest", k="optimal")
    after = fc.synthesize(
        fabric, "allgather", format="forest", drop="box0/nic3~ib1", warm=before
    )
    assert after.report["kept"]["kept_trees"] > 0
    ranks = len(fabric.ranks)
    demand = [[(source + target) * 1024 for target in range(ranks)] for source in range(ranks)]
    flows = fc.synthesize(fabric, "alltoall", format="flows", demand=demand)
    assert flows.verify()
    assert fc.synthesize(fabric, k=1, format="none").text == ""


def test_simulation_and_tables(fabric: fc.Topology) -> None:
    schedule = fc.synthesize(fabric, k=1)
    simulated = schedule.simulate(["1M", "64M"])
    assert sorted(simulated.seconds) == [1 << 20, 64 << 20]
    compared = fc.compare(fabric, algorithms="forestcoll,nccl-ring", sizes="1M:64M:64", trees=True)
    assert compared.optimum == Fraction(520, 3)
    assert [row["algorithm"] for row in compared.rows] == ["forestcoll", "nccl-ring"]
    assert compared.times()["forestcoll"][64 << 20] < compared.times()["nccl-ring"][64 << 20]
    assert str(compared).startswith("2x DGX A100: allreduce over 16 GPUs")
    assert compared._repr_svg_().startswith("<svg")
    other = fc.synthesize(fabric, k=2)
    beside = fc.compare(fabric, schedule=[schedule, other], sizes="64M", algorithms="nccl-ring")
    assert [row["program_size"]["chunks"] for row in beside.rows[1:]] == [16, 32]
    without = fc.compare(fabric, sizes="1M:1K", algorithms="nccl-ring")
    assert without.svg() == "" and without._repr_svg_() is None
    assert without.rows[0]["algbw"] == Fraction(320, 3)

    pytest.importorskip("pandas")
    table = compared.to_pandas()
    assert list(table.index) == [1 << 20, 64 << 20]
    assert list(table.columns) == ["forestcoll", "nccl-ring"]
    assert list(simulated.to_pandas().columns) == ["seconds", "algbw", "busbw"]


def test_saving(tmp_path: Path) -> None:
    target = tmp_path / "old.json"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    ring = fc.generate("ring", nodes=4)
    ring.save(link)
    assert link.is_symlink()
    assert target.read_bytes() == ring.text.encode()
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [link, target]
    with pytest.raises(OSError):
        ring.save(tmp_path / "absent" / "ring.json")
