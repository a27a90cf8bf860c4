#include "common/synthesis/beside/beside_relays.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/report/report.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::cli {

std::optional<Ratio> beside_relays(const Network& with_relays, const CollectiveForest& forest) {
  const auto in_turn = bound(with_relays, forest.collective, forest.root);
  if (!in_turn) return std::nullopt;
  Ratio best = in_turn->algbw;
  if (forest.collective == Collective::allreduce) {
    const auto at_once = allreduce_optimum(with_relays);
    if (at_once && at_once->split) best = std::max(best, at_once->split->algbw);
  }
  return forest.optimum < best ? std::optional(best) : std::nullopt;
}

std::string relays_in_words(const Ratio& reached) {
  return fmt::format(
      "  the group alone runs it; if the other GPUs relayed, which forests can say, {} GB/s would "
      "be possible",
      number(reached));
}

}  // namespace forestcoll::cli
