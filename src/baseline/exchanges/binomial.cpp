// Binomial trees by rule: PAT, and the butterflies of Swing and Bine.
//
// All of them hand data on to one rank per step, far away first, when little of it has been
// gathered, and near by last, when most of it goes out. PAT counts distances from the root in one
// direction, 2^i, so any number of ranks is served. Swing and Bine go alternately in both
// directions, by 1, -1, 3, -5, 11, …, (1 − (−2)^(i+1)) / 3: even ranks forward, odd ones backward,
// so that partners are pairs, and distances are a third shorter.
#include <fmt/format.h>

#include <cstdint>

#include "baseline/exchanges/grown_trees.hpp"
#include "baseline/makers.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

// (1 − (−2)^(i+1)) / 3, modulo the ranks.
std::size_t swing_distance(std::size_t i, std::size_t ranks) {
  std::int64_t power = 1;
  for (std::size_t j = 0; j <= i; ++j) power *= -2;
  const auto n = static_cast<std::int64_t>(ranks);
  return static_cast<std::size_t>(((1 - power) / 3 % n + n) % n);
}

}  // namespace

Expected<BaselineResult> pat(const Request& request) {
  const std::size_t n = request.network.ranks.size();
  const std::size_t steps = binomial_steps(n);
  const auto hand = [n, steps](Rank root, Rank holder, std::size_t step) {
    const std::size_t offset = (holder.index() + n - root.index()) % n;
    const std::size_t next = offset + (std::size_t{1} << (steps - 1 - step));
    if (next >= n) return std::vector<Rank>();
    return std::vector<Rank>{Rank((root.index() + next) % n)};
  };
  return carry_out(
      request, [&](const Network& network) { return grow_trees(request, network, steps, hand); });
}

Expected<BaselineResult> swing(const Request& request) {
  const std::size_t n = request.network.ranks.size();
  if (n % 2 != 0) {
    return make_error(Code::B02, fmt::format("partners are pairs of ranks, and there are {}", n),
                      "compare with pat, which serves any number");
  }
  const std::size_t steps = binomial_steps(n);
  const auto hand = [n, steps](Rank, Rank holder, std::size_t step) {
    const std::size_t distance = swing_distance(steps - 1 - step, n);
    const bool forward = holder.index() % 2 == 0;
    return std::vector<Rank>{Rank((holder.index() + (forward ? distance : n - distance)) % n)};
  };
  return carry_out(
      request, [&](const Network& network) { return grow_trees(request, network, steps, hand); });
}

}  // namespace forestcoll::baseline
