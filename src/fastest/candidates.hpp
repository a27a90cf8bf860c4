// The algorithms that may be fastest, before they are programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::fastest {

/// A plan of MSCCL++ whose switches copy, and combine where it has no packets.
struct SwitchedPlan {
  BranchingForest trees;  ///< with the rate that the plan reaches
  ExecutionPlan plan;
  std::string name;  ///< of the plan in its file
};

struct Candidate {
  std::string algorithm;             ///< "forestcoll", or the name of a baseline or an exchange
  ChosenForest chosen;               ///< of an exchange without trees; a schedule is as asked for
  std::optional<Exchange> exchange;  ///< whole buffers in place of trees
  std::optional<AlltoallRoutes> routes = {};  ///< of an all-to-all, in place of trees
  /// Trees of height 1 of an allgather, in which threadblocks send before they receive.
  bool is_direct = false;
  /// Switches that copy in place of trees over GPUs; `chosen` is then what it is compared with.
  std::optional<SwitchedPlan> switched = {};
  /// A baseline's trees in a power of two of chunks, for a file: a runtime's own kernels have the
  /// trees as they are.
  bool is_cut = false;
  /// What `LowerOptions::waiting` is for it.
  std::int32_t waiting = LowerOptions().waiting;
  /// The place of another one that differs in that alone, whose trees it takes once these are made.
  std::optional<std::size_t> variant_of = {};
  [[nodiscard]] const CollectiveForest& forest() const { return chosen.synthesis.forest; }
  /// GB/s: what the links carry.
  [[nodiscard]] const Ratio& algbw() const {
    return switched ? switched->trees.algbw : forest().algbw;
  }
  /// Bytes up to which Simple has room for it (see `most_bytes_in_simple`).
  [[nodiscard]] std::int64_t most_in_simple(std::size_t ranks, std::int32_t instances,
                                            std::int64_t buffer_bytes) const;
  /// For people: "forestcoll, k 4, height 2".
  [[nodiscard]] std::string in_words() const;
};

/// The first are the trees over GPUs that `compile` would write. Where a number of trees is asked
/// for, these alone. Of algorithms that are asked for, if any are. For plans of MSCCL++ there
/// are no exchanges, and there are those that copy and combine in switches: our own and NVLS.
/// `settled`: what `asked` compiles. `of_low`: for trees that are lower than those of the highest
/// rate need be. Errors: those of `choose_forest` and of `bound`; B10 where none of those that are
/// wanted exists here.
[[nodiscard]] Expected<std::vector<Candidate>> find_candidates(const Fabric& fabric,
                                                               const CompileOptions& settled,
                                                               const FastestOptions& asked,
                                                               Effort of_low);

/// An exchange beside the optimum of trees, with the rate that it reaches on the links: 0 where
/// `algbw_by_peers` does not know it. Cost: that of its programs.
[[nodiscard]] Candidate exchange_candidate(const ExchangeInfo& info, const Fabric& fabric,
                                           const LowerOptions& lowering, const Ratio& optimum);

/// Whether both are written as the same plans: trees that join the same GPUs, along whatever
/// paths. Cost: O(edges).
[[nodiscard]] bool have_same_plans(const Candidate& a, const Candidate& b);

/// The programs of a candidate. Errors: those of `lower`, `lower_exchange` and `lower_alltoall`.
[[nodiscard]] Expected<Schedule> lower_candidate(const Candidate& candidate, const Fabric& fabric,
                                                 const LowerOptions& lowering);

}  // namespace forestcoll::fastest
