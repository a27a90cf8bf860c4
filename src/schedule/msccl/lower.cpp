// From a forest to per-rank programs, stage by stage.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/equal_shares.hpp"
#include "schedule/msccl/addressing.hpp"
#include "schedule/msccl/class_schedule.hpp"
#include "schedule/msccl/ends.hpp"
#include "schedule/msccl/fusion.hpp"
#include "schedule/msccl/lanes.hpp"
#include "schedule/msccl/merge.hpp"
#include "schedule/msccl/messages.hpp"
#include "schedule/msccl/programs.hpp"
#include "schedule/msccl/step_bounds.hpp"
#include "schedule/msccl/threadblocks.hpp"
#include "schedule/msccl/waits.hpp"
#include "schedule/root_chunks.hpp"
#include "schedule/views.hpp"
#include "schedule/xml_target.hpp"

namespace forestcoll {
namespace {

constexpr std::int32_t kPartsOfWideTrees = 4;

// Where fewer than one in so many messages were saved, what was refused would be refused again.
constexpr std::size_t kLeastMerged = 10;

constexpr const char* kSmaller = "use a smaller `k`, or write the forest with `format=forest`";
constexpr const char* kFewerInstances =
    "use fewer `instances`, or write the forest with `format=forest`";
constexpr const char* kFewerGpus =
    "one tree per root is too many for so many GPUs: take fewer of them, or write the "
    "forest with `format=forest`";

// Chunks per unit of k.
std::int64_t shares(const CollectiveForest& forest) {
  if (is_rooted(forest.collective)) return 1;
  if (forest.weight.empty()) return static_cast<std::int64_t>(first_trees(forest).rank_count());
  return std::accumulate(forest.weight.begin(), forest.weight.end(), std::int64_t{0});
}

// The least number of steps that the busiest rank must have, nops not counted: each edge of each
// tree is a step at its receiver and, where that cannot forward, one at its sender. The busiest
// rank has no fewer than the mean.
std::int64_t fewest_steps(const CollectiveForest& forest, const TargetLimits& target,
                          const LowerOptions& options) {
  const auto ranks = static_cast<std::int64_t>(first_trees(forest).rank_count());
  std::int64_t messages = 0;
  for (const auto& phase : {forest.reduce, forest.broadcast}) {
    for (std::size_t t = 0; phase && t < phase->tree_count(); ++t) {
      const std::int64_t multiplicity = phase->tree(TreeId(t)).multiplicity;
      messages += (multiplicity + target.max_count - 1) / target.max_count * (ranks - 1);
    }
  }
  const std::int64_t ends = options.forward && target.fused_steps ? 1 : 2;
  return (ends * messages * options.instances + ranks - 1) / ranks;
}

const char* with_fewer_elements(const CollectiveForest& forest, const LowerOptions& options) {
  if (forest.k > 1) return kSmaller;
  return options.instances > 1 ? kFewerInstances : kFewerGpus;
}

std::int64_t most_threadblocks(const LowerOptions& options, const TargetLimits& target) {
  return std::min({options.max_threadblocks, target.max_threadblocks, target.max_children});
}

// Calls in place put a rank's part at rank × count whatever it owns, and a file for both placements
// has to name it by the buffer of its own.
Expected<void> refuse_shares(const CollectiveForest& forest, const TargetLimits& target,
                             const LowerOptions& options) {
  if (target.equal_parts) {
    return schedule::refuse_unequal_shares(
        forest, fmt::format("target {} loads files of equal shares alone", target.name),
        "name another target, or write the forest with `format=forest`");
  }
  if (options.placement != Placement::both) return {};
  return schedule::refuse_unequal_shares(
      forest, "one file cannot serve calls in place and out of place then",
      "make two files, one with `placement=in_place` and one with `placement=out_of_place`");
}

Expected<TargetLimits> limits_of(const LowerOptions& options) {
  const auto found = schedule::xml_target(options.target);
  if (!found) return found.errors();
  TargetLimits limits = **found;
  if (options.built_in) {
    limits.max_elements = limits.max_children = std::numeric_limits<std::int32_t>::max();
  }
  return limits;
}

// What can be refused before anything of the schedule's size is built.
Expected<void> refuse_early(const CollectiveForest& forest, const TargetLimits& target,
                            const LowerOptions& options) {
  const auto ranks = static_cast<std::int64_t>(first_trees(forest).rank_count());
  if (options.placement == Placement::both && !target.both_placements) {
    return make_error(
        Code::T06,
        fmt::format("{} takes a file for calls in place or for calls out of place, not "
                    "for both",
                    target.name),
        "make two files, one with `placement=in_place` and one with `placement=out_of_place`");
  }
  if (auto done =
          schedule::refuse_many_gpus(ranks, target, "write the forest with `format=forest`");
      !done) {
    return done;
  }
  const std::int64_t blocks = shares(forest);
  const std::int64_t most = target.max_offset + std::int64_t{1};
  const std::int64_t largest = most / blocks / options.instances;
  if (forest.k > largest) {
    const std::string instances =
        options.instances > 1 ? fmt::format(" in {} instances", options.instances) : "";
    return make_error(
        Code::T04,
        fmt::format("{} × {} trees{} need more chunks than the {} that offsets of {} reach", blocks,
                    forest.k, instances, most, target.name),
        largest > 0 ? fmt::format("use `k={}` or smaller, or write the forest with `format=forest`",
                                  largest)
                    : kFewerInstances);
  }
  // The algorithm, the GPUs, and the steps of the busiest rank in one threadblock or more.
  const std::int64_t elements = 1 + ranks + fewest_steps(forest, target, options);
  if (elements > target.max_elements) {
    return schedule::too_many_elements("a rank", fmt::format("at least {}", elements), target,
                                       with_fewer_elements(forest, options));
  }
  return schedule::refuse_many_peers(forest, first_trees(forest).rank_count(), target,
                                     most_threadblocks(options, target));
}

// Threadblocks of a rank, those made for its copies counted in. Where copies are sent, all of these
// are waited for.
std::int64_t most_with_copies(const LowerOptions& options, const TargetLimits& target) {
  if (options.threadblocks == ThreadblockUse::merge) return 0;
  const std::int64_t most = most_threadblocks(options, target);
  return options.placement == Placement::both ? std::min<std::int64_t>(most, target.max_depended)
                                              : most;
}

// The same trees on finer chunks, so that each tree's can be cut into equal parts.
CollectiveForest in_instances(const CollectiveForest& forest, std::int32_t instances) {
  CollectiveForest result = forest;
  result.k *= instances;
  if (forest.reduce) result.reduce = forest.reduce->scaled(instances);
  if (forest.broadcast) result.broadcast = forest.broadcast->scaled(instances);
  return result;
}

schedule::Addition addition_for(const TargetLimits& target, Placement placement) {
  if (target.fused_steps) return schedule::Addition::fused;
  return placement == Placement::both ? schedule::Addition::aliased : schedule::Addition::apart;
}

// Messages of several trees need their chunks side by side at both ends. What is kept in scratch
// memory is not.
bool may_merge(const CollectiveForest& forest, const LowerOptions& options) {
  const bool is_in_place = options.placement == Placement::in_place;
  const bool gathers = !has_broadcast(forest.collective);
  return options.threadblocks != ThreadblockUse::per_tree && (is_in_place || !gathers);
}

// Does some tree carry so many chunks that it can be cut into parts?
bool has_wide_trees(const CollectiveForest& forest, std::int64_t instances) {
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (std::size_t t = 0; *phase && t < (*phase)->tree_count(); ++t) {
      if ((*phase)->tree(TreeId(t)).multiplicity >= kPartsOfWideTrees * instances) return true;
    }
  }
  return false;
}

using Messages = IdVector<schedule::MessageId, schedule::Message>;

// All tree edges as messages in one order, with every wide tree in so many parts.
Messages messages_of(const CollectiveForest& forest, const LowerOptions& options,
                     const TargetLimits& target, const schedule::Rails& rails,
                     const schedule::Views& views, std::int32_t parts, bool of_firsts = false) {
  return schedule::order_messages(forest,
                                  {.max_count = target.max_count,
                                   .parts = parts,
                                   .instances = options.instances,
                                   .per_tree = options.threadblocks == ThreadblockUse::per_tree},
                                  rails, views, of_firsts);
}

// Of steps, nops not counted: the algorithm and the GPUs are elements, too.
Expected<void> refuse_many_steps(IdVector<Rank, std::int64_t> steps, const schedule::Ends& ends,
                                 const TargetLimits& target, const char* remedy) {
  ends.gather(steps);
  const auto most = std::max_element(steps.begin(), steps.end());
  const std::int64_t elements = 1 + std::ssize(steps) + *most;
  if (elements <= target.max_elements) return {};
  return schedule::too_many_elements(fmt::format("rank {}", most - steps.begin()),
                                     fmt::format("at least {}", elements), target, remedy);
}

// `messages`: of trees, whose images `ends` has.
Expected<Schedule> lower_messages(const CollectiveForest& forest, const LowerOptions& options,
                                  const TargetLimits& target, const Messages& messages,
                                  const schedule::Ends& ends) {
  // 1. What each message must wait for.
  const std::size_t ranks = first_trees(forest).rank_count();
  const schedule::Waits waits(messages, ranks);
  const bool forwards = options.forward && target.fused_steps;
  const char* remedy = with_fewer_elements(forest, options);
  if (auto done = refuse_many_steps(schedule::fewest_steps(messages, waits, ranks, forwards), ends,
                                    target, remedy);
      !done) {
    return done.errors();
  }
  const schedule::Addition addition = addition_for(target, options.placement);
  // 2. Channels and threadblocks: as parallel as fits.
  const std::int64_t limit = most_threadblocks(options, target);
  const auto lanes = schedule::place_lanes(
      ends.at_ranks(), schedule::StepBounds(ends, waits, addition), ranks, target, limit, options);
  if (!lanes) return lanes.errors();
  std::vector<schedule::RelayGroup> groups;
  if (forwards) groups = find_relays(messages, ends, waits, *lanes);
  const auto threadblocks = assign_threadblocks(
      *lanes, groups, ranks, target,
      {.most = limit, .use = options.threadblocks, .instances = options.instances});
  if (!threadblocks) return threadblocks.errors();
  // 3. The programs.
  const schedule::Addressing addressing(forest.collective, forest.root, options.placement,
                                        schedule::root_chunks(forest, ranks));
  const schedule::Fusion fusion = schedule::fuse(messages, waits, threadblocks->relays);
  if (auto done =
          refuse_many_steps(schedule::fewest_steps(messages, fusion, ranks), ends, target, remedy);
      !done) {
    return done.errors();
  }
  Schedule result;
  result.target = target.name;
  result.collective = forest.collective;
  result.root = forest.root;
  result.k = forest.k;
  result.chunks = addressing.chunks();
  result.in_place = options.placement != Placement::out_of_place;
  result.out_of_place = options.placement != Placement::in_place;
  const schedule::Writing writing = {
      .ends = ends,
      .waits = waits,
      .fusion = fusion,
      .lanes = *lanes,
      .addressing = addressing,
      .addition = addition,
      .acquires_outputs = target.acquires_outputs,
      .max_steps = target.max_steps,
      .max_count = target.max_count,
      .max_elements = target.max_elements - 1 - static_cast<std::int64_t>(ranks),
      .most_with_copies = most_with_copies(options, target)};
  // Of classes alone, for which all ranks have to be lowered then.
  if (!schedule::take_turns(writing, threadblocks->of_rank)) return Diagnostics();
  result.programs = schedule::write_programs(writing, threadblocks->of_rank);
  for (const RankProgram& program : result.programs) {
    for (const Threadblock& block : program.threadblocks) {
      result.channels = std::max(result.channels, block.channel + 1);
    }
  }
  if (auto done = schedule::refuse_programs(
          result, target, limit, {"one of them to copy its own data", kSmaller, kSmaller, remedy});
      !done) {
    return done.errors();
  }
  return result;
}

// Where there are too many messages, fewer and larger ones; `whole` is refused. Those of an
// allreduce can be of any roots, as no rank owns any part of the data.
Expected<Schedule> lower_merged(const CollectiveForest& forest, const LowerOptions& options,
                                const TargetLimits& target, Messages whole, Diagnostics refusal) {
  if (forest.collective == Collective::allreduce && !options.boxes.empty()) {
    whole = schedule::with_roots_in_order(
        std::move(whole), forest, schedule::roots_by_place(*forest.broadcast, options.boxes));
  }
  const schedule::MessageMerger merger(whole, target.max_count, first_trees(forest).rank_count());
  std::size_t refused = whole.size();
  for (std::int32_t most = 2; most <= target.max_count; most *= 4) {
    const Messages merged = merger.merged(most);
    if (merged.size() > refused - refused / kLeastMerged) continue;
    auto schedule = lower_messages(forest, options, target, merged, schedule::Ends(merged));
    if (schedule || !is_of_many_messages(schedule.errors().front().code)) return schedule;
    refused = merged.size();
  }
  return refusal;
}

}  // namespace

