// The generators, by family. Each family tells what it can make, and makes it.
#pragma once

#include <functional>
#include <vector>

#include "forestcoll/generate.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/generate/machine.hpp"
#include "topology/generate/parameters.hpp"

namespace forestcoll::topology {

/// A generator and what it runs. `make` reads all its values before it uses one; where one of them
/// was wrong (`!Parameters::ok()`), what it returns is not used.
struct Maker {
  Generator generator;
  std::function<TopologyDocument(Parameters&)> make;
};

/// Of one kind of box, its GPUs alone or clusters of it; of one kind of torus.
[[nodiscard]] Maker maker_of(const BoxModel& model);
[[nodiscard]] Maker maker_of(const TorusModel& model);

/// Bundled boxes, and the mixed cluster.
[[nodiscard]] std::vector<Maker> box_makers();
/// Bundled tori, torus, mesh, ring, hypercube, circulant, full mesh.
[[nodiscard]] std::vector<Maker> lattice_makers();
/// Fat-tree, dragonfly, BCube, jellyfish: GPUs on a network of switches.
[[nodiscard]] std::vector<Maker> network_makers();
/// Kautz, de Bruijn: one-way digraphs.
[[nodiscard]] std::vector<Maker> digraph_makers();

}  // namespace forestcoll::topology
