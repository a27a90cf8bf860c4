#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "base/mix.hpp"
#include "solver/design/figures.hpp"

namespace forestcoll::solver {
namespace {

constexpr int kRandomBeginnings = 3;
constexpr int kMostPasses = 12;

using Side = std::vector<bool>;  // by node: is it of the first half?

std::int64_t leaving(const Neighbours& neighbours, const Side& side) {
  std::int64_t there = 0, back = 0;
  for (std::size_t v = 0; v < neighbours.nodes(); ++v) {
    for (const auto& link : neighbours.out(v)) {
      const bool head = side[static_cast<std::size_t>(link.node)];
      if (side[v] && !head) there += link.count;
      if (!side[v] && head) back += link.count;
    }
  }
  return std::min(there, back);
}

Side first_half_of(const std::vector<std::size_t>& order) {
  Side side(order.size(), false);
  for (std::size_t i = 0; i < order.size() / 2; ++i) side[order[i]] = true;
  return side;
}

// Nodes of products are numbered like digits, one for each part: of all digits that there could be,
// the halves of the one that cuts the fewest links.
std::vector<std::size_t> best_digit_order(const Neighbours& neighbours) {
  const std::size_t n = neighbours.nodes();
  std::vector<std::size_t> order(n), best;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t below = 1; below < n; ++below) {
    for (std::size_t values = 2; below * values <= n; ++values) {
      if (n % (below * values) != 0) continue;
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, {}, [&](std::size_t v) { return v / below % values; });
      const std::int64_t cut = leaving(neighbours, first_half_of(order));
      if (cut >= fewest) continue;
      fewest = cut;
      best = order;
    }
  }
  return best;
}

// Exchanges pairs until no series of exchanges gains any more.
class Exchange {
 public:
  Exchange(const Neighbours& neighbours, Side side)
      : neighbours_(neighbours), side_(std::move(side)), gain_(side_.size()) {}

  Side run() {
    for (int pass = 0; pass < kMostPasses && improves(); ++pass) {
    }
    return side_;
  }

 private:
  // One pass: the best pair again and again, each node once; the best prefix is kept.
  bool improves() {
    const Side before = side_;
    for (std::size_t v = 0; v < side_.size(); ++v) gain_[v] = gain_of(v);
    std::vector<bool> done(side_.size(), false);
    std::vector<std::size_t> exchanged;
    std::int64_t sum = 0, best = 0;
    std::size_t kept = 0;
    for (std::size_t pairs = 0; pairs < side_.size() / 2; ++pairs) {
      for (const bool of : {true, false}) {
        const std::size_t v = best_of(of, done);
        if (v == side_.size()) break;
        sum += gain_[v];
        done[v] = true;
        move(v);
        exchanged.push_back(v);
      }
      if (sum > best) {
        best = sum;
        kept = exchanged.size();
      }
    }
    side_ = before;
    for (std::size_t i = 0; i < kept; ++i) side_[exchanged[i]] = !side_[exchanged[i]];
    return best > 0;
  }

  [[nodiscard]] std::size_t best_of(bool of, const std::vector<bool>& done) const {
    std::size_t best = side_.size();
    for (std::size_t v = 0; v < side_.size(); ++v) {
      if (done[v] || side_[v] != of) continue;
      if (best == side_.size() || gain_[v] > gain_[best]) best = v;
    }
    return best;
  }

  // Links across less links within, either way.
  [[nodiscard]] std::int64_t gain_of(std::size_t v) const {
    std::int64_t gain = 0;
    const auto add = [&](const std::vector<Neighbours::Link>& links) {
      for (const auto& link : links) {
        gain += side_[static_cast<std::size_t>(link.node)] == side_[v] ? -link.count : link.count;
      }
    };
    add(neighbours_.out(v));
    add(neighbours_.in(v));
    return gain;
  }

  void move(std::size_t v) {
    side_[v] = !side_[v];
    gain_[v] = -gain_[v];
    for (const auto* links : {&neighbours_.out(v), &neighbours_.in(v)}) {
      for (const auto& link : *links) {
        const auto w = static_cast<std::size_t>(link.node);
        gain_[w] += side_[w] == side_[v] ? -2 * link.count : 2 * link.count;
      }
    }
  }

  const Neighbours& neighbours_;
  Side side_;
  std::vector<std::int64_t> gain_;
};

}  // namespace

std::int64_t narrowest_halves(const Neighbours& neighbours) {
  const std::size_t n = neighbours.nodes();
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t set = 0; set < 1U << n; ++set) {
    const auto size = static_cast<std::size_t>(std::popcount(set));
    if (size != n / 2) continue;
    Side side(n);
    for (std::size_t v = 0; v < n; ++v) side[v] = (set >> v & 1U) != 0;
    fewest = std::min(fewest, leaving(neighbours, side));
  }
  return fewest;
}

std::int64_t narrow_halves(const Neighbours& neighbours) {
  const std::size_t n = neighbours.nodes();
  std::vector<std::vector<std::size_t>> orders(2 + kRandomBeginnings, std::vector<std::size_t>(n));
  for (auto& order : orders) std::iota(order.begin(), order.end(), 0);
  const auto near = neighbours.distances(0);
  std::ranges::stable_sort(orders[1], {}, [&](std::size_t v) { return near[v]; });
  for (std::size_t i = 2; i < orders.size(); ++i) {
    std::ranges::sort(orders[i], {}, [&](std::size_t v) { return base::mix(i * n + v); });
  }
  orders.push_back(best_digit_order(neighbours));
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const auto& order : orders) {
    const Side side = Exchange(neighbours, first_half_of(order)).run();
    fewest = std::min(fewest, leaving(neighbours, side));
  }
  return fewest;
}

}  // namespace forestcoll::solver
