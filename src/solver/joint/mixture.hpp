// Trees and paths with weights: what they reach, exactly.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/joint/lengths_program.hpp"
#include "solver/joint/portions.hpp"

namespace forestcoll::solver {

/// What columns with these weights reach once they are scaled so that the busiest arcs are full: in
/// units of capacity, for `whole`. Nothing where a portion has no column; a little less where the
/// rate does not fit 64 bits. It is added up, so any weights of 0 and more prove what they reach.
/// Cost: linear in the columns.
using ColumnWeights = std::vector<boost::multiprecision::cpp_int>;  ///< by column
struct Mixture {
  Ratio reached;
  /// By operation and class of arcs, what all of the class carry together: over `parts`, in units
  /// of capacity.
  std::vector<std::vector<boost::multiprecision::cpp_int>> loads;
  boost::multiprecision::cpp_int parts = 1;
  ColumnWeights weights;  ///< what each column carries then, likewise over `parts`
};
[[nodiscard]] std::optional<Mixture> add_up(const Network& network, const Portions& portions,
                                            std::int64_t whole, std::span<const Column> columns,
                                            const ColumnWeights& weights);

/// Adds to the weights of portions that get less of their amounts than the largest one gets of its:
/// what is small beside others drowns in floating point. Cost: linear in the columns.
void level(const Portions& portions, std::span<const Column> columns, ColumnWeights& weights);

/// Weights that floating point stands near where the program's last prices are a vertex: those with
/// which all rows are tight that seem so. A guess for `add_up` to prove. Nothing where they are not
/// determined.
[[nodiscard]] std::optional<ColumnWeights> exact_weights(const Network& network,
                                                         const Portions& portions,
                                                         const LengthsProgram& program);

}  // namespace forestcoll::solver
