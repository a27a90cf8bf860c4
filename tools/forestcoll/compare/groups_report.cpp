#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "compare/groups.hpp"
#include "compare/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

double algbw_of(std::int64_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

// Those that have something to move.
std::size_t groups_at_work(const GroupsRequest& request) {
  return static_cast<std::size_t>(std::ranges::count_if(
      request.operation.groups, [](const auto& group) { return group.size() > 1; }));
}

// algbw by size; of all at once, or of one group alone.
std::string table_of(const GroupsComparison& comparison, const GroupsRequest& request,
                     double GroupsTime::*seconds) {
  Table table{{"algorithm"}};
  for (const std::int64_t size : request.sizes) {
    table.head.push_back(rounded_size_in_words(static_cast<double>(size)));
  }
  for (const GroupsRow& row : comparison.rows) {
    if (row.error) continue;
    TableRow line{row.algorithm};
    for (const GroupsTime& time : row.times) {
      line.push_back(short_number(algbw_of(time.bytes, time.*seconds)));
    }
    table.rows.push_back(std::move(line));
  }
  return table.rows.empty() ? "no algorithm has times\n" : aligned(table, 1, 0);
}

}  // namespace

std::string groups_in_words(const GroupsComparison& comparison, const GroupsRequest& request,
                            const Fabric& fabric) {
  std::string text = fmt::format(
      "{}: {} in {} at once; simulated ({}); GPU parameters: {} ({})\n"
      "trees and paths reach at most {} GB/s in each group, all at once\n",
      fabric.topology.name, to_string(request.operation.collective),
      counted(groups_at_work(request), "group"), kModelNotMeasurement, request.parameters.name,
      request.gpu_chosen, number(comparison.optimum));
  text += "\nalgbw GB/s of each group, all at once\n" +
          table_of(comparison, request, &GroupsTime::at_once);
  text += "\nalgbw GB/s of the slowest group, the others idle\n" +
          table_of(comparison, request, &GroupsTime::alone);
  bool is_first = true;
  for (const GroupsRow& row : comparison.rows) {
    if (!row.error) continue;
    text += fmt::format("{}{}: {}\n", is_first ? "\n" : "", row.algorithm, why(*row.error));
    is_first = false;
  }
  return text;
}

Json groups_to_json(const GroupsComparison& comparison, const GroupsRequest& request,
                    const Fabric& fabric) {
  Json groups = Json::array(), rows = Json::array();
  for (const auto& group : request.operation.groups) {
    groups.push_back(Json::array());
    for (const Rank rank : group) groups.back().push_back(rank.value);
  }
  for (const GroupsRow& row : comparison.rows) {
    Json json = {{"algorithm", row.algorithm}, {"title", row.title}, {"times", Json::array()}};
    for (const GroupsTime& time : row.times) {
      json["times"].push_back({{"bytes", time.bytes},
                               {"simulated_seconds", time.at_once},
                               {"simulated_algbw", algbw_of(time.bytes, time.at_once)},
                               {"alone_simulated_seconds", time.alone},
                               {"alone_simulated_algbw", algbw_of(time.bytes, time.alone)}});
    }
    if (row.error) json["error"] = to_json(*row.error);
    rows.push_back(std::move(json));
  }
  Json report = {{"format", "forestcoll-compare-groups"},
                 {"version", 1},
                 {"topology", fabric.topology.name},
                 {"estimate", kModelNotMeasurement},
                 {"compute_nodes", fabric.topology.ranks.size()},
                 {"collective", to_string(request.operation.collective)},
                 {"groups", std::move(groups)},
                 {"optimum", exact(comparison.optimum)},
                 {"parameters",
                  {{"name", request.parameters.name},
                   {"source", request.parameters.source},
                   {"chosen", request.gpu_chosen}}},
                 {"latencies", latencies_json(fabric.topology)},
                 {"algorithms", std::move(rows)}};
  if (request.operation.root) report["root_rank"] = *request.operation.root;
  return report;
}

}  // namespace forestcoll::cli
