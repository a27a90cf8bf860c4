// The report of a job as JSON.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/job/figures.hpp"
#include "common/job/report.hpp"
#include "common/report/alltoall_report.hpp"
#include "common/report/lengths_report.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

Json rate_json(const JointOptimum& optimum) {
  Json json = {{"rate", exact_or_reached(optimum.reached, optimum.is_exact())}};
  if (!optimum.is_exact()) json["at_most"] = exact(optimum.at_most);
  return json;
}

Json groups_json(const Groups& groups) {
  Json list = Json::array();
  for (const auto& group : groups) {
    Json ranks = Json::array();
    for (const Rank r : group) ranks.push_back(r.value);
    list.push_back(std::move(ranks));
  }
  return list;
}

Json demand_json(const Demand& demand) {
  Json rows = Json::array();
  for (std::size_t from = 0; from < demand.ranks(); ++from) {
    Json row = Json::array();
    for (std::size_t to = 0; to < demand.ranks(); ++to) row.push_back(demand(Rank(from), Rank(to)));
    rows.push_back(std::move(row));
  }
  return rows;
}

// Without a level of its own it is one of those that are not proved.
Json max_min_json(const MaxMinRates& beyond, std::size_t operation, const StepFigures& figures) {
  const MaxMinLevel& last = beyond.levels.back();
  const bool is_last = std::ranges::count(last.operations, operation) > 0;
  return exact_or_reached(figures.part_of(beyond.rate_of(operation), operation),
                          beyond.is_exact || !is_last);
}

Json operation_json(const JobOperation& operation, const StepBound& bound, std::size_t i,
                    const MaxMinRates* beyond, const StepFigures& figures, const Fabric& fabric) {
  Json json = {{"name", operation.name},
               {"collective", to_string(operation.collective)},
               {"groups", groups_json(operation.groups)}};
  if (operation.bytes) json["bytes"] = *operation.bytes;
  if (operation.demand) json["demand"] = demand_json(*operation.demand);
  if (operation.root) json["root"] = *operation.root;
  json["rate"] = exact_or_reached(figures.part_of(bound.together.reached, i), figures.is_exact(i));
  if (figures.has_bytes()) json["seconds"] = figures.seconds_of(i);
  if (operation.weight != 1) json["weight"] = operation.weight;
  if (beyond != nullptr) json["max_min"] = max_min_json(*beyond, i, figures);
  Json kinds = Json::array();
  for (const auto& [kind, share] : shares_by_kind(bound, i, fabric)) {
    if (share > 0) kinds.push_back({{"kind", kind}, {"share", share}});
  }
  json["links"] = std::move(kinds);
  return json;
}

// "shared_limits" where the fabric has limits.
void put_lengths(Json& json, const ArcLengths& links, const std::vector<std::int64_t>& limits,
                 const Fabric& fabric) {
  json["lengths"] = lengths_json(links, fabric.topology, fabric.network, LengthForm::number);
  if (fabric.network.limits.empty()) return;
  json["shared_limits"] =
      limit_lengths_json(limits, fabric.topology, fabric.network, LengthForm::number);
}

// The proofs of levels above the joint rate.
Json levels_json(const MaxMinRates& beyond, const Fabric& fabric) {
  Json list = Json::array();
  for (std::size_t l = 1; l < beyond.levels.size(); ++l) {
    const MaxMinLevel& level = beyond.levels[l];
    if (level.lengths.size() == 0) continue;
    list.push_back({{"operations", level.operations}});
    put_lengths(list.back(), level.lengths, level.limit_lengths, fabric);
  }
  return list;
}

Json before_json(const JointOptimum& before, const JointOptimum& after) {
  Json json = rate_json(before);
  json["change"] = after.reached.to_double() / before.reached.to_double() - 1;
  return json;
}

Json step_json(const JobStep& step, const StepBound& bound, const MaxMinRates* beyond,
               const Fabric& fabric) {
  const StepFigures figures(step, bound);
  const bool timed = figures.has_bytes();
  Json json = {{"name", step.name}, {"repeat", step.repeat}};
  json.update(rate_json(bound.together));
  if (timed) json["seconds"] = figures.seconds_at_once();
  Json alone = Json::array(), operations = Json::array();
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    Json one = {{"name", step.operations[i].name}};
    one.update(rate_json(bound.alone[i]));
    if (timed) one["seconds"] = figures.seconds_alone(i);
    alone.push_back(std::move(one));
    operations.push_back(operation_json(step.operations[i], bound, i, beyond, figures, fabric));
  }
  json["alone"] = std::move(alone);
  json["in_turn"] = {{"rate", exact(bound.in_turn)}};
  if (timed) json["in_turn"]["seconds"] = figures.seconds_in_turn();
  json["operations"] = std::move(operations);
  put_lengths(json, bound.together.lengths, bound.together.limit_lengths, fabric);
  if (beyond != nullptr) json["max_min_proofs"] = levels_json(*beyond, fabric);
  return json;
}

}  // namespace

Json job_to_json(const Job& job, const std::vector<StepBound>& bounds, const BesideBounds& beside,
                 const Fabric& fabric, const ReadingOptions& reading) {
  const std::vector<MaxMinRates>& beyond = beside.beyond;
  Json json = {{"format", "forestcoll-job"},
               {"version", 1},
               {"topology", fabric.topology.name},
               {"compute_nodes", fabric.network.ranks.size()},
               {"relays", bounds.front().demand.relays}};
  if (has_able_switches(fabric)) json["without_switch_copies"] = true;
  Json steps = Json::array();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const MaxMinRates* more = beyond.empty() || beyond[i].levels.empty() ? nullptr : &beyond[i];
    steps.push_back(step_json(job.steps[i], bounds[i], more, fabric));
    if (!beside.before.empty()) {
      steps.back()["before"] = before_json(beside.before[i], bounds[i].together);
    }
  }
  json["steps"] = std::move(steps);
  if (all_have_bytes(job, bounds)) json["seconds"] = seconds_of(job, bounds);
  if (!fabric.changes.empty()) json["changes"] = fabric.changes;
  if (!reading.quantize.empty()) json["quantize_change"] = exact(fabric.quantize_change);
  return json;
}

}  // namespace forestcoll::cli
