// W16: what the links of a limit carry at most is no more than it, or nothing.
#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/topology_text.hpp"
#include "topology/check/validate.hpp"
#include "topology/model/arcs.hpp"

namespace forestcoll::topology {
namespace {

using LimitEnds = std::pair<NodeId, NodeId>;

enum class Effect { binds, never_binds, unused };

Effect effect_of(const SharedLimit& limit,
                 const std::map<LimitEnds, std::optional<Ratio>>& carried) {
  std::optional<Ratio> all = Ratio(0);  // nothing: too fine to be known
  bool is_used = false;
  for (const SharedLimit::Use& use : limit.uses) {
    const auto at = carried.find({use.src, use.dst});
    if (at == carried.end()) continue;
    is_used = true;
    const auto weighed = at->second ? checked_mul(*at->second, use.weight) : std::nullopt;
    all = all && weighed ? checked_add(*all, *weighed) : std::nullopt;
  }
  if (!is_used) return Effect::unused;
  return all && *all <= limit.bandwidth ? Effect::never_binds : Effect::binds;
}

void warn_of(const std::vector<SharedLimit>& limits, const Topology& topology,
             const std::string& where, const char* problem, const char* remedy,
             Findings& findings) {
  if (limits.empty()) return;
  const SharedLimit& first = limits.front();
  const std::size_t more = limits.size() - 1;
  const std::string others =
      more == 0 ? "" : fmt::format(" (and {} more {})", more, more == 1 ? "limit" : "limits");
  findings.warning(Code::W16, where,
                   fmt::format("the limit {} of {} GB/s {}{}",
                               first.name.empty() ? name_of(first, topology) : quote(first.name),
                               exact_text(first.bandwidth), problem, others),
                   remedy);
}

}  // namespace

IneffectiveLimits ineffective_limits(const Topology& topology) {
  IneffectiveLimits found;
  if (topology.limits.empty()) return found;
  std::map<LimitEnds, std::optional<Ratio>> carried;
  for (const DirectedLink& link : enabled_arcs(topology)) {
    const auto at = carried.emplace(LimitEnds(link.arc.tail, link.arc.head), Ratio(0)).first;
    if (at->second) at->second = checked_add(*at->second, topology.links[link.link].bandwidth);
  }
  for (const SharedLimit& limit : topology.limits) {
    const Effect effect = effect_of(limit, carried);
    if (effect == Effect::never_binds) found.never_bind.push_back(limit);
    if (effect == Effect::unused) found.unused.push_back(limit);
  }
  return found;
}

void warn_limits(const IneffectiveLimits& limits, const Topology& topology,
                 const std::string& where, Findings& findings) {
  warn_of(
      limits.never_bind, topology, where, "never binds: its links carry no more together",
      "After a failure that may be right; else check its bandwidth and its links, or remove it.",
      findings);
  warn_of(limits.unused, topology, where, "holds nothing: all of its links are out of use",
          "Is it meant for other links, too?", findings);
}

}  // namespace forestcoll::topology
