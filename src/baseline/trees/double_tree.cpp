#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "baseline/makers.hpp"
#include "baseline/rings/box_rings.hpp"
#include "baseline/tree_table.hpp"
#include "baseline/trees/box_tree.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

constexpr std::size_t kMostDoubleTreeEdges = std::size_t{1} << 25;

// How the rank beside a NIC hands on to its box: who hands to the i-th of a ring that begins there,
// i from 1 on.
struct Inside {
  const char* in_words;  // "chains inside"
  std::size_t (*above)(std::size_t i);
};

constexpr Inside kChains = {"chains inside", [](std::size_t i) { return i - 1; }};
constexpr Inside kDirect = {"directly inside", [](std::size_t) { return std::size_t{0}; }};
// The farthest first, each half as far as the one before.
constexpr Inside kBinomial = {"binomial trees inside", [](std::size_t i) { return i & (i - 1); }};

class DoubleTree {
 public:
  DoubleTree(const Request& request, BoxRings& rings, const Inside& inside)
      : request_(request),
        rings_(rings),
        inside_(inside),
        table_(request.network.ranks.size()),
        doors_(rings.doors_by_rail()) {}

  Expected<ImplicitForest> build() {
    const std::size_t rails = doors_.front().size();
    FORESTCOLL_CHECK(rails > 0, "some switches lead out of every box");
    if (2 * rails > kMostDoubleTreeEdges / request_.network.ranks.size()) {
      return too_large("the trees have more than 33 million edges");
    }
    for (std::size_t c = 0; c < rails; ++c) {
      for (const bool second : {false, true}) {
        // In one box the two trees are the same chain.
        if (boxes() == 1 && second) continue;
        if (const auto done = add_tree(c, BoxTree(boxes(), second)); !done) return done.errors();
      }
    }
    ImplicitForest implicit = table_.take();
    implicit.note = fmt::format("{} of two trees over {} boxes, {} along the rings of {}",
                                rails == 1 ? "one pair" : fmt::format("{} pairs", rails), boxes(),
                                inside_.in_words, rings_.origin());
    if (boxes() == 1) {
      implicit.note =
          fmt::format("one box: {} chains along the rings of {}", rails, rings_.origin());
    }
    return implicit;
  }

 private:
  [[nodiscard]] std::size_t boxes() const { return rings_.boxes().size(); }

  Expected<void> add_tree(std::size_t c, const BoxTree& shape) {
    const std::size_t tree = table_.begin_tree(doors_[shape.root()][c]);
    for (std::size_t b = 0; b < boxes(); ++b) {
      const Rank head = doors_[b][c];
      if (b != shape.root()) {
        const Rank above = doors_[shape.parent(b)][c];
        Path path = rings_.finder().take(above, head, Through::switches);
        if (path.empty()) return no_path(above, head);
        table_.add(tree, head, table_.hop(std::move(path)));
      }
      const BoxOrders& orders = rings_.orders(b);
      const auto ring = turned(orders[c % orders.size()], head);
      for (std::size_t i = 1; i < ring.size(); ++i) {
        const Rank above = ring[inside_.above(i)];
        Path path = rings_.step(above, ring[i]);
        if (path.empty()) return no_path(above, ring[i]);
        table_.add(tree, ring[i], table_.hop(std::move(path)));
      }
    }
    return {};
  }

  [[nodiscard]] Diagnostic no_path(Rank from, Rank to) const {
    return make_error(Code::B08,
                      fmt::format("no switches lead from {} to {}, its child in a tree",
                                  name_of(request_.topology, from), name_of(request_.topology, to)),
                      "compare with another algorithm");
  }

  const Request& request_;
  BoxRings& rings_;
  const Inside& inside_;
  TreeTable table_;
  std::vector<std::vector<Rank>> doors_;  // by box, then by rail
};

Expected<BaselineResult> double_tree_with(const Request& request, const Inside& inside) {
  return carry_out(request, [&](const Network& network) -> Expected<ImplicitForest> {
    auto rings = BoxRings::make(request, network);
    if (!rings) return rings.errors();
    return DoubleTree(request, *rings, inside).build();
  });
}

// In one box there is nothing over it.
Expected<BaselineResult> over_boxes(const Request& request, const Inside& inside) {
  const auto boxes = several_boxes(request.topology, request.network);
  return boxes ? double_tree_with(request, inside) : boxes.errors();
}

}  // namespace

Expected<BaselineResult> double_tree(const Request& request) {
  return double_tree_with(request, kChains);
}

Expected<BaselineResult> double_tree_direct(const Request& request) {
  return over_boxes(request, kDirect);
}

Expected<BaselineResult> double_tree_binomial(const Request& request) {
  return over_boxes(request, kBinomial);
}

}  // namespace forestcoll::baseline
