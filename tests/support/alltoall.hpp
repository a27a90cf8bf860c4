// All-to-alls, scatters and gathers as tests ask for them, and what they read of them.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/compile.hpp"

namespace forestcoll::test {

/// Of one block for every pair, out of place, in k parts; none: as many as are chosen.
inline CompileOptions alltoall_as(Format format, std::optional<std::int64_t> k = {}) {
  CompileOptions options;
  options.synthesis.collective = Collective::alltoall;
  options.format = format;
  options.lowering.placement = Placement::out_of_place;
  if (!k) return options;
  options.tree_count = TreeCount::as_given;
  options.synthesis.trees_per_root = {TreesPerRoot::Mode::fixed, *k};
  return options;
}

/// The same of a scatter or a gather.
inline CompileOptions rooted_as(Collective collective, Rank root, Format format,
                                std::optional<std::int64_t> k = {}) {
  CompileOptions options = alltoall_as(format, k);
  options.synthesis.collective = collective;
  options.synthesis.root = root;
  return options;
}

inline const Ratio& algbw_of(const Compilation& made) {
  return made.chosen.synthesis.forest.algbw;
}
inline const Ratio& optimum_of(const Compilation& made) {
  return made.chosen.synthesis.forest.optimum;
}

}  // namespace forestcoll::test
