#include "solver/symmetry/symmetry.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "base/mix.hpp"
#include "solver/symmetry/automorphisms.hpp"
#include "solver/symmetry/runs.hpp"

namespace forestcoll::solver {
namespace {

using RankImage = Action<Rank>::Image;
using NodeImage = Action<NodeId>::Image;

// Classes of switches that are told apart by fiat before a candidate is given up.
constexpr int kMaxChoices = 256;

// Hops from which differences between nodes are seen.
constexpr int kMaxRounds = 64;

// Classes of ranks whose symmetries are looked for apart.
constexpr int kMaxClasses = 64;

// Ranks whose switches are looked at before all are.
constexpr std::size_t kLookedAt = 64;

// More images than these are too coarse; ranks that stay are at least so many times as many.
constexpr std::size_t kMostImagesInBlocks = 128;
constexpr std::array<std::size_t, 3> kFixedPerImage = {2, 8, 20};

using base::mix;

// A colour for `v` that tells its own colour and its neighbours'.
std::uint64_t seen_from(const Network& network, const NodeColours& colours, NodeId v) {
  const Digraph& graph = network.graph;
  std::uint64_t sum = mix(colours[v]);
  for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
    sum += mix(colours[graph.head(a)] + 3 * static_cast<std::uint64_t>(network.capacity[a]));
  }
  for (const ArcId a : graph.in(v)) {
    sum += mix(~colours[graph.tail(a)] - 5 * static_cast<std::uint64_t>(network.capacity[a]));
  }
  return mix(sum);
}

// Extends permutations of ranks to automorphisms.
class Extension {
 public:
  explicit Extension(const Network& network) : network_(network) {
    for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
      if (!network.is_compute(NodeId(v))) switches_.push_back(NodeId(v));
    }
  }

