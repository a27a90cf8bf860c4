// RFC 4180, with a header line; readers find columns by name.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "forestcoll/topology_text.hpp"
#include "topology/convert/writers.hpp"

namespace forestcoll::topology {
namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string write_csv(const PlainGraph& graph) {
  const Topology& topology = graph.topology;
  IdVector<NodeId, std::string> rank_of(topology.nodes.size());
  for (std::size_t r = 0; r < topology.ranks.size(); ++r) {
    rank_of[topology.ranks[r]] = std::to_string(r);
  }
  const auto type_of = [&](NodeId node) {
    return topology.nodes[node].type == NodeType::compute ? "compute" : "switch";
  };
  std::string out =
      "src,dst,bandwidth,latency,kind,duplex,src_type,dst_type,src_box,dst_box,src_rank,dst_rank\n";
  for (const DirectedLink& arc : graph.arcs) {
    const TopologyLink& link = topology.links[arc.link];
    const NodeId src = arc.arc.tail, dst = arc.arc.head;
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},simplex,{},{},{},{},{},{}\n",
                   field(graph.id(src)), field(graph.id(dst)), exact_text(link.bandwidth),
                   exact_text(link.latency), field(link.kind), type_of(src), type_of(dst),
                   field(topology.nodes[src].box), field(topology.nodes[dst].box), rank_of[src],
                   rank_of[dst]);
  }
  return out;
}

}  // namespace forestcoll::topology
