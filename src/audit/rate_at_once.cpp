// What several schedules load the links of one fabric with when they run at once.
#include <map>

#include "audit/common/fabric_load.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {

std::optional<Ratio> rate_at_once(const Topology& whole,
                                  std::span<const std::vector<LinkLoad>> loads) {
  const auto network = to_digraph(whole);
  if (!network) return std::nullopt;
  std::map<std::string_view, NodeId> nodes;
  for (std::size_t v = 0; v < whole.nodes.size(); ++v) {
    nodes.emplace(whole.nodes[NodeId(v)].id, NodeId(v));
  }
  const auto arc_of = [&](const LinkLoad& load) {
    const auto src = nodes.find(load.src), dst = nodes.find(load.dst);
    if (src == nodes.end() || dst == nodes.end()) return ArcId();
    return network->graph.find(src->second, dst->second);
  };
  IdVector<ArcId, Ratio> sum(network->graph.arc_count(), Ratio(0));
  for (const std::vector<LinkLoad>& of_one : loads) {
    for (const LinkLoad& load : of_one) {
      const ArcId arc = arc_of(load);
      const auto more = arc.valid() ? checked_add(sum[arc], load.load) : std::nullopt;
      if (!more) return std::nullopt;
      sum[arc] = *more;
    }
  }
  Verdict verdict;
  audit::report_loads(whole, *network, sum, verdict);
  return verdict.algbw;
}

}  // namespace forestcoll
