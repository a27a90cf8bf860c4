// The algorithms that may be fastest, before they are programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forestcoll/baseline.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/exchange.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll::fastest {

struct Way {
  std::string algorithm;             ///< "forestcoll", or the name of a baseline or an exchange
  ChosenForest chosen;               ///< of an exchange without trees
  std::optional<Exchange> exchange;  ///< whole buffers in place of trees
  [[nodiscard]] const CollectiveForest& forest() const { return chosen.synthesis.forest; }
  /// For people: "forestcoll, k 4, height 2".
  [[nodiscard]] std::string in_words() const;
};

/// The first is what `compile` would write. Where a number of trees is asked for, that alone. Of
/// algorithms that are named in `wanted`, if any.
/// REQUIRES: `options` are settled. Errors: those of `choose_forest` and of `bound`; B09 where none
/// of those that are wanted exists here.
[[nodiscard]] Expected<std::vector<Way>> find_ways(const Fabric& fabric,
                                                   const CompileOptions& options,
                                                   const BaselineOptions& baseline,
                                                   const std::vector<std::string>& wanted);

/// The programs of a way. Errors: those of `lower` and `lower_exchange`.
[[nodiscard]] Expected<Schedule> lower_way(const Way& way, const Fabric& fabric,
                                           const LowerOptions& lowering);

}  // namespace forestcoll::fastest
