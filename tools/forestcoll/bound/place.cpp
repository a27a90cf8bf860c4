#include "bound/place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "common/job/figures.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/joint_bound.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostAxes = 6;    // 720 orders
constexpr std::size_t kMostShown = 12;  // in the report in text

constexpr double kImpossible = std::numeric_limits<double>::infinity();

using Order = std::vector<std::size_t>;

std::vector<Order> orders_of(const Mesh& mesh) {
  Order moved, fixed;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    (mesh.axes[axis].size > 1 ? moved : fixed).push_back(axis);
  }
  std::vector<Order> orders;
  do {
    orders.push_back(moved);
    orders.back().insert(orders.back().end(), fixed.begin(), fixed.end());
  } while (std::ranges::next_permutation(moved).found);
  return orders;
}

// By operation, which ranks are together, and who is their root: what the bound depends on.
using Together = std::vector<std::set<std::pair<std::vector<Rank>, std::optional<Rank>>>>;

Together together_of(const Job& job) {
  Together together;
  for (const JobStep& step : job.steps) {
    for (const JobOperation& operation : step.operations) {
      auto& groups = together.emplace_back();
      for (std::vector<Rank> group : operation.groups) {
        const auto root = operation.root ? std::optional(group[*operation.root]) : std::nullopt;
        if (!operation.demand) std::ranges::sort(group);
        groups.emplace(std::move(group), root);
      }
    }
  }
  return together;
}

bool has_bytes(const Job& job) {
  return std::ranges::all_of(job.steps, [](const JobStep& step) {
    return std::ranges::all_of(step.operations, [](const JobOperation& operation) {
      return operation.bytes || operation.demand;
    });
  });
}

Expected<double> cost_of(const Job& job, const Fabric& fabric, bool relays) {
  double cost = 0;
  for (const JobStep& step : job.steps) {
    const auto demand = joint_demand(fabric.network, step.operations, relays);
    if (!demand) return demand.errors();
    auto optimum = joint_optimum(fabric.network, *demand);
    if (!optimum) return optimum.errors();
    const StepBound bound{*demand, *std::move(optimum), {}, {}};
    const StepFigures figures(step, bound);
    cost +=
        static_cast<double>(step.repeat) *
        (figures.has_bytes() ? figures.seconds_at_once() : 1 / bound.together.reached.to_double());
  }
  return cost;
}

Diagnostic cannot_place(Code code, const std::string& what, const std::string& remedy) {
  return make_error(code, "--place: " + what, remedy);
}

Expected<void> check(const Job& job) {
  if (!job.mesh) return cannot_place(Code::S04, "the ranks are no mesh", "name one with --mesh");
  const auto moved =
      std::ranges::count_if(job.mesh->axes, [](auto& axis) { return axis.size > 1; });
  if (static_cast<std::size_t>(moved) > kMostAxes) {
    return cannot_place(Code::O06, fmt::format("the mesh has {} axes of two and more", moved),
                        fmt::format("join axes, so that there are {} at most", kMostAxes));
  }
  if (job.steps.size() > 1 && !has_bytes(job)) {
    return cannot_place(Code::S04, "several steps can be compared by their bytes alone",
                        "name one collective with -c, or give the bytes of all operations");
  }
  return {};
}

std::string names_of(const Order& order, const Mesh& mesh) {
  std::vector<std::string> names;
  for (const std::size_t axis : order) names.push_back(mesh.axes[axis].name);
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

Expected<std::vector<Placement>> find_placements(const Job& job, const Fabric& fabric, bool relays,
                                                 const Console& console) {
  if (const auto done = check(job); !done) return done.errors();
  ProgressBar bar("trying the orders of the mesh", console);
  const auto orders = orders_of(*job.mesh);
  std::set<Together> known;
  std::vector<Placement> placements;
  std::optional<Diagnostics> impossible;  // why the first is that cannot be
  for (std::size_t i = 0; i < orders.size(); ++i) {
    bar.update(static_cast<double>(i) / static_cast<double>(orders.size()));
    const Job there = placed(job, placement_of(*job.mesh, orders[i]));
    if (!known.insert(together_of(there)).second) continue;
    const auto cost = cost_of(there, fabric, relays);
    const bool is_possible = cost.has_value();
    if (!is_possible && cost.errors().front().code != Code::O08) return cost.errors();
    if (!is_possible && !impossible) impossible = cost.errors();
    placements.push_back({orders[i], is_possible ? *cost : kImpossible});
  }
  std::ranges::stable_sort(placements, {}, &Placement::cost);
  if (!placements.front().is_possible()) return *impossible;
  return placements;
}

std::string in_words(const std::vector<Placement>& placements, const Job& job) {
  const bool timed = has_bytes(job);
  const double best = placements.front().cost;
  const std::size_t shown = std::min(placements.size(), kMostShown);
  Table table{{"order", timed ? "time" : "GB/s", "beside the best"}};
  for (const Placement& placement : std::span(placements).first(shown)) {
    const double cost = placement.cost;
    if (!placement.is_possible()) {
      table.rows.push_back(
          {names_of(placement.order, *job.mesh), "-", "ranks cannot reach others"});
      continue;
    }
    table.rows.push_back({names_of(placement.order, *job.mesh),
                          timed ? time_in_words(cost) : fmt::format("{:.6g}", 1 / cost),
                          fmt::format("{:.3f}", cost / best)});
  }
  std::string text =
      "axes laid over the GPUs, the first over neighbours; orders with the same groups once\n" +
      aligned(table, 1, 1);
  if (shown < placements.size()) {
    const auto last =
        std::ranges::find_if(placements.rbegin(), placements.rend(), &Placement::is_possible);
    text +=
        fmt::format("and {} more, up to {:.3f}\n", placements.size() - shown, last->cost / best);
  }
  return text +
         fmt::format("what follows is of {}\n", names_of(placements.front().order, *job.mesh));
}

void put_placements(Json& report, const std::vector<Placement>& placements, const Job& job,
                    const Fabric& fabric) {
  const bool timed = has_bytes(job);
  Json list = Json::array(), ranks = Json::array();
  for (const Placement& placement : placements) {
    Json order = Json::array();
    for (const std::size_t axis : placement.order) order.push_back(job.mesh->axes[axis].name);
    list.push_back({{"order", std::move(order)}});
    if (!placement.is_possible()) continue;
    list.back()[timed ? "seconds" : "rate"] = timed ? placement.cost : 1 / placement.cost;
  }
  for (const Rank r : placement_of(*job.mesh, placements.front().order)) {
    ranks.push_back(fabric.topology.nodes[fabric.network.ranks[r.index()]].id);
  }
  report["placements"] = std::move(list);
  report["ranks"] = std::move(ranks);
}

}  // namespace forestcoll::cli
