// A link's typical latency follows from what the nodes at its ends are. GPUs are known. A switch is
// inside a box where a link of a box's kind leads to it (an NVSwitch, a PCIe bridge, a NIC), else
// in the network where one of a network's kind does. Where labels say nothing, a switch is inside
// the box that it, or all GPUs linked to it, are in; the others are in the network of a fabric of
// several boxes, and in that of one box where they are linked to a switch that is.
#include "forestcoll/latency.hpp"

#include <deque>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "topology/model/link_kind.hpp"
#include "topology/model/typical_latency.hpp"

namespace forestcoll {
namespace {

using topology::Medium;
using topology::NetworkHop;

constexpr std::int32_t kNoBox = -1, kManyBoxes = -2;

enum class EndRole { gpu, inside, network, open };

struct EndPlace {
  EndRole role = EndRole::open;
  std::int32_t box = kNoBox;
  bool has_box_kind = false, has_network_kind = false;  // among its links
  bool is_bridge = true;           // a switch that PCIe and CPUs alone are linked to
  bool is_by_network = false;      // linked to a switch of the network
  bool has_ethernet = false;       // among its links
  std::vector<NodeId> open_links;  // switches that links without a telling label lead to
};

class Latencies {
 public:
  explicit Latencies(const Topology& topology)
      : topology_(topology), places_(topology.nodes.size()) {
    read_kinds();
    place_gpus();
    place_switches();
    for (const TopologyLink& link : topology.links) {
      EndPlace &a = places_[link.src], &b = places_[link.dst];
      a.is_by_network = a.is_by_network || b.role == EndRole::network;
      b.is_by_network = b.is_by_network || a.role == EndRole::network;
    }
  }

  [[nodiscard]] Ratio typical(LinkId id) const {
    const TopologyLink& link = topology_.links[id];
    const EndPlace &a = places_[link.src], &b = places_[link.dst];
    switch (media_[id]) {
      case Medium::nvlink:
      case Medium::xgmi:
      case Medium::cpu:
        return topology::box_latency(media_[id]);
      case Medium::pcie:
        return topology::pcie_latency(is_bridge(a) || is_bridge(b));
      case Medium::infiniband:
      case Medium::ethernet:
        return network(media_[id], a, b);
      case Medium::unknown:
        break;
    }
    if (a.role == EndRole::network || b.role == EndRole::network || !in_one_box(a, b)) {
      return network(a.has_ethernet || b.has_ethernet ? Medium::ethernet : Medium::infiniband, a,
                     b);
    }
    return is_nic(a) || is_nic(b) ? topology::pcie_latency(false)
                                  : topology::box_latency(Medium::nvlink);
  }

 private:
  [[nodiscard]] bool is_switch(NodeId node) const {
    return topology_.nodes[node].type == NodeType::switch_node;
  }

  void read_kinds() {
    std::map<std::string_view, Medium> known;
    for (const TopologyLink& link : topology_.links) {
      const auto [at, is_new] = known.try_emplace(link.kind, Medium::unknown);
      if (is_new) at->second = topology::medium_of(link.kind);
      const Medium medium = at->second;
      media_.push_back(medium);
      const bool network = medium == Medium::infiniband || medium == Medium::ethernet;
      for (const NodeId end : {link.src, link.dst}) {
        EndPlace& place = places_[end];
        place.has_network_kind = place.has_network_kind || network;
        place.has_box_kind = place.has_box_kind || (!network && medium != Medium::unknown);
        place.has_ethernet = place.has_ethernet || medium == Medium::ethernet;
        place.is_bridge =
            place.is_bridge && (medium == Medium::pcie || medium == Medium::cpu) && is_switch(end);
      }
      if (medium != Medium::unknown || !is_switch(link.src) || !is_switch(link.dst)) continue;
      places_[link.src].open_links.push_back(link.dst);
      places_[link.dst].open_links.push_back(link.src);
    }
  }

