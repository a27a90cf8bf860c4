#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kDiesWithTables = 16;  // per box, in RCCL's models that enable LL128

// Whether the fabric's name or description has one of the words in it, in any case.
template <std::size_t N>
bool names_any(const Topology& topology, const std::array<std::string_view, N>& words) {
  const std::string text = lower_case(topology.name + " " + topology.description);
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

// The GPUs of every box, or of the whole fabric where it names none.
std::map<std::string, std::size_t> gpus_of_boxes(const Topology& topology) {
  std::map<std::string, std::size_t> count;
  for (const NodeId node : topology.ranks) ++count[topology.nodes[node].box];
  return count;
}

std::string why_rccl_does_not(const Topology& topology) {
  constexpr std::array<std::string_view, 4> kGfx90a = {"mi250", "mi210", "mi200", "gfx90a"};
  if (!names_any(topology, kGfx90a)) {
    return "RCCL enables it only on gfx90a (MI200 series), which the fabric does not name";
  }
  for (const auto& [box, gpus] : gpus_of_boxes(topology)) {
    if (gpus != kDiesWithTables) {
      return fmt::format("RCCL has tuning tables that enable it for machines of {} gfx90a, not {}",
                         kDiesWithTables, gpus);
    }
  }
  return {};
}

std::string why_not_blackwell(const Topology& topology) {
  constexpr std::array<std::string_view, 3> kBlackwell = {"b100", "b200", "b300"};
  return names_any(topology, kBlackwell) ? "the runtime does not enable it on Blackwell" : "";
}

std::string why_not_over(const Topology& topology, NodeId src, NodeId dst) {
  return fmt::format(
      "the runtime enables it only over NVLink, and {} -> {} is another link, where it may corrupt "
      "data",
      topology.nodes[src].id, topology.nodes[dst].id);
}

std::string why_nccl_does_not(const CollectiveForest& forest, const Topology& topology) {
  if (std::string why = why_not_blackwell(topology); !why.empty()) return why;
  std::set<std::pair<NodeId, NodeId>> nvlinks;
  for (const TopologyLink& link : topology.links) {
    if (!link.enabled || link.kind != "nvlink") continue;
    nvlinks.insert({link.src, link.dst});
    if (link.full_duplex) nvlinks.insert({link.dst, link.src});
  }
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (std::size_t t = 0; *phase && t < (*phase)->tree_count(); ++t) {
      for (std::size_t v = 0; v < (*phase)->rank_count(); ++v) {
        if (!(*phase)->parent(TreeId(t), Rank(v)).valid()) continue;
        const auto path = (*phase)->path(TreeId(t), Rank(v));
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
          if (nvlinks.contains({path[i], path[i + 1]})) continue;
          return why_not_over(topology, path[i], path[i + 1]);
        }
      }
    }
  }
  return {};
}

}  // namespace

bool hangs_in_simple(Collective collective, const Topology& topology) {
  return is_rooted(collective) && has_several_boxes(topology);
}

std::string why_it_hangs_in_simple(Collective collective) {
  return fmt::format(
      "in Simple, a {} between boxes hangs: for this collective the host posts one slot per "
      "message to the network, where the GPU waits for two",
      to_string(collective));
}

Expected<std::string> choose_protocol(std::string_view asked, bool force_simple,
                                      Collective collective, const Topology& topology) {
  if (force_simple || !hangs_in_simple(collective, topology)) {
    return std::string(asked.empty() ? "Simple" : asked);
  }
  if (asked != "Simple") return std::string(asked.empty() ? "LL" : asked);
  return make_error(Code::T08, why_it_hangs_in_simple(collective),
                    "leave `protocol` out for LL, or force it with `force_simple`");
}

std::string why_no_ll128(const CollectiveForest& forest, const Topology& topology,
                         std::string_view target) {
  return target.starts_with("rccl") ? why_rccl_does_not(topology)
                                    : why_nccl_does_not(forest, topology);
}

std::string why_no_ll128(const Topology& topology, std::string_view target) {
  if (target.starts_with("rccl")) return why_rccl_does_not(topology);
  for (const TopologyLink& link : topology.links) {
    if (link.enabled && link.kind != "nvlink") return why_not_over(topology, link.src, link.dst);
  }
  return why_not_blackwell(topology);
}

}  // namespace forestcoll
