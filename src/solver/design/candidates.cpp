// Everything that reaches a number of nodes and ports.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/design_direct.hpp"
#include "solver/design/bfb.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll {
namespace {

using topology::base_graph;
using topology::WiringExpression;
using Kind = WiringExpression::Kind;
using Expressions = std::vector<WiringExpression>;

constexpr std::size_t kMostPorts = 16;
constexpr std::size_t kMostSides = 8;

// base^power where that is `target`, or 0.
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

// Links in order, to tell whether two expressions make the same wiring, node by node.
std::vector<std::pair<NodeId, NodeId>> links_of(const Wiring& wiring) {
  std::vector<std::pair<NodeId, NodeId>> links;
  for (const Arc& link : wiring.links) links.emplace_back(link.tail, link.head);
  return links;
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
    if (d_ == 2 && n_ == 8) add("diamond", {});
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

// Base graphs and expansions, by size.
class Candidates {
 public:
  explicit Candidates(const DirectRequest& request) : request_(request) {}

  Expressions all(std::int64_t nodes, std::int64_t ports) {
    Expressions found = BaseGraphs(nodes, ports, request_.randoms).take();
    lines(nodes, ports, found);
    degrees(nodes, ports, found);
    powers(nodes, ports, found);
    products(nodes, ports, found);
    return found;
  }

 private:
  // The best ones of a smaller size: by steps and BFB's time, those that no other beats, then the
  // next ones.
  const Expressions& best(std::int64_t nodes, std::int64_t ports) {
    const auto [at, is_new] = best_.try_emplace({nodes, ports});
    if (!is_new || ports < 1 || nodes < 2) return at->second;
    Expressions found = all(nodes, ports);
    std::erase_if(found, [](const auto& e) { return e.kind == Kind::base && e.base == "random"; });
    std::vector<WiringFigures> figures;
    Expressions usable;
    std::set<std::vector<std::pair<NodeId, NodeId>>> met;
    for (WiringExpression& expression : found) {
      const auto wiring = topology::build(expression);
      if (wiring && !met.insert(links_of(*wiring)).second) continue;
      const auto distances = wiring ? distances_of(*wiring) : std::nullopt;
      if (!distances) continue;
      auto& of = figures.emplace_back();
      of.steps = distances->steps;
      of.bfb = solver::bfb_time(solver::Neighbours(*wiring), wiring->ports);
      usable.push_back(std::move(expression));
    }
    best_[{nodes, ports}] = chosen(std::move(usable), std::move(figures));
    return best_[{nodes, ports}];
  }

  [[nodiscard]] Expressions chosen(Expressions from, std::vector<WiringFigures> figures) const {
    Expressions best;
    while (!from.empty() && best.size() < request_.smaller) {
      const auto front = pareto_front(figures, DirectAim::bfb);
      Expressions rest;
      std::vector<WiringFigures> rest_figures;
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (front[i] && best.size() < request_.smaller) {
          best.push_back(std::move(from[i]));
        } else if (!front[i]) {
          rest.push_back(std::move(from[i]));
          rest_figures.push_back(figures[i]);
        }
      }
      from = std::move(rest);
      figures = std::move(rest_figures);
    }
    return best;
  }

  void lines(std::int64_t nodes, std::int64_t ports, Expressions& found) {
    if (ports < 2) return;
    std::int64_t smaller = nodes;
    for (std::int64_t times = 1; smaller % ports == 0 && smaller / ports > 1; ++times) {
      smaller /= ports;
      for (const WiringExpression& of : best(smaller, ports)) {
        // L(L(g)) is L2(g), and a Kautz digraph is a line digraph of another.
        if (of.kind == Kind::line || of.base == "kautz") continue;
        found.push_back(topology::line_graph(of, times));
      }
    }
  }

  void degrees(std::int64_t nodes, std::int64_t ports, Expressions& found) {
    for (std::int64_t times = 2; times <= ports; ++times) {
      if (ports % times != 0 || nodes % times != 0) continue;
      for (const WiringExpression& of : best(nodes / times, ports / times)) {
        if (of.kind != Kind::degree) found.push_back(topology::degree_expansion(of, times));
      }
    }
  }

  void powers(std::int64_t nodes, std::int64_t ports, Expressions& found) {
    for (std::int64_t times = 2; times <= ports; ++times) {
      const std::int64_t factor = root_of(nodes, times);
      if (ports % times != 0 || factor < 2) continue;
      for (const WiringExpression& of : best(factor, ports / times)) {
        if (of.kind != Kind::power && !is_grid(of)) found.push_back(topology::power(of, times));
      }
    }
  }

  // Products of two different ones; grids with grids are tori, which stand among the base graphs.
  void products(std::int64_t nodes, std::int64_t ports, Expressions& found) {
    for (std::int64_t first = 2; first <= nodes / 2; ++first) {
      if (nodes % first != 0) continue;
      for (std::int64_t of_first = 1; of_first < ports; ++of_first) {
        const std::pair a(first, of_first), b(nodes / first, ports - of_first);
        if (b < a) continue;
        const Expressions left = best(a.first, a.second);
        const Expressions right = best(b.first, b.second);
        for (const WiringExpression& x : left) {
          for (const WiringExpression& y : right) {
            const std::string of_x = to_string(x), of_y = to_string(y);
            const bool alike = a == b && of_y <= of_x;
            if (alike || (is_grid(x) && is_grid(y)) || is_product(x) || is_product(y)) continue;
            found.push_back(topology::product(x, y));
          }
        }
      }
    }
  }

  static bool is_grid(const WiringExpression& e) {
    return e.kind == Kind::base &&
           (e.base == "ring" || e.base == "torus" || e.base == "hypercube" || e.base == "hamming");
  }
  static bool is_product(const WiringExpression& e) {
    return e.kind == Kind::product || e.kind == Kind::power;
  }

  const DirectRequest& request_;
  std::map<std::pair<std::int64_t, std::int64_t>, Expressions> best_;
};

Diagnostic no_wiring(std::string problem, std::string remedy) {
  return make_error("K01", std::move(problem), std::move(remedy));
}

Expected<void> check(const DirectRequest& request) {
  const auto [n, d] = std::pair(request.nodes, request.ports);
  if (n < 2 || n > kMostStudiedNodes) {
    return no_wiring(
        fmt::format("{} nodes: a wiring is studied from 2 to {}", n, kMostStudiedNodes),
        "Ask for a number in between.");
  }
  if (d < 1 || d > kMostPorts) {
    return no_wiring(fmt::format("{} ports: a wiring is studied from 1 to {}", d, kMostPorts),
                     "Ask for a number in between.");
  }
  if (d >= n) {
    return no_wiring(
        fmt::format("{} nodes have {} others each, fewer than their {} ports", n, n - 1, d),
        fmt::format("Ask for at most {} ports.", n - 1));
  }
  if (request.two_way && n * d % 2 != 0) {
    return no_wiring(
        fmt::format("{} nodes of {} ports: a cable both ways takes two ports, and {} is odd", n, d,
                    n * d),
        "Ask for an even number of nodes or ports, or for one-way links too.");
  }
  if (request.two_way && d == 1 && n > 2) {
    return no_wiring("cables both ways on one port join pairs, which do not reach one another",
                     "Ask for two ports.");
  }
  return {};
}

}  // namespace

Expected<std::vector<std::string>> direct_candidates(const DirectRequest& request) {
  if (const auto possible = check(request); !possible) return possible.errors();
  std::set<std::vector<std::pair<NodeId, NodeId>>> met;
  std::vector<std::string> names;
  for (const WiringExpression& expression : Candidates(request).all(
           static_cast<std::int64_t>(request.nodes), static_cast<std::int64_t>(request.ports))) {
    const auto wiring = topology::build(expression);
    if (!wiring || (request.two_way && !is_two_way(*wiring))) continue;
    if (met.insert(links_of(*wiring)).second) names.push_back(wiring->name);
  }
  if (names.empty()) {
    return no_wiring(
        fmt::format("no construction has {} nodes of {} ports", request.nodes, request.ports),
        "Ask for one node or port more, or for one-way links too.");
  }
  return names;
}

}  // namespace forestcoll
