// Which nodes share an item of the picture. Small fabrics: none. Large ones: the nodes of a box,
// and then, again and again, items that have the same links to the same items: the boxes of a leaf,
// the leaves of a unit, the spines.
#include "topology/draw/picture.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "topology/arcs.hpp"
#include "topology/pcie_direction.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kMostDividedBoxes = 4;
// With more items than these in one picture, leaves with their boxes share an item too.
constexpr std::size_t kMostItemsApart = 24;

Ratio sum(const Ratio& a, const Ratio& b) {
  return checked_add(a, b).value_or(a);
}

class PictureMaker {
 public:
  PictureMaker(const Topology& topology, const DrawOptions& options)
      : topology_(topology),
        options_(options),
        arcs_(enabled_arcs(topology)),
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
      while (merge_alike() || (picture_.items.size() > kMostItemsApart && merge_stars())) {
      }
    }
    set_levels();
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
      const bool gpu = node.type == NodeType::compute;
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
      direction = sum(direction, link.bandwidth);
      auto& [there, back] = counts[key];
      ++(from == edge.a ? there : back);
      edge.links = std::max(there, back);
      if (widest[key] < link.bandwidth) {
        widest[key] = link.bandwidth;
        edge.kind = link.kind;
      }
      if (has_cut() && sends_[arc.arc.tail] && !sends_[arc.arc.head]) edge.crosses = true;
    }
    for (auto& [key, edge] : edges) picture_.edges.push_back(std::move(edge));
  }

  using Neighbour = std::tuple<std::size_t, Ratio, Ratio, std::string, bool, std::size_t>;

  // One round; false where nothing is alike any more. Items of different kinds, clusters or sides
  // stay apart, and so do items that are linked to each other: their lists differ.
  bool merge_alike() {
    std::vector<std::vector<Neighbour>> neighbours(picture_.items.size());
    for (const Edge& edge : picture_.edges) {
      neighbours[edge.a].emplace_back(edge.b, edge.there, edge.back, edge.kind, edge.crosses,
                                      edge.links);
      neighbours[edge.b].emplace_back(edge.a, edge.back, edge.there, edge.kind, edge.crosses,
                                      edge.links);
    }
    using Alike = std::tuple<ItemKind, std::size_t, Side, std::size_t, std::vector<Neighbour>>;
    std::map<Alike, std::size_t> first;
    std::vector<std::size_t> into(picture_.items.size());
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      const Item& item = picture_.items[i];
      into[i] = i;
      if (!item.cluster.empty()) continue;  // drawn whole
      std::ranges::sort(neighbours[i]);
      into[i] = first.emplace(Alike{item.kind, item.gpus, item.side, item.sets, neighbours[i]}, i)
                    .first->second;
    }
    return merge(into, false);
  }

  // What items at the ends of one edge each must share.
  using Ray = std::tuple<ItemKind, std::size_t, Side, std::size_t, std::size_t, Neighbour>;

  // One round for items that differ in what hangs on them alone, such as leaves with the same
  // spines and as many boxes: they are merged, and what hangs on them is.
  bool merge_stars() {
    const std::size_t n = picture_.items.size();
    std::vector<std::vector<std::size_t>> edges_of(n);
    for (std::size_t e = 0; e < picture_.edges.size(); ++e) {
      edges_of[picture_.edges[e].a].push_back(e);
      edges_of[picture_.edges[e].b].push_back(e);
    }
    const auto hangs = [&](std::size_t i) {
      return edges_of[i].size() == 1 && picture_.items[i].cluster.empty();
    };
    using Star = std::tuple<ItemKind, std::size_t, Side, std::size_t, std::vector<Ray>,
                            std::vector<Neighbour>>;
    std::map<Star, std::pair<std::size_t, std::vector<std::size_t>>>
        first;  // with what hangs on it
    std::vector<std::size_t> into(n);
    for (std::size_t i = 0; i < n; ++i) into[i] = i;
    for (std::size_t i = 0; i < n; ++i) {
      const Item& item = picture_.items[i];
      if (hangs(i) || !item.cluster.empty()) continue;
      std::vector<std::pair<Ray, std::size_t>> rays;
      std::vector<Neighbour> others;
      for (const std::size_t e : edges_of[i]) {
        const Edge& edge = picture_.edges[e];
        const bool away = edge.a == i;
        const std::size_t j = away ? edge.b : edge.a;
        const Item& end = picture_.items[j];
        const Neighbour link(hangs(j) ? 0 : j, away ? edge.there : edge.back,
                             away ? edge.back : edge.there, edge.kind, edge.crosses, edge.links);
        if (hangs(j)) {
          rays.emplace_back(Ray{end.kind, end.gpus, end.side, end.names.size(), end.sets, link}, j);
        } else {
          others.push_back(link);
        }
      }
      if (rays.empty()) continue;
      std::ranges::sort(rays);
      std::ranges::sort(others);
      std::vector<Ray> like;
      std::vector<std::size_t> ends;
      for (const auto& [ray, end] : rays) like.push_back(ray), ends.push_back(end);
      const auto [at, is_new] =
          first.emplace(Star{item.kind, item.names.size(), item.side, item.sets, like, others},
                        std::pair(i, ends));
      if (is_new) continue;
      into[i] = at->second.first;
      for (std::size_t r = 0; r < ends.size(); ++r) into[ends[r]] = at->second.second[r];
    }
    return merge(into, true);
  }

  // Every item becomes part of the one named; false where all are their own.
  bool merge(const std::vector<std::size_t>& into, bool as_sets) {
    std::vector<std::size_t> becomes(picture_.items.size());
    std::vector<Item> items;
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      if (into[i] != i) continue;
      becomes[i] = items.size();
      items.push_back(std::move(picture_.items[i]));
    }
    const bool changed = items.size() < picture_.items.size();
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      if (into[i] == i) continue;
      becomes[i] = becomes[into[i]];
      Item& whole = items[becomes[i]];
      const Item& part = picture_.items[i];
      whole.names.insert(whole.names.end(), part.names.begin(), part.names.end());
      if (as_sets || part.sets > 1) whole.sets += part.sets;
    }
    picture_.items = std::move(items);
    if (changed) move_edges(becomes);
    return changed;
  }

  void move_edges(const std::vector<std::size_t>& becomes) {
    std::map<std::pair<std::size_t, std::size_t>, Edge> edges;
    for (Edge& edge : picture_.edges) {
      std::size_t a = becomes[edge.a], b = becomes[edge.b];
      if (a == b) continue;
      if (a > b) {
        std::swap(a, b);
        std::swap(edge.there, edge.back);
      }
      const auto [at, is_new] = edges.try_emplace({a, b}, edge);
      Edge& moved = at->second;
      moved.a = a, moved.b = b;
      if (is_new) continue;
      moved.there = sum(moved.there, edge.there);
      moved.back = sum(moved.back, edge.back);
      moved.links += edge.links;
      moved.crosses = moved.crosses || edge.crosses;
    }
    picture_.edges.clear();
    for (auto& [key, edge] : edges) picture_.edges.push_back(std::move(edge));
  }

  // Switches within a box on top, GPUs and boxes below them, and then the switches by their
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
    lower_the_fabric();
  }

  // What joins boxes stands below all of them, be some drawn whole and others as one.
  void lower_the_fabric() {
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
  IdVector<NodeId, bool> sends_;
  IdVector<NodeId, std::size_t> item_of_;
  Picture picture_;
};

}  // namespace

Picture make_picture(const Topology& topology, const DrawOptions& options) {
  return PictureMaker(topology, options).make();
}

}  // namespace forestcoll::topology
