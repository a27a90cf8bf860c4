// One row of a comparison: ours, a baseline, or a schedule from a file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "compare/comparison.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {

/// Told of what part of a row is simulated, 0 … 1.
using RowProgress = std::function<void(double)>;

/// What is to be compared.
struct RowsRequest {
  Collective collective = Collective::allreduce;  ///< of an all-to-all, one that counts busbw alike
  std::string collective_name;
  std::optional<ParsedDemand> demand;             ///< set of an all-to-all alone
  const AlltoallProof* alltoall_proof = nullptr;  ///< of its optimum
  std::optional<Rank> root;
  std::vector<std::string> algorithms;         ///< "forestcoll" and names of baselines
  std::vector<std::string> schedules;          ///< files
  std::string target = LowerOptions().target;  ///< that programs are for
  BaselineOptions baseline;
  std::vector<std::int64_t> sizes;  ///< bytes
  std::vector<RefusedSize> refused_sizes;
  std::map<std::string, std::vector<std::int64_t>> measured_sizes;  ///< bytes, by row
  bool by_size = false;   ///< time the fastest programs at each size
  bool trees = false;     ///< time trees without threadblocks
  bool programs = false;  ///< where not `by_size`, time the programs of trees, too
  /// Made once for all rows: see `time_programs`. Nothing where `by_size` is not set.
  std::vector<AlgorithmTimes> fastest = {};
  std::optional<Diagnostic> fastest_error = {};
  SimulationParameters parameters;
  std::string gpu_chosen;     ///< why these parameters, in words
  int threads = 1;            ///< rows at a time, and sizes of a row
  std::stop_token stop = {};  ///< asks to give up
};

/// All but what `RowsRequest::fastest` has, which makes up the whole row of a selector or an
/// exchange. What an algorithm cannot do is told in its row. `optimum` is `Comparison::optimum`,
/// and `progress` is told of the simulation. Safe to be called by several threads at once.
[[nodiscard]] ComparedRow algorithm_row(const Fabric& fabric, const RowsRequest& request,
                                        const Ratio& optimum, const std::string& name,
                                        const RowProgress& progress);
/// Adds what `RowsRequest::fastest` has of it.
void add_programs(ComparedRow& row, const Fabric& fabric, const RowsRequest& request,
                  const Ratio& optimum);
/// The schedule of a file, `text`, as the independent checker sees it; or why it was not read.
[[nodiscard]] ComparedRow schedule_row(const Fabric& fabric, const RowsRequest& request,
                                       const Ratio& optimum, const std::string& path,
                                       const Expected<std::string>& text,
                                       const RowProgress& progress);

}  // namespace forestcoll::cli
