// Which nodes share an item of the picture. Small fabrics: none. Large ones: the nodes of a box,
// and then, again and again, items that have the same links to the same items: the boxes of a leaf,
// the leaves of a unit, the spines. Where rows are too wide, the same inside boxes.
#include "topology/draw/picture.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "topology/draw/fold.hpp"
#include "topology/draw/limit_marks.hpp"
#include "topology/draw/link_style.hpp"
#include "topology/draw/placement.hpp"
#include "topology/model/arcs.hpp"
#include "topology/model/link_kind.hpp"
#include "topology/model/pcie_direction.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kMostDividedBoxes = 4;
// With more items than these in one picture, leaves with their boxes share an item too.
constexpr std::size_t kMostItemsApart = 24;
// Items of one part that is alike others: a leaf and its boxes, a pod of a fat tree.
constexpr std::size_t kLargestPart = 64;

/// Switch nodes that are NICs: on PCIe within their box, or called so, and linked to what is
/// outside of it by something else. Disabled links count.
IdVector<NodeId, bool> find_nics(const Topology& topology) {
  struct Ends {
    bool inside = false, all_pcie = true, outside = false;
  };
  IdVector<NodeId, Ends> ends(topology.nodes.size());
  for (const TopologyLink& link : topology.links) {
    const bool within = topology.nodes[link.src].box == topology.nodes[link.dst].box;
    const bool pcie = medium_of(link.kind) == Medium::pcie;
    for (const NodeId node : {link.src, link.dst}) {
      (within ? ends[node].inside : ends[node].outside) = true;
      if (within && !pcie) ends[node].all_pcie = false;
      if (!within && pcie) ends[node].outside = false;
    }
  }
  IdVector<NodeId, bool> nics(topology.nodes.size(), false);
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const TopologyNode& node = topology.nodes[NodeId(i)];
    const Ends& end = ends[NodeId(i)];
    if (node.type != NodeType::switch_node || node.box.empty() || !end.outside || !end.inside) {
      continue;
    }
    const std::string name = node.id.substr(node.id.rfind('/') + 1);
    const bool is_called =
        std::ranges::any_of(std::array<std::string_view, 5>{"nic", "hca", "mlx", "rnic", "efa"},
                            [&](std::string_view word) { return name.starts_with(word); });
    nics[NodeId(i)] = end.all_pcie || is_called;
  }
  return nics;
}

class PictureMaker {
 public:
  PictureMaker(const Topology& topology, const DrawOptions& options)
      : topology_(topology),
        options_(options),
        arcs_(enabled_arcs(topology)),
        limit_marks_(topology),
        is_nic_(find_nics(topology)),
        sends_(topology.nodes.size(), false),
        item_of_(topology.nodes.size(), 0) {
    for (const NodeId node : options.sending) sends_[node] = true;
  }

  Picture make() {
    std::size_t enabled = 0;
    for (const TopologyNode& node : topology_.nodes) enabled += node.enabled ? 1 : 0;
    const bool small = enabled <= options_.detail;
    add_items(small ? std::set<std::string>() : collapsed_boxes());
    add_edges();
    if (!small) {
      while (merge_twins(picture_, Inside::apart) ||
             (picture_.items.size() > kMostItemsApart &&
              merge_parts(picture_, Inside::apart, kLargestPart))) {
      }
    }
    set_levels();
    fit();
    return std::move(picture_);
  }

 private:
  [[nodiscard]] bool has_cut() const { return !options_.sending.empty(); }

