// From the optimum of an all-to-all to paths for parts of its data.
#pragma once

#include <cstdint>
#include <stop_token>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll {

/// Who chooses the links.
enum class AlltoallHops {
  links,  ///< the schedule: paths name every node, and legs are put into rounds
  peers,  ///< the runtime: paths name GPUs alone, each of which sends to the next over the routes
          ///< with the fewest hops through switches, shared in proportion to their width
};

struct AlltoallRoutingOptions {
  std::int64_t k = 1;  ///< parts that what a rank has for another is cut into
  AlltoallHops hops = AlltoallHops::links;
  std::stop_token stop = {};  ///< asks for the best paths so far
};

/// Parts of pairs, all together, that paths are sought for.
inline constexpr std::int64_t kMaxAlltoallParts = std::int64_t{1} << 22;

/// Paths that load the busiest link as little as a local search finds. Every part is routed, one by
/// one, along the path that adds least to Σ exp(a · load / what the optimum would load the link
/// with), and taken back and routed again for ever larger a: at first that spreads the load, in the
/// end only the busiest links count (as fractions, this is how concurrent flows are approximated:
/// Garg, Könemann 1998; as whole parts, there is no guarantee). The best of all passes is kept.
/// `at_most`, in GB/s per unit of demand, is what no paths exceed: where it is reached the search
/// ends. Deterministic.
/// REQUIRES: k ≥ 1, all ranks reach one another. Errors: T10 (limit) more than `kMaxAlltoallParts`,
/// E14 (limit) where the rate does not fit 64 bits. Cost: O(m log n) per part and pass, and a bound
/// on all of it that some seconds are enough for.
[[nodiscard]] Expected<AlltoallRoutes> route_alltoall(const Network& network, const Demand& demand,
                                                      const Ratio& at_most,
                                                      const AlltoallRoutingOptions& options = {});

/// The same paths in so many times as many parts, those of one stay together: the same rates.
[[nodiscard]] AlltoallRoutes in_finer_parts(AlltoallRoutes routes, std::int64_t times);

/// The one that links let reach more; of equal rates, the one whose rounds leave more of it. An
/// error only where both are one.
[[nodiscard]] Expected<AlltoallRoutes> better_routes(Expected<AlltoallRoutes> a,
                                                     Expected<AlltoallRoutes> b);

/// Puts every leg into a round where `rounds` is 0, parts of one path in rounds of their own where
/// that is faster, and adds up what the links then carry: `rate`
/// and `rate_in_rounds`. REQUIRES: paths follow links of `network`; legs of all paths have rounds,
/// ascending along a path, or those of none. Errors: E14 (limit) where the rate does not fit.
[[nodiscard]] Expected<AlltoallRoutes> complete_routes(const Network& network, const Demand& demand,
                                                       AlltoallRoutes routes);

}  // namespace forestcoll