  std::optional<NodeImage> run(const RankImage& ranks) {
    NodeImage image(network_.graph.node_count());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      image[network_.ranks[r]] = network_.ranks[ranks[Rank(r)].index()];
    }
    if (!maps_direct_arcs(image) || !match_switches(ranks, image)) return std::nullopt;
    return image;
  }

 private:
  [[nodiscard]] bool maps(ArcId a, const NodeImage& image) const {
    const Digraph& graph = network_.graph;
    const NodeId tail = image[graph.tail(a)], head = image[graph.head(a)];
    const ArcId image_of_a = graph.find(tail, head);
    return image_of_a.valid() && network_.capacity[image_of_a] == network_.capacity[a];
  }

  [[nodiscard]] bool maps_direct_arcs(const NodeImage& image) const {
    for (std::size_t i = 0; i < network_.graph.arc_count(); ++i) {
      const ArcId a(i);
      if (network_.is_compute(network_.graph.tail(a)) &&
          network_.is_compute(network_.graph.head(a)) && !maps(a, image)) {
        return false;
      }
    }
    return true;
  }

  // Colours two copies of the fabric, in the second of which rank π(r) bears the name r: switches
  // that play the same part get the same colour. True where all arcs are mapped.
  bool match_switches(const RankImage& ranks, NodeImage& image) {
    if (switches_.empty()) return true;
    const std::size_t n = network_.graph.node_count();
    from_.assign(n, 1);
    to_.assign(n, 1);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::uint64_t name = mix(r + 2);
      from_[network_.ranks[r]] = name;
      to_[network_.ranks[ranks[Rank(r)].index()]] = name;
    }
    if (!look_alike(ranks)) return false;
    for (int choice = 0; choice < kMaxChoices; ++choice) {
      if (!refine()) return false;
      std::size_t tied = switches_.size();
      for (std::size_t i = 0; i < switches_.size(); ++i) {
        image[by_from_[i].node] = by_to_[i].node;
        if (tied == switches_.size() && i > 0 && by_from_[i].colour == by_from_[i - 1].colour) {
          tied = i - 1;
        }
      }
      // Ties are matched in the order of ids, which is what telling them apart one class after the
      // other comes to where it is an automorphism as it is.
      if (is_automorphism(network_, image)) return true;
      if (tied == switches_.size()) return false;
      // Interchangeable for all that is known so far: told apart in the order of their ids.
      const std::uint64_t colour = by_from_[tied].colour;
      for (std::size_t i = tied; i < switches_.size() && by_from_[i].colour == colour; ++i) {
        from_[by_from_[i].node] = to_[by_to_[i].node] = mix(colour + i + 1);
      }
    }
    return false;
  }

  // Do the switches beside some ranks look like those beside their images? Most shifts are given
  // up here, before all switches are looked at.
  [[nodiscard]] bool look_alike(const RankImage& ranks) const {
    const std::size_t step = std::max<std::size_t>(1, ranks.size() / kLookedAt);
    for (std::size_t r = 0; r < ranks.size(); r += step) {
      const NodeId image = network_.ranks[ranks[Rank(r)].index()];
      if (beside(network_.ranks[r], from_) != beside(image, to_)) return false;
    }
    return true;
  }

  // The switches beside `v`, each as it looks from one hop around it.
  [[nodiscard]] std::uint64_t beside(NodeId v, const NodeColours& colours) const {
    const Digraph& graph = network_.graph;
    std::uint64_t sum = 0;
    const auto add = [&](NodeId w) {
      if (!network_.is_compute(w)) sum += seen_from(network_, colours, w);
    };
    for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) add(graph.head(a));
    for (const ArcId a : graph.in(v)) add(graph.tail(a));
    return sum;
  }

  // Colours switches by their neighbours until no class splits; false where the copies differ.
  bool refine() {
    for (std::size_t classes = 0;;) {
      if (recolour(from_) != recolour(to_)) return false;
      by_from_ = sorted(from_);
      std::size_t now = 0;
      for (std::size_t i = 0; i < by_from_.size(); ++i) {
        now += i == 0 || by_from_[i].colour != by_from_[i - 1].colour;
      }
      if (now == classes) break;
      classes = now;
    }
    by_to_ = sorted(to_);
    return std::ranges::equal(by_from_, by_to_, {}, &Coloured::colour, &Coloured::colour);
  }

  // Returns a number that is the same where the colours are, whoever has them.
  std::uint64_t recolour(NodeColours& colours) {
    next_.clear();
    for (const NodeId v : switches_) next_.push_back(seen_from(network_, colours, v));
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      colours[switches_[i]] = next_[i];
      sum += mix(next_[i]);
    }
    return sum;
  }

  struct Coloured {
    std::uint64_t colour;
    NodeId node;
    auto operator<=>(const Coloured&) const = default;
  };

  [[nodiscard]] std::vector<Coloured> sorted(const NodeColours& colours) const {
    std::vector<Coloured> order;
    order.reserve(switches_.size());
    for (const NodeId v : switches_) order.push_back({colours[v], v});
    std::ranges::sort(order);
    return order;
  }

  const Network& network_;
  std::vector<NodeId> switches_;
  NodeColours from_, to_;
  std::vector<std::uint64_t> next_;
  std::vector<Coloured> by_from_, by_to_;
};

// Turns the digit of weight `stride` and base `side` of everyone's place in `moved` by one.
RankImage shift(std::size_t ranks, const std::vector<Rank>& moved, std::size_t stride,
                std::size_t side) {
  RankImage image(ranks);
  for (std::size_t r = 0; r < ranks; ++r) image[Rank(r)] = Rank(r);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const std::size_t digit = i / stride % side;
    image[moved[i]] = moved[i - digit * stride + (digit + 1) % side * stride];
  }
  return image;
}

// Is its power to `order` the identity?
bool has_order(const NodeImage& image, std::size_t order) {
  std::vector<bool> seen(image.size(), false);
  for (std::size_t v = 0; v < image.size(); ++v) {
    std::size_t length = 0;
    for (NodeId at(v); !seen[at.index()]; at = image[at], ++length) seen[at.index()] = true;
    if (length > 0 && order % length != 0) return false;
  }
  return true;
}

