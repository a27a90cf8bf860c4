#include "synth/beside_relays.hpp"

#include <fmt/format.h>

#include "common/report/report.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::cli {

std::optional<Ratio> beside_relays(const Network& with_relays, const CollectiveForest& forest) {
  const auto best = bound(with_relays, forest.collective, forest.root);
  if (!best || !(forest.optimum < best->algbw)) return std::nullopt;
  return best->algbw;
}

std::string relays_in_words(const Ratio& reached) {
  return fmt::format(
      "  the group alone runs it; if the other GPUs relayed, which forests can say, {} GB/s would "
      "be possible",
      number(reached));
}

}  // namespace forestcoll::cli
