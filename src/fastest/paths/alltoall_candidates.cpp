#include "fastest/paths/alltoall_candidates.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "choose/paths_artefact.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/search_scale.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"

namespace forestcoll::fastest {
namespace {

constexpr std::int64_t kPartsOfBaselines = 8;  // which ours may have more of

Expected<AlltoallRoutes> with_stops_in(const Fabric& fabric, const Demand& demand,
                                       std::string_view name, std::int64_t k, const Ratio& rate) {
  auto routes =
      make_alltoall_baseline(name, fabric.topology, fabric.links(), demand, k, kMaxAlltoallParts);
  if (!routes) return routes;
  auto combined = in_few_rounds(fabric, demand, *routes);
  if (!combined || combined->rate < rate) return combined;
  routes->rounds = 0;  // of our own making
  return complete_routes(fabric.links(), demand, *std::move(routes));
}

class AlltoallFinder {
 public:
  AlltoallFinder(const Fabric& fabric, const CompileOptions& options,
                 const std::vector<std::string>& wanted, bool few_variants)
      : fabric_(fabric),
        options_(options),
        parts_(choose::parts_of(options)),
        wanted_(wanted),
        few_variants_(few_variants),
        demand_(demand_of(options, fabric.network).demand) {}

  Expected<std::vector<Candidate>> find() {
    if (const auto done = find_optimum(); !done) return done.errors();
    if (is_wanted("forestcoll")) {
      if (const auto done = add_ours(); !done) return done.errors();
      if (few_variants_ && demand_.ranks() > scale::kMostRanksOfParts && !candidates_.empty()) {
        candidates_.erase(candidates_.begin(), candidates_.end() - 1);
      }
    }
    if (!parts_.given) add_baselines();
    if (!candidates_.empty()) return std::move(candidates_);
    return make_error(Code::B10, "none of the algorithms that are asked for has a schedule here",
                      "`make_alltoall_baseline()` says why, for each of them");
  }

 private:
  [[nodiscard]] bool is_wanted(std::string_view name) const {
    return wanted_.empty() || std::ranges::find(wanted_, name) != wanted_.end();
  }
  [[nodiscard]] bool is_stopped() const { return options_.synthesis.packing.stop.stop_requested(); }
  // GB/s of what a rank sends.
  [[nodiscard]] Expected<Ratio> algbw(const Ratio& rate) const {
    return choose::alltoall_algbw(demand_of(options_, fabric_.network), rate);
  }

  Expected<void> find_optimum() {
    const auto proof = alltoall_proof(fabric_, options_);
    if (!proof) return proof.errors();
    at_most_ = proof->at_most;
    const auto most = algbw(at_most_);
    if (!most) return most.errors();
    optimum_ = *most;
    return {};
  }

  // More parts where they reach more.
  Expected<void> add_ours() {
    const std::size_t pairs = demand_.ranks() * demand_.ranks();
    Ratio best;
    for (std::int64_t k = parts_.given.value_or(1);; k *= 2) {
      auto routes = route_alltoall(
          fabric_.network, demand_, at_most_,
          {.k = k, .hops = AlltoallHops::peers, .stop = options_.synthesis.packing.stop});
      if (!routes && candidates_.empty()) return routes.errors();
      if (!routes) return {};
      const Ratio rate = routes->rate;
      if (candidates_.empty() || gains(rate, best)) {
        best = rate;
        add("forestcoll", *std::move(routes));
      }
      const bool is_enough = parts_.given || best >= at_most_ || is_stopped();
      if (is_enough || 2 * k > parts_.most ||
          pairs * 2 * static_cast<std::size_t>(k) > scale::kMostParts) {
        return {};
      }
    }
  }

  void add_baselines() {
    const std::int64_t most = candidates_.empty() ? 1 : candidates_.back().routes->k;
    for (const BaselineInfo& info : alltoall_baselines()) {
      if (!is_wanted(info.name)) continue;
      const bool is_whole_alone = few_variants_ && !info.traits.picked_by_nccl;
      const std::int64_t several = is_whole_alone ? 1 : most;
      for (const std::int64_t k :
           std::set<std::int64_t>{1, std::min(several, kPartsOfBaselines), several}) {
        if (is_stopped()) return;
        auto routes = alltoall_baseline_routes(fabric_, demand_, info.name, k);
        if (routes) add(info.name, *std::move(routes));
      }
    }
  }

  // What does not fit 64 bits is no rate to compare with.
  void add(std::string_view name, AlltoallRoutes routes) {
    const auto rate = algbw(routes.rate);
    if (!rate) return;
    Candidate candidate{std::string(name), {}, {}};
    CollectiveForest& forest = candidate.chosen.synthesis.forest;
    forest.collective = options_.synthesis.collective;
    forest.k = routes.k;
    forest.algbw = candidate.chosen.synthesis.allowed = *rate;
    forest.optimum = optimum_;
    candidate.routes = std::move(routes);
    candidates_.push_back(std::move(candidate));
  }

  const Fabric& fabric_;
  const CompileOptions& options_;
  const choose::Parts parts_;
  const std::vector<std::string>& wanted_;
  const bool few_variants_;
  const Demand demand_;
  Ratio at_most_, optimum_;
  std::vector<Candidate> candidates_;
};

}  // namespace

bool gains(const Ratio& rate, const Ratio& before) {
  const auto enough = checked_mul(before, Ratio(101, 100));
  return enough && rate >= *enough;
}

Expected<AlltoallProof> alltoall_proof(const Fabric& fabric, const CompileOptions& options) {
  if (options.proof != nullptr) return *options.proof;
  const PackOptions& how = options.synthesis.packing;
  auto optimum = alltoall_optimum(fabric.network, demand_of(options, fabric.network).demand,
                                  {.threads = how.threads, .stop = how.stop});
  if (!optimum) return optimum.errors();
  return std::move(optimum->proof);
}

Expected<std::vector<Candidate>> find_alltoall_candidates(const Fabric& fabric,
                                                          const CompileOptions& options,
                                                          const std::vector<std::string>& wanted,
                                                          bool few_variants) {
  return AlltoallFinder(fabric, options, wanted, few_variants).find();
}

Expected<AlltoallRoutes> alltoall_baseline_routes(const Fabric& fabric, const Demand& demand,
                                                  std::string_view name, std::int64_t k) {
  auto routes =
      make_alltoall_baseline(name, fabric.topology, fabric.links(), demand, k, kMaxAlltoallParts);
  if (!routes) return routes;
  return complete_routes(fabric.links(), demand, *std::move(routes));
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
  return complete_routes(fabric.links(), demand, std::move(routes));
}

}  // namespace forestcoll::fastest
