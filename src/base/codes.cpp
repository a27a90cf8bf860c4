// The table of all codes; docs/diagnostics.md is made of it.
#include "forestcoll/codes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ostream>

namespace forestcoll {
namespace {

// The enumerator and its name, which so cannot differ.
#define CODE(name) Code::name, #name

constexpr std::array kCodes = std::to_array<CodeInfo>({
    {CODE(E01), About::topology_file, "not JSON"},
    {CODE(E02), About::topology_file,
     "wrong format or version, a key of the wrong kind, or a text with control characters"},
    {CODE(E03), About::topology_file, "an id is used twice"},
    {CODE(E04), About::topology_file, "a link to an unknown node"},
    {CODE(E05), About::topology_file,
     "bandwidth, count, derate, latency or weight out of range or without a known unit"},
    {CODE(E06), About::topology_file, "a link from a node to itself"},
    {CODE(E07), About::topology_file, "fewer than two GPUs"},
    {CODE(E08), About::topology_file, "a GPU with no way in or out"},
    {CODE(E09), About::topology_file, "the GPUs do not all reach one another"},
    {CODE(E10), About::topology_file, "the two sides of a `zip` differ in length"},
    {CODE(E11), About::topology_file, "a bad range or id"},
    {CODE(E12), About::topology_file, "`multicast` or `reduce` on a GPU"},
    {CODE(E13), About::topology_file, "`rank_order` is not a permutation of the GPUs"},
    {CODE(E14), About::topology_file, "numbers too large for exact arithmetic; `quantize` helps",
     ErrorKind::limit},
    {CODE(E15), About::topology_file, "larger than `max_nodes` after ranges are expanded"},
    {CODE(E17), About::topology_file,
     "a limit of no link, of a link twice, or of some of the links from one node to another"},
    {CODE(W01), About::topology_file,
     "a switch whose two directions differ, in the file or since `drop` and `derate`"},
    {CODE(W02), About::topology_file, "a dangling switch"},
    {CODE(W03), About::topology_file, "the same pair is linked twice; the links are summed"},
    {CODE(W04), About::topology_file,
     "a bandwidth that looks like a slip of the unit: above 10 TB/s, far from the others, or more "
     "than a link of its kind carries"},
    {CODE(W05), About::topology_file, "boxes of one template with different numbers of links"},
    {CODE(W06), About::topology_file, "an unknown key"},
    {CODE(W07), About::topology_file,
     "a pair that is linked one way only, where most are linked both ways"},
    {CODE(W08), About::topology_file,
     "a box whose GPUs NVLink or xGMI joins in several islands only"},
    {CODE(W09), About::topology_file,
     "boxes that the file does not declare and that are not certain"},
    {CODE(W12), About::topology_file,
     "ranges that look alike are linked each to each: both sides begin with the same range, or "
     "GPUs and switches share one and one side has a further range; `\"pair\": \"product\"` says "
     "that it is meant"},
    {CODE(W16), About::topology_file, "a limit that never binds"},
    {CODE(S02), About::request, "a root that is missing, unknown or not wanted"},
    {CODE(S03), About::request, "the value of an option cannot be read"},
    {CODE(S04), About::request,
     "options that do not go together; an output that is an input or another output"},
    {CODE(T01), About::request, "more threadblocks than the target holds", ErrorKind::threadblocks},
    {CODE(T02), About::request, "more steps than the target holds", ErrorKind::limit},
    {CODE(T03), About::request, "more channels than the target holds", ErrorKind::threadblocks},
    {CODE(T04), About::request,
     "more chunks than the target reads, or messages beyond the offsets of plans",
     ErrorKind::limit},
    {CODE(T05), About::request, "more XML elements than the target reads", ErrorKind::limit},
    {CODE(T06), About::request, "the target cannot run such a file", ErrorKind::limit},
    {CODE(T07), About::request, "no such target"},
    {CODE(T08), About::request,
     "Simple where it hangs: between boxes, or with many operations in flight"},
    {CODE(T09), About::request, "unequal shares, which the target or such a file cannot have",
     ErrorKind::limit},
    {CODE(T10), About::request,
     "a forest with more edges, or more text, than the checker reads; an alltoall in more parts "
     "than paths are sought for",
     ErrorKind::limit},
    {CODE(E16), About::request, "no tree is as low as `max_height`, whatever the rate"},
    {CODE(E18), About::request, "links that share a capacity, where that is not known yet"},
    {CODE(R01), About::request, "stopped before the end", ErrorKind::stopped},
    {CODE(R02), About::request, "a previous forest of another collective, root or ranks"},
    {CODE(A02), About::request, "a demand of 0 for all pairs of different ranks"},
    {CODE(A03), About::request, "`demand`: no array of rows of amounts"},
    {CODE(A04), About::request,
     "`demand`: not as many rows, or amounts of a row, as there are GPUs"},
    {CODE(A05), About::request, "`demand`: an amount that is no whole number of bytes, 0 or more"},
    {CODE(A06), About::request, "`demand`: 2^40 bytes or more in all", ErrorKind::limit},
    {CODE(F01), About::request, "not a forest JSON"},
    {CODE(F02), About::request, "a previous forest that does not fit the topology"},
    {CODE(D01), About::request, "`drop`, `derate`, `ranks`, `members`, `latency`: an unknown name"},
    {CODE(D02), About::request, "`drop`, `derate`, `ranks`, `members`, `latency`: cannot be read"},
    {CODE(D03), About::request,
     "`derate`: a factor outside (0, 1]; `drop`: more cables than there are; `latency`: no time"},
    {CODE(D04), About::request, "`ranks`, `members`: a GPU that cannot be one of them"},
    {CODE(G01), About::request, "`generate`: no such fabric"},
    {CODE(G02), About::request, "`generate`: no such parameter"},
    {CODE(G03), About::request, "`generate`: a value that cannot be"},
    {CODE(G04), About::request, "an expression of a wiring that cannot be read"},
    {CODE(G05), About::request, "a wiring that there is not, or that is larger than one may be"},
    {CODE(K01), About::request, "`design direct`: a number of nodes or ports that no wiring has"},
    {CODE(K02), About::request, "`design cluster`: a file of costs that cannot be read"},
    {CODE(K03), About::request,
     "`design cluster`: the file of costs lacks a part that is to be bought"},
    {CODE(K04), About::request, "`design cluster`: a number of GPUs that no candidate has"},
    {CODE(K05), About::request, "`design`: kept results that cannot be read"},
    {CODE(C01), About::request, "an extension without a format"},
    {CODE(P01), About::request, "Graphviz is missing", ErrorKind::io},
    {CODE(P02), About::request, "Graphviz failed", ErrorKind::io},
    {CODE(P03), About::request, "too much to draw"},
    {CODE(P04), About::request, "drawing takes too long", ErrorKind::io},
    {CODE(W10), About::request, "a schedule with one root, which no runtime checks"},
    {CODE(W11), About::request,
     "XML names no routes, and the fewest hops reach less than the forest, or the flows"},
    {CODE(W13), About::request, "Simple for a broadcast or reduce between boxes"},
    {CODE(W14), About::request, "LL128 where the runtime does not use it itself"},
    {CODE(W15), About::request, "no power of two of elements selects the schedule"},
    {CODE(O01), About::request,
     "no job: not JSON, another format or version, or a key that is missing, unknown or of the "
     "wrong kind"},
    {CODE(O02), About::request, "`groups`: neither a colour, nor axes, nor lists of ranks"},
    {CODE(O03), About::request, "`groups`: a rank that the fabric does not have"},
    {CODE(O04), About::request, "`groups`: a rank twice in a group, or in two of one operation"},
    {CODE(O05), About::request, "`groups`: a group without ranks, or none that has two"},
    {CODE(O06), About::request,
     "`mesh`: cannot be read, sizes that do not multiply to the number of ranks, or an axis that "
     "it does not have"},
    {CODE(O07), About::request,
     "an operation: an unknown collective, or a root, bytes or a demand that do not fit it"},
    {CODE(O08), About::request,
     "a group whose ranks do not reach one another without the other GPUs"},
    {CODE(O09), About::request,
     "schedules of groups that are of other groups or another fabric, or together take more of a "
     "link or a GPU than there is"},
    {CODE(B01), About::comparison, "no ring found at any speed"},
    {CODE(B02), About::comparison, "a number of ranks or boxes that the algorithm cannot serve"},
    {CODE(B03), About::comparison, "no switch that combines in the network"},
    {CODE(B04), About::comparison, "larger than the algorithm is made for", ErrorKind::limit},
    {CODE(B05), About::comparison, "unequal shares"},
    {CODE(B06), About::comparison, "not a collective of this algorithm"},
    {CODE(B07), About::comparison, "a graph file that does not fit"},
    {CODE(B08), About::comparison, "GPUs that no switches join"},
    {CODE(B09), About::comparison, "no such algorithm"},
    {CODE(B10), About::comparison,
     "no trees describe the algorithm on this fabric; its rate is named", ErrorKind::limit},
    {CODE(M01), About::comparison,
     "sizes that make no sense (`compare` says so in its report and goes on)"},
    {CODE(M02), About::comparison, "a parameter file with a wrong key or value"},
    {CODE(M03), About::comparison, "no figures for that GPU"},
    {CODE(M04), About::comparison, "a schedule for another topology, or one that `verify` rejects"},
    {CODE(M05), About::comparison, "the schedule gets stuck with so few slots"},
    {CODE(M06), About::comparison, "more operations than are simulated", ErrorKind::limit},
    {CODE(N01), About::comparison, "`measured`: no table of nccl-tests"},
    {CODE(N02), About::comparison, "`measured`: a row that does not fit its heading"},
    {CODE(N03), About::comparison, "`measured`: a number that is none"},
    {CODE(N04), About::comparison,
     "`measured`: a run of another collective (also by its busbw or redop) or number of ranks"},
    {CODE(N05), About::comparison, "`measured`: a run that reports wrong results"},
    {CODE(N06), About::comparison, "in a row: no trees for its times to be simulated"},
    {CODE(N07), About::comparison, "in a row: too many trees for its times to be simulated"},
    {CODE(N08), About::comparison,
     "a schedule for another collective, or `measured` for an algorithm that is not compared"},
    {CODE(N09), About::comparison, "a chart of nothing"},
    {CODE(N10), About::comparison, "more GPUs than a schedule is made for to say what it reaches",
     ErrorKind::limit},
    {CODE(X01), About::run, "not a schedule that can be run"},
    {CODE(X02), About::run, "an option that cannot be read or that no runtime has"},
    {CODE(X03), About::run, "another number of processes than the schedule has GPUs"},
    {CODE(X04), About::run, "no size in the file's window, or less than an element for each chunk"},
    {CODE(X05), About::run, "a root that is no rank"},
    {CODE(X06), About::run, "a size beyond 2 GiB in one process", ErrorKind::limit},
    {CODE(J01), About::batch, "no topologies here"},
    {CODE(J02), About::batch, "an item's time is over (`time_limit`)"},
    {CODE(J03), About::batch,
     "out of memory: by `memory`, by the allocator, or killed from outside"},
    {CODE(J04), About::batch,
     "a child crashed, or gave no answer; its last words stand in the message"},
    {CODE(J05), About::batch, "another batch works in OUT", ErrorKind::io},
    {CODE(J06), About::batch, "a manifest: not one, or a wrong entry, with the place"},
    {CODE(J07), About::batch, "not a report of a batch (`baseline`, `merge`)"},
    {CODE(J08), About::batch,
     "`merge`: a shard is missing, there twice, of another number or another program, or its "
     "output was changed"},
    {CODE(IO), About::batch, "in a report: a file that cannot be read or written"},
    {CODE(I01), About::imported_dump, "not a file of that format"},
    {CODE(I02), About::imported_dump, "malformed or cut off"},
    {CODE(I03), About::imported_dump, "a value that does not belong there"},
    {CODE(I04), About::imported_dump, "an unknown generation"},
    {CODE(I05), About::imported_dump, "something missing that an option gives"},
    {CODE(I06), About::imported_dump, "no GPUs"},
    {CODE(I07), About::imported_dump, "nothing joins the GPUs, or the file leaves that to NCCL"},
    {CODE(I08), About::imported_dump, "an option or file that does not fit"},
    {CODE(I09), About::imported_dump, "too large"},
    {CODE(I21), About::imported_dump, "a doubtful figure, or a link left out"},
    {CODE(I22), About::imported_dump, "directions that differ"},
    {CODE(I23), About::imported_dump, "a guess"},
    {CODE(I24), About::imported_dump, "what else was left out"},
    {CODE(I25), About::imported_dump,
     "PCIe and the CPUs are the way between GPUs that no NVLink or xGMI joins, and what that "
     "costs"},
    {CODE(V01), About::schedule, "cannot be read, or a key stands twice"},
    {CODE(V02), About::schedule, "XML that the runtimes' own parser does not accept"},
    {CODE(V03), About::schedule, "an attribute that is missing or wrong"},
    {CODE(V04), About::schedule, "something that the target does not have"},
    {CODE(V05), About::schedule, "numbering"},
    {CODE(V06), About::schedule, "limits of the target"},
    {CODE(V07), About::schedule, "peers and channels"},
    {CODE(V08), About::schedule, "counts and offsets"},
    {CODE(V09), About::schedule, "dependencies"},
    {CODE(V10), About::schedule, "nop steps"},
    {CODE(V11), About::schedule, "sizes of buffers"},
    {CODE(V12), About::schedule, "a message without its other side"},
    {CODE(V13), About::schedule, "deadlock"},
    {CODE(V14), About::schedule, "race"},
    {CODE(V15), About::schedule, "data read before it is written"},
    {CODE(V16), About::schedule, "data added twice"},
    {CODE(V17), About::schedule, "wrong at the end"},
    {CODE(V18), About::schedule, "the input overwritten"},
    {CODE(V19), About::schedule, "a file, or a row of rules, that no call can select"},
    {CODE(V20), About::schedule,
     "does not fit the topology; a plan's memory channel between boxes"},
    {CODE(V21), About::schedule, "a forest: a tree that does not span"},
    {CODE(V22), About::schedule, "a forest: a height that is not so"},
    {CODE(V23), About::schedule, "a forest: multiplicities that do not add up"},
    {CODE(V24), About::schedule, "a forest, flows or rings of NCCL: a path that is none"},
    {CODE(V25), About::schedule, "a forest or flows: a rate that the links do not carry"},
    {CODE(V26), About::schedule, "larger than the checker holds"},
});

#undef CODE

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (kCodes[i].code != static_cast<Code>(i)) return false;
  }
  return true;
}
static_assert(is_in_order(), "the table has the codes in the order of the enumerators");
static_assert(kCodes.back().code == Code::V26, "the table ends with the last enumerator");

}  // namespace