Expected<Schedule> lower(const CollectiveForest& asked, const LowerOptions& options) {
  FORESTCOLL_CHECK(asked.reduce || asked.broadcast, "a collective has a forest");
  FORESTCOLL_CHECK(first_trees(asked).rank_count() > 0, "a forest has ranks");
  FORESTCOLL_CHECK(is_rooted(asked.collective) == asked.root.has_value(), "a root where needed");
  FORESTCOLL_CHECK(options.instances >= 1, "instances are counted from one");
  // Does the target take it at all?
  const auto found = limits_of(options);
  if (!found) return found.errors();
  const TargetLimits& target = *found;
  if (const auto done = refuse_shares(asked, target, options); !done) return done.errors();
  if (const auto done = refuse_early(asked, target, options); !done) return done.errors();
  const CollectiveForest forest = in_instances(asked, options.instances);
  const schedule::Views views(forest);
  const schedule::Rails rails(forest, options.boxes, views);
  // In parts if these fit. The fewest threadblocks have no steps to spare.
  if (options.threadblocks != ThreadblockUse::merge && has_wide_trees(forest, options.instances)) {
    const Messages parts = messages_of(forest, options, target, rails, views, kPartsOfWideTrees);
    auto schedule = lower_messages(forest, options, target, parts, schedule::Ends(parts));
    if (schedule) return schedule;
  }
  Messages messages = messages_of(forest, options, target, rails, views, 1);
  auto schedule = lower_messages(forest, options, target, messages, schedule::Ends(messages));
  if (schedule || !may_merge(forest, options) ||
      !is_of_many_messages(schedule.errors().front().code)) {
    return schedule;
  }
  return lower_merged(forest, options, target, std::move(messages), schedule.errors());
}