  void place_gpus() {
    const auto boxes = boxes_of_nodes(topology_);
    const std::int32_t* first = nullptr;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const NodeId node(i);
      places_[node].box = boxes[node];
      if (is_switch(node)) continue;
      places_[node].role = EndRole::gpu;
      has_several_boxes_ = has_several_boxes_ || (first != nullptr && *first != boxes[node]);
      if (first == nullptr) first = &boxes[node];
    }
    IdVector<NodeId, std::int32_t> of_gpus(places_.size(), kNoBox);
    for (const TopologyLink& link : topology_.links) {
      for (const auto& [gpu, other] :
           {std::pair(link.src, link.dst), std::pair(link.dst, link.src)}) {
        if (is_switch(gpu) || !is_switch(other)) continue;
        std::int32_t& box = of_gpus[other];
        box = box == kNoBox || box == boxes[gpu] ? boxes[gpu] : kManyBoxes;
      }
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      EndPlace& place = places_[NodeId(i)];
      if (place.role != EndRole::gpu && place.box == kNoBox) place.box = of_gpus[NodeId(i)];
    }
  }

  void place_switches() {
    std::deque<NodeId> of_network;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      EndPlace& place = places_[NodeId(i)];
      if (place.role == EndRole::gpu) continue;
      if (place.has_box_kind) {
        place.role = EndRole::inside;
      } else if (place.has_network_kind || (has_several_boxes_ && place.box < 0)) {
        place.role = EndRole::network;
        of_network.push_back(NodeId(i));
      } else if (place.box >= 0) {
        place.role = EndRole::inside;
      }
    }
    while (!of_network.empty()) {
      const NodeId from = of_network.front();
      of_network.pop_front();
      for (const NodeId next : places_[from].open_links) {
        if (places_[next].role != EndRole::open) continue;
        places_[next].role = EndRole::network;
        of_network.push_back(next);
      }
    }
    for (EndPlace& place : places_) {
      if (place.role == EndRole::open) place.role = EndRole::inside;
    }
  }

  static bool is_bridge(const EndPlace& place) {
    return place.is_bridge && place.role == EndRole::inside;
  }
  static bool is_nic(const EndPlace& place) {
    return place.role == EndRole::inside && place.is_by_network;
  }
  [[nodiscard]] bool in_one_box(const EndPlace& a, const EndPlace& b) const {
    return !has_several_boxes_ || (a.box >= 0 && a.box == b.box);
  }

  static NetworkHop hop(const EndPlace& a, const EndPlace& b) {
    const bool of_network = a.role == EndRole::network, other = b.role == EndRole::network;
    if (of_network && other) return NetworkHop::between_switches;
    if (of_network || other) {
      const bool is_leaf = (of_network ? a : b).is_by_network;
      return is_leaf ? NetworkHop::to_leaf : NetworkHop::to_single_switch;
    }
    // Routers that stand in boxes.
    const bool routers = a.role == EndRole::inside && b.role == EndRole::inside &&
                         !a.has_box_kind && !b.has_box_kind;
    return routers ? NetworkHop::between_switches : NetworkHop::between_nics;
  }
  static Ratio network(Medium medium, const EndPlace& a, const EndPlace& b) {
    const int gpus = (a.role == EndRole::gpu ? 1 : 0) + (b.role == EndRole::gpu ? 1 : 0);
    return topology::network_latency(medium, hop(a, b), gpus);
  }

  const Topology& topology_;
  IdVector<LinkId, Medium> media_;
  IdVector<NodeId, EndPlace> places_;
  bool has_several_boxes_ = false;
};

}  // namespace

LinkLatencies link_latencies(const Topology& topology) {
  const Latencies latencies(topology);
  LinkLatencies result;
  result.us.reserve(topology.links.size());
  std::map<std::tuple<std::string_view, Ratio>, std::size_t> typical;
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const TopologyLink& link = topology.links[LinkId(i)];
    const Ratio us = link.latency ? *link.latency : latencies.typical(LinkId(i));
    result.us.push_back(us);
    const bool in_use =
        link.enabled && topology.nodes[link.src].enabled && topology.nodes[link.dst].enabled;
    if (!in_use) continue;
    ++result.links;
    if (!link.latency) ++typical[{link.kind, us}];
  }
  for (const auto& [key, links] : typical) {
    result.typical.push_back({std::string(std::get<0>(key)), std::get<1>(key), links});
  }
  return result;
}

}  // namespace forestcoll
