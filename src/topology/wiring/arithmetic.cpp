// Base graphs by arithmetic on node numbers, and random ones.
#include <fmt/format.h>

#include <numeric>

#include "topology/generate/jellyfish.hpp"
#include "topology/wiring/base_graphs.hpp"

namespace forestcoll::topology {
namespace {

Expected<void> check_arithmetic(std::int64_t degree, std::int64_t nodes) {
  if (degree < 1 || nodes < 2) {
    return no_such_graph("a degree below 1 or fewer than two nodes", "Give larger numbers.");
  }
  return check_wiring_size(nodes, bounded_product(nodes, degree));
}

// Π(d, n): i leads to −(d·i + q) mod n for q = 1 … d (Imase, Itoh 1981). Where n is
// d^D + d^(D − 1) that is the Kautz digraph; for other n some nodes may have loops.
Expected<Links> generalized_kautz(std::int64_t degree, std::int64_t n) {
  if (const auto fits = check_arithmetic(degree, n); !fits) return fits.errors();
  if (degree >= n) return no_such_graph("as many ports as nodes, or more", "Give more nodes.");
  Links links{.nodes = n};
  for (NodeNumber i = 0; i < n; ++i) {
    for (std::int64_t q = 1; q <= degree; ++q) links.add(i, (n - (degree * i + q) % n) % n);
  }
  return links;
}

Expected<Links> kautz_digraph(Arguments a) {
  const auto [degree, diameter] = std::pair(a[0], a[1]);
  if (degree < 1 || diameter < 1) {
    return no_such_graph("a degree or a diameter below 1", "Give larger numbers.");
  }
  const std::int64_t n = bounded_power(degree, diameter) + bounded_power(degree, diameter - 1);
  return generalized_kautz(degree, n);
}

Expected<Links> joined(Expected<Links> links) {
  if (links) join_loops(*links);
  return links;
}

// i leads to d·i + q mod d^D, q = 0 … d − 1 (de Bruijn 1946), the d loops joined.
Expected<Links> modified_de_bruijn(Arguments a) {
  const auto [degree, diameter] = std::pair(a[0], a[1]);
  if (degree < 2 || diameter < 1) {
    return no_such_graph("a degree below 2 or a diameter below 1", "Give larger numbers.");
  }
  const std::int64_t n = bounded_power(degree, diameter);
  if (const auto fits = check_arithmetic(degree, n); !fits) return fits.errors();
  Links links{.nodes = n};
  for (NodeNumber i = 0; i < n; ++i) {
    for (std::int64_t q = 0; q < degree; ++q) links.add(i, (degree * i + q) % n);
  }
  join_loops(links);
  return links;
}

// The offsets after the first argument, which is n.
Expected<Links> offsets_on(Arguments a, bool both_ways) {
  const std::int64_t n = a[0];
  const Arguments offsets = a.subspan(1);
  if (const auto fits = check_arithmetic(2 * static_cast<std::int64_t>(offsets.size()), n); !fits) {
    return fits.errors();
  }
  std::int64_t divisor = n;
  for (const std::int64_t offset : offsets) {
    if (offset < 1 || offset > (both_ways ? n / 2 : n - 1)) {
      return no_such_graph(fmt::format("{} is no offset on a ring of {}", offset, n),
                           both_ways ? "Count the shorter way round." : "Give one below that.");
    }
    divisor = std::gcd(divisor, offset);
  }
  if (divisor != 1) {
    return no_such_graph(
        fmt::format("the offsets and {} share the divisor {}: not all nodes are reached", n,
                    divisor),
        "Add the offset 1.");
  }
  Links links{.nodes = n};
  for (NodeNumber i = 0; i < n; ++i) {
    for (const std::int64_t offset : offsets) {
      links.add(i, (i + offset) % n);
      // Half of the ring is the same node either way.
      if (both_ways && 2 * offset != n) links.add((i + offset) % n, i);
    }
  }
  return links;
}

Expected<Links> random_regular(Arguments a) {
  const auto [n, degree, seed] = std::tuple(a[0], a[1], a[2]);
  if (const auto fits = check_arithmetic(degree, n); !fits) return fits.errors();
  if (degree >= n || degree * n % 2 != 0) {
    return no_such_graph(fmt::format("{} nodes cannot have {} cables to others each", n, degree),
                         "Give a smaller degree; it or the number of nodes must be even.");
  }
  const auto neighbours =
      random_regular_graph(static_cast<std::size_t>(n), static_cast<std::size_t>(degree),
                           static_cast<std::uint64_t>(seed));
  if (!neighbours) {
    return no_such_graph("no connected one was found", "Give a larger degree, or another seed.");
  }
  Links links{.nodes = n};
  for (std::size_t u = 0; u < neighbours->size(); ++u) {
    for (const std::size_t v : (*neighbours)[u]) {
      links.add(static_cast<NodeNumber>(u), static_cast<NodeNumber>(v));
    }
  }
  return links;
}

// Published are its 8 nodes, 2 ports, 3 steps and T_B = 7/8. Of all digraphs of 8 nodes with two
// links from and to each, two have these figures, up to renaming: this circulant, and one with
// cycles of three.
Expected<Links> diamond(Arguments a) {
  const std::int64_t which = a.empty() ? 1 : a[0];
  if (which == 1) {
    constexpr std::int64_t kOfCirculant[] = {8, 1, 3};
    return offsets_on(kOfCirculant, false);
  }
  if (which != 2) return no_such_graph(fmt::format("no number {}", which), "Choose 1 or 2.");
  constexpr NodeNumber kHeads[8][2] = {{1, 2}, {3, 4}, {3, 5}, {0, 6},
                                       {0, 7}, {4, 6}, {2, 7}, {1, 5}};
  Links links{.nodes = 8};
  for (NodeNumber i = 0; i < 8; ++i) {
    for (const NodeNumber head : kHeads[i]) links.add(i, head);
  }
  return links;
}

}  // namespace

std::vector<BaseGraph> arithmetic_graphs() {
  constexpr std::size_t kMostOffsets = 64;
  return {
      {{"kautz", "degree, diameter", "the Kautz digraph, one-way links"}, 2, 2, kautz_digraph},
      {{"genkautz", "degree, nodes",
        "the generalized Kautz digraph of Imase and Itoh; ports of loops stay empty"},
       2,
       2,
       [](Arguments a) { return generalized_kautz(a[0], a[1]); }},
      {{"genkautz-joined", "degree, nodes", "the same, the ports of loops joined to one another"},
       2,
       2,
       [](Arguments a) { return joined(generalized_kautz(a[0], a[1])); }},
      {{"debruijn", "degree, diameter", "the de Bruijn digraph, its loops joined in a ring"},
       2,
       2,
       modified_de_bruijn},
      {{"circulant", "nodes, offsets", "nodes on a ring, linked over these distances, both ways"},
       2,
       kMostOffsets,
       [](Arguments a) { return offsets_on(a, true); }},
      {{"dicirculant", "nodes, offsets", "the same, forwards only"},
       2,
       kMostOffsets,
       [](Arguments a) { return offsets_on(a, false); }},
      {{"diamond", "which",
        "8 nodes with 2 ports, 3 steps apart: dicirculant(8,1,3), or 2: another"},
       0,
       1,
       diamond},
      {{"random", "nodes, degree, seed", "a random regular graph, cables both ways"},
       3,
       3,
       random_regular}};
}

}  // namespace forestcoll::topology
