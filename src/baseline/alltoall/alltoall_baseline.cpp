// From stops to links: the table of algorithms, and the paths of their hops.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "baseline/alltoall/itinerary.hpp"
#include "baseline/implicit_forest.hpp"
#include "baseline/path_finder.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll {
namespace {

using baseline::Itinerary;
using baseline::ItineraryOf;
using baseline::Path;
using baseline::Places;
using baseline::Through;

struct AlltoallEntry {
  BaselineInfo info;
  Expected<ItineraryOf> (*make)(const Places&);
};

const std::vector<AlltoallEntry>& alltoall_entries() {
  using enum Collective;
  static const std::vector<AlltoallEntry> all = {
      {{"nccl-pairwise", "NCCL's pairwise exchange", "NVIDIA NCCL, src/init.cc", {alltoall}},
       baseline::nccl_pairwise},
      {{"nccl-pxn", "NCCL's pairwise exchange with PXN", "NVIDIA NCCL 2.12", {alltoall}},
       baseline::nccl_pxn},
      {{"hierarchical", "exchange in two levels", "Hwang et al. (Tutel), MLSys 2023", {alltoall}},
       baseline::two_levels},
      {{"bruck", "Bruck's index algorithm", "Bruck et al., IEEE TPDS 1997", {alltoall}},
       baseline::bruck_index},
      {{"binomial", "binomial tree", "textbook; Thakur et al., IJHPCA 2005", {scatter, gather}},
       baseline::binomial},
      {{"direct",
        "every pair over shortest paths",
        "textbook",
        {alltoall, scatter, gather},
        {.picked_by_nccl = true}},
       baseline::direct},
  };
  return all;
}

}  // namespace

Diagnostic unknown_alltoall_baseline(std::string_view name, Collective collective) {
  std::string names;
  for (const AlltoallEntry& entry : alltoall_entries()) {
    if (!supports(entry.info, collective)) continue;
    names += (names.empty() ? "" : ", ") + std::string(entry.info.name);
  }
  const std::string_view wanted = to_string(collective);
  if (find_baseline(name) != nullptr || find_alltoall_baseline(name) != nullptr) {
    return make_error(Code::B06, fmt::format("{} has no {} of its own", name, wanted),
                      fmt::format("algorithms for {} are {}", wanted, names));
  }
  return make_error(Code::B09,
                    fmt::format("there is no algorithm \"{}\" for {}", name.substr(0, 40), wanted),
                    "the algorithms are " + names);
}

namespace {

// A pair's data, and where it stops.
struct TravellingPair {
  Rank src, dst;
  Itinerary itinerary;
};

class PathsOfHops {
 public:
  PathsOfHops(const Network& network, const baseline::Boxes& boxes, std::int64_t k)
      : network_(network), finder_(network, boxes.box_of), k_(k) {}

  void note(const Itinerary& itinerary) {
    for (std::size_t i = 0; i + 1 < itinerary.stops.size(); ++i) {
      paths_.try_emplace({itinerary.stops[i], itinerary.stops[i + 1]});
    }
  }
  // Part after part, so that each sees what those before have taken.
  void find() {
    for (std::int64_t part = 0; part < k_; ++part) {
      for (auto& [hop, paths] : paths_) {
        Path path = finder_.take(hop.first, hop.second, Through::switches);
        if (path.empty()) path = finder_.take(hop.first, hop.second, Through::ranks);
        FORESTCOLL_CHECK(!path.empty(), "all ranks reach one another");
        most_legs_ = std::max(most_legs_, legs(path));
        paths.push_back(std::move(path));
      }
    }
  }
  [[nodiscard]] const Path& path(Rank from, Rank to, std::int64_t part) const {
    return paths_.at({from, to})[static_cast<std::size_t>(part)];
  }
  // From rank to rank along a path.
  [[nodiscard]] std::int32_t legs(const Path& path) const {
    return static_cast<std::int32_t>(std::count_if(
        path.begin() + 1, path.end(), [&](NodeId v) { return network_.is_compute(v); }));
  }
  [[nodiscard]] std::int32_t most_legs() const { return most_legs_; }

