// Trees and paths with weights: what they reach, exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/joint/lengths_program.hpp"
#include "solver/joint/portions.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll::solver {

/// What columns with these weights reach once they are scaled so that the busiest arcs are full: in
/// units of capacity, for `whole`. Nothing where a portion has no column or exact arithmetic
/// overflows. It is added up, so any weights of 0 and more prove what they reach. Cost: linear in
/// the columns.
struct Mixture {
  Ratio reached;
  std::vector<std::int64_t> weights;  ///< by column
  Ratio scale;                        ///< of a weight of 1 to units of capacity
};
[[nodiscard]] std::optional<Mixture> add_up(const Network& network, const Portions& portions,
                                            std::int64_t whole, std::span<const Column> columns,
                                            std::vector<std::int64_t> weights);

/// Weights that floating point stands near where the program's last prices are a vertex: those with
/// which all rows are tight that seem so. A guess for `add_up` to prove. Nothing where they are not
/// determined.
[[nodiscard]] std::optional<CommonFractions> exact_weights(const Network& network,
                                                           const Portions& portions,
                                                           const LengthsProgram& program);

}  // namespace forestcoll::solver
