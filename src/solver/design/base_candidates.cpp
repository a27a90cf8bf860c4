// The base graphs of one size. Circulants and tori are those that are worth a look, not all.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "solver/design/candidates.hpp"

namespace forestcoll::solver {
namespace {

using topology::base_graph;
using topology::WiringExpression;

constexpr std::size_t kMostSides = 8;

// How far the farthest node of a circulant is, and how far all are together: every node is alike.
std::pair<std::int64_t, std::int64_t> reach(std::int64_t n,
                                            const std::vector<std::int64_t>& steps) {
  std::vector<std::int64_t> distance(static_cast<std::size_t>(n), -1);
  std::vector<std::int64_t> queue = {0};
  distance[0] = 0;
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::int64_t here = distance[static_cast<std::size_t>(queue[at])];
    sum += here;
    for (const std::int64_t step : steps) {
      const std::int64_t next = (queue[at] + step) % n;
      if (distance[static_cast<std::size_t>(next)] >= 0) continue;
      distance[static_cast<std::size_t>(next)] = here + 1;
      queue.push_back(next);
    }
  }
  return {distance[static_cast<std::size_t>(queue.back())], sum};
}

// The base graphs of one size.
class BaseGraphs {
 public:
  BaseGraphs(std::int64_t nodes, std::int64_t ports, std::size_t randoms)
      : n_(nodes), d_(ports), randoms_(randoms) {}

  Expressions take() {
    words();
    rings();
    digraphs();
    circulants();
    std::vector<std::int64_t> sides;
    tori(n_, d_, n_, sides);
    if (d_ == 4) add("distance-regular", {n_});
    for (std::size_t seed = 1; seed <= randoms_ && d_ >= 3 && d_ < n_; ++seed) {
      add("random", {n_, d_, static_cast<std::int64_t>(seed)});
    }
    return std::move(all_);
  }

 private:
  // Those that there are.
  void add(const char* name, std::vector<std::int64_t> arguments) {
    WiringExpression expression = base_graph(name, std::move(arguments));
    const auto wiring = topology::build(expression);
    if (!wiring || static_cast<std::int64_t>(wiring->nodes) != n_) return;
    // Loops of a generalized Kautz digraph leave ports free.
    if (static_cast<std::int64_t>(wiring->ports) == d_) all_.push_back(std::move(expression));
  }

  void words() {
    if (d_ == n_ - 1) add("complete", {n_});
    if (2 * d_ == n_) add("bipartite", {d_});
    for (std::int64_t length = 2; length <= d_; ++length) {
      const std::int64_t letters = root_of(n_, length);
      if (letters < 2 || length * (letters - 1) != d_) continue;
      letters == 2 ? add("hypercube", {length}) : add("hamming", {length, letters});
    }
  }

  void rings() {
    if (d_ == 2) add("ring", {n_});
    if (d_ % 2 == 0 && d_ > 2) add("biring", {d_, n_});
    add("uniring", {d_, n_});
  }

  void digraphs() {
    bool is_kautz = false;
    for (std::int64_t diameter = 2, power = d_; d_ > 1 && power < n_; ++diameter, power *= d_) {
      is_kautz = is_kautz || power * d_ + power == n_;
      if (power * d_ + power == n_) add("kautz", {d_, diameter});
      if (power * d_ == n_) add("debruijn", {d_, diameter});
    }
    if (d_ > 1 && d_ < n_ && !is_kautz) {
      add("genkautz", {d_, n_});
      const auto plain = topology::build(base_graph("genkautz", {d_, n_}));
      if (plain && !is_regular(*plain)) add("genkautz-joined", {d_, n_});
    }
    if (d_ == 2 && n_ == 8) {
      add("diamond", {});
      add("diamond", {2});
    }
    if (d_ > 1 && d_ == n_ - 2) {
      std::vector<std::int64_t> offsets(static_cast<std::size_t>(d_));
      std::iota(offsets.begin(), offsets.end(), 1);
      add_circulant("dicirculant", offsets);
    } else if (d_ > 1) {
      add_circulant("dicirculant", powers(d_, n_ - 1));
    }
  }

  void add_circulant(const char* name, const std::vector<std::int64_t>& offsets) {
    std::vector<std::int64_t> arguments = {n_};
    arguments.insert(arguments.end(), offsets.begin(), offsets.end());
    add(name, std::move(arguments));
  }

