#include "solver/design/candidates.hpp"

#include <set>
#include <string>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/design_direct.hpp"
#include "solver/design/bfb.hpp"

namespace forestcoll::solver {
namespace {

using topology::WiringExpression;
using Kind = WiringExpression::Kind;

bool is_grid(const WiringExpression& e) {
  return e.kind == Kind::base &&
         (e.base == "ring" || e.base == "torus" || e.base == "hypercube" || e.base == "hamming");
}
bool is_product(const WiringExpression& e) {
  return e.kind == Kind::product || e.kind == Kind::power;
}

}  // namespace

// Links in order, to tell whether two expressions make the same wiring, node by node.
std::vector<std::pair<NodeId, NodeId>> links_of(const Wiring& wiring) {
  std::vector<std::pair<NodeId, NodeId>> links;
  for (const Arc& link : wiring.links) links.emplace_back(link.tail, link.head);
  return links;
}

Expressions Candidates::all(std::int64_t nodes, std::int64_t ports) {
  Expressions found = base_candidates(nodes, ports, randoms_);
  lines(nodes, ports, found);
  degrees(nodes, ports, found);
  powers(nodes, ports, found);
  products(nodes, ports, found);
  return found;
}

// The best ones of a smaller size: by steps and BFB's time, those that no other beats, then the
// next ones.
const Expressions& Candidates::best(std::int64_t nodes, std::int64_t ports) {
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
    of.bfb = bfb_time(Neighbours(*wiring), wiring->ports);
    usable.push_back(std::move(expression));
  }
  best_[{nodes, ports}] = chosen(std::move(usable), std::move(figures));
  return best_[{nodes, ports}];
}

Expressions Candidates::chosen(Expressions from, std::vector<WiringFigures> figures) const {
  Expressions best;
  while (!from.empty() && best.size() < smaller_) {
    const auto front = pareto_front(figures, DirectAim::bfb);
    Expressions rest;
    std::vector<WiringFigures> rest_figures;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (front[i] && best.size() < smaller_) {
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

void Candidates::lines(std::int64_t nodes, std::int64_t ports, Expressions& found) {
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

void Candidates::degrees(std::int64_t nodes, std::int64_t ports, Expressions& found) {
  for (std::int64_t times = 2; times <= ports; ++times) {
    if (ports % times != 0 || nodes % times != 0) continue;
    for (const WiringExpression& of : best(nodes / times, ports / times)) {
      if (of.kind != Kind::degree) found.push_back(topology::degree_expansion(of, times));
    }
  }
}

void Candidates::powers(std::int64_t nodes, std::int64_t ports, Expressions& found) {
  for (std::int64_t times = 2; times <= ports; ++times) {
    const std::int64_t factor = root_of(nodes, times);
    if (ports % times != 0 || factor < 2) continue;
    for (const WiringExpression& of : best(factor, ports / times)) {
      if (of.kind != Kind::power && !is_grid(of)) found.push_back(topology::power(of, times));
    }
  }
}

// Products of two different ones; grids with grids are tori, which stand among the base graphs.
void Candidates::products(std::int64_t nodes, std::int64_t ports, Expressions& found) {
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

}  // namespace forestcoll::solver
