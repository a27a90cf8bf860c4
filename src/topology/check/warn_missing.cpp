// W05: in a box, one GPU has no NVLink (xGMI, …) to a switch that all the others are linked to, or
// two GPUs have none between them where all other pairs have one. What the file has with "enabled":
// false, or with fewer cables, is known; what it does not have may be forgotten.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "topology/check/validate.hpp"
#include "topology/model/link_kind.hpp"

namespace forestcoll::topology {
namespace {

// Of fewer, it is a matter of taste who is the exception.
constexpr std::size_t kLeastGpus = 4;

bool joins_in_boxes(const TopologyLink& link) {
  const Medium medium = medium_of(link.kind);
  return medium == Medium::nvlink || medium == Medium::xgmi;
}

struct Gap {
  NodeId gpu, other;  ///< a switch, or a GPU
  std::size_t gpus = 0;
};

class Gaps {
 public:
  explicit Gaps(const Topology& topology) : topology_(topology), cables_(topology.nodes.size()) {
    for (const TopologyLink& link : topology.links) {
      if (!joins_in_boxes(link)) continue;
      add(link.src, link.dst, link.count);
      add(link.dst, link.src, link.count);
    }
    for (const NodeId gpu : topology.ranks) gpus_of_[topology.nodes[gpu].box].push_back(gpu);
  }

  std::vector<Gap> find() {
    std::vector<Gap> gaps;
    for (const auto& [box, gpus] : gpus_of_) {
      if (gpus.size() < kLeastGpus) continue;
      find_to_switches(gpus, gaps);
      find_between(gpus, gaps);
    }
    return gaps;
  }

 private:
  void add(NodeId gpu, NodeId other, std::int64_t cables) {
    if (topology_.nodes[gpu].type != NodeType::compute) return;
    partners_[other].insert(gpu);
    constexpr std::int64_t kMany = 1'000'000;  // more are no longer counted: sums do not overflow
    cables_[gpu.index()] = std::min(kMany, cables_[gpu.index()] + std::min(kMany, cables));
  }

  // GPUs that are linked otherwise, to another switch, have as many links.
  void find_to_switches(const std::vector<NodeId>& gpus, std::vector<Gap>& gaps) const {
    std::int64_t most = 0;
    for (const NodeId gpu : gpus) most = std::max(most, cables_[gpu.index()]);
    for (const auto& [node, partners] : partners_) {
      if (topology_.nodes[node].type != NodeType::switch_node) continue;
      const NodeId* without = nullptr;
      std::size_t with = 0;
      for (const NodeId& gpu : gpus) {
        if (partners.contains(gpu)) {
          ++with;
        } else {
          without = &gpu;
        }
      }
      if (with + 1 != gpus.size() || cables_[without->index()] >= most) continue;
      gaps.push_back({*without, node, gpus.size()});
    }
  }

  void find_between(const std::vector<NodeId>& gpus, std::vector<Gap>& gaps) const {
    std::vector<Gap> apart;
    for (std::size_t a = 0; a < gpus.size() && apart.size() < 2; ++a) {
      const auto partners = partners_.find(gpus[a]);
      for (std::size_t b = a + 1; b < gpus.size() && apart.size() < 2; ++b) {
        const bool are_linked = partners != partners_.end() && partners->second.contains(gpus[b]);
        if (!are_linked) apart.push_back({gpus[a], gpus[b], gpus.size()});
      }
    }
    if (apart.size() == 1) gaps.push_back(apart.front());
  }

  const Topology& topology_;
  std::map<NodeId, std::set<NodeId>> partners_;  ///< the GPUs that are linked to a node
  std::vector<std::int64_t> cables_;             ///< by NodeId, of GPUs
  std::map<std::string, std::vector<NodeId>> gpus_of_;
};

}  // namespace

void warn_missing(const Document& document, const Expansion& expansion, Findings& findings) {
  const Topology& topology = expansion.topology;
  const std::vector<Gap> gaps = Gaps(topology).find();
  if (gaps.empty()) return;
  const Gap& first = gaps.front();
  const bool is_switch = topology.nodes[first.other].type == NodeType::switch_node;
  findings.warning(
      Code::W05, where_node(document, expansion.node_origin[first.gpu]),
      fmt::format(
          "{} has no link to {}, which {}{}", quote(topology.nodes[first.gpu].id),
          quote(topology.nodes[first.other].id),
          is_switch ? fmt::format("the {} other GPUs of its box have", first.gpus - 1)
                    : fmt::format("all other pairs of the {} GPUs have", first.gpus),
          gaps.size() == 1 ? "" : fmt::format(" (and {} more gaps like it)", gaps.size() - 1)),
      "Is a link missing from the file? One that failed stays in it with \"enabled\": false.");
}

}  // namespace forestcoll::topology
