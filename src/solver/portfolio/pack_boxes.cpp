#include "solver/portfolio/pack_boxes.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "forestcoll/congestion.hpp"
#include "solver/allreduce/at_once.hpp"
#include "solver/flat/flat_forests.hpp"
#include "solver/height/bound/bound.hpp"

namespace forestcoll::solver {

std::optional<Synthesis> pack_boxes(const Problem& problem, const SynthesizeOptions& options,
                                    Synthesis begun) {
  const auto start = std::chrono::steady_clock::now();
  const Network& network = problem.network;
  CollectiveForest& forest = begun.forest;
  const auto rate = checked_div(forest.optimum, network.unit);
  auto found = rate ? flat_forests(network, *rate, options.packing.stop) : std::nullopt;
  if (!found) return std::nullopt;
  forest.weight = std::move(found->trees);
  forest.k = take_common_factor(forest.weight);
  if (std::ranges::all_of(forest.weight, [](std::int64_t w) { return w == 1; })) forest.weight = {};
  forest.broadcast = std::move(found->broadcast);
  forest.reduce = std::move(found->reduce);
  const auto algbw = congestion_algbw(forest, network);
  if (!algbw || *algbw != forest.optimum) return std::nullopt;
  begun.allowed = forest.algbw = *algbw;
  begun.least_height = allreduce_height_bound(network, *rate, forest.broadcast->symmetry());
  begun.seconds.pack +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return begun;
}

}  // namespace forestcoll::solver
