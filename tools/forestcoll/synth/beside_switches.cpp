#include "synth/beside_switches.hpp"

#include <fmt/format.h>

#include "forestcoll/allreduce_optimum.hpp"
#include "forestcoll/switch_roles.hpp"

namespace forestcoll::cli {

std::optional<Ratio> beside_switches(const Fabric& fabric, const CollectiveForest& forest) {
  if (forest.collective != Collective::allreduce) return std::nullopt;
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (roles.empty()) return std::nullopt;
  const auto best = allreduce_optimum(fabric.network, roles);
  if (!best || !best->split || !(forest.optimum < best->split->algbw)) return std::nullopt;
  return best->split->algbw;
}

std::string switches_in_words(const Ratio& reached, const CollectiveForest& forest) {
  return fmt::format(
      "  without copies and sums in switches; with them trees reach {} GB/s, {:.2f} times as much "
      "(--format forest)",
      number(reached), reached.to_double() / forest.algbw.to_double());
}

}  // namespace forestcoll::cli