namespace {

// Whether what the trees of first roots send passes the NICs that its images pass.
bool are_alike(const schedule::Rails& rails, const CollectiveForest& forest,
               const schedule::Views& views) {
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (std::size_t t = 0; *phase && t < (*phase)->tree_count(); ++t) {
      const Rank root = (*phase)->tree(TreeId(t)).root;
      const TreeId first = views.seen(root, TreeId(t), phase == &forest.reduce);
      for (std::size_t v = 0; v < (*phase)->rank_count(); ++v) {
        const auto rail = rails.of(**phase, TreeId(t), Rank(v));
        const auto other = rails.of(**phase, first, views.seen(root, Rank(v)));
        if (rail.number != other.number || rail.count != other.count) return false;
      }
    }
  }
  return true;
}

}  // namespace

Expected<std::optional<schedule::ClassSchedule>> schedule::lower_classes(
    const CollectiveForest& asked, const LowerOptions& options) {
  const std::optional<ClassSchedule> none;
  if (is_rooted(asked.collective) || !asked.weight.empty()) return none;
  const auto found = limits_of(options);
  if (!found) return found.errors();
  const TargetLimits& target = *found;
  if (const auto done = refuse_shares(asked, target, options); !done) return done.errors();
  if (const auto done = refuse_early(asked, target, options); !done) return done.errors();
  const CollectiveForest forest = in_instances(asked, options.instances);
  Views views(forest);
  if (!views.move_all()) return none;
  const Rails rails(forest, options.boxes, views, views.know_nodes());
  if (!views.know_nodes() && !are_alike(rails, forest, views)) return none;
  const auto lowered = [&](std::int32_t parts) {
    const Messages messages = messages_of(forest, options, target, rails, views, parts, true);
    return lower_messages(forest, options, target, messages, Ends(messages, forest, views));
  };
  // In parts or not, as all ranks would be.
  const bool in_parts =
      options.threadblocks != ThreadblockUse::merge && has_wide_trees(forest, options.instances);
  auto result = lowered(in_parts ? kPartsOfWideTrees : 1);
  if (in_parts && !result && !result.errors().empty()) result = lowered(1);
  if (result) return std::optional(ClassSchedule{*std::move(result), std::move(views)});
  const bool is_refused = !result.errors().empty();
  const bool may_fit =
      may_merge(forest, options) && is_refused && is_of_many_messages(result.errors().front().code);
  if (is_refused && !may_fit) return result.errors();
  return none;
}

}  // namespace forestcoll
