#include "topology/model/pcie_direction.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace forestcoll::topology {
namespace {

constexpr std::string_view kOut = "_out", kIn = "_in";

// A name before its number: "box0/nic" and "3".
std::pair<std::string_view, std::string_view> split_number(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  return {name.substr(0, digits), name.substr(digits)};
}

}  // namespace

IdVector<NodeId, bool> pcie_directions(const Topology& topology,
                                       const std::vector<DirectedLink>& arcs) {
  const std::size_t n = topology.nodes.size();
  IdVector<NodeId, bool> found(n, false);
  const bool candidates = std::ranges::any_of(topology.links, [](const TopologyLink& link) {
    return !link.full_duplex && link.kind == "pcie";
  });
  if (!candidates) return found;

  std::vector<std::pair<NodeId, NodeId>> present;
  for (const DirectedLink& link : arcs) present.emplace_back(link.arc.tail, link.arc.head);
  std::ranges::sort(present);
  IdVector<NodeId, bool> one_way(n, false), other(n, false);
  for (const DirectedLink& link : arcs) {
    const auto [tail, head] = link.arc;
    const std::string& kind = topology.links[link.link].kind;
    const bool both = std::ranges::binary_search(present, std::pair(head, tail));
    if (!both && kind == "pcie") one_way[tail] = one_way[head] = true;
    if (both && kind != "pcie" && kind != "cpu") other[tail] = other[head] = true;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const NodeId id(i);
    const bool is_switch = topology.nodes[id].type == NodeType::switch_node;
    found[id] = is_switch && one_way[id] && !other[id];
  }
  return found;
}

DeviceHalves halves_of(std::string_view device) {
  const auto [stem, number] = split_number(device);
  const auto half = [&, stem = stem, number = number](std::string_view way) {
    return std::string(stem).append(way).append(number);
  };
  return {half(kOut), half(kIn)};
}

std::optional<std::string> device_of(std::string_view half) {
  auto [stem, number] = split_number(half);
  for (const std::string_view way : {kOut, kIn}) {
    if (!stem.ends_with(way)) continue;
    stem.remove_suffix(way.size());
    return std::string(stem).append(number);
  }
  return std::nullopt;
}

std::vector<std::pair<NodeId, NodeId>> device_halves(const Topology& topology) {
  const auto is_half = [&](NodeId id, std::string_view way) {
    const TopologyNode& node = topology.nodes[id];
    return node.type == NodeType::switch_node && node.enabled &&
           split_number(node.id).first.ends_with(way);
  };
  std::map<std::string_view, NodeId> ways_in;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (is_half(NodeId(i), kIn)) ways_in.emplace(topology.nodes[NodeId(i)].id, NodeId(i));
  }
  std::vector<std::pair<NodeId, NodeId>> found;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const NodeId out(i);
    if (!is_half(out, kOut)) continue;
    const auto in = ways_in.find(halves_of(*device_of(topology.nodes[out].id)).in);
    if (in != ways_in.end()) found.emplace_back(out, in->second);
  }
  return found;
}

std::vector<std::pair<LinkId, LinkId>> device_links(
    const Topology& topology, const std::vector<std::pair<NodeId, NodeId>>& devices) {
  if (devices.empty()) return {};
  std::map<NodeId, NodeId> other_half;
  for (const auto& [out, in] : devices) {
    other_half.emplace(out, in), other_half.emplace(in, out);
  }
  const auto counterpart = [&](NodeId node) {
    const auto half = other_half.find(node);
    return half == other_half.end() ? node : half->second;
  };
  using Key = std::tuple<NodeId, NodeId, std::string_view, std::int64_t>;
  std::map<Key, std::deque<LinkId>> waiting;  // links without their counterpart
  std::vector<std::pair<LinkId, LinkId>> found;
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkId id(i);
    const TopologyLink& link = topology.links[id];
    const NodeId src = counterpart(link.dst), dst = counterpart(link.src);
    const bool at_device = src != link.dst || dst != link.src;
    if (!at_device || link.full_duplex || src == link.src || !link.enabled ||
        !topology.nodes[link.src].enabled || !topology.nodes[link.dst].enabled) {
      continue;
    }
    const auto other = waiting.find({src, dst, link.kind, link.count});
    if (other != waiting.end() && !other->second.empty()) {
      found.emplace_back(other->second.front(), id);
      other->second.pop_front();
    } else {
      waiting[{link.src, link.dst, link.kind, link.count}].push_back(id);
    }
  }
  return found;
}

}  // namespace forestcoll::topology