bool commute(const NodeImage& a, const NodeImage& b) {
  for (std::size_t v = 0; v < a.size(); ++v) {
    if (a[b[NodeId(v)]] != b[a[NodeId(v)]]) return false;
  }
  return true;
}

bool keeps(const RankImage& image, const Weights& weights) {
  for (std::size_t r = 0; r < image.size(); ++r) {
    if (weights[Rank(r)] != weights[image[Rank(r)]]) return false;
  }
  return true;
}

// The digits of the places in `moved` that turn.
std::vector<Symmetry::Generator> find_digits(const Network& network, const Weights& weights,
                                             const std::vector<Rank>& moved) {
  std::vector<Symmetry::Generator> found;
  Extension extension(network);
  // The digit that turns at `stride` with the largest side; 1 where none does.
  const auto add_digit = [&](std::size_t stride) -> std::size_t {
    for (std::size_t side = moved.size() / stride; side > 1; --side) {
      if (moved.size() % (stride * side) != 0) continue;
      RankImage image = shift(network.ranks.size(), moved, stride, side);
      if (!keeps(image, weights)) continue;
      auto nodes = extension.run(image);
      if (!nodes || !has_order(*nodes, side)) continue;
      if (!std::all_of(found.begin(), found.end(), [&](const Symmetry::Generator& other) {
            return commute(*nodes, other.nodes);
          })) {
        continue;
      }
      found.push_back({static_cast<std::int32_t>(side), std::move(*nodes), std::move(image)});
      return side;
    }
    return 1;
  };
  // Digits lie side by side: the next one begins at a multiple of all that the previous ones span.
  std::size_t spanned = 1;
  for (std::size_t stride = 1; stride < moved.size();) {
    const std::size_t side = moved.size() % stride == 0 ? add_digit(stride) : 1;
    if (side > 1) {
      spanned = stride = stride * side;
    } else {
      stride += spanned;
    }
  }
  return found;
}

// The group of all digits, then smaller ones, without the lowest.
void add_groups(const std::vector<Symmetry::Generator>& digits, std::vector<Symmetry>& groups) {
  for (auto first = digits.begin(); first != digits.end(); ++first) {
    groups.emplace_back(std::vector(first, digits.end()));
  }
}

std::vector<Rank> ranks_of(const Network& network) {
  std::vector<Rank> all;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) all.emplace_back(r);
  return all;
}

std::size_t orbits(const Symmetry& group, std::size_t ranks) {
  std::size_t moved = 0;
  const auto& image = group.generators().front().ranks;
  for (std::size_t r = 0; r < ranks; ++r) moved += image[Rank(r)] != Rank(r);
  return ranks - moved + moved / group.size();
}

}  // namespace

namespace {

// How many images one tree has, and how many blocks of so many a cycle comes to.
struct Blocks {
  std::size_t size = 0, count = 0;
};

// Those of the fewest trees, one for each rank that stays and one for each block, where the ranks
// that stay are several times as many as a tree has images.
std::optional<Blocks> fewest_trees(std::size_t cycle, std::size_t cycles, std::size_t ranks,
                                   std::size_t fixed_per_image) {
  std::optional<Blocks> best;
  std::size_t fewest = ranks;
  for (std::size_t size = 2; size <= std::min(kMostImagesInBlocks, cycle); ++size) {
    const auto fixed = [&](std::size_t count) { return ranks - cycles * count * size; };
    std::size_t count = cycle / size;
    while (count > 0 && fixed(count) < fixed_per_image * size) --count;
    const std::size_t trees = fixed(count) + cycles * count;
    if (count == 0 || trees >= fewest) continue;
    fewest = trees;
    best = {size, count};
  }
  return best;
}

// The first cycles of so many ranks that a generator's cycles come to, in place of these.
RankImage broken_up(const Symmetry::Generator& whole, const Blocks& blocks) {
  const std::size_t ranks = whole.ranks.size();
  RankImage image(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (image[Rank(r)].valid()) continue;
    Rank at(r), first = at;
    for (std::size_t i = 0; !image[at].valid(); ++i) {
      if (i % blocks.size == 0) first = at;
      const bool turns = i < blocks.count * blocks.size;
      const bool is_last = (i + 1) % blocks.size == 0;
      image[at] = !turns ? at : is_last ? first : whole.ranks[at];
      at = whole.ranks[at];
    }
  }
  // Ranks that the generator leaves alone are a block of one each.
  for (std::size_t r = 0; r < ranks; ++r) {
    if (whole.ranks[Rank(r)] == Rank(r)) image[Rank(r)] = Rank(r);
  }
  return image;
}

}  // namespace

