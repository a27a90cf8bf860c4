"""Topologies: from files, names, dictionaries and graphs."""

import json
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union

from ._call import Document, Error, call, report_of, words_of

if TYPE_CHECKING:
    import networkx

#: What functions take as a fabric: a file's name, its content, or a graph, too.
TopologyLike = Union["Topology", str, "os.PathLike[str]", Mapping[str, Any], "networkx.Graph"]

#: Attributes of nodes and edges whose numbers are exact.
_NUMBERS = ("bandwidth", "latency", "weight")
#: What an unnamed file in memory is called.
_FILE = "topology.json"
#: Codes of drawings, such as of a fabric that is too large for one.
_NO_PICTURE = ("P01", "P02", "P03", "P04")


class Topology(Document):
    """A fabric: compute nodes, switches and links, as a topology file has them.

    It is checked when it is made: Error where the text is no topology (codes E…, I…).
    """

    #: Its name, of its file where it has none.
    name: str
    #: The ids of the compute nodes, in rank order.
    ranks: List[str]

    def __init__(self, text: str, file: str = _FILE) -> None:
        """`text` is a topology file, or any other that the program reads (docs/machines.md).

        `file` is the name that messages have for it; nothing is read from there.
        """
        super().__init__(text, file)
        self._graph = json.loads(self._ask("topo", "convert", "--to", "networkx"), parse_float=str)
        self.name = self._graph["graph"]["name"]
        by_rank = {node["rank"]: node["id"] for node in self._graph["nodes"] if "rank" in node}
        self.ranks = [by_rank[rank] for rank in sorted(by_rank)]

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Topology":
        """The topology of a file's content (docs/file-format.md). Numbers may be Fractions."""
        return cls(json.dumps(document, default=str))

    @classmethod
    def from_networkx(cls, graph: "networkx.Graph", name: Optional[str] = None) -> "Topology":
        """The topology of a graph: an edge is a link, one-way where the graph is directed.

        Edges have `bandwidth` in GB/s (a number, a Fraction, or a text such as "200 Gb/s") and may
        have `cables`, `latency` in µs and `kind`; nodes may have `type` ("compute", "switch"),
        `rank`, `box`, `weight`, `multicast`, `reduce` and `echo`. A graph with `name` is called so.
        """
        top = dict(graph.graph)
        if name is not None:
            top["name"] = name
        document = {
            "directed": graph.is_directed(),
            "multigraph": graph.is_multigraph(),
            "graph": top,
            "nodes": [{"id": str(node), **data} for node, data in graph.nodes(data=True)],
            "edges": [
                {"source": str(source), "target": str(target), **data}
                for source, target, data in graph.edges(data=True)
            ],
        }
        return cls(json.dumps(document, default=str))

    def to_dict(self) -> Dict[str, Any]:
        """The content of a topology file, with ranges and templates expanded."""
        document: Dict[str, Any] = json.loads(self._ask("topo", "convert", "--to", "topology"))
        return document

    def to_networkx(self) -> "networkx.MultiDiGraph":
        """A directed edge per direction of every link, with the attributes of `from_networkx`.

        Bandwidths (GB/s), latencies (µs) and weights are Fractions. Needs networkx.
        """
        import networkx

        graph = networkx.MultiDiGraph(**self._graph["graph"])
        for node in self._graph["nodes"]:
            graph.add_node(node["id"], **_attributes(node, "id"))
        for edge in self._graph["edges"]:
            attributes = _attributes(edge, "source", "target", "key")
            graph.add_edge(edge["source"], edge["target"], **attributes)
        return graph

    def summary(self, **options: Any) -> Dict[str, Any]:
        """GPUs, switches, boxes, links and bisection: the report of `topo show`."""
        return report_of(self._ask("topo", "show", "--json", **options))

    def svg(self, **options: Any) -> str:
        """A picture with the bottleneck in red: `topo show --svg`.

        Errors: P03 too large to be drawn.
        """
        return self._ask("topo", "show", "--svg=-", **options).decode()

    def __str__(self) -> str:
        return self._ask("topo", "show").decode().rstrip("\n")

    def __repr__(self) -> str:
        switches = len(self._graph["nodes"]) - len(self.ranks)
        return f"<Topology {self.name!r}: {len(self.ranks)} GPUs, {switches} switches>"

    def _repr_svg_(self) -> Optional[str]:
        try:
            return self.svg()
        except Error as error:
            if error.code in _NO_PICTURE:
                return None
            raise

    def _ask(self, *words: str, **options: Any) -> bytes:
        more, files = words_of(options)
        name = self.put_into(files)
        return call([*words, name, *more], files).out


def _attributes(entry: Mapping[str, Any], *without: str) -> Dict[str, Any]:
    attributes = {key: value for key, value in entry.items() if key not in without}
    for key in _NUMBERS:
        if key in attributes:
            attributes[key] = Fraction(str(attributes[key]))
    return attributes


def load(path: Union[str, "os.PathLike[str]"]) -> Topology:
    """Reads a topology file, or a dump of a machine (docs/machines.md).

    Errors: OSError where it cannot be read, Error where it is no topology.
    """
    name = os.fsdecode(path)  # no number, which open() takes for a file that is open
    with open(name, "rb") as file:
        return Topology(file.read().decode(errors="surrogateescape"), name)


def generate(name: Union[str, "os.PathLike[str]"], **parameters: Any) -> Topology:
    """A named fabric, such as `generate("dgx-a100", boxes=2)`, or the wiring of an expression.

    `name` may also be the file of a machine, such as `generate("./mine.json", boxes=2)`.
    Parameters are those of `topo gen` (`forestcoll topo gen --list` has all).
    Errors: G01 no such fabric, G02 no such parameter, G03 a value that cannot be.
    """
    words, files = words_of(parameters)
    fabric = os.fspath(name)
    file = os.path.basename(fabric) if fabric.endswith(".json") else f"{fabric}.json"
    return Topology(call(["topo", "gen", fabric, *words], files).out.decode(), file)


def import_dump(kind: str, path: Union[str, "os.PathLike[str]"], **options: Any) -> Topology:
    """The topology of a dump of a machine, such as `nvidia-smi topo -m`: `topo import`.

    `kind` is "auto" or one of `forestcoll topo import --help`; options are those of the command,
    such as `health={"box3": "nvlink.txt"}` for what is down today.
    """
    words, files = words_of(options)
    return Topology(call(["topo", "import", kind, os.fspath(path), *words], files).out.decode())


def topology_of(source: TopologyLike) -> Topology:
    """The fabric that a function was given: a topology, a file's name, its content or a graph.

    Errors: TypeError where it is something else.
    """
    if isinstance(source, Topology):
        return source
    if isinstance(source, Mapping) and not hasattr(source, "nodes"):
        return Topology.from_dict(source)
    if isinstance(source, (str, os.PathLike)):
        return load(source)
    if not hasattr(source, "is_multigraph"):
        raise TypeError(
            "a fabric is a Topology, the name of a file, a dictionary or a graph of networkx, not "
            + type(source).__name__
        )
    return Topology.from_networkx(source)
