#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "bound/job_page.hpp"
#include "bound/paths.hpp"
#include "bound/place.hpp"
#include "common/files/io.hpp"
#include "common/job/report.hpp"
#include "common/job/request.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/max_min.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {
namespace {

// The first option that says nothing about groups.
const char* first_of_one_collective(const BoundArguments& options) {
  return first_given({{"--demand", !options.alltoall.demand.empty()},
                      {"--gap", !options.alltoall.gap.empty()},
                      {"--time-limit", !options.alltoall.time_limit.empty()},
                      {"--target", !options.target.empty()},
                      {"--top", options.top != 0},
                      {"--whatif", options.whatif}});
}

Expected<std::vector<StepBound>> bound_all(const Job& job, const Fabric& fabric, bool relays,
                                           const Console& console) {
  ProgressBar bar("finding the best joint rate", console);
  std::vector<StepBound> bounds;
  for (const JobStep& step : job.steps) {
    bar.update(static_cast<double>(bounds.size()) / static_cast<double>(job.steps.size()));
    auto bound = bound_step(fabric.network, step.operations, relays);
    if (!bound) return bound.errors();
    bounds.push_back(*std::move(bound));
  }
  return bounds;
}

// The operations on the fabric before it failed: groups of GPUs that are still there, or all GPUs.
// Nothing where GPUs failed and groups do not say who was in them.
std::optional<std::vector<JobOperation>> operations_before(const JobStep& step, const Fabric& after,
                                                           const Fabric& before) {
  std::vector<JobOperation> operations = step.operations;
  if (before.topology.ranks == after.topology.ranks) return operations;
  std::vector<Rank> all;
  for (std::size_t r = 0; r < before.network.ranks.size(); ++r) all.emplace_back(r);
  for (JobOperation& operation : operations) {
    const bool is_of_all =
        operation.groups.size() == 1 && operation.groups[0].size() == after.network.ranks.size();
    if (!is_of_all || operation.demand) return std::nullopt;
    if (operation.root) {
      const auto same = same_rank(after.topology, Rank(*operation.root), before.topology);
      if (!same) return std::nullopt;
      operation.root = same->index();
    }
    operation.groups = {all};
  }
  return operations;
}

// By step; nothing where --drop and --derate were not given, or a step says nothing of before.
Expected<std::vector<JointOptimum>> bounds_before(const Job& job, const Fabric& fabric, bool relays,
                                                  const Console& console) {
  const auto whole = fabric_before(fabric);
  if (!whole) return whole.errors();
  std::vector<JointOptimum> before;
  if (!*whole) return before;
  ProgressBar bar("finding the joint rate before the failure", console);
  for (const JobStep& step : job.steps) {
    bar.update(static_cast<double>(before.size()) / static_cast<double>(job.steps.size()));
    const auto operations = operations_before(step, fabric, **whole);
    if (!operations) return std::vector<JointOptimum>();
    const auto demand = joint_demand((*whole)->network, *operations, relays);
    if (!demand) return demand.errors();
    auto optimum = joint_optimum((*whole)->network, *demand);
    if (!optimum) return optimum.errors();
    before.push_back(*std::move(optimum));
  }
  return before;
}

// What independent code says of the lengths, where that is another bound.
std::optional<std::string> flaw_of(const Network& network, const JointDemand& demand,
                                   const JointOptimum& optimum) {
  const auto again = joint_rate_by_lengths(network, demand, optimum.lengths, optimum.limit_lengths);
  if (again == optimum.at_most && optimum.reached <= optimum.at_most) return std::nullopt;
  return fmt::format("the bound is {} GB/s, and independent code finds that the lengths prove {}",
                     optimum.at_most.to_string(), again ? again->to_string() : "nothing");
}

std::optional<std::string> flaw_of(const Network& network, const StepBound& bound) {
  if (auto flaw = flaw_of(network, bound.demand, bound.together)) return flaw;
  for (std::size_t i = 0; i < bound.alone.size(); ++i) {
    const JointDemand alone{
        {bound.demand.operations[i]}, {bound.demand.buffers[i]}, bound.demand.relays};
    if (auto flaw = flaw_of(network, alone, bound.alone[i])) return flaw;
  }
  return std::nullopt;
}

// Of steps of several operations; of others nothing.
Expected<std::vector<MaxMinRates>> beyond_all(const std::vector<StepBound>& bounds,
                                              const Fabric& fabric, const Console& console) {
  ProgressBar bar("looking for operations that can have more", console);
  std::vector<MaxMinRates> beyond;
  for (const StepBound& bound : bounds) {
    bar.update(static_cast<double>(beyond.size()) / static_cast<double>(bounds.size()));
    if (bound.demand.operations.size() == 1) {
      beyond.emplace_back();
      continue;
    }
    auto rates = max_min_rates(fabric.network, bound.demand, bound.together);
    if (!rates) return rates.errors();
    beyond.push_back(*std::move(rates));
  }
  return beyond;
}

// What a rate of `whole` takes of what these lengths leave an operation: its part of the bound.
std::optional<Ratio> part_taken(const Network& network, const JointDemand& demand,
                                std::size_t operation, const MaxMinLevel& level,
                                const Ratio& rate) {
  const JointDemand alone{
      {demand.operations[operation]}, {demand.buffers[operation]}, demand.relays};
  const auto most = joint_rate_by_lengths(network, alone, level.lengths, level.limit_lengths);
  if (!most) return Ratio(0);  // it covers nothing
  const auto own = checked_mul(rate, Ratio(demand.buffers[operation], demand.whole()));
  return own ? checked_div(*own, *most) : std::nullopt;
}

// Each level's lengths must be used up by it and by those before it.
std::optional<std::string> flaw_of(const Network& network, const JointDemand& demand,
                                   const MaxMinRates& beyond) {
  std::vector<std::optional<Ratio>> rates(demand.operations.size());
  for (const MaxMinLevel& level : beyond.levels) {
    if (level.lengths.size() == 0) continue;
    for (const std::size_t i : level.operations) rates[i] = level.rate;
    auto sum = std::optional(Ratio(0));
    for (std::size_t i = 0; sum && i < rates.size(); ++i) {
      const auto part = part_taken(network, demand, i, level, rates[i].value_or(level.rate));
      sum = part ? checked_add(*sum, *part) : std::nullopt;
    }
    if (sum == Ratio(1)) continue;
    return fmt::format(
        "{} GB/s beyond the joint rate: independent code finds that the lengths are "
        "used {} times",
        level.rate.to_string(), sum ? sum->to_string() : "an unknown number of");
  }
  return std::nullopt;
}

}  // namespace

