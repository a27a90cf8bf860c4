#include "common/job/group_fabrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "forestcoll/failures.hpp"
#include "forestcoll/latency.hpp"

namespace forestcoll::cli {
namespace {

// All nodes of the whole fabric stay, which says more of what is wrong.
Expected<Topology> with_others_left_out(const Topology& whole, const std::vector<Rank>& group,
                                        bool relays) {
  std::vector<std::size_t> numbers;
  for (const Rank rank : group) numbers.push_back(rank.index());
  Failures others;
  others.members = fmt::format("{}", fmt::join(numbers, ","));
  others.relays = relays ? Failures::Relays::all : Failures::Relays::declared;
  auto left = degrade(whole, others);
  if (!left) return left.errors();
  return std::move(left->topology);
}

}  // namespace

GroupFabrics::GroupFabrics(const Topology& whole, bool relays)
    : whole_(whole),
      relays_(relays),
      latency_us_(link_latencies(whole).us),
      links_(whole.nodes.size()) {
  for (std::size_t i = 0; i < whole.links.size(); ++i) {
    const TopologyLink& link = whole.links[LinkId(i)];
    if (!link.enabled || !whole.nodes[link.src].enabled || !whole.nodes[link.dst].enabled) continue;
    links_[link.src].emplace_back(i);
    links_[link.dst].emplace_back(i);
  }
}

NodeId GroupFabrics::other_end(LinkId link, NodeId node) const {
  const TopologyLink& ends = whole_.links[link];
  return ends.src == node ? ends.dst : ends.src;
}

// What members reach one another through, each node with those beside it; no dead ends.
GroupFabrics::Neighbours GroupFabrics::reached_by(const std::vector<Rank>& group) const {
  Neighbours kept;
  std::vector<NodeId> queue;
  for (const Rank rank : group) queue.push_back(whole_.ranks[rank.index()]);
  const std::set<NodeId> members(queue.begin(), queue.end());
  for (const NodeId member : members) kept[member];
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const NodeId node = queue[at];
    for (const LinkId link : links_[node]) {
      const NodeId next = other_end(link, node);
      const bool is_other = whole_.nodes[next].type == NodeType::compute && !members.contains(next);
      if (is_other && !relays_) continue;
      if (kept.try_emplace(next).second) queue.push_back(next);
      kept[node].insert(next);
    }
  }
  for (std::size_t at = queue.size(); at-- > 0;) {
    NodeId end = queue[at];
    while (!members.contains(end) && kept.contains(end) && kept[end].size() == 1) {
      const NodeId next = *kept[end].begin();
      kept.erase(end);
      kept[next].erase(end);
      end = next;
    }
  }
  return kept;
}

Topology GroupFabrics::part_of(const std::vector<Rank>& group, const Neighbours& kept) const {
  Topology part;
  part.name = whole_.name;
  part.description = whole_.description;
  std::map<NodeId, NodeId> number;
  std::set<LinkId> links;
  for (const auto& [node, beside] : kept) {
    number.emplace(node, NodeId(part.nodes.size()));
    part.nodes.push_back(whole_.nodes[node]);
    for (const LinkId link : links_[node]) {
      if (beside.contains(other_end(link, node))) links.insert(link);
    }
  }
  for (const Rank rank : group) part.ranks.push_back(number.at(whole_.ranks[rank.index()]));
  const std::set<NodeId> members(part.ranks.begin(), part.ranks.end());
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    TopologyNode& node = part.nodes[NodeId(i)];
    if (node.type != NodeType::compute || members.contains(NodeId(i))) continue;
    node.type = NodeType::relay;
    node.weight = 1;  // it owns nothing
  }
  for (const LinkId id : links) {
    TopologyLink link = whole_.links[id];
    link.src = number.at(link.src);
    link.dst = number.at(link.dst);
    link.latency = latency_us_[id];  // what is typical depends on nodes that are not here
    part.links.push_back(std::move(link));
  }
  for (const SharedLimit& limit : whole_.limits) {
    SharedLimit left{limit.name, limit.bandwidth, {}};
    for (const SharedLimit::Use& use : limit.uses) {
      const auto src = number.find(use.src), dst = number.find(use.dst);
      if (src == number.end() || dst == number.end()) continue;
      left.uses.push_back({src->second, dst->second, use.weight});
    }
    if (!left.uses.empty()) part.limits.push_back(std::move(left));
  }
  return part;
}

Expected<Topology> GroupFabrics::of(const std::vector<Rank>& group) const {
  auto part = degrade(part_of(group, reached_by(group)), {});  // whether all is joined
  if (part) return std::move(part->topology);
  return with_others_left_out(whole_, group, relays_);
}

}  // namespace forestcoll::cli
