"""Schedules: made, checked, simulated and saved; and the forests that they are made of."""

import json
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from ._call import Document, Error, call, report_of, words_of
from ._reports import Simulation, Verdict
from ._topology import Topology, TopologyLike, topology_of

if TYPE_CHECKING:
    import networkx

Path = Union[str, "os.PathLike[str]"]

#: Options that write elsewhere than into a Schedule, or are about what is written.
_NOT_HERE = ("deploy", "json", "o", "output", "tune")


class Tree:
    """A spanning tree, by which the data of one root goes to all ranks, or comes from them."""

    #: The id of its root, and how many equal parts of the data take this tree.
    root: str
    multiplicity: int
    #: The most edges from the root to a rank.
    height: int
    #: (from, to) in the direction of the data, and all nodes that the edge passes, ends included.
    edges: Dict[Tuple[str, str], List[str]]

    def __init__(self, entry: Dict[str, Any]) -> None:
        self.root = entry["root"]
        self.multiplicity = entry["multiplicity"]
        self.height = entry["height"]
        self.edges = {(edge["src"], edge["dst"]): edge["path"] for edge in entry["edges"]}

    def to_networkx(self) -> "networkx.DiGraph":
        """Its edges, each with its `path`; the graph has root, multiplicity and height."""
        import networkx

        graph = networkx.DiGraph(
            root=self.root, multiplicity=self.multiplicity, height=self.height
        )
        for (source, target), path in self.edges.items():
            graph.add_edge(source, target, path=path)
        return graph

    def __repr__(self) -> str:
        return f"<Tree from {self.root}, {self.multiplicity} times, height {self.height}>"


class Forest:
    """The trees of a collective: `reduce` brings data to the roots, `broadcast` spreads it."""

    def __init__(self, text: str) -> None:
        """`text` is forest JSON over ranks (docs/file-format.md), versions 1 and 2."""
        document = json.loads(text)
        self.collective: str = document["collective"]
        self.k: int = document["k"]
        self.ranks: List[str] = document["ranks"]
        gathers = self.collective in ("reduce", "reduce_scatter")
        alone = "reduce" if gathers else "broadcast"
        phases = {alone: document["trees"]} if "trees" in document else document
        self.reduce: List[Tree] = [Tree(entry) for entry in phases.get("reduce", ())]
        self.broadcast: List[Tree] = [Tree(entry) for entry in phases.get("broadcast", ())]

    def to_networkx(self) -> List["networkx.DiGraph"]:
        """A graph for every tree, those that reduce first."""
        return [tree.to_networkx() for tree in (*self.reduce, *self.broadcast)]

    def __repr__(self) -> str:
        trees = len(self.reduce) + len(self.broadcast)
        return f"<Forest of {self.collective}: {trees} trees, k = {self.k}>"


