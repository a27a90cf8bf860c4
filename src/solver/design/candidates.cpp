#include "solver/design/candidates.hpp"

#include <set>
#include <string>
#include <vector>

#include "solver/design/figures.hpp"

namespace forestcoll::solver {
namespace {

using topology::WiringExpression;
using Kind = WiringExpression::Kind;

bool is_grid(const WiringExpression& e) {
  return e.kind == Kind::base &&
         (e.base == "ring" || e.base == "torus" || e.base == "hypercube" || e.base == "hamming");
}
bool is_random(const WiringExpression& e) {
  return e.kind == Kind::base && e.base == "random";
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

// The best ones are those that no other beats by steps, BFB's time and distances, which bound
// all-to-all. All that are alike stay: what they are expanded to may differ.
const Expressions& Candidates::to_expand(std::int64_t nodes, std::int64_t ports) {
  const auto [at, is_new] = best_.try_emplace({nodes, ports});
  if (!is_new || ports < 1 || nodes < 2) return at->second;
  Expressions usable;
  std::vector<Objectives> worth;
  std::set<std::vector<std::pair<NodeId, NodeId>>> met;
  for (WiringExpression& expression : all(nodes, ports)) {
    if (is_random(expression)) continue;
    const auto wiring = topology::build(expression);
    if (!wiring || !met.insert(links_of(*wiring)).second) continue;
    const auto distances = distances_of(*wiring);
    const auto bfb = distances ? bfb_time(Neighbours(*wiring), wiring->ports) : std::nullopt;
    if (!bfb) continue;
    worth.push_back({Ratio(static_cast<std::int64_t>(distances->steps)), *bfb, distances->sum});
    usable.push_back(std::move(expression));
  }
  const auto front = pareto_front(worth);
  for (std::size_t i = 0; i < usable.size(); ++i) {
    const bool too = expanded_ == Expanded::base_graphs_too && usable[i].kind == Kind::base;
    if (front[i] || too) at->second.push_back(std::move(usable[i]));
  }
  return at->second;
}

void Candidates::lines(std::int64_t nodes, std::int64_t ports, Expressions& found) {
  if (ports < 2) return;
  std::int64_t smaller = nodes;
  for (std::int64_t times = 1; smaller % ports == 0 && smaller / ports > 1; ++times) {
    smaller /= ports;
    for (const WiringExpression& of : to_expand(smaller, ports)) {
      // L(L(g)) is L2(g), and a Kautz digraph is a line digraph of another.
      if (of.kind == Kind::line || of.base == "kautz") continue;
      found.push_back(topology::line_graph(of, times));
    }
  }
}

void Candidates::degrees(std::int64_t nodes, std::int64_t ports, Expressions& found) {
  for (std::int64_t times = 2; times <= ports; ++times) {
    if (ports % times != 0 || nodes % times != 0) continue;
    for (const WiringExpression& of : to_expand(nodes / times, ports / times)) {
      if (of.kind != Kind::degree) found.push_back(topology::degree_expansion(of, times));
    }
  }
}

void Candidates::powers(std::int64_t nodes, std::int64_t ports, Expressions& found) {
  for (std::int64_t times = 2; times <= ports; ++times) {
    const std::int64_t factor = root_of(nodes, times);
    if (ports % times != 0 || factor < 2) continue;
    for (const WiringExpression& of : to_expand(factor, ports / times)) {
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
      const Expressions left = to_expand(a.first, a.second);
      const Expressions right = to_expand(b.first, b.second);
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
