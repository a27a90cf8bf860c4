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
    {CODE(E01), About::topology_file, "the text is not JSON"},
    {CODE(E02), About::topology_file,
     "wrong format or version, a key of the wrong kind, or a text with control characters"},
    {CODE(E03), About::topology_file, "an id is used twice"},
    {CODE(E04), About::topology_file, "a link names a node that is not declared"},
    {CODE(E05), About::topology_file,
     "bandwidth, count, derate, latency or weight out of range or without a known unit"},
    {CODE(E06), About::topology_file, "a link joins a node to itself"},
    {CODE(E07), About::topology_file, "there are fewer than two GPUs"},
    {CODE(E08), About::topology_file, "a GPU has no enabled link in or out"},
    {CODE(E09), About::topology_file, "the GPUs do not all reach each other"},
    {CODE(E10), About::topology_file, "the two sides of a `zip` differ in length"},
    {CODE(E11), About::topology_file, "an id, or a range of ids, cannot be read"},
    {CODE(E12), About::topology_file,
     "`multicast` or `reduce` is set on a GPU; only switches have them"},
    {CODE(E13), About::topology_file, "`rank_order` is not a permutation of the GPUs"},
    {CODE(E14), About::topology_file, "the numbers are too large or too fine for exact arithmetic",
     ErrorKind::limit},
    {CODE(E15), About::topology_file,
     "the fabric has more than `max_nodes` nodes, or 16 times as many links, after ranges are "
     "expanded"},
    {CODE(E17), About::topology_file,
     "a limit names no link, a link twice, or some of the links from one node to another"},
    {CODE(W01), About::topology_file,
     "a switch receives more bandwidth than it sends, or less, in the file or after "
     "`drop` and `derate`"},
    {CODE(W02), About::topology_file,
     "a switch carries nothing: it has one neighbour, or links in one direction only"},
    {CODE(W03), About::topology_file,
     "two entries link the same two nodes; their bandwidths are summed"},
    {CODE(W04), About::topology_file,
     "a bandwidth may have the wrong unit: it is above 10 TB/s, far from the others, or more than "
     "a link of its kind carries"},
    {CODE(W05), About::topology_file,
     "boxes of one template have different numbers of links, or one GPU of a box lacks a link that "
     "the others have"},
    {CODE(W06), About::topology_file,
     "the format has no such key, which is ignored, or the kind of a link seems misspelt"},
    {CODE(W07), About::topology_file,
     "two nodes are linked one way only, where most are linked both ways"},
    {CODE(W08), About::topology_file,
     "a box has several NVLink or xGMI domains: between them data takes PCIe or the network"},
    {CODE(W09), About::topology_file,
     "the file declares no boxes, and its links and ids disagree on them"},
    {CODE(W12), About::topology_file,
     "two ranges that look alike, or are of equal length, are linked each to each; `\"pair\": "
     "\"product\"` "
     "declares that this is meant"},
    {CODE(W16), About::topology_file,
     "a limit has no effect: its links carry no more together, or are out of use; or two limits "
     "have one name"},
    {CODE(S02), About::request, "the root is missing or unknown, or the collective has none"},
    {CODE(S03), About::request, "the value of an option cannot be read"},
    {CODE(S04), About::request,
     "two options exclude each other, or an output is also an input or another output"},
    {CODE(S05), About::request,
     "a command, an argument or an option that is unknown, missing or one too many"},
    {CODE(IO), About::request, "a file that cannot be read or written", ErrorKind::io},
    {CODE(T01), About::request, "more threadblocks than the target holds", ErrorKind::threadblocks},
    {CODE(T02), About::request, "more steps than the target holds", ErrorKind::limit},
    {CODE(T03), About::request, "more channels than the target holds", ErrorKind::threadblocks},
    {CODE(T04), About::request,
     "more chunks than the target reads, or messages beyond the offsets of plans",
     ErrorKind::limit},
    {CODE(T05), About::request, "more XML elements than the target reads", ErrorKind::limit},
    {CODE(T06), About::request, "the target cannot run such a file", ErrorKind::limit},
    {CODE(T07), About::request, "there is no target of that name"},
    {CODE(T08), About::request,
     "the protocol Simple would hang: between boxes, or with many operations in flight"},
    {CODE(T09), About::request,
     "the ranks own unequal shares, which the target or the format does not support",
     ErrorKind::limit},
    {CODE(T10), About::request,
     "the forest has more edges, or more text, than the checker reads, or the alltoall has more "
     "parts than paths are computed for",
     ErrorKind::limit},
    {CODE(E16), About::request, "no tree is as low as `max_height`, whatever the rate"},
    {CODE(E18), About::request, "the command does not support capacities that links share"},
    {CODE(R01), About::request, "the work was stopped before its end", ErrorKind::stopped},
    {CODE(R02), About::request,
     "the previous forest is of another collective, root or set of ranks"},
    {CODE(R03), About::request, "the machine gives no more memory or threads", ErrorKind::limit},
    {CODE(A02), About::request, "a demand of 0 for all pairs of different ranks"},
    {CODE(A03), About::request, "`demand`: no array of rows of amounts"},
    {CODE(A04), About::request,
     "`demand`: not as many rows, or amounts of a row, as there are GPUs"},
    {CODE(A05), About::request, "`demand`: an amount that is no whole number of bytes, 0 or more"},
    {CODE(A06), About::request, "`demand`: 2^40 bytes or more in all", ErrorKind::limit},
    {CODE(F01), About::request, "the file is not a forest as JSON"},
    {CODE(F02), About::request, "the previous forest does not fit the topology"},
    {CODE(D01), About::request, "`drop`, `derate`, `ranks`, `members`, `latency`: an unknown name"},
    {CODE(D02), About::request, "`drop`, `derate`, `ranks`, `members`, `latency`: cannot be read"},
    {CODE(D03), About::request,
     "`derate`: a factor outside (0, 1]; `drop`: more cables than there are; `latency`: no time"},
    {CODE(D04), About::request, "`ranks`, `members`: a GPU that cannot be one of them"},
    {CODE(G01), About::request, "`generate`: no such fabric"},
    {CODE(G02), About::request, "`generate`: no such parameter"},
    {CODE(G03), About::request, "`generate`: a value out of range"},
    {CODE(G04), About::request, "the expression of a direct-connect topology cannot be read"},
    {CODE(G05), About::request, "there is no such direct-connect topology, or it is too large"},
    {CODE(K01), About::request,
     "`design direct`: no direct-connect topology has that number of nodes or ports"},
    {CODE(K02), About::request, "`design cluster`: a file of costs that cannot be read"},
    {CODE(K03), About::request,
     "`design cluster`: the file of costs lacks a part that is to be bought"},
    {CODE(K04), About::request, "`design cluster`: a number of GPUs that no candidate has"},
    {CODE(K05), About::request, "`design`: kept results that cannot be read"},
    {CODE(C01), About::request, "no format has that extension"},
    {CODE(P01), About::request, "Graphviz is not installed", ErrorKind::io},
    {CODE(P02), About::request, "Graphviz failed", ErrorKind::io},
    {CODE(P03), About::request, "the picture would have too many nodes"},
    {CODE(P04), About::request, "drawing takes too long", ErrorKind::io},
    {CODE(W10), About::request,
     "the schedule is for one root, and no runtime checks the root of a call"},
    {CODE(W11), About::request,
     "XML names no routes, and over the routes with the fewest hops the schedule reaches less than "
     "the forest or the flows"},
    {CODE(W13), About::request,
     "a broadcast or reduce between boxes uses the protocol Simple, which may hang"},
    {CODE(W14), About::request, "the schedule uses LL128 where the runtime itself does not"},
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
    {CODE(B01), About::comparison, "no ring was found at any speed"},
    {CODE(B02), About::comparison, "a number of ranks or boxes that the algorithm cannot serve"},
    {CODE(B03), About::comparison, "no switch does multicast and reduction in the network"},
    {CODE(B04), About::comparison, "the fabric is larger than the algorithm supports",
     ErrorKind::limit},
    {CODE(B05), About::comparison,
     "the ranks own unequal shares, which the algorithm does not support"},
    {CODE(B06), About::comparison, "the algorithm does not have this collective"},
    {CODE(B07), About::comparison, "the graph file does not fit the fabric"},
    {CODE(B08), About::comparison, "no switches join the GPUs that are to exchange data"},
    {CODE(B09), About::comparison, "there is no algorithm of that name"},
    {CODE(B10), About::comparison, "no schedule of the algorithm can be written on this fabric",
     ErrorKind::limit},
    {CODE(M01), About::comparison,
     "sizes that the collective or schedule cannot have (`compare` reports it and "
     "goes on)"},
    {CODE(M02), About::comparison, "a file of parameters has a wrong key or value"},
    {CODE(M03), About::comparison, "there are no parameters for a GPU of that name"},
    {CODE(M04), About::comparison, "a schedule for another topology, or one that `verify` rejects"},
    {CODE(M05), About::comparison, "the schedule deadlocks with so few slots"},
    {CODE(M06), About::comparison, "more operations than are simulated", ErrorKind::limit},
    {CODE(N01), About::comparison, "`measured`: no table of nccl-tests"},
    {CODE(N02), About::comparison, "`measured`: a row that does not fit its heading"},
    {CODE(N03), About::comparison, "`measured`: a value that is not a number"},
    {CODE(N04), About::comparison,
     "`measured`: a run of another collective (also by its busbw or redop) or number of ranks"},
    {CODE(N05), About::comparison, "`measured`: a run that reports wrong results"},
    {CODE(N06), About::comparison, "in a row: no trees for its times to be simulated"},
    {CODE(N07), About::comparison, "in a row: too many trees for its times to be simulated"},
    {CODE(N08), About::comparison,
     "a schedule for another collective, or `measured` for an algorithm that is not compared"},
    {CODE(N09), About::comparison, "no algorithm has times, so that there is nothing to draw"},
    {CODE(N10), About::comparison, "too many GPUs to make a schedule and compute its rate",
     ErrorKind::limit},
    {CODE(X01), About::run, "the file is not a schedule that can be run"},
    {CODE(X02), About::run, "an option that cannot be read or that no runtime has"},
    {CODE(X03), About::run, "another number of processes than the schedule has GPUs"},
    {CODE(X04), About::run, "no size in the file's window, or less than an element for each chunk"},
    {CODE(X05), About::run, "the root is not a rank"},
    {CODE(X06), About::run, "a size beyond 2 GiB in one process", ErrorKind::limit},
    {CODE(J01), About::batch, "the directory has no topologies"},
    {CODE(J02), About::batch, "an item took longer than `time_limit`"},
    {CODE(J03), About::batch,
     "an item ran out of memory: beyond `memory`, of the machine, or killed from outside"},
    {CODE(J04), About::batch,
     "a child crashed, or gave no answer; its last output is in the message"},
    {CODE(J05), About::batch, "another batch works in OUT", ErrorKind::io},
    {CODE(J06), About::batch, "a manifest: not one, or a wrong entry, with the place"},
    {CODE(J07), About::batch, "not a report of a batch (`baseline`, `merge`)"},
    {CODE(J08), About::batch,
     "`merge`: a shard is missing, there twice, of another number or another program, or its "
     "output was changed"},
    {CODE(I01), About::imported_dump, "the file is not of that format"},
    {CODE(I02), About::imported_dump, "the file is malformed or not complete"},
    {CODE(I03), About::imported_dump, "a value is not allowed there by the format"},
    {CODE(I04), About::imported_dump, "the generation of a GPU or link is not known"},
    {CODE(I05), About::imported_dump, "the file lacks something that an option gives"},
    {CODE(I06), About::imported_dump, "the file has no GPUs"},
    {CODE(I07), About::imported_dump, "no links join the GPUs, or the file leaves them to NCCL"},
    {CODE(I08), About::imported_dump, "an option, or a second file, does not fit the dump"},
    {CODE(I09), About::imported_dump, "the dump has too many nodes or elements"},
    {CODE(I21), About::imported_dump, "a bandwidth is doubtful, or a link was left out"},
    {CODE(I22), About::imported_dump, "the two directions of a link differ"},
    {CODE(I23), About::imported_dump, "the import guessed something that the file does not say"},
    {CODE(I24), About::imported_dump, "other things were left out"},
    {CODE(I25), About::imported_dump,
     "no NVLink or xGMI joins some GPUs, so their data takes PCIe and the CPUs"},
    {CODE(V01), About::schedule, "the file cannot be read, or a key occurs twice"},
    {CODE(V02), About::schedule, "the runtimes' own parser does not accept the XML"},
    {CODE(V03), About::schedule, "an attribute is missing or has a wrong value"},
    {CODE(V04), About::schedule, "the schedule uses something that the target does not have"},
    {CODE(V05), About::schedule,
     "GPUs, threadblocks or steps are not numbered as the runtime expects"},
    {CODE(V06), About::schedule, "the schedule exceeds a limit of the target"},
    {CODE(V07), About::schedule, "a threadblock has a peer or channel that it cannot have"},
    {CODE(V08), About::schedule, "a count or offset is outside of its buffer"},
    {CODE(V09), About::schedule, "a step depends on one that does not exist or that is not marked"},
    {CODE(V10), About::schedule, "a nop step does more or less than to wait"},
    {CODE(V11), About::schedule, "a buffer has the wrong size"},
    {CODE(V12), About::schedule, "a send has no receive, or a receive no send"},
    {CODE(V13), About::schedule, "steps wait for one another in a circle (deadlock)"},
    {CODE(V14), About::schedule, "two steps access the same data in no defined order (race)"},
    {CODE(V15), About::schedule, "data is read before it is written"},
    {CODE(V16), About::schedule, "the data of a rank is added twice"},
    {CODE(V17), About::schedule, "a rank has wrong or missing data at the end"},
    {CODE(V18), About::schedule, "the input is overwritten in a call out of place"},
    {CODE(V19), About::schedule, "no call can select the file, or the row of rules"},
    {CODE(V20), About::schedule,
     "the schedule does not fit the topology, or a plan has a memory channel between boxes"},
    {CODE(V21), About::schedule, "a forest: a tree does not reach all ranks"},
    {CODE(V22), About::schedule, "a forest: a height is not that of the tree"},
    {CODE(V23), About::schedule, "a forest: the multiplicities of a root do not add up to k"},
    {CODE(V24), About::schedule, "a forest, flows or rings of NCCL: a path does not follow links"},
    {CODE(V25), About::schedule, "a forest or flows: the links do not carry the rate"},
    {CODE(V26), About::schedule, "the schedule is larger than the checker holds"},
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
