"""Throughput-optimal schedules for collective communication on any fabric.

>>> import forestcoll as fc
>>> t = fc.generate("dgx-a100", boxes=2)
>>> fc.bound(t).algbw["allreduce"]
Fraction(520, 3)
>>> s = fc.synthesize(t, "allreduce", size="64M")
>>> s.verify()
>>> s.save("allreduce.xml")

The functions are the commands of `forestcoll`, and their keyword arguments its options: the bytes
are the same. Rates are Fractions in GB/s. What is wrong with an input raises `Error`, with code,
place and remedy. docs/python.md has more.
"""

from ._call import Error, ForestcollWarning, run
from ._native import Answer, Diagnostic
from ._native import version as __version__
from ._reports import Bound, Comparison, Report, Simulation, Verdict, bound, compare
from ._schedule import Forest, Schedule, Tree, read_schedule, synthesize, verify
from ._topology import Topology, TopologyLike, generate, import_dump, load

__all__ = [
    "Answer",
    "Bound",
    "Comparison",
    "Diagnostic",
    "Error",
    "Forest",
    "ForestcollWarning",
    "Report",
    "Schedule",
    "Simulation",
    "Topology",
    "TopologyLike",
    "Tree",
    "Verdict",
    "__version__",
    "bound",
    "compare",
    "generate",
    "import_dump",
    "load",
    "read_schedule",
    "run",
    "synthesize",
    "verify",
]
