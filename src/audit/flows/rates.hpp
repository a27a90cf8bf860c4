// What flows load links with, and the rates that follow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/flows/file.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// A path of which all is known to be right.
struct CheckedPath {
  std::vector<ArcId> arcs;
  std::vector<std::int64_t> rounds;  ///< by arc: that of its leg
  Ratio amount;                      ///< of data, in units of a pair's or in bytes
};

/// What a file claims of its paths.
struct FlowsClaims {
  Ratio buffer;                          ///< what a rank sends on average, own data included
  Ratio algbw;                           ///< GB/s
  std::optional<Ratio> algbw_in_rounds;  ///< GB/s
  std::optional<Ratio> optimum;          ///< GB/s
  /// What ranks have for others, and what others have for them, in units of a pair's or in bytes.
  IdVector<Rank, std::int64_t> sent = {}, received = {};
};

/// Fills in the verdict's loads and rate, and compares. All links at once: the link that takes
/// longest for all it carries. In rounds: the sum over rounds of what the slowest link takes for
/// what it carries in that round. No optimum is above what the links of any one GPU let it send, or
/// receive; that a lower one is right is not for a checker that solves nothing.
void check_flow_rates(const std::vector<CheckedPath>& paths, const FlowsClaims& claims,
                      const Topology& topology, const Network& network, Findings& findings,
                      Verdict& verdict);

}  // namespace forestcoll::audit
