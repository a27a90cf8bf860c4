// W12: ranges that were meant to run side by side, and multiply.
#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topology/check/validate.hpp"

namespace forestcoll::topology {
namespace {

// A switch of every pod is linked to every spine on purpose, however many there are of each; of a
// GPU and the switches of other boxes nobody means that.
bool joins_a_gpu(const Topology& topology, const TopologyLink& link) {
  return topology.nodes[link.src].type == NodeType::compute ||
         topology.nodes[link.dst].type == NodeType::compute;
}

// What is linked to another switch, as a NIC or a leaf is, and an NVSwitch of a box is not.
std::vector<bool> switches_that_lead_on(const Topology& topology) {
  std::vector<bool> lead_on(topology.nodes.size());
  for (const TopologyLink& link : topology.links) {
    const auto is_switch = [&](NodeId node) {
      return topology.nodes[node].type == NodeType::switch_node;
    };
    if (!is_switch(link.src) || !is_switch(link.dst)) continue;
    lead_on[link.src.index()] = lead_on[link.dst.index()] = true;
  }
  return lead_on;
}

// As many on both sides, and more than two: each to its own, such as a GPU of another quad or a
// NIC. That all GPUs reach all NVSwitches of their box is common.
bool seems_one_to_one(const Topology& topology, const LinkEntry& entry, const TopologyLink& link,
                      const std::vector<bool>& lead_on) {
  constexpr std::size_t kLeast = 3;
  if (entry.is_mesh() || entry.src.count() < kLeast || entry.src.count() != entry.dst.count()) {
    return false;
  }
  const bool between_gpus = topology.nodes[link.src].type == NodeType::compute &&
                            topology.nodes[link.dst].type == NodeType::compute;
  return between_gpus || lead_on[link.src.index()] || lead_on[link.dst.index()];
}

bool looks_like_a_mistake(const Topology& topology, const LinkEntry& entry,
                          const TopologyLink& link, const std::vector<bool>& lead_on) {
  if (entry.pair_given || !entry.enabled) return false;
  if (entry.src.branches_from(entry.dst)) return true;
  return joins_a_gpu(topology, link) && (entry.src.shares_a_range_with(entry.dst) ||
                                         seems_one_to_one(topology, entry, link, lead_on));
}

std::string remedy(const LinkEntry& entry) {
  const bool zips = !entry.is_mesh() && entry.src.count() == entry.dst.count();
  return fmt::format(
      "Ranges multiply. For links within each box write \"templates\" and \"boxes\", or an entry "
      "per box; {}\"pair\": \"product\" says that it is meant.",
      zips ? "\"pair\": \"zip\" links one to one; " : "");
}

}  // namespace

void warn_products(const Document& document, const Expansion& expansion, Findings& findings) {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;  // entries of templates come once per box
  const Topology& topology = expansion.topology;
  const std::vector<bool> lead_on = switches_that_lead_on(topology);
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkId link(i);
    const Origin origin = expansion.link_origin[link];
    if (i > 0 && origin == expansion.link_origin[LinkId(i - 1)]) continue;
    if (!seen.emplace(origin.section, origin.entry).second) continue;
    const Section& section = section_of(document, origin);
    const LinkEntry& entry = section.links[static_cast<std::size_t>(origin.entry)];
    if (!looks_like_a_mistake(topology, entry, topology.links[link], lead_on)) continue;
    findings.warning(Code::W12, section.where(entry),
                     fmt::format("each of {} is linked to each of {}: {} links",
                                 quote(entry.src.text()), quote(entry.dst.text()), entry.count()),
                     remedy(entry));
  }
}

}  // namespace forestcoll::topology
