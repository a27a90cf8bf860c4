// Fabrics for tests and benchmarks, built without the parser.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/network.hpp"

namespace forestcoll::test {

/// Collects arcs; compute nodes are 0 … compute−1, switches follow.
class FabricBuilder {
 public:
  explicit FabricBuilder(std::size_t compute, std::size_t switches = 0)
      : compute_(compute), nodes_(compute + switches) {}
  std::size_t add_switch() { return nodes_++; }
  void arc(std::size_t tail, std::size_t head, Capacity capacity);
  /// Both directions.
  void link(std::size_t a, std::size_t b, Capacity capacity);
  /// Parallel arcs summed, capacities divided by their greatest common divisor.
  [[nodiscard]] Network build() const;

 private:
  std::size_t compute_, nodes_;
  std::vector<Arc> arcs_;
  std::vector<Capacity> capacities_;
};

/// Boxes of 8 GPUs: NVSwitch 300 GB/s per GPU, one 25 GB/s NIC per GPU, odd and even switches.
Network dgx_a100(std::size_t boxes);
/// Boxes of 8 GPUs: NVSwitch 450, 50 GB/s NICs, up to 32 boxes to a unit with a leaf per rail;
/// uplinks to a spine per rail divided by `oversubscription`.
Network h100_rails(std::size_t boxes, std::int64_t oversubscription);
/// Boxes of 16 MI250 dies as in topologies/mi250-x2.json, each die with 16 GB/s to one switch.
Network mi250(std::size_t boxes);
Network torus(const std::vector<std::size_t>& sides);
Network hypercube(std::size_t dimension);
/// groups = routers·global + 1 groups of `routers` routers, `hosts` GPUs and `global` global links
/// each.
Network dragonfly(std::size_t routers, std::size_t hosts, std::size_t global);
/// The three-level fat tree of k-port switches: k³/4 GPUs.
Network fat_tree(std::size_t ports);
/// `switches` switches of `hosts` GPUs each, joined by a random regular graph.
Network jellyfish(std::size_t switches, std::size_t hosts, std::size_t degree, std::uint64_t seed);
/// `boxes` boxes of a ring-like direct fabric of `size` dies with unequal links, each die with a
/// NIC to one switch.
Network direct_boxes(std::size_t boxes, std::size_t size);

/// Imase and Itoh's digraph: i leads to −degree·i − 1, …, −degree·i − degree modulo `ranks`; loops
/// are left out. For degree^D + degree^(D−1) ranks the Kautz digraph of diameter D.
Network generalized_kautz(std::size_t ranks, std::size_t degree);
/// The graph of McKay, Miller and Širáň that slim flies are made of: 2·q² ranks of degree
/// (3·q − 1)/2. REQUIRES: q is a prime of the form 4·w + 1.
Network slim_fly(std::size_t q);
/// A random graph in which every rank has `degree` links. REQUIRES: ranks·degree is even.
Network random_regular(std::size_t ranks, std::size_t degree, std::uint64_t seed);
/// Boxes of 72 GPUs, each with 50 GB/s to each of 18 switches of the box, and a NIC of 50 GB/s to
/// one of four switches; `dead` GPUs have no NIC.
Network nvl72_planes(std::size_t boxes, std::size_t dead, std::uint64_t seed);
/// Boxes as of h100_rails with one switch per rail and no spines; `dead` GPUs have no NIC.
Network h100_rails_alone(std::size_t boxes, std::size_t dead, std::uint64_t seed);
/// `fat_tree` without `dead` of the links between its switches.
Network damaged_fat_tree(std::size_t ports, std::size_t dead, std::uint64_t seed);
/// One in a hundred of the fabric's links, at least one, at half.
Network one_percent_degraded(const Network& network, std::uint64_t seed);

/// The same fabric with the two arcs between `a` and `b` at `factor` of their capacity, below 1; 0
/// takes them out. REQUIRES: compute nodes come first, as in all fabrics of this file.
Network derated(const Network& network, NodeId a, NodeId b, const Ratio& factor);

/// A torus of 32 × 32 whose last two nodes are hard to reach together, which no cut around one node
/// shows: 1/x* = 1022/6. The flows take long enough for a stop to be seen.
Network torus_with_narrow_corner();

struct RandomOptions {
  std::size_t max_compute = 5, max_switches = 3;
  Capacity max_capacity = 6;
  bool one_way = false;     ///< arcs added as directed cycles instead of links
  bool unbalanced = false;  ///< switches' two sides may differ
};
/// A strongly connected random fabric.
Network random_fabric(std::uint64_t seed, const RandomOptions& options);
/// Of up to so many ranks and four switches: by turns wide or narrow, one-way, unbalanced.
Network fabric_of_any_sort(std::uint64_t seed, std::size_t max_compute);

}  // namespace forestcoll::test
