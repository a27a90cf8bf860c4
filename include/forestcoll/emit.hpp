// Pure functions from forests and schedules to text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

struct XmlOptions {
  std::string protocol = "Simple";
  std::int64_t min_bytes = 0;
  std::optional<std::int64_t> max_bytes = {};  ///< none: the target's default
  /// `NCCL_BUFFSIZE` that the schedule is made for, said in an attribute that runtimes pass over;
  /// 0: what they have by themselves.
  std::int64_t buffer_bytes = 0;
  std::string algorithm = {};  ///< whose schedule it is, said in a comment; empty: forestcoll's
};

/// MSCCL XML, in the lexical form that the runtimes' parsers accept, headed by comments that name
/// the tool's version, the topology with the hash of its content, k, the rate and the optimum.
/// REQUIRES: `schedule` was lowered from `forest` on `topology`; of an all-to-all, `forest` has the
/// optimum alone.
[[nodiscard]] std::string to_msccl_xml(const Schedule& schedule, const CollectiveForest& forest,
                                       const Topology& topology, const XmlOptions& options);
/// {"format":"forestcoll-forest","version":1,…}, one tree per line; the schema is
/// tools/schema/forestcoll-forest.schema.json. In-trees have their edges from child to parent,
/// in the order in which data flows. Cost: linear in the text.
[[nodiscard]] std::string to_forest_json(const CollectiveForest& forest, const Topology& topology);
/// The same with "version":2, as short as the solver found it: "symmetry" gives automorphisms of
/// the fabric, each with its order and its cycles, and a tree with "images":true stands for its
/// images under all products of their powers. Other trees stand for themselves. Made for fabrics
/// whose trees would take gigabytes one by one; `verify` reads both.
[[nodiscard]] std::string to_symmetric_forest_json(const CollectiveForest& forest,
                                                   const Topology& topology);
/// The tree XML of the ForestColl reference tool: `tree root index nchunks height` with
/// `send src dst path`. Trees of allreduce carry phase="reduce" or phase="broadcast".
[[nodiscard]] std::string to_forest_xml(const CollectiveForest& forest, const Topology& topology);
/// Graphviz: every tree is a cluster, its edges labelled with the switches that they pass. Draws
/// all trees: meant for fabrics of up to some dozens of ranks.
[[nodiscard]] std::string to_dot(const CollectiveForest& forest, const Topology& topology);

// Forest JSON and pictures of trees that branch at switches.

/// {"format":"forestcoll-forest","version":3,…}: as version 1, but a switch that copies or combines
/// stands as an end of edges, or of an allreduce as a root; and instead of k and weights there is
/// the number of `chunks` that the data is cut into. The schema is
/// tools/schema/forestcoll-forest.schema.json. Cost: linear in the text.
[[nodiscard]] std::string to_forest_json(const BranchingForest& forest, const Topology& topology);
/// Graphviz, one cluster per tree; switches at which it branches are ellipses. Cost: linear in the
/// text.
[[nodiscard]] std::string to_dot(const BranchingForest& forest, const Topology& topology);

}  // namespace forestcoll
