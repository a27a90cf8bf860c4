// The published formulas of wirings, held against what is computed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/design_direct.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

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

}  // namespace forestcoll
