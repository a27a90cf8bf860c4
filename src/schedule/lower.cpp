// From a forest to per-rank programs, stage by stage.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/addressing.hpp"
#include "schedule/lanes.hpp"
#include "schedule/messages.hpp"
#include "schedule/plan.hpp"
#include "schedule/programs.hpp"
#include "schedule/refusal.hpp"
#include "schedule/waits.hpp"

namespace forestcoll {
namespace {

using schedule::refusal;

constexpr const char* kSmaller = "use a smaller -k, or write the forest with --format forest";

std::size_t rank_count(const CollectiveForest& forest) {
  return forest.reduce ? forest.reduce->rank_count() : forest.broadcast->rank_count();
}

Expected<const TargetLimits*> target_for(const CollectiveForest& forest, const std::string& name) {
  const TargetLimits* target = find_target(name);
  if (target == nullptr) {
    return Diagnostic{.code = "T07",
                      .severity = Severity::error,
                      .kind = ErrorKind::input,
                      .file = "",
                      .where = "",
                      .message = fmt::format("there is no target \"{}\"", name),
                      .remedy = "the targets are " + known_targets()};
  }
  if (forest.reduce && !target->fused_reduce) {
    return refusal(
        "T06",
        fmt::format("{} needs steps that receive and reduce at once, which {} does not take",
                    to_string(forest.collective), target->name),
        "choose another --target, or allgather or broadcast");
  }
  return target;
}

// The least number of steps that the busiest rank must have, nops not counted: each edge of each
// tree is at least one step at both ends, and the busiest rank has no fewer than the mean.
std::int64_t fewest_steps(const CollectiveForest& forest, std::int32_t max_count) {
  const auto ranks = static_cast<std::int64_t>(rank_count(forest));
  std::int64_t messages = 0;
  for (const auto& phase : {forest.reduce, forest.broadcast}) {
    for (std::size_t t = 0; phase && t < phase->tree_count(); ++t) {
      const std::int64_t multiplicity = phase->tree(TreeId(t)).multiplicity;
      messages += (multiplicity + max_count - 1) / max_count * (ranks - 1);
    }
  }
  return (2 * messages + ranks - 1) / ranks;
}

Diagnostic too_many_elements(std::int64_t rank, std::int64_t elements, const TargetLimits& target) {
  return refusal("T05",
                 fmt::format("rank {} would load {} XML elements, but {} loads at most {}", rank,
                             elements, target.name, target.max_elements),
                 kSmaller);
}

// What can be refused before anything of the schedule's size is built.
std::optional<Diagnostic> refuse_early(const CollectiveForest& forest, const TargetLimits& target) {
  const auto ranks = static_cast<std::int64_t>(rank_count(forest));
  if (ranks > target.max_children) {
    return refusal("T05",
                   fmt::format("{} GPUs, but {} loads at most {} elements of one kind", ranks,
                               target.name, target.max_children),
                   "write the forest with --format forest");
  }
  const std::int64_t blocks = is_rooted(forest.collective) ? 1 : ranks;
  const std::int64_t most = target.max_offset + std::int64_t{1};
  if (forest.k > most / blocks) {
    return refusal(
        "T04",
        fmt::format("{} × {} trees need more chunks than the {} that offsets of {} reach", blocks,
                    forest.k, most, target.name),
        fmt::format("use -k {} or smaller, or write the forest with --format forest",
                    most / blocks));
  }
  // The algorithm, the GPUs, and the steps of the busiest rank in one threadblock or more.
  const std::int64_t elements = 1 + ranks + fewest_steps(forest, target.max_count);
  if (elements > target.max_elements) {
    return refusal(
        "T05",
        fmt::format("a rank would load at least {} XML elements, but {} loads at most {}", elements,
                    target.name, target.max_elements),
        kSmaller);
  }
  return std::nullopt;
}

// What only the finished programs show.
std::optional<Diagnostic> refuse_finished(const Schedule& schedule, const TargetLimits& target) {
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const auto& blocks = schedule.programs[Rank(r)].threadblocks;
    auto elements = static_cast<std::int64_t>(1 + schedule.programs.size() + blocks.size());
    std::int64_t depended = 0;
    for (const Threadblock& block : blocks) {
      elements += std::ssize(block.steps);
      FORESTCOLL_CHECK(std::ssize(block.steps) <= target.max_steps, "steps were planned to fit");
      const bool is_depended = std::any_of(block.steps.begin(), block.steps.end(),
                                           [](const Step& step) { return step.has_dependent; });
      if (is_depended) ++depended;
    }
    if (elements > target.max_elements) {
      return too_many_elements(static_cast<std::int64_t>(r), elements, target);
    }
    if (depended > target.max_depended) {
      return refusal("T01",
                     fmt::format("{} threadblocks of rank {} are waited for by others, but {} can "
                                 "wait for the first {} only",
                                 depended, r, target.name, target.max_depended),
                     kSmaller);
    }
  }
  return std::nullopt;
}

}  // namespace

Expected<Schedule> lower(const CollectiveForest& forest, const LowerOptions& options) {
  FORESTCOLL_CHECK(forest.reduce || forest.broadcast, "a collective has a forest");
  FORESTCOLL_CHECK(rank_count(forest) > 0, "a forest has ranks");
  FORESTCOLL_CHECK(is_rooted(forest.collective) == forest.root.has_value(), "a root where needed");
  // 1. Does the target take it at all?
  const auto found = target_for(forest, options.target);
  if (!found) return found.errors();
  const TargetLimits& target = **found;
  if (auto error = refuse_early(forest, target)) return *error;
  // 2. All tree edges as messages in one order, and what each must wait for.
  const std::size_t ranks = rank_count(forest);
  const auto messages = schedule::order_messages(forest, target.max_count);
  const schedule::Waits waits(messages, ranks);
  // 3. Channels and threadblocks: as parallel as fits.
  const std::int64_t limit =
      std::min({options.max_threadblocks, target.max_threadblocks, target.max_children});
  const auto lanes = schedule::place_lanes(messages, waits, ranks, target, limit);
  if (!lanes) return lanes.errors();
  const auto threadblocks = schedule::plan_threadblocks(*lanes, ranks, target, limit);
  if (!threadblocks) return threadblocks.errors();
  // 4. The programs.
  const schedule::InPlaceAddressing addressing(forest.collective, static_cast<std::int64_t>(ranks),
                                               forest.k);
  Schedule result;
  result.collective = forest.collective;
  result.root = forest.root;
  result.k = forest.k;
  result.chunks = addressing.chunks();
  for (const auto& placed : *lanes) result.channels = std::max(result.channels, placed.channel + 1);
  result.programs = schedule::write_programs(messages, waits, *lanes, *threadblocks, addressing);
  if (auto error = refuse_finished(result, target)) return *error;
  return result;
}

std::int32_t Schedule::max_threadblocks() const {
  std::size_t most = 0;
  for (const auto& program : programs) most = std::max(most, program.threadblocks.size());
  return static_cast<std::int32_t>(most);
}

std::int32_t Schedule::max_steps() const {
  std::size_t most = 0;
  for (const auto& program : programs) {
    for (const auto& block : program.threadblocks) most = std::max(most, block.steps.size());
  }
  return static_cast<std::int32_t>(most);
}

}  // namespace forestcoll
