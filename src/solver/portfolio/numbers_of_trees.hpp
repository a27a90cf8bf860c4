// Which numbers of trees per root are worth a search.
#pragma once

#include <stop_token>
#include <vector>

#include "forestcoll/pack.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/trees_per_root.hpp"
#include "solver/pack/problem.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll::solver {

/// Where `options` leave the number of trees open: others than `planned`, and what the cuts allow
/// at each, the fastest first, of equals the smallest. Those that were planned for; for the optimum
/// those up to 16. With few ranks all of them, else powers of two; where trees have to be low
/// (`are_low`), which takes longer, up to 32 all, else powers of two as well. Empty where a number
/// was asked for. Cost: `scale_to_k` per number, where it was not planned for.
[[nodiscard]] std::vector<RateAtK> other_numbers(const Problem& problem,
                                                 const SynthesizeOptions& options,
                                                 const ChosenScale& planned, bool are_low);

/// Scalings whose k divides that of `scaling`, up to 128: copies of their forests are forests of
/// that many trees. Cost: `scale_to_k` for each.
[[nodiscard]] std::vector<Scaling> of_fewer_trees(const Phase& phase, const Scaling& scaling,
                                                  const std::stop_token& stop);

}  // namespace forestcoll::solver
