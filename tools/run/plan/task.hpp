// A plan's operations with their references resolved, for one rank.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/plan/file.hpp"
#include "audit/plan/kinds.hpp"

namespace forestcoll::run {

/// Chunks of some rank's memory.
struct PlanSpan {
  std::int32_t rank = 0;
  audit::Buffer buffer = audit::Buffer::input;
  std::int64_t chunk = 0;
  bool packets = false;
};

/// The other end of a channel, and which of the channels of its kind between the two it is.
struct PlanEnd {
  audit::ChannelKind kind = audit::ChannelKind::memory;
  std::int32_t rank = 0;
  std::int32_t ordinal = 0;
};

/// An operation. Data operations leave the sum of all that they read in all places that they write;
/// pairwise ones leave the i-th in the i-th.
struct PlanTask {
  const audit::PlanOp* op = nullptr;
  std::int64_t chunks = 0;
  std::vector<PlanSpan> reads, writes;
  std::vector<PlanEnd> ends;  ///< of its channels
  bool is_pairwise = false;
  bool waits_for_packets = false;
  bool is_by_port = false;  ///< carried out by the proxy
};

/// The operations of each threadblock. REQUIRES: check_plan_structure found nothing that blocks;
/// the plan has no groups (`in_slices`) and outlives the result. Cost: linear.
[[nodiscard]] std::vector<std::vector<PlanTask>> tasks_of(const audit::PlanFile& plan,
                                                          std::size_t rank);

}  // namespace forestcoll::run
