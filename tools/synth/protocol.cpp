#include "synth/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "boxes.hpp"
#include "report.hpp"
#include "warnings.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t dies_with_tables = 16;  // per box, in RCCL's models that enable LL128

// Whether the fabric's name or description has one of the words in it, in any case.
template <std::size_t N>
bool names_any(const Topology& topology, const std::array<std::string_view, N>& words) {
  std::string text = topology.name + " " + topology.description;
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
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
  constexpr std::array<std::string_view, 4> gfx90a = {"mi250", "mi210", "mi200", "gfx90a"};
  if (!names_any(topology, gfx90a)) {
    return "RCCL enables it on gfx90a (MI200 series) alone, which the fabric does not name";
  }
  for (const auto& [box, gpus] : gpus_of_boxes(topology)) {
    if (gpus != dies_with_tables) {
      return fmt::format("RCCL has tuning tables that enable it for machines of {} gfx90a, not {}",
                         dies_with_tables, gpus);
    }
  }
  return {};
}

std::string why_nccl_does_not(const CollectiveForest& forest, const Topology& topology) {
  constexpr std::array<std::string_view, 3> blackwell = {"b100", "b200", "b300"};
  if (names_any(topology, blackwell)) return "the runtime does not enable it on Blackwell";
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
          return fmt::format(
              "the runtime enables it over NVLink, and {} -> {} is not: elsewhere it may corrupt "
              "data",
              topology.nodes[path[i]].id, topology.nodes[path[i + 1]].id);
        }
      }
    }
  }
  return {};
}

}  // namespace

std::optional<Diagnostic> settle_protocol(const SynthArguments& arguments, const Topology& topology,
                                          SynthRequest& request) {
  if (request.format != Format::msccl) return std::nullopt;
  const bool hangs = is_rooted(request.collective) && has_several_boxes(topology);
  if (arguments.force_simple && (!hangs || arguments.protocol.starts_with("LL"))) {
    return usage_error("S04",
                       "--force-simple is for a broadcast or reduce in Simple on a fabric of "
                       "several boxes",
                       "leave it out");
  }
  request.simple_hangs = hangs && !arguments.force_simple;
  if (!request.simple_hangs) return std::nullopt;
  if (arguments.protocol == "Simple") {
    return usage_error("T08", why_not_simple(request.collective),
                       "leave --proto out for LL, or force it with --force-simple");
  }
  if (arguments.protocol.empty()) request.xml.protocol = "LL";
  return std::nullopt;
}

std::string why_no_ll128(const CollectiveForest& forest, const Topology& topology,
                         std::string_view target) {
  return target.starts_with("rccl") ? why_rccl_does_not(topology)
                                    : why_nccl_does_not(forest, topology);
}

}  // namespace forestcoll::cli
