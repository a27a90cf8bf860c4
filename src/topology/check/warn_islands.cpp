// W08: a box whose GPUs NVLink or xGMI joins in several islands. What runs between them takes PCIe
// or the NICs, which is seldom what the box was bought for: a bridge is missing, or the file lost
// some links.
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "graph/joined_items.hpp"
#include "topology/check/validate.hpp"
#include "topology/model/arcs.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::array<std::string_view, 2> kKinds = {"nvlink", "xgmi"};

class Islands {
 public:
  Islands(const Topology& topology, std::string_view kind)
      : topology_(topology), groups_(topology.nodes.size()) {
    for (const DirectedLink& link : enabled_arcs(topology)) {
      if (topology.links[link.link].kind != kind) continue;
      groups_.join(link.arc.tail.index(), link.arc.head.index());
    }
  }

  // By box: how many islands of two and more GPUs, where there are several; and its first GPU.
  std::map<std::string, std::pair<std::size_t, NodeId>> divided_boxes() {
    std::map<std::string, std::map<std::size_t, std::size_t>> gpus;  // by box and island
    std::map<std::string, NodeId> first;
    for (const NodeId gpu : topology_.ranks) {
      const std::string& box = topology_.nodes[gpu].box;
      ++gpus[box][groups_.first(gpu.index())];
      first.emplace(box, gpu);
    }
    std::map<std::string, std::pair<std::size_t, NodeId>> divided;
    for (const auto& [box, islands] : gpus) {
      std::size_t count = 0;
      for (const auto& [island, size] : islands) count += size > 1 ? 1 : 0;
      // Nodes without a box may be in as many as they like.
      if (count > 1 && !box.empty()) divided[box] = {count, first[box]};
    }
    return divided;
  }

 private:
  const Topology& topology_;
  graph::JoinedItems groups_;
};

}  // namespace

void warn_islands(const Document& document, const Expansion& expansion, Findings& findings) {
  for (const std::string_view kind : kKinds) {
    const auto divided = Islands(expansion.topology, kind).divided_boxes();
    if (divided.empty()) continue;
    const auto& [box, what] = *divided.begin();
    findings.warning(
        Code::W08, where_node(document, expansion.node_origin[what.second]),
        fmt::format(
            "{} joins the GPUs of box {} in {} separate domains{}", kind, quote(box), what.first,
            divided.size() == 1 ? ""
                                : fmt::format(", and those of {} other boxes", divided.size() - 1)),
        "Between them there are only other links; is one missing?");
  }
}

}  // namespace forestcoll::topology