std::vector<Symmetry> in_blocks(const Network& network, const Symmetry& group) {
  const std::size_t ranks = network.ranks.size();
  const Symmetry::Generator& whole = group.generators().back();
  const auto cycle = static_cast<std::size_t>(whole.order);
  std::size_t moved = 0;
  for (std::size_t r = 0; r < ranks; ++r) moved += whole.ranks[Rank(r)] != Rank(r);
  std::vector<Symmetry> groups;
  if (moved == ranks) return groups;
  for (const std::size_t fixed_per_image : kFixedPerImage) {
    const auto blocks = fewest_trees(cycle, moved / cycle, ranks, fixed_per_image);
    if (!blocks || (!groups.empty() && groups.back().size() == blocks->size)) continue;
    RankImage image = broken_up(whole, *blocks);
    auto nodes = Extension(network).run(image);
    if (!nodes || !has_order(*nodes, blocks->size)) continue;
    groups.push_back(
        Symmetry({{static_cast<std::int32_t>(blocks->size), *std::move(nodes), std::move(image)}}));
  }
  return groups;
}

NodeColours colours_by_weight(const Network& network, const Weights& weights) {
  NodeColours colours(network.graph.node_count(), 1);
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    colours[network.ranks[r]] = mix(static_cast<std::uint64_t>(weights[Rank(r)]) + 2);
  }
  return colours;
}

NodeColours refined(const Network& network, NodeColours colours) {
  std::size_t classes = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    NodeColours next(colours.size());
    for (std::size_t v = 0; v < next.size(); ++v) {
      next[NodeId(v)] = seen_from(network, colours, NodeId(v));
    }
    colours = std::move(next);
    const std::size_t now = count_different({colours.begin(), colours.end()});
    if (now == classes) break;
    classes = now;
  }
  return colours;
}

std::vector<Symmetry> find_symmetries(const Network& network, const Weights& weights) {
  const std::vector<Rank> all = ranks_of(network);
  std::vector<Symmetry> groups;
  add_groups(find_digits(network, weights, all), groups);
  const auto colours = refined(network, colours_by_weight(network, weights));
  const std::vector<Rank> alike = largest_class(network, colours, all);
  if (alike.size() < all.size()) add_groups(find_digits(network, weights, alike), groups);
  std::stable_sort(groups.begin(), groups.end(), [&](const Symmetry& a, const Symmetry& b) {
    return orbits(a, all.size()) < orbits(b, all.size());
  });
  return groups;
}

std::vector<Symmetry> find_symmetries_by_class(const Network& network, const Weights& weights) {
  std::vector<Symmetry> groups = find_symmetries(network, weights);
  const auto colours = refined(network, colours_by_weight(network, weights));
  std::vector<Rank> rest = ranks_of(network);
  for (int classes = 0; classes < kMaxClasses; ++classes) {
    const std::vector<Rank> alike = largest_class(network, colours, rest);
    // The largest class of all ranks is among the groups.
    if (classes > 0) add_groups(find_digits(network, weights, alike), groups);
    std::vector<Rank> others;
    std::ranges::set_difference(rest, alike, std::back_inserter(others));
    if (alike.empty() || others.empty()) break;
    rest = std::move(others);
  }
  return groups;
}

}  // namespace forestcoll::solver