 private:
  const Network& network_;
  baseline::PathFinder finder_;
  std::int64_t k_;
  std::map<std::pair<Rank, Rank>, std::vector<Path>> paths_;
  std::int32_t most_legs_ = 1;
};

std::vector<TravellingPair> pairs_of(const Demand& demand, const ItineraryOf& itinerary_of) {
  std::vector<TravellingPair> pairs;
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) {
      if (demand(Rank(s), Rank(t)) == 0) continue;
      pairs.push_back({Rank(s), Rank(t), itinerary_of(Rank(s), Rank(t))});
    }
  }
  return pairs;
}

AlltoallPath path_of(const TravellingPair& pair, const PathsOfHops& paths, std::int64_t part) {
  AlltoallPath made{pair.src, pair.dst};
  const std::vector<Rank>& stops = pair.itinerary.stops;
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const Path& path = paths.path(stops[i], stops[i + 1], part);
    made.nodes.insert(made.nodes.end(), path.begin() + (i == 0 ? 0 : 1), path.end());
    if (pair.itinerary.rounds.empty()) continue;
    for (std::int32_t leg = 0; leg < paths.legs(path); ++leg) {
      made.rounds.push_back(pair.itinerary.rounds[i] * paths.most_legs() + leg);
    }
  }
  return made;
}

// Parts that take the same nodes are one path.
void append_paths_of(const TravellingPair& pair, const PathsOfHops& paths, AlltoallRoutes& routes) {
  const auto before = std::ssize(routes.paths);
  for (std::int64_t part = 0; part < routes.k; ++part) {
    AlltoallPath path = path_of(pair, paths, part);
    const auto same =
        std::find_if(routes.paths.begin() + before, routes.paths.end(),
                     [&](const AlltoallPath& other) { return other.nodes == path.nodes; });
    if (same == routes.paths.end()) {
      routes.paths.push_back(std::move(path));
    } else {
      ++same->parts;
    }
  }
}

// Rounds that nothing uses are left out.
void number_rounds(AlltoallRoutes& routes) {
  std::map<std::int32_t, std::int32_t> number;
  for (const AlltoallPath& path : routes.paths) {
    for (const std::int32_t round : path.rounds) number.emplace(round, 0);
  }
  for (auto& [round, at] : number) at = routes.rounds++;
  for (AlltoallPath& path : routes.paths) {
    for (std::int32_t& round : path.rounds) round = number.at(round);
  }
}

}  // namespace

std::span<const BaselineInfo> alltoall_baselines() {
  static const std::vector<BaselineInfo> all = [] {
    std::vector<BaselineInfo> infos;
    for (const AlltoallEntry& entry : alltoall_entries()) infos.push_back(entry.info);
    return infos;
  }();
  return all;
}

const BaselineInfo* find_alltoall_baseline(std::string_view name) {
  const auto all = alltoall_baselines();
  const auto at = std::ranges::find(all, name, &BaselineInfo::name);
  return at == all.end() ? nullptr : &*at;
}

Expected<AlltoallRoutes> make_alltoall_baseline(std::string_view name, const Topology& topology,
                                                const Network& network, const Demand& demand,
                                                std::int64_t k, std::int64_t most_parts) {
  FORESTCOLL_CHECK(k >= 1 && demand.ranks() == network.ranks.size(), "parts of all pairs");
  const auto& entries = alltoall_entries();
  const auto entry =
      std::ranges::find(entries, name, [](const AlltoallEntry& e) { return e.info.name; });
  if (entry == entries.end() || !supports(entry->info, demand.collective())) {
    return unknown_alltoall_baseline(name, demand.collective());
  }
  const baseline::Boxes boxes = baseline::group_boxes(topology, network);
  const auto itinerary_of = entry->make({topology, boxes, demand});
  if (!itinerary_of) return itinerary_of.errors();

  const std::vector<TravellingPair> pairs = pairs_of(demand, *itinerary_of);
  if (std::ssize(pairs) > most_parts / k) {
    return baseline::too_large(fmt::format("{} parts for each of {} pairs; this program routes {}",
                                           k, pairs.size(), most_parts),
                               "use a smaller `k`, or fewer GPUs");
  }
  PathsOfHops paths(network, boxes, k);
  for (const TravellingPair& pair : pairs) paths.note(pair.itinerary);
  paths.find();
  AlltoallRoutes routes;
  routes.k = k;
  for (const TravellingPair& pair : pairs) append_paths_of(pair, paths, routes);
  number_rounds(routes);
  return routes;
}

}  // namespace forestcoll
