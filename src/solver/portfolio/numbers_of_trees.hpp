// Which numbers of trees per root are worth a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/pack.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll::solver {

/// Where `options` leave the number of trees open: others than `chosen`, and what the cuts allow
/// at each, the fastest first, of equals the smallest. Those that were tried for `chosen`; for the
/// optimum those up to 16. With few ranks all of them, else powers of two; where trees have to be
/// low (`are_low`), which takes longer, up to 32 all, else powers of two as well. Empty where a
/// number was asked for. Cost: `scale_to_k` per number, where it was not tried.
[[nodiscard]] std::vector<RateAtK> other_numbers(const Problem& problem,
                                                 const SynthesizeOptions& options,
                                                 const ChosenScale& chosen, bool are_low);

/// May each phase have a number of trees of its own? Where there is a limit on it, two phases have
/// to agree on one.
[[nodiscard]] bool is_searched_by_phase(const Problem& problem, const SynthesizeOptions& options);

/// May it be any number, as long as it is the fastest?
[[nodiscard]] bool is_any_number_open(const SynthesizeOptions& options);

/// The number that is asked for; of all up to some number, powers of two, and with few ranks the
/// others up to 16: each is a packing. REQUIRES: not the optimum's.
[[nodiscard]] std::vector<std::int64_t> numbers_asked_for(const TreesPerRoot& asked,
                                                          std::size_t ranks);

/// Where low trees are looked for at `of` trees per root, are copies of k, too? Those are as many.
[[nodiscard]] bool is_open_divisor(std::int64_t k, std::int64_t of);

/// Other scalings of the phase that low forests may have where `chosen` is for phase `i`: those of
/// `other_numbers` where phases are searched by themselves; and those of an
/// `is_open_divisor` of the chosen k. Cost: `scale_to_k` for each.
[[nodiscard]] std::vector<Scaling> open_scalings(const Problem& problem,
                                                 const SynthesizeOptions& options,
                                                 const ChosenScale& chosen, std::size_t i);

}  // namespace forestcoll::solver
