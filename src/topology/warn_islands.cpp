// W08: a box whose GPUs NVLink or xGMI joins in several islands. What runs between them takes PCIe
// or the NICs, which is seldom what the box was bought for: a bridge is missing, or the file lost
// some links.
#include <fmt/format.h>

#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/arcs.hpp"
#include "topology/validate.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::array<std::string_view, 2> kKinds = {"nvlink", "xgmi"};

class Islands {
 public:
  Islands(const Topology& topology, std::string_view kind) : topology_(topology) {
    parent_.resize(topology.nodes.size());
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (const DirectedLink& link : enabled_arcs(topology)) {
      if (topology.links[link.link].kind != kind) continue;
      parent_[find(link.arc.tail.index())] = find(link.arc.head.index());
    }
  }

  // By box: how many islands of two and more GPUs, where there are several; and its first GPU.
  std::map<std::string, std::pair<std::size_t, NodeId>> divided_boxes() {
    std::map<std::string, std::map<std::size_t, std::size_t>> gpus;  // by box and island
    std::map<std::string, NodeId> first;
    for (const NodeId gpu : topology_.ranks) {
      const std::string& box = topology_.nodes[gpu].box;
      ++gpus[box][find(gpu.index())];
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
  std::size_t find(std::size_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

  const Topology& topology_;
  std::vector<std::size_t> parent_;
};

}  // namespace

void warn_islands(const Document& document, const Expansion& expansion, Findings& findings) {
  for (const std::string_view kind : kKinds) {
    const auto divided = Islands(expansion.topology, kind).divided_boxes();
    if (divided.empty()) continue;
    const auto& [box, what] = *divided.begin();
    findings.warning(
        "W08", where_node(document, expansion.node_origin[what.second]),
        fmt::format("{} joins the GPUs of box {} in {} islands{}", kind, quote(box), what.first,
                    divided.size() == 1
                        ? ""
                        : fmt::format(", and those of {} other boxes", divided.size() - 1)),
        "Between them there are only other links; is one missing?");
  }
}

}  // namespace forestcoll::topology
