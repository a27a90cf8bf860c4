#include "common/synthesis/output/rank_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

std::string box_of(const Topology& topology, NodeId node) {
  const std::string& box = topology.nodes[node].box;
  return box.empty() ? "host" : box;
}

// GPUs of each box, in the order of the nodes; those that are not among the ranks count, too.
std::map<std::string, std::vector<NodeId>> gpus_by_box(const Topology& topology) {
  std::map<std::string, std::vector<NodeId>> boxes;
  for (std::size_t v = 0; v < topology.nodes.size(); ++v) {
    const NodeId node(v);
    if (topology.nodes[node].type == NodeType::switch_node) continue;
    boxes[box_of(topology, node)].push_back(node);
  }
  return boxes;
}

}  // namespace

RankOrder rank_order_of(const Topology& topology) {
  const auto gpus = gpus_by_box(topology);
  RankOrder order;
  order.box_by_box = order.by_index = true;
  std::map<std::string, std::int32_t> seen;  // ranks of each box so far
  for (const NodeId gpu : topology.ranks) {
    const std::string box = box_of(topology, gpu);
    const auto& of_box = gpus.at(box);
    const auto index = static_cast<std::int32_t>(std::ranges::find(of_box, gpu) - of_box.begin());
    if (seen[box]++ == 0) {
      order.boxes.push_back(box);
    } else if (order.ranks.back().box != box) {
      order.box_by_box = false;
    }
    order.by_index = order.by_index && index + 1 == seen[box];
    order.ranks.push_back({topology.nodes[gpu].id, box, index});
  }
  order.per_box = seen.begin()->second;
  for (const auto& [box, ranks] : seen) {
    if (ranks != order.per_box) order.per_box = 0;
  }
  return order;
}

std::string hosts_text(const RankOrder& order) {
  std::string text =
      "# Put the hosts' names in place of the boxes', and leave the order as it is.\n";
  if (!order.box_by_box) {
    std::map<std::string, int> slots;
    for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
      const std::string& box = order.ranks[rank].box;
      text += fmt::format("rank {}={} slot={}\n", rank, box, slots[box]++);
    }
    return text;
  }
  for (const std::string& box : order.boxes) {
    text +=
        fmt::format("{} slots={}\n", box, std::ranges::count(order.ranks, box, &RankPlace::box));
  }
  return text;
}

std::string visible_devices_text(const RankOrder& order) {
  if (order.by_index) return {};
  std::string text =
      "# CUDA_VISIBLE_DEVICES (HIP_VISIBLE_DEVICES), so that local ranks are these GPUs:\n";
  for (const std::string& box : order.boxes) {
    std::string devices;
    for (const RankPlace& place : order.ranks) {
      if (place.box != box) continue;
      devices += fmt::format("{}{}", devices.empty() ? "" : ",", place.index);
    }
    text += fmt::format("#   {} {}\n", box, devices);
  }
  return text;
}

std::string rank_table(const RankOrder& order) {
  std::string text = "rank  host  GPU of the host  name in the topology\n";
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    const RankPlace& place = order.ranks[rank];
    text += fmt::format("{:4}  {}  {}  {}\n", rank, place.box, place.index, place.gpu);
  }
  return text;
}

}  // namespace forestcoll::cli
