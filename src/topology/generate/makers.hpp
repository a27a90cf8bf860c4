// The generators, by family. Each family tells what it can make, and makes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "forestcoll/generate.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/generate/parameters.hpp"

namespace forestcoll::topology {

/// A generator and what it runs. `make` reads all its values before it uses one; where one of them
/// was wrong (`!Parameters::ok()`), what it returns is not used.
struct Maker {
  Generator generator;
  std::function<TopologyDocument(Parameters&)> make;
};

/// DGX, GB200, MI250, MI300X: one box, or clusters of them.
[[nodiscard]] std::vector<Maker> box_makers();
/// Torus, mesh, ring, hypercube, circulant, full mesh, TPU slices.
[[nodiscard]] std::vector<Maker> lattice_makers();
/// Fat-tree, dragonfly, BCube, jellyfish: GPUs on a network of switches.
[[nodiscard]] std::vector<Maker> network_makers();
/// Kautz, de Bruijn: one-way digraphs.
[[nodiscard]] std::vector<Maker> digraph_makers();

}  // namespace forestcoll::topology
