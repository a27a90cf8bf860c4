// Fabrics that are made: by name (real machines, clusters of them, and the networks of the
// literature), as wirings without switches, and as clusters that are to be bought.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/digraph.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

struct GeneratorParameter {
  std::string name;      ///< "boxes"
  std::string meaning;   ///< what it sets, with its unit
  std::string standard;  ///< the value where none is given
};

struct Generator {
  std::string name;     ///< "dgx-a100"
  std::string summary;  ///< one line
  std::vector<GeneratorParameter> parameters;
};

/// All generators, machines first, in an order of their own.
[[nodiscard]] std::vector<Generator> generators();

/// The topology file of a fabric: templates where boxes are alike, so that it stays small whatever
/// its number of GPUs; the sources of its bandwidths in `description` and `metadata`. Values are
/// as on the command line: "8", "4x4x4", "200 Gb/s", "rail". In place of a generator's name stands
/// the expression of a wiring (`make_wiring`), with the one parameter "bandwidth".
/// Errors: G01 no such generator; G02 it has no such parameter; G03 a value that cannot be; those
/// of `make_wiring`.
/// Cost: linear in the file.
[[nodiscard]] Expected<TopologyDocument> generate(
    std::string_view name, const std::map<std::string, std::string>& values = {});

/// A machine that a file describes.
struct GeneratedMachine {
  TopologyDocument document;
  Diagnostics warnings;  ///< W06: keys of the file that are not read
};

/// The same of a machine of one's own: `text` is its description, format "forestcoll-machine",
/// version 1 (docs/machines.md), `file` the name for messages. The parameters are those of bundled
/// machines: of a box with NICs "boxes", "fabric" and so on, of a torus "dims" and "bandwidth".
/// Errors: E01, E02, E05, E10, E11, E12 with their place in the file; G02, G03. What the box lacks
/// to be a fabric, `parse_topology` of the document finds.
/// Cost: linear in the files.
[[nodiscard]] Expected<GeneratedMachine> generate_machine(
    std::string_view text, std::string_view file,
    const std::map<std::string, std::string>& values = {});

// Direct-connect wirings: which accelerator has a cable to which, without switches.

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

// Clusters as they are bought: boxes, and levels of switches that are all alike within a level.

enum class ClusterLayout {
  fat_tree,   ///< all NICs of a box on one leaf
  rail,       ///< NIC r of a box on a leaf of rail r; the levels above are for all rails
  rail_only,  ///< the same, and the levels above are for each rail alone
  dragonfly,  ///< whole boxes on routers; all routers of a group joined, and each with its
              ///< counterparts in all other groups
};
[[nodiscard]] std::string_view to_string(ClusterLayout layout);

/// One fabric for so many boxes. Of leaves, pods and groups only the last may be less full than the
/// others.
struct ClusterShape {
  std::string box;  ///< a generator's name: "dgx-h100"
  std::size_t boxes = 0;
  ClusterLayout layout = ClusterLayout::rail;
  std::size_t levels = 1;          ///< of switches: 1, 2 or 3; 2 of a dragonfly
  std::size_t boxes_per_leaf = 0;  ///< of one leaf, or of one router; all of them where levels is 1
  std::size_t leaf_uplinks = 0;    ///< cables from a leaf to the level above; of a router, global
                                   ///< cables to each other group
  std::size_t leaves_per_pod = 0;  ///< 3 levels: of one pod (of one rail's part of it, where
                                   ///< rails are joined above alone); routers of a group
  std::size_t pod_uplinks = 0;     ///< 3 levels: cables from a switch of the middle level upwards
  std::size_t middle = 0;          ///< switches above the leaves: of all, or of one pod
  std::size_t top = 0;             ///< 3 levels: switches above each switch of a pod
};

/// What is to be bought, without the boxes.
struct ClusterParts {
  std::size_t leaves = 0;        ///< switches with boxes; routers of a dragonfly
  std::size_t above = 0;         ///< all other switches
  std::size_t widest_leaf = 0;   ///< the most ports that one of them has in use
  std::size_t widest_above = 0;  ///< likewise
  std::size_t box_cables = 0;    ///< from NICs to leaves
  std::size_t row_cables = 0;    ///< from leaves to the next level, or within groups
  std::size_t hall_cables = 0;   ///< above, or between groups
};

/// How many GPUs and NICs a box has, and what a NIC brings.
struct ClusterBox {
  std::size_t gpus = 0, nics = 0;
  Ratio nic_bandwidth;  ///< GB/s
};
/// Errors: G01 where no generator makes clusters of such boxes.
[[nodiscard]] Expected<ClusterBox> cluster_box(std::string_view name);

/// How many ports the switches have that there are to build of.
struct ClusterPorts {
  std::size_t leaf = 0;   ///< of leaves and routers
  std::size_t above = 0;  ///< of the levels above leaves
};

/// Shapes of so many boxes on such switches: every layout, 1 to 3 levels, oversubscribed 1, 1.5, 2,
/// 3 and 4 times at the leaves and in the middle, dragonflies with groups of three sizes. Leaves
/// and pods are as large as that allows and divide evenly, or, where they would be less than half
/// as large, have a smaller last one; of switches above there are as few as there can be.
/// REQUIRES: `cluster_box` has such boxes; at least two.
[[nodiscard]] std::vector<ClusterShape> cluster_shapes(std::string_view box, std::size_t boxes,
                                                       const ClusterPorts& ports);

/// "rail, 2 levels, 32 boxes per leaf, 2:1": tells shapes of the same boxes apart.
[[nodiscard]] std::string in_words(const ClusterShape& shape);
[[nodiscard]] ClusterParts parts_of(const ClusterShape& shape);
/// The topology file, cables of the NICs' bandwidth.
[[nodiscard]] TopologyDocument to_document(const ClusterShape& shape);

}  // namespace forestcoll
