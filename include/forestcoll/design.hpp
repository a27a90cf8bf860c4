// Which wiring for so many accelerators: candidates, published formulas, local search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/wiring_figures.hpp"

namespace forestcoll {

struct DirectRequest {
  std::size_t nodes = 0;
  std::size_t ports = 0;
  bool two_way = false;     ///< cables both ways only
  std::size_t randoms = 2;  ///< so many random regular graphs, of seeds 1, 2, …
};

/// The expressions of all wirings that have exactly so many nodes and ports, base graphs first,
/// each once: every base graph, and line digraphs, degree expansions, powers and products of those
/// smaller ones that no other beats by steps, BFB's time and mean distance. Circulants are those of
/// fewest steps among offsets 1 and b, of consecutive offsets, and of powers of a number. Errors:
/// K01 where nothing has so many, in words that say why. Cost: that of BFB on all smaller
/// candidates.
[[nodiscard]] Expected<std::vector<std::string>> direct_candidates(const DirectRequest& request);

/// What is published of a construction (Zhao et al., NSDI 2025), where it is.
struct ClosedForm {
  std::optional<std::size_t> steps;  ///< T_L
  std::optional<Ratio> bfb;          ///< T_B, in units of M/B
};
/// Of a base graph by its formula; of an expansion by the theorem's formula from those of what it
/// expands, and where that has none, from what it takes. REQUIRES: `make_wiring` takes it.
/// Cost: that of BFB on what is expanded and has no formula.
[[nodiscard]] ClosedForm closed_form(std::string_view expression);

/// What a front is about: two times, or three.
enum class DirectAim {
  allgather,  ///< steps and the forest's time; reduce-scatter and allreduce have the same front
  bfb,        ///< steps and BFB's time
  alltoall,   ///< steps and all-to-all's time
  all,        ///< steps, the forest's time and all-to-all's
};
/// By position: is there no other that is as good in all and better in one? Of proved intervals the
/// larger end counts.
[[nodiscard]] std::vector<bool> pareto_front(std::span<const WiringFigures> figures, DirectAim aim);

/// By position: is it on the front, or would it be if all-to-all took it as little as its interval
/// says, and the others as much? Cost: that of a front for each.
[[nodiscard]] std::vector<bool> perhaps_on_front(std::span<const WiringFigures> figures,
                                                 DirectAim aim);

// The published formulas of wirings, held against what is computed.

/// How a formula's figure stands to the exact one.
enum class FormulaVerdict {
  none,        ///< nothing is published
  equal,       ///< it is what BFB takes
  bound,       ///< BFB takes less: the formula is right as an upper bound
  other,       ///< BFB takes more, but the optimal forest does not: right of another schedule
  impossible,  ///< no schedule takes so little, by the diameter or by a cut: the formula is wrong
};
[[nodiscard]] std::string_view to_string(FormulaVerdict verdict);

struct FormulaCheck {
  std::string expression;
  std::string construction;  ///< a base graph's name, or "L(g)", "g*n", "g^n", "g x h"
  std::size_t nodes = 0, ports = 0;
  ClosedForm published;
  std::size_t steps = 0;  ///< the diameter: what BFB takes, and any schedule at least
  Ratio bfb, allgather;   ///< exact times, in units of M/B, as in `WiringFigures`
  FormulaVerdict of_steps = FormulaVerdict::none, of_time = FormulaVerdict::none;
};

struct FormulaRequest {
  std::size_t most_nodes = 0;  ///< all sizes up to this
  std::size_t ports = 0;
};

/// The expressions of all wirings of any size up to `most_nodes` about which a formula says
/// something, the smallest first: base graphs, and expansions of all base graphs and of those
/// wirings that `direct_candidates` expands. The same wiring may be there under several names: each
/// has its formula. Errors: K01. Cost: that of BFB on all candidates that are expanded.
[[nodiscard]] Expected<std::vector<std::string>> formula_candidates(const FormulaRequest& request);

/// REQUIRES: one of `formula_candidates`. Cost: that of BFB and of a rate.
[[nodiscard]] FormulaCheck check_formula(std::string_view expression);

// Better wirings than those with a name: local search from one of them.

struct WiringSearchOptions {
  std::size_t moves = 1'000;  ///< exchanges to try
  std::uint64_t seed = 1;
  std::stop_token stop = {};                       ///< asks for the best so far
  std::function<void(std::size_t)> progress = {};  ///< called with the moves tried
};

struct WiringSearch {
  Wiring wiring;             ///< the best one met
  std::size_t tried = 0;     ///< moves
  std::size_t accepted = 0;  ///< of them, those that made nothing worse
  bool stopped = false;      ///< before all moves: where depends on the clock
};

/// Two cables exchange an end, again and again, at random; a move stays where the wiring is not
/// worse: by the exact time of allgather, then by the steps, then by the sum of all distances,
/// which bounds all-to-all. Cables both ways stay so. All nodes keep their ports. The same for the
/// same seed, unless it was stopped. Errors: K01 where the nodes do not all reach one another, or
/// there are fewer than two cables or more than `kMostStudiedNodes` nodes.
/// Cost: O(nodes · links) per move, and a rate where allgather is not yet as fast as ports allow.
[[nodiscard]] Expected<WiringSearch> search_wiring(const Wiring& start,
                                                   const WiringSearchOptions& options = {});

}  // namespace forestcoll
