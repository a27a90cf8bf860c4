#include "solver/allreduce/tree_class.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "graph/joined_items.hpp"

namespace forestcoll::solver {
namespace {

// Images times nodes, which are kept.
constexpr std::size_t kMostImages = std::size_t{1} << 22;

std::vector<NodeId> image_of(const std::vector<NodeId>& switches, const NodeImage& image) {
  std::vector<NodeId> moved;
  for (const NodeId v : switches) moved.push_back(image[v]);
  std::ranges::sort(moved);
  return moved;
}

// First the one, then the other.
NodeImage composed(const NodeImage& first, const NodeImage& then) {
  NodeImage image;
  for (const NodeId v : first) image.push_back(then[v]);
  return image;
}

NodeImage inverse(const NodeImage& image) {
  NodeImage back(image.size());
  for (std::size_t v = 0; v < image.size(); ++v) back[image[NodeId(v)]] = NodeId(v);
  return back;
}

// Classes are numbered by their first items.
Partition partition(graph::JoinedItems& joined, std::size_t items) {
  Partition classes{std::vector<std::size_t>(items)};
  for (std::size_t i = 0; i < items; ++i) {
    const std::size_t first = joined.first(i);
    classes.of[i] = first == i ? classes.count++ : classes.of[first];
  }
  return classes;
}

// The orbits of what has been added.
class GrowingOrbits {
 public:
  explicit GrowingOrbits(const Network& network)
      : graph_(network.graph), nodes_(graph_.node_count()), arcs_(graph_.arc_count()) {}

  void add(const NodeImage& image) {
    for (std::size_t v = 0; v < image.size(); ++v) nodes_.join(v, image[NodeId(v)].index());
    for (std::size_t a = 0; a < graph_.arc_count(); ++a) {
      const Arc& arc = graph_.arcs()[a];
      const ArcId moved = graph_.find(image[arc.tail], image[arc.head]);
      FORESTCOLL_CHECK(moved.valid(), "an automorphism maps arcs to arcs");
      arcs_.join(a, moved.index());
    }
  }

  [[nodiscard]] NetworkOrbits orbits() {
    return {partition(nodes_, graph_.node_count()), partition(arcs_, graph_.arc_count())};
  }

 private:
  const Digraph& graph_;
  graph::JoinedItems nodes_, arcs_;
};

}  // namespace

std::optional<TreeClass> make_tree_class(const Network& network,
                                         std::span<const NodeImage> generators,
                                         std::vector<NodeId> spanned, TreePhases phases) {
  const std::size_t nodes = network.graph.node_count();
  std::ranges::sort(spanned);
  NodeImage identity;
  for (std::size_t v = 0; v < nodes; ++v) identity.push_back(NodeId(v));
  TreeClass found{phases, spanned, {identity}, {}};
  GrowingOrbits orbits(network);
  std::map<std::vector<NodeId>, std::size_t> known = {{spanned, 0}};
  std::vector<std::vector<NodeId>> pending = {std::move(spanned)};
  for (std::size_t at = 0; at < pending.size(); ++at) {
    for (const NodeImage& generator : generators) {
      std::vector<NodeId> moved = image_of(pending[at], generator);
      NodeImage way = composed(found.images[at], generator);
      const auto [image, is_new] = known.emplace(moved, pending.size());
      if (!is_new) {
        orbits.add(composed(way, inverse(found.images[image->second])));
        continue;
      }
      if ((pending.size() + 1) * nodes > kMostImages) return std::nullopt;
      pending.push_back(std::move(moved));
      found.images.push_back(std::move(way));
    }
  }
  found.orbits = orbits.orbits();
  return found;
}

}  // namespace forestcoll::solver