class Schedule(Document):
    """A schedule: `text` is the file, `topology` the fabric that it is for."""

    #: The summary of `synth --json`, with Fractions; empty of a schedule that was not made here.
    report: Dict[str, Any]
    #: What `synth` prints of it.
    notes: str

    def __init__(
        self,
        text: str,
        topology: Optional[TopologyLike] = None,
        file: str = "schedule.xml",
        report: Optional[Dict[str, Any]] = None,
        notes: str = "",
    ) -> None:
        """Of anybody's: MSCCL XML, a plan of MSCCL++, forest or flows JSON."""
        super().__init__(text, file)
        self.topology: Optional[Topology] = None if topology is None else topology_of(topology)
        self.report = report or {}
        self.notes = notes

    @property
    def algbw(self) -> Fraction:
        """GB/s: what the links carry, phases of an allreduce at once.

        Errors: ValueError of a schedule that was not made here.
        """
        return self._rate("algbw")

    @property
    def optimum(self) -> Fraction:
        """GB/s: what nothing exceeds on the fabric. Errors: as of algbw."""
        return self._rate("optimum")

    def _rate(self, key: str) -> Fraction:
        if key not in self.report:
            raise ValueError("a schedule that was not made here says no rates: see check()")
        return Fraction(self.report[key])

    @property
    def forest(self) -> Forest:
        """The trees of a schedule that was made as `format="forest"`. Errors: ValueError else."""
        try:
            return Forest(self.text)
        except (KeyError, ValueError) as error:
            raise ValueError('only format="forest" over ranks says its trees') from error

    def check(self, **options: Any) -> Verdict:
        """What the independent checker says: `forestcoll verify`, with its options."""
        words, files = words_of(options)
        request = ["verify", self.put_into(files), *words]
        if self.topology is None:
            return Verdict(request, files)
        return Verdict([*request, f"--topology={self.topology.put_into(files)}"], files, "--loads")

    def verify(self, **options: Any) -> Verdict:
        """The same, where it must be valid. Errors: Error with the first finding (V…) else."""
        verdict = self.check(**options)
        if not verdict:
            raise Error(verdict.findings, exit_code=1)
        return verdict

    def simulate(self, sizes: Any = None, **options: Any) -> Simulation:
        """How long it takes by size, a model: `forestcoll simulate`, with its options.

        Errors: ValueError without a topology, M… where it cannot be simulated.
        """
        if self.topology is None:
            raise ValueError("a simulation needs the topology")
        words, files = words_of({"sizes": sizes, **options})
        names = [self.put_into(files), self.topology.put_into(files)]
        return Simulation(["simulate", *names, *words], files)

    def __str__(self) -> str:
        return self.notes.rstrip("\n") or repr(self)

    def __repr__(self) -> str:
        if not self.report:
            return f"<Schedule {self.file!r}, {len(self.text)} characters>"
        collective = self.report["collective"]
        return f"<Schedule of {collective}: {self.algbw} GB/s, optimum {self.optimum}>"


def synthesize(topology: TopologyLike, collective: str = "allreduce", **options: Any) -> Schedule:
    """A verified schedule, with the bytes of `forestcoll synth`.

    Options are those of the command. Without any, it is the fastest for large messages, and with
    `size="64M"` for that size; `k="optimal"` and `format="forest"` give the trees of the highest
    rate. `warm` may be a Schedule, `demand` a matrix of bytes.
    Errors: S… options that do not go together, T… what does not fit the target, E14.
    """
    for name in _NOT_HERE:
        if name in options:
            raise TypeError(f'synthesize() has no option "{name}": see save(), report and run()')
    words, files = words_of({"collective": collective, **options})
    fabric = topology_of(topology)
    request = ["synth", fabric.put_into(files), "--json", *words]
    written = Document("", "schedule").put_into(files)
    if options.get("format") != "none":
        request.append(f"--output={written}")
    answer = call(request, files)
    text = answer.files[written].decode()
    extension = _extension(options.get("format"), text)
    return Schedule(
        text, fabric, f"{collective}.{extension}", report_of(answer.out), answer.notes
    )


def _extension(form: Optional[str], text: str) -> str:
    """Of a schedule's file: XML or JSON, by its text, where its format is no other language."""
    if form in ("dot", "goal"):
        return form
    return "json" if text.startswith("{") else "xml"


def read_schedule(path: Path, topology: Optional[TopologyLike] = None) -> Schedule:
    """A schedule from a file, anybody's. Errors: OSError where it cannot be read."""
    name = os.fsdecode(path)
    with open(name, "rb") as file:
        return Schedule(file.read().decode(errors="surrogateescape"), topology, name)


def verify(
    schedule: Union[Schedule, Path], topology: Optional[TopologyLike] = None, **options: Any
) -> Verdict:
    """What the independent checker says of a schedule or of a file; true where it is valid.

    Errors: Error where it is no schedule at all (V01), or does not fit the topology's file.
    """
    if not isinstance(schedule, Schedule):
        schedule = read_schedule(schedule, topology)
    elif topology is not None:
        schedule = Schedule(schedule.text, topology, schedule.file)
    return schedule.check(**options)
