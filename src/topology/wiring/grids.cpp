// Base graphs whose nodes are points of a ring or a grid, or are all alike.
#include <fmt/format.h>

#include "topology/wiring/base_graphs.hpp"

namespace forestcoll::topology {
namespace {

// Each of n nodes linked to each.
Expected<Links> complete(Arguments a) {
  const std::int64_t n = a[0];
  if (n < 2) return no_such_graph("fewer than two nodes", "Give at least 2.");
  if (const auto fits = check_wiring_size(n, bounded_product(n, n - 1)); !fits)
    return fits.errors();
  Links links{.nodes = n};
  for (NodeNumber u = 0; u < n; ++u) {
    for (NodeNumber v = 0; v < n; ++v) {
      if (u != v) links.add(u, v);
    }
  }
  return links;
}

// Two sides of n nodes, each linked to all of the other side.
Expected<Links> bipartite(Arguments a) {
  const std::int64_t n = a[0];
  if (n < 1) return no_such_graph("a side without nodes", "Give at least 1.");
  if (const auto fits = check_wiring_size(2 * n, bounded_product(2 * n, n)); !fits) {
    return fits.errors();
  }
  Links links{.nodes = 2 * n};
  for (NodeNumber u = 0; u < n; ++u) {
    for (NodeNumber v = 0; v < n; ++v) links.add_both(u, n + v);
  }
  return links;
}

// Words of `length` letters below q, linked where one letter differs.
Expected<Links> words(std::int64_t length, std::int64_t q) {
  if (length < 1 || q < 2) return no_such_graph("fewer than two words", "Give at least 1 and 2.");
  const std::int64_t n = bounded_power(q, length);
  if (const auto fits = check_wiring_size(n, bounded_product(n, bounded_product(length, q - 1)));
      !fits) {
    return fits.errors();
  }
  Links links{.nodes = n};
  for (NodeNumber u = 0; u < n; ++u) {
    for (NodeNumber place = 1; place < n; place *= q) {
      const NodeNumber letter = u / place % q;
      for (NodeNumber other = 0; other < q; ++other) {
        if (other != letter) links.add(u, u + (other - letter) * place);
      }
    }
  }
  return links;
}

// `ports` parallel links from each node to the next, or half of them each way.
Expected<Links> cable_ring(std::int64_t n, std::int64_t ports, bool both_ways) {
  if (n < 2 || ports < 1) {
    return no_such_graph("a ring needs two nodes and a port", "Give larger numbers.");
  }
  if (both_ways && ports % 2 != 0) {
    return no_such_graph("a ring both ways with an odd number of ports", "Give an even one.");
  }
  if (const auto fits = check_wiring_size(n, bounded_product(n, ports)); !fits) {
    return fits.errors();
  }
  Links links{.nodes = n};
  for (NodeNumber u = 0; u < n; ++u) {
    const NodeNumber next = (u + 1) % n;
    for (std::int64_t p = 0; p < (both_ways ? ports / 2 : ports); ++p) {
      both_ways ? links.add_both(u, next) : links.add(u, next);
    }
  }
  return links;
}

// The wrap-around cables of all sides but the first end `twist` further on along the first.
Expected<Links> grid_of(Arguments sides, std::int64_t twist) {
  std::int64_t n = 1;
  for (const std::int64_t side : sides) {
    if (side < 2) return no_such_graph("a side of fewer than two nodes", "Leave it out.");
    n = bounded_product(n, side);
  }
  if (const auto fits =
          check_wiring_size(n, bounded_product(n, 2 * static_cast<std::int64_t>(sides.size())));
      !fits) {
    return fits.errors();
  }
  Links links{.nodes = n};
  const std::int64_t first = sides.front();
  for (NodeNumber u = 0; u < n; ++u) {
    NodeNumber stride = 1;
    for (const std::int64_t side : sides) {
      const bool wraps = u / stride % side == side - 1;
      NodeNumber next = wraps ? u - (side - 1) * stride : u + stride;
      if (wraps && stride > 1) next += (u % first + twist) % first - u % first;
      // In a side of two without a twist, there and back is one cable.
      const bool one_cable = side == 2 && (stride == 1 || twist == 0);
      if (!one_cable || !wraps) links.add_both(u, next);
      stride *= side;
    }
  }
  return links;
}

Expected<Links> twisted(Arguments sides) {
  if (sides.front() % 2 != 0) {
    return no_such_graph("the twist is half of the first side, which is odd",
                         "Begin with an even side.");
  }
  return grid_of(sides, sides.front() / 2);
}

}  // namespace

std::vector<BaseGraph> grid_graphs() {
  constexpr std::size_t kMostSides = 16;
  return {
      {{"complete", "nodes", "each node linked to each"}, 1, 1, complete},
      {{"bipartite", "side", "two sides of so many nodes, each linked to all of the other side"},
       1,
       1,
       bipartite},
      {{"hamming", "length, letters", "words of so many letters, linked where one letter differs"},
       2,
       2,
       [](Arguments a) { return words(a[0], a[1]); }},
      {{"hypercube", "dimensions", "words of zeros and ones, likewise"},
       1,
       1,
       [](Arguments a) { return words(a[0], 2); }},
      {{"ring", "nodes", "a ring, a cable from each node to the next"},
       1,
       1,
       [](Arguments a) { return cable_ring(a[0], 2, true); }},
      {{"biring", "ports, nodes", "a ring with half of the ports each way"},
       2,
       2,
       [](Arguments a) { return cable_ring(a[1], a[0], true); }},
      {{"uniring", "ports, nodes", "a one-way ring of parallel links"},
       2,
       2,
       [](Arguments a) { return cable_ring(a[1], a[0], false); }},
      {{"torus", "sides", "a torus; a side of two has one cable, not two"},
       1,
       kMostSides,
       [](Arguments a) { return grid_of(a, 0); }},
      {{"twisted", "sides",
        "a torus whose wrap-around cables of all other sides are shifted by half of the first"},
       2,
       kMostSides,
       twisted}};
}

}  // namespace forestcoll::topology
