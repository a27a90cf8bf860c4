// Direct-connect wirings: which accelerator has a cable to which, without switches.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/digraph.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

/// A digraph of links that are all alike. Every link is one-way and has a port at either end; two
/// nodes that are linked both ways take two of them.
struct Wiring {
  std::string name;       ///< the expression that it was made of
  std::size_t nodes = 0;  ///< NodeIds 0 … nodes − 1
  std::size_t ports = 0;  ///< the most links that leave, or enter, one node
  /// By tail, then by head; parallel links stand side by side. None leads from a node to itself.
  std::vector<Arc> links = {};
};

/// Whether exactly `ports` links leave and enter every node.
[[nodiscard]] bool is_regular(const Wiring& wiring);
/// Whether as many links lead back from a node to another as there: cables that carry both ways.
[[nodiscard]] bool is_two_way(const Wiring& wiring);

/// One kind of base graph.
struct Construction {
  std::string_view name;       ///< "kautz"
  std::string_view arguments;  ///< "degree, diameter"
  std::string_view summary;    ///< one line
};
/// All of them, in an order of their own. What an expression does to them besides:
///   L(g), L3(g)   the line digraph, once or three times
///   g*n           degree expansion: every node n times, every link n² times
///   g^n           Cartesian power
///   g x h         Cartesian product
/// with parentheses where they are needed; * and ^ bind stronger than x.
[[nodiscard]] std::span<const Construction> constructions();

/// Whether `text` is meant as an expression: it begins with a construction's name, L( or (.
[[nodiscard]] bool looks_like_wiring(std::string_view text);

/// The wiring of an expression such as "L2(diamond^2)" or "circulant(16,3,4) x ring(8)".
/// Errors: G04 with the column where it cannot be read; G05 where a construction has no such
/// arguments, or the wiring would have more than 100,000 nodes or a million links.
/// Cost: linear in the wiring; random regular graphs by the degree as well.
[[nodiscard]] Expected<Wiring> make_wiring(std::string_view expression);

/// The wiring as a topology file, nodes n0, n1, …; cables that carry both ways where all do.
/// `bandwidth` of each link is as in a file: "25", "200 Gb/s".
[[nodiscard]] TopologyDocument to_document(const Wiring& wiring, const std::string& bandwidth);

}  // namespace forestcoll
