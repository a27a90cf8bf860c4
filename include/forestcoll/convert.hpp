// Topologies in the formats of other tools.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/metadata.hpp"
#include "forestcoll/topology.hpp"

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

}  // namespace forestcoll
