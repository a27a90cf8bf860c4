#include "solver/symmetry/automorphisms.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/mix.hpp"
#include "graph/joined_items.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver {
namespace {

// Classes that are broken up before a pair of nodes is given up.
constexpr int kMostBroken = 64;

// Arcs that are looked at, over all pairs that are tried.
constexpr std::size_t kMostArcs = std::size_t{1} << 20;

// A colour that nothing else has.
constexpr std::uint64_t kApart = 0xA5A5'5A5A'C3C3'3C3CU;

// Two copies of a fabric, of which one node after the other is told apart in both.
class PairSearch {
 public:
  PairSearch(const Network& network, const NodeColours& colours)
      : network_(network), colours_(colours) {}

  // An automorphism that takes the one to the other, where the first way there leads to one.
  std::optional<NodeImage> run(NodeId from, NodeId to) {
    from_ = to_ = colours_;
    for (int broken = 0; broken < kMostBroken; ++broken) {
      from_[from] = to_[to] = base::mix(kApart + static_cast<std::uint64_t>(broken));
      from_ = refined(network_, std::move(from_));
      to_ = refined(network_, std::move(to_));
      if (!match()) return std::nullopt;
      if (is_automorphism(network_, image_)) return image_;
      if (!tied_.valid()) return std::nullopt;
      from = tied_;
      to = image_[tied_];
    }
    return std::nullopt;
  }

 private:
  using Classes = std::map<std::uint64_t, std::vector<NodeId>>;

  static Classes classes_of(const NodeColours& colours) {
    Classes classes;
    for (std::size_t v = 0; v < colours.size(); ++v) {
      classes[colours[NodeId(v)]].push_back(NodeId(v));
    }
    return classes;
  }

  // False where the copies differ.
  bool match() {
    const Classes before = classes_of(from_), after = classes_of(to_);
    image_ = NodeImage(from_.size());
    tied_ = NodeId();
    if (before.size() != after.size()) return false;
    for (const auto& [colour, nodes] : before) {
      const auto images = after.find(colour);
      if (images == after.end() || images->second.size() != nodes.size()) return false;
      match_class(nodes, images->second);
    }
    return true;
  }

  void match_class(const std::vector<NodeId>& nodes, const std::vector<NodeId>& images) {
    std::vector<NodeId> moving, places;
    std::ranges::set_difference(nodes, images, std::back_inserter(moving));
    std::ranges::set_difference(images, nodes, std::back_inserter(places));
    for (const NodeId v : nodes) image_[v] = v;
    for (std::size_t i = 0; i < moving.size(); ++i) image_[moving[i]] = places[i];
    if (nodes.size() == 1) return;
    const NodeId first = moving.empty() ? nodes.front() : moving.front();
    if (!tied_.valid() || first < tied_) tied_ = first;
  }

  const Network& network_;
  const NodeColours& colours_;
  NodeColours from_, to_;
  NodeImage image_;
  NodeId tied_;  // of the classes that still have several nodes
};

}  // namespace

bool is_automorphism(const Network& network, const NodeImage& image) {
  const Digraph& graph = network.graph;
  for (std::size_t i = 0; i < graph.arc_count(); ++i) {
    const Arc& arc = graph.arcs()[i];
    const ArcId to = graph.find(image[arc.tail], image[arc.head]);
    if (!to.valid() || network.capacity[to] != network.capacity[ArcId(i)]) return false;
  }
  return true;
}

bool keeps_fabric(const Symmetry& symmetry, const Network& network) {
  return std::ranges::all_of(symmetry.generators(), [&](const Symmetry::Generator& generator) {
    return is_automorphism(network, generator.nodes);
  });
}

std::vector<NodeImage> find_other_automorphisms(const Network& network, const Weights& weights,
                                                std::span<const NodeImage> known) {
  const NodeColours colours = refined(network, colours_by_weight(network, weights));
  graph::JoinedItems joined(colours.size());
  const auto join = [&](const NodeImage& image) {
    for (std::size_t v = 0; v < image.size(); ++v) joined.join(v, image[NodeId(v)].index());
  };
  for (const NodeImage& image : known) join(image);
  PairSearch search(network, colours);
  std::vector<NodeImage> found;
  std::map<std::uint64_t, std::vector<std::size_t>> firsts;  // of orbits of a colour
  std::size_t arcs = 0;
  for (std::size_t v = 0; v < colours.size(); ++v) {
    auto& others = firsts[colours[NodeId(v)]];
    for (const std::size_t first : others) {
      if (joined.first(v) != v || (arcs += network.graph.arc_count()) > kMostArcs) break;
      auto image = search.run(NodeId(first), NodeId(v));
      if (!image) continue;
      join(*image);
      found.push_back(*std::move(image));
    }
    if (joined.first(v) == v) others.push_back(v);
  }
  return found;
}

}  // namespace forestcoll::solver
