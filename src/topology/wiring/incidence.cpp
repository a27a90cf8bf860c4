// Distance-regular graphs of valency 4, each from its definition: subsets, geometries over small
// fields, and line graphs of cubic graphs (Brouwer, Koolen 1999 list all of them but one open
// case).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>

#include "topology/wiring/base_graphs.hpp"

namespace forestcoll::topology {
namespace {

using Vector = std::vector<int>;

// Sets of points, by their numbers; each is a line of a geometry.
struct Geometry {
  NodeNumber points = 0;
  std::vector<std::vector<NodeNumber>> lines = {};
};

// Points and lines are nodes, linked where they lie on one another, or where they do not.
Links incidence(const Geometry& geometry, bool incident = true) {
  const auto lines = static_cast<NodeNumber>(geometry.lines.size());
  Links links{.nodes = geometry.points + lines};
  for (NodeNumber l = 0; l < lines; ++l) {
    const auto& line = geometry.lines[static_cast<std::size_t>(l)];
    for (NodeNumber p = 0; p < geometry.points; ++p) {
      const bool on = std::ranges::find(line, p) != line.end();
      if (on == incident) links.add_both(p, geometry.points + l);
    }
  }
  return links;
}

// Edges of a graph without direction are nodes, linked where they share an end.
Links edge_graph(const Links& graph) {
  std::vector<std::pair<NodeNumber, NodeNumber>> edges;
  for (const auto& [u, v] : graph.links) {
    if (u < v) edges.emplace_back(u, v);
  }
  Links links{.nodes = static_cast<NodeNumber>(edges.size())};
  for (std::size_t a = 0; a < edges.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto [u, v] = edges[a];
      const auto [x, y] = edges[b];
      if (u == x || u == y || v == x || v == y) {
        links.add_both(static_cast<NodeNumber>(a), static_cast<NodeNumber>(b));
      }
    }
  }
  return links;
}

// Subsets of `of` elements with `size` of them, as bits, in order.
std::vector<unsigned> subsets(unsigned of, int size) {
  std::vector<unsigned> found;
  for (unsigned set = 0; set < 1U << of; ++set) {
    if (std::popcount(set) == size) found.push_back(set);
  }
  return found;
}

// Subsets that have nothing in common are linked.
Links kneser(unsigned of, int size) {
  const auto sets = subsets(of, size);
  Links links{.nodes = static_cast<NodeNumber>(sets.size())};
  for (std::size_t a = 0; a < sets.size(); ++a) {
    for (std::size_t b = 0; b < sets.size(); ++b) {
      if ((sets[a] & sets[b]) == 0) {
        links.add(static_cast<NodeNumber>(a), static_cast<NodeNumber>(b));
      }
    }
  }
  return links;
}

// Three and four of seven, linked where one holds the other.
Links doubled_odd() {
  const auto threes = subsets(7, 3), fours = subsets(7, 4);
  Geometry geometry{.points = static_cast<NodeNumber>(threes.size())};
  for (const unsigned four : fours) {
    auto& line = geometry.lines.emplace_back();
    for (std::size_t p = 0; p < threes.size(); ++p) {
      if ((threes[p] & ~four) == 0) line.push_back(static_cast<NodeNumber>(p));
    }
  }
  return incidence(geometry);
}

// Vectors over the integers modulo a prime, one for each point of the projective space: the first
// that is not 0 is 1.
std::vector<Vector> projective_points(int prime, std::size_t coordinates) {
  std::vector<Vector> points;
  Vector v(coordinates, 0);
  while (true) {
    std::size_t at = coordinates;
    while (at > 0 && v[at - 1] == prime - 1) v[--at] = 0;
    if (at == 0) return points;
    ++v[at - 1];
    if (*std::ranges::find_if(v, [](int x) { return x != 0; }) == 1) points.push_back(v);
  }
}

// PG(2, prime).
Geometry projective_plane(int prime) {
  const auto points = projective_points(prime, 3);
  Geometry plane{.points = static_cast<NodeNumber>(points.size())};
  for (const Vector& normal : points) {
    auto& line = plane.lines.emplace_back();
    for (std::size_t p = 0; p < points.size(); ++p) {
      const int dot = std::inner_product(normal.begin(), normal.end(), points[p].begin(), 0);
      if (dot % prime == 0) line.push_back(static_cast<NodeNumber>(p));
    }
  }
  return plane;
}

// AG(2, 4) without the lines of one direction: y = m·x + b over the field of four elements.
Geometry affine_plane_of_four() {
  constexpr int kTimes[4][4] = {{0, 0, 0, 0}, {0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}};
  Geometry plane{.points = 16};
  for (const auto& by_m : kTimes) {
    for (int b = 0; b < 4; ++b) {
      auto& line = plane.lines.emplace_back();
      for (int x = 0; x < 4; ++x) line.push_back(4 * x + (by_m[x] ^ b));
    }
  }
  return plane;
}

// The points of `points` and, of the lines through two of them, those that `is_line` takes and all
// of whose points are there. A line
// over the integers modulo a prime is all combinations of two of its points.
template <class IsLine>
Geometry lines_among(const std::vector<Vector>& points, int prime, IsLine is_line) {
  Geometry geometry{.points = static_cast<NodeNumber>(points.size())};
  const auto number_of = [&](const Vector& v) -> std::optional<NodeNumber> {
    const auto at = std::ranges::lower_bound(points, v);
    if (at == points.end() || *at != v) return std::nullopt;
    return at - points.begin();
  };
  for (std::size_t a = 0; a < points.size(); ++a) {
    for (std::size_t b = a + 1; b < points.size(); ++b) {
      if (!is_line(points[a], points[b])) continue;
      std::vector<NodeNumber> line = {static_cast<NodeNumber>(a)};
      for (int factor = 0; factor < prime; ++factor) {
        Vector sum = points[b];
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * points[a][i];
        // Scaled so that the first that is not 0 is 1; the factors are their own inverses.
        for (int& x : sum) x %= prime;
        const int first = *std::ranges::find_if(sum, [](int x) { return x != 0; });
        for (int& x : sum) x = x * first % prime;
        if (const auto p = number_of(sum)) line.push_back(*p);
      }
      std::ranges::sort(line);
      // Whole lines only; each is met once per pair of its points, and kept at the first.
      if (line.size() <= static_cast<std::size_t>(prime)) continue;
      if (line[0] == static_cast<NodeNumber>(a) && line[1] == static_cast<NodeNumber>(b)) {
        geometry.lines.push_back(std::move(line));
      }
    }
  }
  return geometry;
}

// The symplectic generalized quadrangle W(prime): all points of PG(3, prime), and the lines on
// which the form x0·y1 − x1·y0 + x2·y3 − x3·y2 vanishes. `prime` is 2 or 3.
Geometry quadrangle(int prime) {
  return lines_among(projective_points(prime, 4), prime, [prime](const Vector& x, const Vector& y) {
    return (x[0] * y[1] - x[1] * y[0] + x[2] * y[3] - x[3] * y[2]) % prime == 0;
  });
}

// The split Cayley hexagon H(prime): the points of the quadric x0·x4 + x1·x5 + x2·x6 = x3², and of
// its lines those whose Grassmann coordinates p(i,j) = x(i)·y(j) − x(j)·y(i) satisfy p12 = p34,
// p54 = p32, p20 = p35, p65 = p30, p01 = p36 and p46 = p31 (Tits 1959; Van Maldeghem, Generalized
// Polygons, 1998). `prime` is 2 or 3.
Geometry hexagon(int prime) {
  auto points = projective_points(prime, 7);
  std::erase_if(points, [prime](const Vector& x) {
    return (x[0] * x[4] + x[1] * x[5] + x[2] * x[6] - x[3] * x[3]) % prime != 0;
  });
  constexpr std::array<std::array<std::size_t, 4>, 6> kEqual = {
      {{1, 2, 3, 4}, {5, 4, 3, 2}, {2, 0, 3, 5}, {6, 5, 3, 0}, {0, 1, 3, 6}, {4, 6, 3, 1}}};
  return lines_among(points, prime, [&](const Vector& x, const Vector& y) {
    const auto p = [&](std::size_t i, std::size_t j) { return x[i] * y[j] - x[j] * y[i]; };
    return std::ranges::all_of(
        kEqual, [&](const auto& e) { return (p(e[0], e[1]) - p(e[2], e[3])) % prime == 0; });
  });
}

// The complete bipartite graph of five and five without a perfect matching.
Links without_matching() {
  Links links{.nodes = 10};
  for (NodeNumber u = 0; u < 5; ++u) {
    for (NodeNumber v = 0; v < 5; ++v) {
      if (u != v) links.add_both(u, 5 + v);
    }
  }
  return links;
}

// K(2,2,2).
Links octahedron() {
  Links links{.nodes = 6};
  for (NodeNumber u = 0; u < 6; ++u) {
    for (NodeNumber v = 0; v < u; ++v) {
      if (u != v + 3) links.add_both(u, v);
    }
  }
  return links;
}

// Those that are nobody else's name: complete(5), bipartite(4), hamming(2,3) and hypercube(4) are
// the ones of 5, 8, 9 and 16 nodes.
Expected<Links> distance_regular(Arguments a) {
  switch (a[0]) {
    case 6:
      return octahedron();
    case 10:
      return without_matching();
    case 14:
      return incidence(projective_plane(2), false);
    case 15:
      return edge_graph(kneser(5, 2));  // of the Petersen graph
    case 21:
      return edge_graph(incidence(projective_plane(2)));  // of the Heawood graph
    case 26:
      return incidence(projective_plane(3));
    case 32:
      return incidence(affine_plane_of_four());
    case 35:
      return kneser(7, 3);  // the odd graph
    case 45:
      return edge_graph(incidence(quadrangle(2)));  // of Tutte's 8-cage
    case 70:
      return doubled_odd();
    case 80:
      return incidence(quadrangle(3));
    case 189:
      return edge_graph(incidence(hexagon(2)));  // of Tutte's 12-cage
    case 728:
      return incidence(hexagon(3));
    default:
      return no_such_graph(fmt::format("none of {} nodes", a[0]),
                           "There are 6, 10, 14, 15, 21, 26, 32, 35, 45, 70, 80, 189 and 728; "
                           "complete(5), bipartite(4), hamming(2,3) and hypercube(4) are those of "
                           "5, 8, 9 and 16.");
  }
}

}  // namespace

std::vector<BaseGraph> incidence_graphs() {
  return {{{"distance-regular", "nodes", "a distance-regular graph with 4 ports, cables both ways"},
           1,
           1,
           distance_regular}};
}

}  // namespace forestcoll::topology
