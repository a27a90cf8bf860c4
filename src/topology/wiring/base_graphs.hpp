// The base graphs of expressions, by family. Each family tells what it can make, and makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"

namespace forestcoll::topology {

/// Nodes are numbers; a link is a pair of them.
using NodeNumber = std::int64_t;
struct Links {
  NodeNumber nodes = 0;
  std::vector<std::pair<NodeNumber, NodeNumber>> links = {};

  void add(NodeNumber from, NodeNumber to) { links.emplace_back(from, to); }
  void add_both(NodeNumber a, NodeNumber b) {
    add(a, b);
    add(b, a);
  }
};

using Arguments = std::span<const std::int64_t>;

struct BaseGraph {
  Construction info;
  std::size_t least = 1, most = 1;  ///< how many arguments
  /// Errors: G05, without the graph's name, which the caller adds. Loops are left out by the
  /// caller.
  std::function<Expected<Links>(Arguments)> make;
};

/// complete, bipartite, hamming, hypercube, ring, biring, uniring, torus, twisted.
[[nodiscard]] std::vector<BaseGraph> grid_graphs();
/// kautz, genkautz, genkautz-joined, debruijn, circulant, dicirculant, diamond, random.
[[nodiscard]] std::vector<BaseGraph> arithmetic_graphs();
/// distance-regular.
[[nodiscard]] std::vector<BaseGraph> incidence_graphs();

/// All of them. Built once.
[[nodiscard]] const std::vector<BaseGraph>& base_graphs();

/// G05 with these words.
[[nodiscard]] Diagnostic no_such_graph(std::string problem, std::string remedy);
/// G05 where a graph would be too large; `nodes` and `links` may be cut off above the limits.
[[nodiscard]] Expected<void> check_wiring_size(std::int64_t nodes, std::int64_t links);
/// base^power, or a number above all limits where that is more. REQUIRES: base ≥ 1, power ≥ 0.
[[nodiscard]] std::int64_t bounded_power(std::int64_t base, std::int64_t power);
/// a · b likewise. REQUIRES: neither is negative.
[[nodiscard]] std::int64_t bounded_product(std::int64_t a, std::int64_t b);

/// The wiring of such links: loops left out, in order.
[[nodiscard]] Wiring wired(std::string name, const Links& links);

/// Free ports of loops are joined: every node that has a loop leads to the next one that has, the
/// last to the first, instead of to itself; a single one is put into the first link that it is not
/// an end of.
void join_loops(Links& links);

}  // namespace forestcoll::topology
