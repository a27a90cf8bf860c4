#include "common/synthesis/beside/beside_switches.hpp"

#include <fmt/format.h>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

std::optional<BesideSwitches> beside_switches(const Fabric& fabric,
                                              const CollectiveForest& forest) {
  if (forest.collective != Collective::allreduce) return std::nullopt;
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (roles.empty()) return std::nullopt;
  const auto best = allreduce_optimum(fabric.network, roles);
  if (!best || best->upper <= forest.optimum) return std::nullopt;
  BesideSwitches beside;
  if (best->split && forest.optimum < best->split->algbw) beside.reached = best->split->algbw;
  if (!best->is_exact()) beside.at_most = best->upper;
  return beside;
}

std::string switches_in_words(const BesideSwitches& beside, const CollectiveForest& forest) {
  if (!beside.reached) {
    return fmt::format(
        "  without copies and sums in switches; with them the optimum is between {} and {} GB/s, "
        "which nothing exceeds",
        number(forest.optimum), number(*beside.at_most));
  }
  std::string text = fmt::format(
      "  without copies and sums in switches; with them trees reach {} GB/s, {:.2f} times as much "
      "(--format forest)",
      number(*beside.reached), beside.reached->to_double() / forest.algbw.to_double());
  if (beside.at_most) {
    text += fmt::format(", and nothing exceeds {} GB/s", number(*beside.at_most));
  }
  return text;
}

void put_switches(Json& json, const BesideSwitches& beside) {
  if (beside.reached) json["in_network"] = exact(*beside.reached);
  if (beside.at_most) json["in_network_at_most"] = exact(*beside.at_most);
}

}  // namespace forestcoll::cli
