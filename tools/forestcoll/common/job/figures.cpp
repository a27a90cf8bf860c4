#include "common/job/figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/report/lengths_report.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

double seconds(const Ratio& gbs, const Ratio& bytes) {
  return bytes.to_double() / (gbs.to_double() * 1e9);
}

}  // namespace

Ratio StepFigures::buffer(std::size_t operation) const {
  const JobOperation& asked = step_.operations[operation];
  if (asked.bytes) return *asked.bytes;
  if (!asked.demand) return 0;
  return {asked.demand->total(), static_cast<std::int64_t>(asked.demand->ranks())};
}

double StepFigures::seconds_at_once() const {
  double last = 0;  // those with a larger weight are done earlier
  for (std::size_t i = 0; i < step_.operations.size(); ++i) last = std::max(last, seconds_of(i));
  return last;
}

double StepFigures::seconds_of(std::size_t operation) const {
  return seconds(part_of(bound_.together.reached, operation), buffer(operation));
}

bool StepFigures::has_weights() const {
  return std::ranges::any_of(step_.operations, [&](const JobOperation& operation) {
    return operation.weight != step_.operations.front().weight;
  });
}

double StepFigures::time_of_last() const {
  const JointDemand& demand = bound_.demand;
  const std::int64_t largest = demand.weight(demand.largest());
  std::int64_t least = largest;
  for (std::size_t i = 0; i < demand.buffers.size(); ++i) {
    least = std::min(least, demand.weight(i));
  }
  return static_cast<double>(largest) / static_cast<double>(least);
}

double StepFigures::seconds_in_turn() const {
  double sum = 0;
  for (std::size_t i = 0; i < step_.operations.size(); ++i) sum += seconds_alone(i);
  return sum;
}

double StepFigures::seconds_alone(std::size_t operation) const {
  return seconds(bound_.alone[operation].reached, buffer(operation));
}

Ratio StepFigures::part_of(const Ratio& rate, std::size_t operation) const {
  const Ratio part(bound_.demand.buffers[operation], bound_.demand.whole());
  if (const auto exact = checked_mul(rate, part)) return *exact;
  constexpr std::int64_t kDenominator = std::int64_t{1} << 40;
  const double near = rate.to_double() * part.to_double() * static_cast<double>(kDenominator);
  return {std::llround(near), kDenominator};
}

bool StepFigures::is_exact(std::size_t operation) const {
  const Ratio part(bound_.demand.buffers[operation], bound_.demand.whole());
  return bound_.together.is_exact() && checked_mul(bound_.together.reached, part).has_value();
}

std::map<std::string, double> shares_by_kind(const StepBound& bound, std::size_t operation,
                                             const Fabric& fabric) {
  std::map<std::string, double> load, capacity;
  const auto kinds = kinds_of_arcs(fabric.topology, fabric.network);
  for (std::size_t a = 0; a < kinds.size(); ++a) {
    const auto room = static_cast<double>(fabric.network.capacity[ArcId(a)]);
    load[kinds[ArcId(a)]] += room * bound.together.loads[operation][ArcId(a)];
    capacity[kinds[ArcId(a)]] += room;
  }
  for (auto& [kind, share] : load) share /= capacity[kind];
  return load;
}

bool all_have_bytes(const Job& job, const std::vector<StepBound>& bounds) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!StepFigures(job.steps[i], bounds[i]).has_bytes()) return false;
  }
  return true;
}

double seconds_of(const Job& job, const std::vector<StepBound>& bounds) {
  double seconds = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    seconds += static_cast<double>(job.steps[i].repeat) *
               StepFigures(job.steps[i], bounds[i]).seconds_at_once();
  }
  return seconds;
}

bool has_able_switches(const Fabric& fabric) {
  return !switch_roles(fabric.topology).empty();
}

}  // namespace forestcoll::cli
