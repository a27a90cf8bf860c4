#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "solver/alltoall/routes/hops.hpp"
#include "solver/alltoall/routes/part_search.hpp"
#include "solver/alltoall/routes/rounds.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"

namespace forestcoll {
namespace {

using namespace solver::alltoall;

// Beyond, parts on one path stay together.
constexpr std::int64_t kMaxSingleParts = std::int64_t{1} << 14;

Diagnostic too_many_parts(Int128 parts) {
  return make_error(Code::T10,
                    fmt::format("{} parts of data, each with a path; this program routes {}",
                                static_cast<std::int64_t>(parts), kMaxAlltoallParts),
                    "use a smaller `k`; `alltoall_optimum` has the optimum at any size");
}

Diagnostic rate_does_not_fit() {
  return make_error(Code::E14, "the exact rate of these paths does not fit 64 bits",
                    "round the bandwidths to a coarser grid with `quantize`, or use another `k`");
}

Int128 count_parts(const Demand& demand, std::int64_t k) {
  Int128 pairs = 0;
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) pairs += demand(Rank(s), Rank(t)) > 0 ? 1 : 0;
  }
  return pairs * k;
}

// Paths for k parts, and before them for as many as halving k leads to, fewest first: twice as many
// parts never reach less.
std::vector<std::vector<RoutedPair>> search_by_halves(PartSearch search) {
  const std::int64_t k = search.k;
  while (search.k % 2 == 0) search.k /= 2;
  std::vector<std::vector<RoutedPair>> found;
  for (; search.k <= k; search.k *= 2) {
    search.halves = found.empty() ? nullptr : &found.back();
    found.push_back(search_paths(search));
  }
  return found;
}

// Parts of a pair on the same path are one path with several parts.
void append_paths(const RoutedPair& pair, const Network& network, const Hops& hops,
                  std::vector<AlltoallPath>& paths) {
  std::map<HopPath, std::int64_t> parts;
  for (const HopPath& path : pair.parts) ++parts[path];
  for (const auto& [path, count] : parts) {
    AlltoallPath& made = paths.emplace_back(AlltoallPath{pair.src, pair.dst, count});
    made.nodes.push_back(network.ranks[pair.src.index()]);
    for (const ArcId hop : path) made.nodes.push_back(hops.graph.head(hop));
  }
}

// GB/s per unit of demand at which links of these capacities, and what they share, carry these
// loads, in parts.
std::optional<Ratio> rate_of(const Network& network, const std::vector<Int128>& loads,
                             std::int64_t k) {
  Int128 worst = 0;
  Capacity of_worst = 1;
  const auto consider = [&](Int128 load, Capacity capacity) {
    if (load * of_worst <= worst * capacity) return;
    worst = load;
    of_worst = capacity;
  };
  for (std::size_t a = 0; a < loads.size(); ++a) consider(loads[a], network.capacity[ArcId(a)]);
  for (const ArcLimit& limit : network.limits) {
    Int128 load = 0;
    for (const auto& [arc, weight] : limit.uses) load += weight * loads[arc.index()];
    consider(load, limit.capacity);
  }
  const auto rate = Ratio::reduced(static_cast<Int128>(of_worst) * k, worst);
  return rate ? checked_mul(*rate, network.unit) : std::nullopt;
}

// The loads of every link: all together, and by round.
struct Loads {
  std::vector<Int128> all;
  std::vector<std::map<std::size_t, Int128>> by_round;
};

Loads loads_of(const Network& network, const Demand& demand, const AlltoallRoutes& routes) {
  Loads loads{std::vector<Int128>(network.graph.arc_count(), 0),
              std::vector<std::map<std::size_t, Int128>>(static_cast<std::size_t>(routes.rounds))};
  for (const AlltoallPath& path : routes.paths) {
    const Int128 amount = static_cast<Int128>(path.parts) * demand(path.src, path.dst);
    std::size_t leg = 0;
    for (std::size_t i = 0; i + 1 < path.nodes.size(); ++i) {
      if (i > 0 && network.is_compute(path.nodes[i])) ++leg;
      const std::size_t link = network.graph.find(path.nodes[i], path.nodes[i + 1]).index();
      loads.all[link] += amount;
      loads.by_round[static_cast<std::size_t>(path.rounds[leg])][link] += amount;
    }
  }
  return loads;
}

// 1 over the sum of what rounds take; 0 where that does not fit.
Ratio rate_in_rounds(const Network& network, const Loads& loads, std::int64_t k) {
  std::optional<Ratio> time = Ratio(0);
  for (const auto& round : loads.by_round) {
    std::vector<Int128> all(loads.all.size(), 0);
    for (const auto& [link, load] : round) all[link] = load;
    const auto rate = rate_of(network, all, k);
    const auto taken = rate ? checked_div(Ratio(1), *rate) : std::nullopt;
    time = time && taken ? checked_add(*time, *taken) : std::nullopt;
  }
  return time ? checked_div(Ratio(1), *time).value_or(Ratio(0)) : Ratio(0);
}

