// Topologies for others: in the formats of other tools, as pictures, in a few numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/palette.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

enum class GraphFormat {
  topology,    ///< our own, flat: a node or a link per entry
  networkx,    ///< networkx node-link JSON, as networkx 3.4 writes it
  json_graph,  ///< JSON Graph Format 2
  graphml,
  dot,  ///< Graphviz, for data; `draw` is for the eye
  csv,  ///< a list of links with a header line
};

struct GraphFormatInfo {
  GraphFormat format;
  std::string_view name;       ///< "networkx"
  std::string_view extension;  ///< ".graphml"; empty where it shares one with another format
};
[[nodiscard]] const std::vector<GraphFormatInfo>& graph_formats();
/// By name; nothing where there is none.
[[nodiscard]] std::optional<GraphFormat> find_graph_format(std::string_view name);
/// By the extension of a file's name; ".json" is our own.
[[nodiscard]] std::optional<GraphFormat> graph_format_of_file(std::string_view path);

struct Converted {
  std::string text;
  std::vector<std::string> lost;  ///< what the format cannot say, in words: "2 disabled links"
};

/// Every format but our own has one directed edge per direction of every link, with the attributes
/// `bandwidth` (GB/s), `cables` (how many it is the sum of, where several), `latency` (µs) and
/// `kind`, and on the nodes `type`, `rank`, `box`, `weight`, `multicast`, `reduce` and `echo`.
/// Numbers are exact: a decimal where one is, else text such as "1000/3". `metadata` is that of the
/// topology's file, as `metadata_of` gives it: our own format keeps it and the notes of the top
/// level, the others have no place for them, and none has one for notes within. Cost: linear.
[[nodiscard]] Converted convert(const Topology& topology, GraphFormat format,
                                const Metadata& metadata = {});

// Pictures of fabrics.

/// Data that crosses a link in a round of a schedule.
struct DrawnHop {
  NodeId from, to;        ///< linked to each other
  std::size_t round = 0;  ///< from 0 on
};

struct DrawOptions {
  std::vector<NodeId> sending = {};  ///< the side of a cut that sends; empty: no cut is shown
  std::string caption = {};          ///< above the picture, in the colour of the cut
  /// With more nodes than this, boxes are drawn as one node each, and what is linked alike as one;
  /// up to four boxes that the cut divides are still drawn whole. Grids are drawn without names.
  std::size_t detail = 150;
  /// In pixels. Where rows would be wider, so that their text could not be read, what is linked
  /// alike is drawn as one inside boxes too, and rows that are still too wide are broken.
  std::size_t width = 1600;
  /// A schedule on its fabric: these links have the colours of their rounds and arrows, the others
  /// are faint.
  std::vector<DrawnHop> hops = {};
  std::optional<NodeId> root = {};  ///< of the hops: drawn with a strong outline
  std::string title = {};           ///< instead of the fabric's name
  std::string note = {};            ///< below the title
  /// Directions of links, sorted, that are drawn as those of a cut: what a bottleneck is that is
  /// none, because links share capacities.
  std::vector<std::pair<NodeId, NodeId>> marked = {};
};

struct Drawing {
  std::string svg;        ///< a file of its own, with colours for light and dark screens
  std::string dot;        ///< a Graphviz graph in which everything has its place, in light colours
  std::size_t items = 0;  ///< nodes drawn
};

/// Grids and tori, found by their links, as grids; boxes with switches in rows, from the GPUs up to
/// the spines; boxes that are linked to each other on a circle. Width by bandwidth, colour by kind
/// of link, the links of the cut in red. Disabled parts are left out, but dashed in grids. Same
/// input, same bytes. Cost: O((nodes + links) log links), times a few rounds where boxes are drawn
/// as one, and a bounded search for a grid.
[[nodiscard]] Drawing draw(const Topology& topology, const DrawOptions& options = {});

/// The colour that pictures give to each kind of link: the same in every picture, unless another
/// kind of this topology has it.
[[nodiscard]] std::map<std::string, Color> link_colors(const Topology& topology);

// A fabric in a few numbers.

/// Boxes with equally many GPUs and switches.
struct BoxSummary {
  std::vector<std::string> names;
  std::size_t gpus = 0, switches = 0;  ///< in each
};

/// Links of one kind, bandwidth and number of cables.
struct LinkSummary {
  std::string kind;
  Ratio bandwidth;          ///< GB/s of each, per direction
  std::int64_t cables = 1;  ///< in each
  std::size_t count = 0;
  std::size_t one_way = 0;  ///< of these
};

struct TopologySummary {
  std::size_t gpus = 0, switches = 0;  ///< enabled
  std::size_t relays = 0;              ///< GPUs outside of the process group
  std::size_t disabled_nodes = 0, disabled_links = 0;
  std::size_t multicast = 0, reduce = 0;  ///< switches that copy, that aggregate
  std::vector<BoxSummary> boxes;          ///< in order of the first box of each
  std::size_t gpus_without_box = 0;
  std::vector<LinkSummary> links;  ///< enabled ones, by kind, then from wide to narrow
  /// GPUs that links of this kind join, directly or over switches, fall into so many groups:
  /// NVLink islands. Kinds that join no two GPUs by themselves are left out.
  std::map<std::string, std::size_t> islands;
};
[[nodiscard]] TopologySummary summarize(const Topology& topology);

/// The most that can flow at once from the first to the second set of nodes, GB/s: the capacity of
/// the narrowest cut between them. REQUIRES: both are not empty and have no node in common.
[[nodiscard]] Ratio bandwidth_between(const Network& network, std::span<const NodeId> from,
                                      std::span<const NodeId> to);

}  // namespace forestcoll
