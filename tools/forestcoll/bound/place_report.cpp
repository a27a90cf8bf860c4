// Telling of placements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "bound/place.hpp"
#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "common/synthesis/output/rank_order.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostShown = 12;  // in the report in text

bool is_timed(const Job& job) {
  const auto& operation = job.steps.front().operations.front();
  return operation.bytes || operation.demand;
}

std::string names_of(const Placement& placement, const Mesh& mesh) {
  std::vector<std::string> names;
  for (const std::size_t axis : placement.order) names.push_back(mesh.axes[axis].name);
  return fmt::format("{}", fmt::join(names, ","));
}

// "0-7,12", as --members takes them.
std::string ranges_of(std::span<const Rank> ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end].index() == ranks[i].index() + (end - i)) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i].value);
    if (end > i + 1) text += fmt::format("-{}", ranks[end - 1].value);
    i = end;
  }
  return text;
}

TableRow row_of(const Placement& placement, double best, bool timed, const Mesh& mesh) {
  if (!placement.is_possible()) {
    return {names_of(placement, mesh), ranges_of(placement.gpus), "-", "ranks cannot reach others"};
  }
  const double cost = placement.cost;
  const std::string least = placement.is_bound ? ">= " : "", most = placement.is_bound ? "<= " : "";
  return {names_of(placement, mesh), ranges_of(placement.gpus),
          timed ? least + time_in_words(cost) : fmt::format("{}{:.6g}", most, 1 / cost),
          fmt::format("{}{:.3f}", least, cost / best)};
}

std::string head_of(const Placements& placements, const Placement& first, std::size_t gpus) {
  std::string head =
      "axes laid over the GPUs, the first over neighbours; orders with the same groups once\n";
  if (first.gpus.size() == gpus) return head;
  return head +
         fmt::format("{} of {} GPUs: {}\n", first.gpus.size(), gpus,
                     placements.all
                         ? fmt::format("all {} choices, of which symmetries exchange some",
                                       placements.choices)
                         : fmt::format("{} choices, by boxes and by places in boxes, not all",
                                       placements.choices));
}

}  // namespace

std::string in_words(const Placements& placements, const Job& job, const Fabric& fabric) {
  const bool timed = is_timed(job);
  const auto& list = placements.list;
  const std::size_t gpus = fabric.network.ranks.size();
  const bool has_choice = list.front().gpus.size() < gpus;
  const double best = list.front().cost;
  const std::size_t shown = std::min(list.size(), kMostShown);
  Table table{{"order", "ranks", timed ? "time" : "GB/s", "beside the best"}};
  for (const Placement& placement : std::span(list).first(shown)) {
    table.rows.push_back(row_of(placement, best, timed, *job.mesh));
  }
  if (!has_choice) {
    table.head.erase(table.head.begin() + 1);
    for (TableRow& row : table.rows) row.erase(row.begin() + 1);
  }
  std::string text =
      head_of(placements, list.front(), gpus) + aligned(table, has_choice ? 2 : 1, 1);
  if (shown < list.size()) {
    const auto last = std::ranges::find_if(list.rbegin(), list.rend(), &Placement::is_possible);
    text += fmt::format("and {} more, up to {:.3f}\n", list.size() - shown, last->cost / best);
  }
  return text + fmt::format("what follows is of {}{}\n", names_of(list.front(), *job.mesh),
                            has_choice ? " on ranks " + ranges_of(list.front().gpus) : "");
}

std::string hosts_of(const Placements& placements, const Fabric& fabric) {
  Topology placed = fabric.topology;
  placed.ranks.clear();
  for (const Rank r : placements.list.front().ranks) {
    placed.ranks.push_back(fabric.network.ranks[r.index()]);
  }
  const RankOrder order = rank_order_of(placed);
  return hosts_text(order) + visible_devices_text(order);
}

void put_placements(Json& report, const Placements& placements, const Job& job,
                    const Fabric& fabric) {
  const bool timed = is_timed(job);
  const Placement& first = placements.list.front();
  const bool has_choice = first.gpus.size() < fabric.network.ranks.size();
  Json list = Json::array(), ranks = Json::array();
  for (const Placement& placement : placements.list) {
    Json order = Json::array();
    for (const std::size_t axis : placement.order) order.push_back(job.mesh->axes[axis].name);
    Json& entry = list.emplace_back();
    entry["order"] = std::move(order);
    if (has_choice) entry["members"] = ranges_of(placement.gpus);
    if (!placement.is_possible()) continue;
    const char* time = placement.is_bound ? "least_seconds" : "seconds";
    const char* rate = placement.is_bound ? "at_most" : "rate";
    entry[timed ? time : rate] = timed ? placement.cost : 1 / placement.cost;
  }
  for (const Rank r : first.ranks) {
    ranks.push_back(fabric.topology.nodes[fabric.network.ranks[r.index()]].id);
  }
  report["placements"] = std::move(list);
  report["ranks"] = std::move(ranks);
  if (has_choice) {
    report["gpu_choices"] = {{"count", placements.choices}, {"all", placements.all}};
  }
}

}  // namespace forestcoll::cli