  // All boxes but a few that the cut divides.
  [[nodiscard]] std::set<std::string> collapsed_boxes() const {
    std::set<std::string> boxes;
    std::map<std::string, std::pair<bool, bool>> sides;
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      const TopologyNode& node = topology_.nodes[NodeId(i)];
      if (!node.enabled || node.box.empty()) continue;
      boxes.insert(node.box);
      auto& [sends, receives] = sides[node.box];
      (sends_[NodeId(i)] ? sends : receives) = true;
    }
    if (!has_cut()) return boxes;
    std::vector<std::string> divided;
    for (const auto& [box, both] : sides) {
      if (both.first && both.second) divided.push_back(box);
    }
    if (divided.size() > kMostDividedBoxes) return boxes;
    for (const std::string& box : divided) boxes.erase(box);
    return boxes;
  }

  void add_items(const std::set<std::string>& collapsed) {
    std::map<std::string, std::size_t> item_of_box;
    std::map<NodeId, NodeId> other_half;  // of a device that is two nodes: one item
    for (const auto& [out, in] : device_halves(topology_)) {
      other_half.emplace(out, in), other_half.emplace(in, out);
    }
    std::map<NodeId, std::size_t> item_of_half;
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      const NodeId id(i);
      const TopologyNode& node = topology_.nodes[id];
      if (!node.enabled) continue;
      const bool gpu = node.type != NodeType::switch_node;
      const Side side = sends_[id] ? Side::sends : Side::receives;
      const auto half = other_half.find(id);
      if (!collapsed.contains(node.box)) {
        if (const auto drawn = item_of_half.find(id); drawn != item_of_half.end()) {
          item_of_[id] = drawn->second;
          Item& device = picture_.items[drawn->second];
          if (device.side != side) device.side = Side::divided;
          continue;
        }
        item_of_[id] = picture_.items.size();
        if (half != other_half.end()) item_of_half.emplace(half->second, item_of_[id]);
        picture_.items.push_back({gpu ? ItemKind::gpu : ItemKind::switch_node,
                                  {half == other_half.end() ? node.id : *device_of(node.id)},
                                  node.box,
                                  gpu ? std::size_t{1} : 0,
                                  side,
                                  0});
        picture_.items.back().is_nic = is_nic_[id];
        picture_.items.back().is_root = options_.root == id;
        continue;
      }
      const auto [at, is_new] = item_of_box.emplace(node.box, picture_.items.size());
      if (is_new) picture_.items.push_back({ItemKind::box, {node.box}, "", 0, side, 0});
      Item& box = picture_.items[at->second];
      item_of_[id] = at->second;
      box.gpus += gpu ? 1 : 0;
      if (box.side != side) box.side = Side::divided;
    }
  }

  void add_edges() {
    std::map<std::pair<std::size_t, std::size_t>, Edge> edges;
    std::map<std::pair<std::size_t, std::size_t>, Ratio> widest;
    // Of links that lead one way each, one there and one back are one.
    std::map<std::pair<std::size_t, std::size_t>, std::pair<std::size_t, std::size_t>> counts;
    for (const DirectedLink& arc : arcs_) {
      const std::size_t from = item_of_[arc.arc.tail], to = item_of_[arc.arc.head];
      if (from == to) continue;
      const auto key = std::minmax(from, to);
      Edge& edge = edges[key];
      const TopologyLink& link = topology_.links[arc.link];
      edge.a = key.first, edge.b = key.second;
      Ratio& direction = from == edge.a ? edge.there : edge.back;
      direction = summed(direction, link.bandwidth);
      auto& [there, back] = counts[key];
      ++(from == edge.a ? there : back);
      edge.links = std::max(there, back);
      if (widest[key] < link.bandwidth) {
        widest[key] = link.bandwidth;
        edge.kind = link.kind;
      }
      const bool is_cut = has_cut() && sends_[arc.arc.tail] && !sends_[arc.arc.head];
      if (is_cut ||
          std::ranges::binary_search(options_.marked, std::pair(arc.arc.tail, arc.arc.head))) {
        edge.crosses = true;
      }
      add_marks(edge.limits, limit_marks_.of(arc.arc.tail, arc.arc.head));
    }
    Rounds rounds;
    for (const DrawnHop& hop : options_.hops) {
      add_round(rounds, item_of_[hop.from], item_of_[hop.to], hop.round);
    }
    for (auto& [key, edge] : edges) {
      edge.round_there = round_of(rounds, edge.a, edge.b);
      edge.round_back = round_of(rounds, edge.b, edge.a);
      picture_.edges.push_back(std::move(edge));
    }
  }

  // Folds what is alike, the smallest parts first, until the rows are no wider than asked for.
  void fit() {
    for (std::size_t largest = 1; largest <= kLargestPart && is_too_wide();) {
      const bool folded = largest == 1 ? merge_twins(picture_, Inside::folded)
                                       : merge_parts(picture_, Inside::folded, largest);
      if (folded) {
        set_levels();
      } else {
        largest *= 2;
      }
    }
  }

  [[nodiscard]] bool is_too_wide() const {
    return is_layered(picture_) && width_of_rows(picture_) > readable_width(options_.width);
  }

  // Switches within a box below, GPUs and boxes above them, and then the switches by their
  // distance from those.
  void set_levels() {
    std::vector<std::vector<std::size_t>> neighbours(picture_.items.size());
    for (const Edge& edge : picture_.edges) {
      neighbours[edge.a].push_back(edge.b);
      neighbours[edge.b].push_back(edge.a);
    }
    std::vector<std::size_t> reached;
    const auto is_inner = [&](std::size_t i) {
      const Item& item = picture_.items[i];
      return item.kind == ItemKind::switch_node && !item.cluster.empty() &&
             std::ranges::all_of(neighbours[i], [&](std::size_t j) {
               return picture_.items[j].cluster == item.cluster &&
                      picture_.items[j].kind != ItemKind::switch_node;
             });
    };
    std::vector<bool> done(picture_.items.size(), false);
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      if (picture_.items[i].kind != ItemKind::switch_node) {
        picture_.items[i].level = 1;
        reached.push_back(i);
        done[i] = true;
      } else if (is_inner(i)) {
        done[i] = true;
      }
    }
    for (std::size_t at = 0; at < reached.size(); ++at) {
      for (const std::size_t j : neighbours[reached[at]]) {
        if (done[j]) continue;
        done[j] = true;
        picture_.items[j].level = picture_.items[reached[at]].level + 1;
        reached.push_back(j);
      }
    }
    raise_the_fabric();
  }

  // What joins boxes stands above all of them, be some drawn whole and others as one.
  void raise_the_fabric() {
    std::size_t deepest = 0, highest = picture_.items.size();
    const auto joins = [](const Item& item) {
      return item.kind == ItemKind::switch_node && item.cluster.empty();
    };
    for (const Item& item : picture_.items) {
      if (!item.cluster.empty()) deepest = std::max(deepest, item.level);
      if (joins(item)) highest = std::min(highest, item.level);
    }
    if (highest > deepest) return;
    for (Item& item : picture_.items) {
      if (joins(item)) item.level += deepest + 1 - highest;
    }
  }

  const Topology& topology_;
  const DrawOptions& options_;
  std::vector<DirectedLink> arcs_;
  LimitMarks limit_marks_;
  IdVector<NodeId, bool> is_nic_;
  IdVector<NodeId, bool> sends_;
  IdVector<NodeId, std::size_t> item_of_;
  Picture picture_;
};

}  // namespace

Ratio summed(const Ratio& a, const Ratio& b) {
  return checked_add(a, b).value_or(a);
}

Picture make_picture(const Topology& topology, const DrawOptions& options) {
  return PictureMaker(topology, options).make();
}

}  // namespace forestcoll::topology
