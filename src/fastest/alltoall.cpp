// An all-to-all for a size: what wins the contest, as what is asked for.
#include <algorithm>
#include <utility>

#include "choose/alltoall_artefact.hpp"
#include "fastest/window.hpp"
#include "fastest/write.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/stopwatch.hpp"

namespace forestcoll {
namespace {

using fastest::Candidate;
using fastest::Contest;

// The options with what the winner has.
AlltoallCompileOptions chosen_options(const Contest& contest, std::size_t contender,
                                      AlltoallCompileOptions options) {
  const CompileOptions& settled = contest.compile();
  options.sms = settled.sms;
  options.lowering.max_threadblocks = settled.lowering.max_threadblocks;
  options.xml.protocol = contest.contenders()[contender].protocol;
  options.xml.buffer_bytes = contest.contenders()[contender].buffer_bytes;
  options.lowering.instances = contest.program(contender).instances;
  const std::string& algorithm = contest.candidate(contender).algorithm;
  if (algorithm != "forestcoll") options.xml.algorithm = algorithm;
  return options;
}

// What our own reach, by k.
std::vector<AlltoallAtK> rates_of_ours(const Contest& contest) {
  std::vector<AlltoallAtK> rates;
  for (const Candidate& each : contest.candidates()) {
    if (each.algorithm == "forestcoll") rates.push_back({each.routes->k, each.algbw()});
  }
  return rates;
}

}  // namespace

Expected<FastestAlltoall> fastest_alltoall(const Fabric& fabric, const FastestOptions& given) {
  FastestOptions options = given;
  options.sizes.resize(1);
  const Demand demand = Demand::uniform(fabric.network.ranks.size());
  AlltoallSeconds seconds;
  Stopwatch watch;
  AlltoallProof proof;
  if (options.alltoall->proof == nullptr) {
    auto optimum = alltoall_optimum(fabric.network, demand, options.alltoall->solver);
    if (!optimum) return optimum.errors();
    proof = std::move(optimum->proof);
    options.alltoall->proof = &proof;
  } else {
    proof = *options.alltoall->proof;
  }
  seconds.optimum = watch.restart();
  auto contest = Contest::hold(fabric, options);
  if (!contest) return contest.errors();
  const std::int64_t bytes = options.sizes.front();
  const auto winner = file_winner(*contest, fabric, bytes);
  if (!winner) return nothing_served(*contest, "`size`");
  const Candidate& candidate = contest->candidate(winner->contender);
  FastestChoice choice = describe(*contest, *winner, bytes, fabric);
  choice.costs = contest->costs(*winner, bytes);
  AlltoallCompileOptions as_chosen =
      chosen_options(*contest, winner->contender, *std::move(options.alltoall));
  std::optional<SizeWindow> window;
  if (!contest->of_plans()) {
    window = window_if_open(*contest, fabric, winner->contender, bytes, as_chosen.xml);
  }
  if (window) fastest::claim(*window, as_chosen.lowering.target, as_chosen.xml);
  const auto ranks = static_cast<std::int64_t>(demand.ranks());
  auto made = choose::write_alltoall(fabric, {demand, ranks * ranks}, as_chosen,
                                     candidate.forest().optimum, *candidate.routes, seconds);
  if (!made) return made.errors();
  if (candidate.algorithm != "forestcoll") made->stops = candidate.algorithm;
  made->seconds_at_bytes = choice.seconds;
  made->tried = rates_of_ours(*contest);
  if (made->tried.empty()) made->tried.push_back({made->routes.k, made->algbw});
  made->proof = std::move(proof);
  made->seconds = seconds;
  as_chosen.proof = nullptr;
  return FastestAlltoall{std::move(choice), *std::move(made), std::move(as_chosen),
                         std::move(window)};
}

}  // namespace forestcoll
