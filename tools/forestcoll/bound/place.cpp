#include "bound/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "common/job/figures.hpp"
#include "common/report/progress_bar.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/gpu_choices.hpp"
#include "forestcoll/joint_bound.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostAxes = 6;  // 720 orders

// Placements whose symmetries are looked for.
constexpr std::size_t kMostEnumerated = 5000;
// Placements that are solved, and arcs of the fabric for all of them together.
constexpr std::size_t kMostSolved = 1000, kMostArcs = 40'000, kLeastSolved = 48;
constexpr std::size_t kLeastChoices = 4;

// Nearer costs count as equal.
constexpr double kNearlyAs = 1 - 1e-9;

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

bool has_bytes(const Job& job) {
  return std::ranges::all_of(job.steps, [](const JobStep& step) {
    return std::ranges::all_of(step.operations, [](const JobOperation& operation) {
      return operation.bytes || operation.demand;
    });
  });
}

// What a step takes with all its repetitions at this rate.
double cost_at(const JobStep& step, StepBound& bound, const Ratio& rate) {
  bound.together.reached = rate;
  const StepFigures figures(step, bound);
  return static_cast<double>(step.repeat) *
         (figures.has_bytes() ? figures.seconds_at_once() : 1 / rate.to_double());
}

struct Cost {
  double value = 0;
  bool is_bound = false;
};

// Where it is above `most`, maybe no more than a bound that is above, too.
Expected<Cost> cost_of(const Job& job, const Fabric& fabric, bool relays, double most) {
  Cost cost;
  for (const JobStep& step : job.steps) {
    if (cost.value >= most) cost.is_bound = true;
    if (cost.is_bound) break;
    auto demand = joint_demand(fabric.network, step.operations, relays);
    if (!demand) return demand.errors();
    StepBound bound{*std::move(demand), {}, {}, {}};
    JointLimits limits;
    limits.least_rate = cost_at(step, bound, Ratio(1)) / (most - cost.value) * kNearlyAs;
    auto optimum = joint_optimum(fabric.network, bound.demand, limits);
    if (!optimum) return optimum.errors();
    cost.is_bound = optimum->reached == Ratio(0);
    cost.value += cost_at(step, bound, cost.is_bound ? optimum->at_most : optimum->reached);
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

// Each order on each set of GPUs; of those that come to the same the first.
std::vector<Placement> distinct(const Job& job, const Network& network, const GpuChoices& choices,
                                bool by_symmetry) {
  std::vector<Placement> placements;
  std::vector<std::vector<Rank>> where;
  for (const std::vector<Rank>& gpus : choices.sets) {
    for (const Order& order : orders_of(*job.mesh)) {
      std::vector<Rank> ranks = placement_of(*job.mesh, order);
      for (Rank& rank : ranks) rank = gpus[rank.index()];
      where.push_back(ranks);
      placements.push_back({order, gpus, std::move(ranks)});
    }
  }
  std::vector<Placement> kept;
  for (const std::size_t i : distinct_placements(network, job, where, by_symmetry)) {
    kept.push_back(std::move(placements[i]));
  }
  return kept;
}

// What is to be compared; costs are not known yet.
Placements candidates(const Job& job, const Fabric& fabric) {
  const Network& network = fabric.network;
  const std::size_t count = job.mesh->points(), n = network.ranks.size();
  if (count == n) {
    const auto all = all_gpu_choices(network, count, 1);
    return {distinct(job, network, all, false), 1, true};
  }
  const std::size_t orders = orders_of(*job.mesh).size();
  const std::size_t most =
      std::clamp(kMostArcs / (1 + network.graph.arc_count()), kLeastSolved, kMostSolved);
  const auto all = all_gpu_choices(network, count, kMostEnumerated / orders);
  if (all.all) {
    auto placements = distinct(job, network, all, true);
    if (placements.size() <= most) return {std::move(placements), all.sets.size(), true};
  }
  const auto some =
      gpu_choices_by_boxes(fabric.topology, network, count, std::max(most / orders, kLeastChoices));
  return {distinct(job, network, some, false), some.sets.size(), false};
}

}  // namespace

Expected<Placements> find_placements(const Job& job, const Fabric& fabric, bool relays,
                                     const Console& console) {
  if (const auto done = check(job); !done) return done.errors();
  ProgressBar bar("trying placements of the mesh", console);
  Placements found = candidates(job, fabric);
  const bool has_choice = job.mesh->points() < fabric.network.ranks.size();
  std::optional<Diagnostics> impossible;  // why the first is that cannot be
  double best = kImpossible;
  for (std::size_t i = 0; i < found.list.size(); ++i) {
    bar.update(static_cast<double>(i) / static_cast<double>(found.list.size()));
    Placement& placement = found.list[i];
    // All orders on all GPUs are told.
    const double most = has_choice ? best : kImpossible;
    const Job there = placed(job, placement.ranks);
    auto cost = cost_of(there, fabric, relays, most);
    // What floating point ended may not be proved to be worse.
    if (cost && cost->is_bound && cost->value < best) {
      cost = cost_of(there, fabric, relays, kImpossible);
    }
    const bool is_possible = cost.has_value();
    if (!is_possible && cost.errors().front().code != Code::O08) return cost.errors();
    if (!is_possible && !impossible) impossible = cost.errors();
    placement.cost = is_possible ? cost->value : kImpossible;
    placement.is_bound = is_possible && cost->is_bound;
    if (!placement.is_bound) best = std::min(best, placement.cost);
  }
  std::ranges::stable_sort(found.list, {}, &Placement::cost);
  if (!found.list.front().is_possible()) return *impossible;
  return found;
}

}  // namespace forestcoll::cli
