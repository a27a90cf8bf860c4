"""Topologies from dictionaries, graphs, names and dumps, and back."""

from fractions import Fraction
from pathlib import Path

import pytest
from conftest import TOPOLOGIES

import forestcoll as fc

RING = {
    "format": "forestcoll-topology",
    "version": 1,
    "name": "ring",
    "nodes": [{"id": "gpu[0-3]", "type": "compute"}],
    "links": [
        {"src": f"gpu{i}", "dst": f"gpu{(i + 1) % 4}", "bandwidth": Fraction(100, 3)}
        for i in range(4)
    ],
}


def test_dictionary() -> None:
    ring = fc.Topology.from_dict(RING)
    assert ring.name == "ring"
    assert ring.ranks == ["gpu0", "gpu1", "gpu2", "gpu3"]
    assert fc.bound(ring).algbw["allgather"] == Fraction(800, 9)
    assert fc.bound(RING).algbw == fc.bound(ring).algbw
    again = fc.Topology.from_dict(ring.to_dict())
    assert fc.bound(again).report == fc.bound(ring).report
    assert repr(ring) == "<Topology 'ring': 4 GPUs, 0 switches>"


def test_files_and_names(tmp_path: Path) -> None:
    fabric = fc.generate("torus", dims="2x3", bandwidth="100 Gb/s")
    fabric.save(tmp_path / "torus.json")
    read = fc.load(tmp_path / "torus.json")
    assert read.text == fabric.text
    assert fc.bound(read).algbw["allgather"] == fc.bound(fabric).algbw["allgather"]
    assert len(fc.generate("dragonfly", hosts=2, routers=4, global_=2).ranks) == 72
    dump = TOPOLOGIES / "dumps" / "dgx-a100.xml"
    assert len(fc.load(dump).ranks) == 8
    assert len(fc.import_dump("auto", dump, boxes=2, fabric="rail").ranks) == 16
    machine = TOPOLOGIES / "machines" / "hgx-h20.json"
    assert fc.generate(machine, boxes=2).name == "2x hgx-h20, rail"


def test_links_that_are_down_today(tmp_path: Path) -> None:
    """Six of twelve NVLinks of GPU 3, as `nvidia-smi nvlink -s -i 3` prints them."""
    links = "".join(
        f"\t Link {i}: {'25 GB/s' if i % 2 == 0 else '<inactive>'}\n" for i in range(12)
    )
    health = tmp_path / "nvlink.txt"
    health.write_text("GPU 3: NVIDIA A100 (UUID: GPU-1)\n" + links)
    whole = TOPOLOGIES / "dgx-a100-x2.json"
    today = fc.import_dump("auto", whole, health={"box0": health})
    assert fc.bound(today).algbw["allgather"] < fc.bound(whole).algbw["allgather"]


@pytest.mark.parametrize("name", ["dgx-a100-x2", "mi250-x1", "dgx-a100-x2-degraded", "torus-4x4"])
def test_networkx_and_back(name: str) -> None:
    pytest.importorskip("networkx")
    fabric = fc.load(TOPOLOGIES / f"{name}.json")
    graph = fabric.to_networkx()
    assert [node for node in graph if graph.nodes[node].get("rank") == 0] == fabric.ranks[:1]
    assert all(isinstance(data["bandwidth"], Fraction) for _, _, data in graph.edges(data=True))
    again = fc.Topology.from_networkx(graph)
    assert again.name == fabric.name
    assert again.ranks == fabric.ranks
    assert fc.bound(again).algbw == fc.bound(fabric).algbw


def test_graph_of_ones_own() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.cycle_graph(["a", "b", "c", "d"])
    networkx.set_edge_attributes(graph, Fraction(100, 3), "bandwidth")
    rates = fc.bound(fc.Topology.from_networkx(graph, name="mine")).algbw
    assert rates["allgather"] == Fraction(800, 9)
    assert fc.bound(graph).algbw == rates
    one_way = graph.to_directed()
    one_way.remove_edge("a", "b")
    assert fc.bound(one_way).algbw["allgather"] < rates["allgather"]


def test_pictures() -> None:
    import shutil
    import xml.dom.minidom

    fabric = fc.load(TOPOLOGIES / "dgx-a100-x1.json")
    picture = fabric._repr_svg_()
    if shutil.which("dot") is None:
        assert picture is None
    else:
        assert picture is not None
        assert xml.dom.minidom.parseString(picture).documentElement.tagName == "svg"
    assert "8 GPUs" in str(fabric)
    assert fabric.summary()["between_halves"]["there"] == 1200
