// The facade for all-to-all: from a fabric, and what is asked for, to a verified artefact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/alltoall_routes.hpp"
#include "forestcoll/alltoall_schedule.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/parse_demand.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {

/// What an all-to-all is written as; `none`: it is solved and verified, and not for writing.
enum class AlltoallFormat { msccl, mscclpp, flows, none };

struct AlltoallCompileOptions {
  AlltoallOptions solver = {};
  /// The optimum where it is known already; null: it is found with `solver`.
  const AlltoallProof* proof = nullptr;
  std::string algorithm = {};  ///< of `alltoall_baselines`; empty: ours
  /// Parts per pair; of a baseline, none is 1. None: of the powers of two up to `max_k`, the
  /// smallest that is within 1 % of the best of them; larger ones are tried as long as they fit the
  /// target and there are few pairs.
  std::optional<std::int64_t> k = {};
  std::int64_t max_k = 8;
  /// What a rank sends, in bytes, for which ours is the fastest by simulation of several schedules;
  /// see `compile_alltoall`. None: as for so much that links alone count.
  std::optional<std::int64_t> bytes = {};
  AlltoallFormat format = AlltoallFormat::msccl;
  AlltoallLowerOptions lowering = {};
  bool in_place = false;  ///< for calls in place: plans of MSCCL++ alone
  XmlOptions xml = {};
  std::int32_t sms = 108;  ///< threadblocks that a GPU holds at once
};

/// What a number of parts reaches.
struct AlltoallAtK {
  std::int64_t k = 1;
  Ratio algbw;  ///< GB/s
};

struct AlltoallSeconds {
  double optimum = 0;
  double route = 0, lower = 0, emit = 0, verify = 0;  ///< of all k that were tried
};

struct AlltoallCompilation {
  AlltoallProof proof;
  /// Paths by links for flows, by peers for programs, where the runtime chooses the links.
  AlltoallRoutes routes;
  Ratio optimum;  ///< GB/s of algbw that no schedule exceeds
  Ratio algbw;    ///< GB/s that the artefact reaches, by the checker's addition
  std::optional<Ratio> algbw_in_rounds;  ///< of flows, where every round waits for the one before
  /// Of our programs, where it is below `optimum`: GB/s of paths that name links, in as many
  /// parts.
  std::optional<Ratio> algbw_by_links;
  std::string stops;      ///< of ours: the baseline whose GPUs paths stop at; empty: searched for
  bool combined = false;  ///< of ours: few rounds, in which messages over the same links are one
  std::optional<double> seconds_at_bytes;  ///< by simulation, with the figures of the fabric's GPU
  std::int64_t scratch = 0;                ///< of programs: the most of any rank, in chunks
  std::string text;                        ///< of the format asked for; of flows for `none`
  /// The opinion of a checker that shares no code with what made it. What is not `ok` must not be
  /// used: either a runtime selects it for no size (V19 alone), or it is a bug of ours.
  Verdict verdict;
  std::vector<AlltoallAtK> tried;  ///< by k
  AlltoallSeconds seconds;
};

/// 1. the optimum and its proof; 2. paths for k parts of every pair's data, ours or a
/// baseline's; 3. programs, as XML, or rounds, as flows; 4. a stranger's verdict. The size that
/// algbw is of is what a rank has for all, itself included, on average.
///
/// Ours are the paths that are searched for, or, of equal rate, those that stop where a baseline's
/// do and whose rounds are shorter. For `options.bytes`, they are the fastest of all of these and
/// of the searched ones in as few rounds as there are legs on a path, so that small messages for
/// the next hop are one. A demand whose amounts are equal after all fits MSCCL XML. Errors: those
/// of `alltoall_optimum`, `route_alltoall`, `make_alltoall_baseline`, `lower_alltoall` and
/// `lower_alltoall_to_plan`; T09 unequal amounts as MSCCL XML or a plan. Cost: that of
/// `alltoall_optimum` and of `route_alltoall` for each k.
[[nodiscard]] Expected<AlltoallCompilation> compile_alltoall(const Fabric& fabric,
                                                             const ParsedDemand& demand,
                                                             const AlltoallCompileOptions& options);

/// What competes for a size, each of them made once: first what `compile_alltoall` makes without
/// `options.bytes`, which alone has the proof; then, of ours, what may take less time for small
/// messages, in the order in which the first of equally fast ones is taken. None fails its
/// verification, but the first may. Errors and cost: likewise.
[[nodiscard]] Expected<std::vector<AlltoallCompilation>> compile_alltoalls(
    const Fabric& fabric, const ParsedDemand& demand, const AlltoallCompileOptions& options);

}  // namespace forestcoll