// Rounds are given.
Expected<AlltoallRoutes> with_rates(const Network& network, const Demand& demand,
                                    AlltoallRoutes routes) {
  const Loads loads = loads_of(network, demand, routes);
  const auto rate = rate_of(network, loads.all, routes.k);
  if (!rate) return rate_does_not_fit();
  routes.rate = *rate;
  routes.rate_in_rounds = rate_in_rounds(network, loads, routes.k);
  return routes;
}

// Every part by itself, in a round of its own: rounds are more and shorter, and less is wasted.
AlltoallRoutes in_single_parts(const AlltoallRoutes& routes) {
  AlltoallRoutes single;
  single.k = routes.k;
  for (const AlltoallPath& path : routes.paths) {
    for (std::int64_t part = 0; part < path.parts; ++part) {
      single.paths.push_back({path.src, path.dst, 1, path.nodes});
    }
  }
  return single;
}

// Parts of a pair that go the same way in the same rounds are one path with several parts again.
void join_equal_paths(AlltoallRoutes& routes) {
  std::vector<AlltoallPath> joined;
  std::map<std::pair<std::vector<NodeId>, std::vector<std::int32_t>>, std::size_t> known;
  for (AlltoallPath& path : routes.paths) {
    if (joined.empty() || joined.back().src != path.src || joined.back().dst != path.dst) {
      known.clear();
    }
    const auto [at, is_new] = known.emplace(std::pair(path.nodes, path.rounds), joined.size());
    if (is_new) {
      joined.push_back(std::move(path));
    } else {
      joined[at->second].parts += path.parts;
    }
  }
  routes.paths = std::move(joined);
}

}  // namespace

Expected<AlltoallRoutes> route_alltoall(const Network& network, const Demand& demand,
                                        const Ratio& at_most,
                                        const AlltoallRoutingOptions& options) {
  FORESTCOLL_CHECK(demand.ranks() == network.ranks.size(), "a demand between the network's ranks");
  FORESTCOLL_CHECK(options.k >= 1, "parts are counted from one");
  const Int128 parts = count_parts(demand, options.k);
  if (parts > kMaxAlltoallParts) return too_many_parts(parts);
  const bool by_links = options.hops == AlltoallHops::links;
  const Hops hops = by_links ? link_hops(network) : peer_hops(network);
  const auto found = search_by_halves({.network = network,
                                       .hops = hops,
                                       .demand = demand,
                                       .k = options.k,
                                       .at_most = at_most.to_double() / network.unit.to_double(),
                                       .halves = nullptr,
                                       .stop = options.stop});
  const auto routes_in = [&](std::int64_t k, const std::vector<RoutedPair>& pairs) {
    AlltoallRoutes routes;
    routes.k = k;
    for (const RoutedPair& pair : pairs) append_paths(pair, network, hops, routes.paths);
    return routes;
  };
  if (!by_links) return routes_in(options.k, found.back());
  // What fewer parts reach, these do, too: in rounds they may have less luck.
  std::int64_t k = options.k >> (found.size() - 1);
  auto best = complete_routes(network, demand, routes_in(k, found.front()));
  for (std::size_t i = 1; i < found.size(); ++i) {
    k *= 2;
    if (best) best = in_finer_parts(*std::move(best), 2);
    best = better_routes(std::move(best), complete_routes(network, demand, routes_in(k, found[i])));
  }
  return best;
}

AlltoallRoutes in_finer_parts(AlltoallRoutes routes, std::int64_t times) {
  routes.k *= times;
  for (AlltoallPath& path : routes.paths) path.parts *= times;
  return routes;
}

Expected<AlltoallRoutes> better_routes(Expected<AlltoallRoutes> a, Expected<AlltoallRoutes> b) {
  if (!a || !b) return a ? std::move(a) : std::move(b);
  const auto rates = [](const AlltoallRoutes& routes) {
    return std::pair(routes.rate, routes.rate_in_rounds);
  };
  return rates(*b) > rates(*a) ? std::move(b) : std::move(a);
}

Expected<AlltoallRoutes> complete_routes(const Network& network, const Demand& demand,
                                         AlltoallRoutes routes) {
  const bool has_rounds = routes.rounds > 0;
  if (!has_rounds) make_rounds(network, demand, routes);
  auto whole = with_rates(network, demand, std::move(routes));
  if (!whole || has_rounds || whole->rate_in_rounds >= whole->rate) return whole;
  if (count_parts(demand, whole->k) > kMaxSingleParts) return whole;
  AlltoallRoutes parts = in_single_parts(*whole);
  if (parts.paths.size() == whole->paths.size()) return whole;
  make_rounds(network, demand, parts);
  join_equal_paths(parts);
  auto single = with_rates(network, demand, std::move(parts));
  return single && single->rate_in_rounds > whole->rate_in_rounds ? single : whole;
}

}  // namespace forestcoll
