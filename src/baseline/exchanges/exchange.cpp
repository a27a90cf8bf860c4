// Recursive doubling and Bruck's algorithm. In both, a rank has 2^i blocks after i steps and sends
// them to a rank 2^i further on; the block of a root so takes a binomial tree.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.hpp"
#include "baseline/boxes.hpp"
#include "baseline/makers.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

std::size_t highest_bit(std::size_t x) {
  return static_cast<std::size_t>(std::bit_width(x)) - 1;
}

/// `sends_to(rank, i)`: the receiver of step i. `distance(root, rank)`: 2^i … 2^(i+1) − 1 where the
/// rank gets the root's block in step i. `sender(rank, i)`: from whom.
struct Pattern {
  std::function<std::size_t(std::size_t rank, std::size_t step)> sends_to, sender;
  std::function<std::size_t(std::size_t root, std::size_t rank)> distance;
};

ImplicitForest implicit_forest_of(const Request& request, const Network& network,
                                  const Pattern& pattern) {
  const std::size_t n = network.ranks.size();
  const std::size_t steps = highest_bit(n - 1) + 1;
  const Boxes boxes = group_boxes(request.topology, network);
  PathFinder finder(network, boxes.box_of);
  ImplicitForest implicit;
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t i = 0; i < steps; ++i) {
      const Rank from(v), to(pattern.sends_to(v, i));
      Path path = finder.take(from, to, Through::switches);
      if (path.empty()) path = finder.take(from, to, Through::ranks);
      FORESTCOLL_CHECK(!path.empty(), "all ranks reach one another");
      const std::size_t blocks = std::min(std::size_t{1} << i, n - (std::size_t{1} << i));
      implicit.hops.push_back({std::move(path), static_cast<std::int64_t>(blocks)});
    }
    implicit.trees.push_back({Rank(v), 1, 0});
  }
  implicit.hop_into = [pattern, steps](std::size_t tree, Rank child) {
    const std::size_t step = highest_bit(pattern.distance(tree, child.index()));
    return pattern.sender(child.index(), step) * steps + step;
  };
  implicit.note = fmt::format("{} step{}", steps, steps == 1 ? "" : "s");
  return implicit;
}

}  // namespace

Expected<BaselineResult> halving_doubling(const Request& request) {
  const std::size_t n = request.network.ranks.size();
  if (!std::has_single_bit(n)) {
    return make_error(Code::B02,
                      fmt::format("halving and doubling need a power of two ranks, not {}", n),
                      "compare with bruck, which serves any number");
  }
  const auto partner = [](std::size_t rank, std::size_t step) {
    return rank ^ (std::size_t{1} << step);
  };
  const Pattern pattern{partner, partner,
                        [](std::size_t root, std::size_t rank) { return root ^ rank; }};
  return carry_out(request, [&](const Network& network) -> Expected<ImplicitForest> {
    return implicit_forest_of(request, network, pattern);
  });
}

Expected<BaselineResult> bruck(const Request& request) {
  const std::size_t n = request.network.ranks.size();
  const Pattern pattern{
      [n](std::size_t rank, std::size_t step) { return (rank + n - (std::size_t{1} << step)) % n; },
      [n](std::size_t rank, std::size_t step) { return (rank + (std::size_t{1} << step)) % n; },
      [n](std::size_t root, std::size_t rank) { return (root + n - rank) % n; }};
  return carry_out(request, [&](const Network& network) -> Expected<ImplicitForest> {
    return implicit_forest_of(request, network, pattern);
  });
}

}  // namespace forestcoll::baseline