std::string_view to_string(About about) {
  switch (about) {
    case About::topology_file:
      return "the topology file";
    case About::request:
      return "the request";
    case About::comparison:
      return "algorithms, simulation and comparison";
    case About::run:
      return "forestcoll-run";
    case About::batch:
      return "a batch";
    case About::imported_dump:
      return "a dump that is imported";
    case About::schedule:
      break;
  }
  return "a schedule";
}

std::span<const CodeInfo> codes() {
  return kCodes;
}

const CodeInfo& info_of(Code code) {
  return kCodes[static_cast<std::size_t>(code)];
}

std::string_view name_of(std::optional<Code> code) {
  return code ? info_of(*code).name : std::string_view();
}

std::optional<Code> parse_code(std::string_view name) {
  const auto* found = std::ranges::find(kCodes, name, &CodeInfo::name);
  if (found == kCodes.end()) return std::nullopt;
  return found->code;
}

bool is_of_many_messages(std::optional<Code> code) {
  return code == Code::T02 || code == Code::T03 || code == Code::T05;
}

bool is_of_disconnection(std::optional<Code> code) {
  return code == Code::E08 || code == Code::E09;
}

std::ostream& operator<<(std::ostream& out, Code code) {
  return out << name_of(code);
}

}  // namespace forestcoll