Expected<ExitCode> run_bound_of_job(const Fabric& fabric, const BoundArguments& options,
                                    const Console& console) {
  if (const char* other = first_of_one_collective(options)) return no_option_of_groups(other);
  note_what_does_not_count(fabric, console);
  auto job = job_of(options.job, {options.failures, options.collective, options.root},
                    fabric.network.ranks.size(), console,
                    options.place ? MeshFit::some_ranks : MeshFit::all_ranks);
  if (!job) return job.errors();
  Placements placements;
  if (options.place) {
    auto found = find_placements(*job, fabric, has_relays(options.failures), console);
    if (!found) return found.errors();
    placements = *std::move(found);
    *job = placed(*std::move(job), placements.list.front().ranks);
    if (!options.hosts.empty()) {
      const auto done = write_output(options.hosts, hosts_of(placements, fabric));
      if (!done) return done.errors();
    }
  }
  const auto bounds = bound_all(*job, fabric, has_relays(options.failures), console);
  if (!bounds) return bounds.errors();
  const auto beyond = beyond_all(*bounds, fabric, console);
  if (!beyond) return beyond.errors();
  auto before = bounds_before(*job, fabric, has_relays(options.failures), console);
  if (!before) return before.errors();
  for (std::size_t i = 0; options.check && i < bounds->size(); ++i) {
    auto flaw = flaw_of(fabric.network, (*bounds)[i]);
    if (!flaw) flaw = flaw_of(fabric.network, (*bounds)[i].demand, (*beyond)[i]);
    if (flaw) {
      say(fmt::format("forestcoll: internal error: {}: {}; please report it\n", job->steps[i].name,
                      *flaw));
      return ExitCode::internal;
    }
  }
  if (options.check) {
    note(console, "checked: independent code finds that the lengths prove the bounds");
  }
  const BesideBounds beside{*beyond, *std::move(before)};
  if (!options.html.empty()) {
    const std::string page = at_work("drawing the page", console,
                                     [&] { return job_page(*job, *bounds, beside, fabric); });
    if (const auto done = write_output(options.html, page); !done) return done.errors();
  }
  if (!options.json) {
    const std::string orders = options.place ? in_words(placements, *job, fabric) : "";
    return finish(write_output("-", orders + job_in_words(*job, *bounds, beside, fabric)));
  }
  Json json = job_to_json(*job, *bounds, beside, fabric, options.reading);
  if (options.place) put_placements(json, placements, *job, fabric);
  if (options.check) json["checked"] = true;
  return finish(write_output("-", report_text(std::move(json), console)));
}

}  // namespace forestcoll::cli
