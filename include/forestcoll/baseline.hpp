// The schedules that ours are compared with: NCCL's rings and trees, the literature's, all-to-alls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// What runtimes and the search for a schedule make of an algorithm.
struct BaselineTraits {
  /// That runtime runs it by itself, where no file serves a size, as `nccl-pick` and `mscclpp-pick`
  /// have it.
  bool picked_by_nccl = false, picked_by_mscclpp = false;
  std::string_view nccl = {};  ///< as NCCL's tuner plugins call it; empty: they do not know it
  bool for_large = false;      ///< fast for large messages on many ranks
  bool for_many = false;       ///< the same on many boxes alone
  bool for_one_box = false;    ///< the same in one box of many
  bool takes_long = false;     ///< it is searched for
  bool has_box_rings = false;  ///< it follows `BaselineOptions::graph`
};

struct BaselineInfo {
  std::string_view name;    ///< for the command line: "nccl-ring"
  std::string_view title;   ///< for people: "NCCL rings"
  std::string_view source;  ///< where it was published
  std::vector<Collective> supported;
  BaselineTraits traits = {};
};
/// Whether it is for this collective.
[[nodiscard]] bool supports(const BaselineInfo& info, Collective collective);
/// nccl-ring, ring, double-tree, double-tree-direct, double-tree-binomial, nvls, halving-doubling,
/// bruck, multitree, bfb, hierarchical, greedy, pat, swing, bine, one-shot, two-shot, two-level,
/// rail-pat, two-level-pat; in this order.
[[nodiscard]] std::span<const BaselineInfo> baselines();
/// Null where there is no baseline of this name.
[[nodiscard]] const BaselineInfo* find_baseline(std::string_view name);

struct BaselineOptions {
  /// Exactly these rings in the boxes, nothing is searched for: see `BaselineTraits`.
  const NcclGraph* graph = nullptr;
  bool cross_nic = false;       ///< nccl-ring, several boxes: rails change places in pairs
  bool nccl_constants = false;  ///< search for rings at the speeds of NCCL's own table only
  /// Rings that go through another GPU between two links (NCCL's type NVB): for what they reach, as
  /// no trees have such a hop.
  enum class ThroughGpus {
    no,
    as_nccl,  ///< where the search found no others at speeds as high
    always,
  };
  ThroughGpus through_gpus = ThroughGpus::no;
  bool with_trees = false;  ///< B10 as soon as no trees describe it, without its rate
};

struct BaselineResult {
  /// Its `optimum` is 0: the caller knows the bound. Absent where no trees describe the algorithm.
  std::optional<CollectiveForest> forest;
  /// In its place, of an algorithm that copies and combines in switches. Its `optimum` is 0, too.
  std::optional<BranchingForest> branching = {};
  /// GB/s: what the most loaded link allows; exact. The forest's `algbw` is the same.
  Ratio algbw;
  std::int64_t rings = 0;  ///< of a ring algorithm, else 0
  std::string note;        ///< what is to be known of it, in a sentence; may be empty
};

/// The schedule of one baseline. Each docstring in src/baseline says where it differs from what was
/// published. A reduce-scatter is the allgather of the fabric turned round, walked backwards (rings
/// keep their direction); an allreduce is both, where the algorithm has no allreduce of its own,
/// pipelined and so at the same time: its rate is that of the link which both together load most.
/// Such an allreduce can beat the optimum of reduce-scatter then allgather, but not
/// `allreduce_optimum`. Where ranks own unequal shares, each root's trees are as wide as its share.
/// REQUIRES: `network` is the topology's; a root exactly where the collective has one.
/// Errors: B01 no Hamiltonian cycle found, B02 a number of ranks that the algorithm cannot serve,
/// B03 no switch that combines in the network, B04 too large, B05 unequal shares of which a rank
/// has none, or of an algorithm without trees, B06 not a collective of this algorithm, B07 a graph
/// file that does not fit, B08 ranks that no switches join, B09 no such baseline; E14 exact
/// arithmetic.
[[nodiscard]] Expected<BaselineResult> make_baseline(std::string_view name,
                                                     const Topology& topology,
                                                     const Network& network, Collective collective,
                                                     std::optional<Rank> root,
                                                     const BaselineOptions& options);

// The all-to-alls, scatters and gathers that ours are compared with: the orders of NCCL, and the
// literature's relays.

/// nccl-pairwise, nccl-pxn, hierarchical, bruck, binomial, direct; in this order.
[[nodiscard]] std::span<const BaselineInfo> alltoall_baselines();
/// Null where there is none of this name.
[[nodiscard]] const BaselineInfo* find_alltoall_baseline(std::string_view name);

/// Why there is none of this name for a collective: B06 it is for others alone, else B09.
[[nodiscard]] Diagnostic unknown_alltoall_baseline(std::string_view name, Collective collective);

/// The path of every pair's data in one of them, cut into k parts. What it says is where data stops
/// on its way from GPU to GPU, and in which round; between two stops the parts take paths of the
/// fewest links, of these the widest, of these those taken least so far. Where no switches join two
/// stops, the GPUs between them relay. Each docstring in src/baseline/alltoall says where it
/// differs from what was published. The rates of the result are 0, as are its rounds where the
/// algorithm has none of its own: see `complete_routes`.
/// REQUIRES: `network` is the topology's, the demand is of its ranks, k ≥ 1.
/// Errors: B02 boxes of different sizes; B04 (limit) more parts than `most_parts`; B06 an algorithm
/// for other collectives alone; B09 no such algorithm.
/// Cost: O(ranks · k · m) for the searches, and O(n) for every part.
[[nodiscard]] Expected<AlltoallRoutes> make_alltoall_baseline(std::string_view name,
                                                              const Topology& topology,
                                                              const Network& network,
                                                              const Demand& demand, std::int64_t k,
                                                              std::int64_t most_parts);

}  // namespace forestcoll