  // 1, r, r², … of which `count` are at most `most`, each larger than the one before.
  [[nodiscard]] std::vector<std::int64_t> powers(std::int64_t count, std::int64_t most) const {
    const auto r = static_cast<double>(
        std::ceil(std::pow(static_cast<double>(n_), 1.0 / static_cast<double>(count))));
    std::vector<std::int64_t> offsets;
    double power = 1;
    for (std::int64_t i = 0; i < count; ++i, power *= r) {
      const auto wanted = static_cast<std::int64_t>(power);
      const std::int64_t least = offsets.empty() ? 1 : offsets.back() + 1;
      offsets.push_back(std::max(least, std::min(wanted, most - (count - 1 - i))));
    }
    return offsets;
  }

  void circulants() {
    const std::int64_t pairs = d_ / 2;
    if (d_ < 3 || n_ <= d_ || (d_ % 2 == 1 && n_ % 2 == 1)) return;
    const auto with_half = [&](std::vector<std::int64_t> offsets) {
      if (d_ % 2 == 1) offsets.push_back(n_ / 2);
      return offsets;
    };
    const std::int64_t most = (n_ - 1) / 2;
    std::set<std::vector<std::int64_t>> chosen;
    if (pairs == 2) {
      // Boesch and Wang (1985): these consecutive offsets have the fewest steps there can be.
      const auto m = static_cast<std::int64_t>(
          std::ceil((-1 + std::sqrt(2 * static_cast<double>(n_) - 1)) / 2));
      if (m + 1 <= most && m > 0) chosen.insert(with_half({m, m + 1}));
      chosen.insert(with_half({1, best_second(most)}));
    } else {
      chosen.insert(with_half(powers(pairs, most)));
    }
    for (const auto& offsets : chosen) {
      if (offsets.front() >= 1) add_circulant("circulant", offsets);
    }
  }

  // The b whose circulant of 1 and b is the nearest together.
  [[nodiscard]] std::int64_t best_second(std::int64_t most) const {
    std::int64_t best = 2;
    std::pair best_reach(std::numeric_limits<std::int64_t>::max(), std::int64_t{0});
    for (std::int64_t b = 2; b <= most; ++b) {
      const auto found = reach(n_, {1, n_ - 1, b, n_ - b});
      if (found < best_reach) std::tie(best, best_reach) = std::pair(b, found);
    }
    return best;
  }

  // Sides from large to small; a side of two takes one port, the others two.
  void tori(std::int64_t left, std::int64_t ports, std::int64_t largest,
            std::vector<std::int64_t>& sides) {
    if (left == 1 && ports == 0 && sides.size() > 1) {
      add("torus", sides);
      add_twisted(sides);
    }
    if (left == 1 || ports == 0 || sides.size() == kMostSides) return;
    for (std::int64_t side = std::min(left, largest); side >= 2; --side) {
      const std::int64_t takes = side == 2 ? 1 : 2;
      if (left % side != 0 || takes > ports) continue;
      sides.push_back(side);
      tori(left / side, ports - takes, side, sides);
      sides.pop_back();
    }
  }

  // Along every side that is even and differs from the one before.
  void add_twisted(const std::vector<std::int64_t>& sides) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      if (i > 0 && sides[i] == sides[i - 1]) continue;
      std::vector<std::int64_t> turned = sides;
      std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(i), turned.end());
      if (turned.front() > 2) add("twisted", turned);
    }
  }

  std::int64_t n_, d_;
  std::size_t randoms_;
  Expressions all_;
};

}  // namespace

std::int64_t root_of(std::int64_t target, std::int64_t power) {
  const auto near = static_cast<std::int64_t>(
      std::llround(std::pow(static_cast<double>(target), 1.0 / static_cast<double>(power))));
  for (std::int64_t base = std::max<std::int64_t>(1, near - 1); base <= near + 1; ++base) {
    std::int64_t product = 1;
    for (std::int64_t i = 0; i < power && product <= target; ++i) product *= base;
    if (product == target) return base;
  }
  return 0;
}

Expressions base_candidates(std::int64_t nodes, std::int64_t ports, std::size_t randoms) {
  return BaseGraphs(nodes, ports, randoms).take();
}

}  // namespace forestcoll::solver
