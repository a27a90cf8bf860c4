"""What commands answer: reports with exact numbers, as text, and as tables."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from ._call import Error, Files, call, report_of, words_of
from ._native import Diagnostic
from ._topology import TopologyLike, topology_of

if TYPE_CHECKING:
    import networkx
    import pandas

Rates = Dict[str, Fraction]


class Report:
    """A report of a command: what `--json` prints, with Fractions for exact numbers.

    `str(report)` is what the command prints without it, for which it runs again.
    """

    #: All of it, by the keys of its JSON Schema (tools/schema).
    report: Dict[str, Any]

    def __init__(self, words: Sequence[str], files: Files, *of_json: str) -> None:
        """`of_json` are words for the report in JSON alone."""
        self._words, self._files = list(words), files
        self.report = report_of(call([*words, "--json", *of_json], files).out)

    def __str__(self) -> str:
        return call(self._words, self._files).out.decode().rstrip("\n")


class Bound(Report):
    """The optimal rates of a fabric, and the bottleneck that proves them."""

    @property
    def algbw(self) -> Rates:
        """GB/s by collective: the whole buffer over the time."""
        return dict(self.report["algbw"])

    @property
    def busbw(self) -> Rates:
        """GB/s by collective, as nccl-tests reckons it."""
        return dict(self.report["busbw"])

    @property
    def k(self) -> Optional[int]:
        """Trees per root at the optimum of the first collective.

        None along paths, and where links share capacities.
        """
        return self.report.get("k")

    @property
    def bottleneck(self) -> Optional[Dict[str, Any]]:
        """The cut: the `nodes` that send, the `links` that leave them, their `exit_bandwidth`.

        Where links share capacities, the `lengths` of links and of `shared_limits` instead. None along paths, as of an alltoall, whose proof is in `report`.
        """
        return self.report.get("bottleneck")

    def __repr__(self) -> str:
        rates = ", ".join(f"{name} {rate}" for name, rate in self.algbw.items())
        return f"<Bound of {self.report['topology']!r}: {rates} GB/s>"


def bound(topology: TopologyLike, collective: Optional[str] = None, **options: Any) -> Bound:
    """The highest rate of a collective, or of all that need no root: `forestcoll bound`.

    Options are those of the command, such as `root`, `drop` and `whatif`.
    Errors: E14 where exact numbers do not fit, S02 for a root; those of the topology.
    """
    return Bound(*_request("bound", topology, collective=collective, **options))


class Comparison(Report):
    """Ours beside NCCL's algorithms and the literature's, by simulation: a model."""

    _TABLE, _CHART = "table.txt", "chart.svg"

    def __init__(self, words: Sequence[str], files: Files) -> None:
        written = {**files, self._TABLE: b"", self._CHART: b""}
        tables = [*words, "--json", f"--table={self._TABLE}"]
        try:
            answer = call([*tables, f"--svg={self._CHART}"], written)
        except Error as error:
            if error.code != "N09":  # nothing has times, so there is no chart
                raise
            answer = call(tables, written)
        self.report = report_of(answer.out)
        self._table = answer.files[self._TABLE].decode()
        self._chart = answer.files[self._CHART].decode()

    @property
    def optimum(self) -> Fraction:
        """GB/s of algbw that nothing exceeds."""
        return Fraction(self.report["optimum"])

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """An entry per algorithm; `error` says why one does not exist on this fabric."""
        return list(self.report["rows"])

    def times(self) -> Dict[str, Dict[int, float]]:
        """Simulated seconds by algorithm and size in bytes: of programs, else of trees or flows."""
        return {
            row["algorithm"]: {
                time["bytes"]: time["simulated_seconds"]
                for time in row.get("program_times") or row.get("times") or ()
            }
            for row in self.rows
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """Simulated seconds, sizes down and algorithms across. Needs pandas."""
        import pandas

        table = pandas.DataFrame(self.times()).dropna(axis="columns", how="all").sort_index()
        return table.rename_axis(index="bytes", columns="algorithm")

    def svg(self) -> str:
        """The chart of algbw over size; empty where no algorithm has times."""
        return self._chart

    def __str__(self) -> str:
        return self._table.rstrip("\n")

    def __repr__(self) -> str:
        return (
            f"<Comparison of {self.report['collective']} on {self.report['topology']!r}: "
            f"{len(self.rows)} algorithms>"
        )

    def _repr_svg_(self) -> Optional[str]:
        return self._chart or None


def compare(topology: TopologyLike, collective: str = "allreduce", **options: Any) -> Comparison:
    """A collective on a fabric by all algorithms, rates and simulated times: `forestcoll compare`.

    Options are those of the command, such as `algorithms`, `sizes` and `trees`. `schedule` may be a
    Schedule, or a list of them.
    Errors: S03 an algorithm that there is not, E14; those of the topology.
    """
    return Comparison(*_request("compare", topology, collective=collective, **options))


class Verdict(Report):
    """What the independent checker says of a schedule. True where it is valid."""

    def __bool__(self) -> bool:
        return bool(self.report["ok"])

    @property
    def algbw(self) -> Optional[Fraction]:
        """GB/s on the topology by the load of its links; None without a topology."""
        return self.report.get("algbw")

    @property
    def findings(self) -> List[Diagnostic]:
        """What is wrong, each with the place: rank, threadblock and step."""
        return [Diagnostic(**finding) for finding in self.report["findings"]]

    @property
    def loads(self) -> Dict[Tuple[str, str], Fraction]:
        """By link: the data sent over it, in units of the whole buffer. Empty without topology."""
        return {(link["src"], link["dst"]): link["load"] for link in self.report.get("loads", ())}

    def to_networkx(self) -> "networkx.DiGraph":
        """The loaded links with `load` (buffers) and `bandwidth` (GB/s). Needs networkx."""
        import networkx

        graph = networkx.DiGraph()
        for link in self.report.get("loads", ()):
            graph.add_edge(
                link["src"], link["dst"], load=link["load"], bandwidth=link["bandwidth"]
            )
        return graph

    def __repr__(self) -> str:
        return f"<Verdict of {self.report['collective']}: {self.report['outcome']}>"


class Simulation(Report):
    """How long a schedule takes by size: a model, not a measurement."""

    @property
    def seconds(self) -> Dict[int, float]:
        """By size in bytes."""
        return {time["bytes"]: time["simulated_seconds"] for time in self.report["times"]}

    def to_pandas(self) -> "pandas.DataFrame":
        """Seconds, algbw and busbw (GB/s) by size in bytes. Needs pandas."""
        import pandas

        table = pandas.DataFrame(self.report["times"]).set_index("bytes")
        return table.rename(columns=lambda name: name.replace("simulated_", ""))

    def __repr__(self) -> str:
        return f"<Simulation of {self.report['collective']}, {len(self.seconds)} sizes>"


def _request(command: str, topology: TopologyLike, **options: Any) -> Tuple[List[str], Files]:
    """The words of a command on a topology, and the files that they name."""
    words, files = words_of(options)
    return [command, topology_of(topology).put_into(files), *words], files
