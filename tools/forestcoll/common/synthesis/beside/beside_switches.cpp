#include "common/synthesis/beside/beside_switches.hpp"

#include <fmt/format.h>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

namespace {

// GB/s.
struct WithSwitches {
  Ratio upper;
  std::optional<Ratio> reached;
};

std::optional<WithSwitches> with_switches(const Fabric& fabric, const SwitchRoles& roles,
                                          const CollectiveForest& forest) {
  if (forest.root) {
    const auto best = rooted_optimum(fabric.network, roles, forest.collective, *forest.root);
    return best ? std::optional(WithSwitches{best->upper, best->reached()}) : std::nullopt;
  }
  const auto best = allreduce_optimum(fabric.network, roles);
  if (!best) return std::nullopt;
  return WithSwitches{best->upper, best->split ? std::optional(best->split->algbw) : std::nullopt};
}

}  // namespace

std::optional<BesideSwitches> beside_switches(const Fabric& fabric,
                                              const CollectiveForest& forest) {
  if (forest.collective != Collective::allreduce && !forest.root) return std::nullopt;
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (!has_able_switches(roles, forest.collective)) return std::nullopt;
  const auto best = with_switches(fabric, roles, forest);
  if (!best || best->upper <= forest.optimum) return std::nullopt;
  BesideSwitches beside;
  if (forest.optimum < best->reached) beside.reached = best->reached;
  if (best->reached != best->upper) beside.at_most = best->upper;
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
