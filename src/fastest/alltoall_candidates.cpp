#include "fastest/alltoall_candidates.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "forestcoll/baseline.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"

namespace forestcoll::fastest {
namespace {

Expected<AlltoallRoutes> with_stops_in(const Fabric& fabric, const Demand& demand,
                                       std::string_view name, std::int64_t k, const Ratio& rate) {
  auto routes =
      make_alltoall_baseline(name, fabric.topology, fabric.network, demand, k, kMaxAlltoallParts);
  if (!routes) return routes;
  auto combined = in_few_rounds(fabric, demand, *routes);
  if (!combined || combined->rate < rate) return combined;
  routes->rounds = 0;  // of our own making
  return complete_routes(fabric.network, demand, *std::move(routes));
}

}  // namespace

Expected<AlltoallRoutes> alltoall_baseline_routes(const Fabric& fabric, const Demand& demand,
                                                  std::string_view name, std::int64_t k) {
  auto routes =
      make_alltoall_baseline(name, fabric.topology, fabric.network, demand, k, kMaxAlltoallParts);
  if (!routes) return routes;
  return complete_routes(fabric.network, demand, *std::move(routes));
}

Expected<AlltoallRoutes> with_stops_of(const Fabric& fabric, const Demand& demand,
                                       std::string_view name, const AlltoallRoutes& best) {
  std::int64_t k = best.k;
  while (k % 2 == 0) k /= 2;
  auto result = with_stops_in(fabric, demand, name, k, best.rate);
  while (k < best.k && result) {
    k *= 2;
    result = better_routes(in_finer_parts(*std::move(result), 2),
                           with_stops_in(fabric, demand, name, k, best.rate));
  }
  return result;
}

Expected<AlltoallRoutes> in_few_rounds(const Fabric& fabric, const Demand& demand,
                                       AlltoallRoutes routes) {
  routes.rounds = 0;
  for (AlltoallPath& path : routes.paths) {
    const auto stops =
        std::ranges::count_if(path.nodes, [&](NodeId v) { return fabric.network.is_compute(v); });
    path.rounds.resize(static_cast<std::size_t>(stops) - 1);
    std::iota(path.rounds.begin(), path.rounds.end(), 0);
    routes.rounds = std::max(routes.rounds, static_cast<std::int32_t>(path.rounds.size()));
  }
  return complete_routes(fabric.network, demand, std::move(routes));
}

}  // namespace forestcoll::fastest
