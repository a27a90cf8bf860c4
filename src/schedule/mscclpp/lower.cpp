// From forests to an execution plan: segments are dealt to as many threadblocks as there may be,
// and to fewer where their channels are too many for a GPU's proxy.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/forest.hpp"
#include "schedule/equal_shares.hpp"
#include "schedule/mscclpp/blocks.hpp"
#include "schedule/mscclpp/class_plan.hpp"
#include "schedule/mscclpp/cut.hpp"
#include "schedule/mscclpp/deal.hpp"
#include "schedule/mscclpp/messages_bound.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "schedule/mscclpp/plan_limits.hpp"
#include "schedule/mscclpp/segments.hpp"
#include "schedule/root_chunks.hpp"

namespace forestcoll {
namespace {

using schedule::Segment;

constexpr std::int64_t kMostChunks = std::int64_t{1} << 24;  // of a buffer
constexpr const char* kSmaller = "use a smaller `k`, or write the forest with `format=forest`";

// Of the whole buffer: those of the last root that has any end it.
std::int64_t chunk_count(const CollectiveForest& forest) {
  const auto blocks = schedule::root_chunks(forest, first_trees(forest).rank_count());
  return std::ranges::max(blocks, {}, &schedule::ChunkRange::end).end;
}

CollectiveForest scaled(CollectiveForest forest, std::int64_t factor) {
  if (factor == 1) return forest;
  forest.k *= factor;
  if (forest.reduce) forest.reduce = forest.reduce->scaled(factor);
  if (forest.broadcast) forest.broadcast = forest.broadcast->scaled(factor);
  return forest;
}

// The same forests with as many chunks in all groups.
Expected<std::vector<CollectiveForest>> in_equal_chunks(std::span<const GroupForest> groups) {
  std::int64_t chunks = 1;
  for (const GroupForest& group : groups) {
    const std::int64_t own = chunk_count(*group.forest);
    const std::int64_t factor = own / std::gcd(own, chunks);
    if (factor > kMostChunks / chunks) {
      return make_error(
          Code::T04,
          fmt::format("the groups' buffers have more than {} chunks in common", kMostChunks),
          "ask for one number of trees in all groups with `k`");
    }
    chunks *= factor;
  }
  std::vector<CollectiveForest> forests;
  for (const GroupForest& group : groups) {
    forests.push_back(scaled(*group.forest, chunks / chunk_count(*group.forest)));
  }
  return forests;
}

std::size_t most_threadblocks_of_a_rank(const ExecutionPlan& plan) {
  std::size_t most = 0;
  for (const PlanGpu& gpu : plan.gpus) most = std::max(most, gpu.threadblocks.size());
  return most;
}

// A threadblock takes part in a tree with all that its rank receives and sends there. What one tree
// alone has too much of, no dealing helps.
Expected<void> refuse_wide_trees(const schedule::PlanContext& context) {
  std::vector<schedule::Transfer> transfers;
  for (std::size_t s = 0; s < context.segments.size(); ++s) {
    transfers.clear();
    const Segment& segment = context.segments[s];
    if (!context.writes(segment.root)) continue;  // it is the image of another
    append_transfers(context.group_of(segment), segment, static_cast<std::int32_t>(s), transfers);
    std::map<std::pair<Rank, PlanChannel>, std::set<Rank>> peers;
    std::map<std::pair<Rank, PlanChannel>, std::size_t> buffers;
    for (const auto& transfer : transfers) {
      const PlanChannel kind = schedule::kind_between(context.box_of, transfer.src, transfer.dst);
      peers[{transfer.src, kind}].insert(transfer.dst);
      peers[{transfer.dst, kind}].insert(transfer.src);
      ++buffers[{transfer.src, kind}];
    }
    for (const auto& [end, joined] : peers) {
      const std::size_t most = std::max(joined.size(), buffers[end]);
      if (most <= schedule::kMaxBlockChannels) continue;
      return make_error(
          Code::T03,
          fmt::format("a tree of rank {} joins rank {} to {} others {}, which takes {} channels or "
                      "remote buffers in one threadblock, but MSCCL++ holds {}",
                      segment.root.value, end.first.value, joined.size(),
                      end.second == PlanChannel::memory ? "of its box" : "of other boxes", most,
                      schedule::kMaxBlockChannels),
          "write MSCCL XML, or the forest with `format=forest`");
    }
  }
  return {};
}

// The executor divides the bytes of a buffer by its chunks, and by none it cannot.
Expected<void> refuse_ranks_without_data(const CollectiveForest& forest) {
  const auto& weight = forest.weight;
  const auto none = std::find(weight.begin(), weight.end(), 0);
  if (none == weight.end()) return {};
  return schedule::refuse_unequal_shares(
      forest,
      fmt::format("MSCCL++ runs no rank without data, as rank {} is", none - weight.begin()),
      "give every GPU a positive weight, or write MSCCL XML");
}

bool has_all_in_order(const GroupForest& group, std::size_t ranks) {
  if (group.members.size() != ranks) return false;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (group.members[r] != Rank(r)) return false;
  }
  return true;
}

// How large the ranks' buffers are, and which ranks do what together.
void size_buffers(const schedule::PlanContext& context, ExecutionPlan& plan) {
  const std::int64_t whole = chunk_count(context.forest());
  for (PlanGpu& gpu : plan.gpus) gpu.input_chunks = gpu.output_chunks = whole;
  for (const GroupForest& group : context.groups) {
    const auto blocks = schedule::root_chunks(*group.forest, group.members.size());
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      PlanGpu& gpu = plan.gpus[group.members[i]];
      const std::int64_t own = blocks[Rank(i)].size();
      if (plan.collective == Collective::allgather) gpu.input_chunks = own;
      if (plan.collective == Collective::reduce_scatter) gpu.output_chunks = own;
    }
  }
  if (has_all_in_order(context.groups.front(), plan.gpus.size())) return;
  for (const GroupForest& group : context.groups) plan.process_groups.push_back(group.members);
}

// The executor starts no kernel without a threadblock.
void occupy_idle_ranks(ExecutionPlan& plan) {
  for (PlanGpu& gpu : plan.gpus) {
    if (!gpu.threadblocks.empty()) continue;
    gpu.threadblocks.emplace_back().before.emplace_back();
  }
}

ExecutionPlan build(const schedule::PlanContext& context, const PlanOptions& options,
                    std::span<const std::vector<std::int32_t>> dealt) {
  ExecutionPlan plan;
  plan.collective = context.forest().collective;
  plan.in_place = options.in_place;
  plan.unit_bytes = options.shape.unit_bytes;
  plan.min_bytes = options.min_bytes;
  plan.gpus = IdVector<Rank, PlanGpu>(context.box_of.size());
  size_buffers(context, plan);
  std::int32_t list = 0;
  for (const auto& numbers : dealt) schedule::append_threadblocks(context, numbers, list++, plan);
  if (context.first_ranks == nullptr) occupy_idle_ranks(plan);
  plan.max_bytes = schedule::max_bytes_of(options, plan);
  return plan;
}

Expected<void> refuse_groups(std::span<const GroupForest> groups) {
  for (const GroupForest& group : groups) {
    FORESTCOLL_CHECK(group.forest->reduce || group.forest->broadcast, "a collective has a forest");
    FORESTCOLL_CHECK(group.members.size() == first_trees(*group.forest).rank_count(),
                     "every rank has an entry");
    if (auto done = refuse_ranks_without_data(*group.forest); !done) return done;
    if (group.forest->collective != Collective::reduce) continue;
    return make_error(Code::T06, "MSCCL++ has no collective reduce",
                      "use reduce_scatter or allreduce, or another `format`");
  }
  return {};
}

// Whether what first ranks do says what all do.
bool are_enough(const schedule::PlanContext& context, const schedule::Dealt& dealt) {
  if (context.first_ranks == nullptr) return true;
  schedule::FirstRanks& first = *context.first_ranks;
  first.channels.clear();
  first.are_enough = first.are_enough && dealt.are_symmetric;
  return first.are_enough;
}

// What the longest list has too much of by itself needs no other. Of first ranks others' lists are
// images of it, and all are as soon written.
Expected<void> refuse_longest(const schedule::PlanContext& context, const PlanOptions& options,
                              const schedule::Dealt& dealt) {
  if (context.first_ranks != nullptr) return {};
  const auto longest = std::ranges::max_element(dealt.lists, {}, &std::vector<std::int32_t>::size);
  return schedule::refuse_plan(build(context, options, {&*longest, 1}), kSmaller);
}

// Of the tallest segment.
std::int32_t levels_of(const schedule::PlanContext& context) {
  std::int32_t levels = 1;
  std::vector<schedule::Transfer> transfers;
  for (const Segment& segment : context.segments) {
    if (!context.writes(segment.root)) continue;
    transfers.clear();
    levels = std::max(levels, append_transfers(context.group_of(segment), segment, 0, transfers));
  }
  return levels;
}

// In as many threadblocks as fit. Fewer have fewer channels, and more operations each.
Expected<ExecutionPlan> fit(const schedule::PlanContext& context, const PlanOptions& options) {
  const auto allowed = static_cast<std::size_t>(options.max_threadblocks);
  const bool are_cut = options.shape.threadblocks > 1;
  const std::size_t wanted =
      are_cut ? std::min(allowed, static_cast<std::size_t>(options.shape.threadblocks)) : allowed;
  const std::size_t all = context.segments.size();
  const auto busiest = static_cast<std::size_t>(schedule::busiest_of(context).segments) *
                       static_cast<std::size_t>(context.pipeline_depth);
  Diagnostics errors;
  std::size_t blocks = 0;
  const std::size_t lists = busiest > wanted ? all * wanted / busiest : all;
  for (std::size_t most = std::max<std::size_t>(lists, 1); most > 0; most /= 2) {
    const schedule::Dealt dealt = schedule::deal(context, most);
    if (!are_enough(context, dealt)) break;
    auto done = refuse_longest(context, options, dealt);
    if (done) {
      ExecutionPlan plan = build(context, options, dealt.lists);
      blocks = most_threadblocks_of_a_rank(plan);
      if (blocks > allowed) continue;
      done = schedule::refuse_plan(plan, kSmaller);
      if (done && context.first_ranks != nullptr) {
        context.first_ranks->name_ends(context, dealt.lists);
      }
      if (done) return plan;
    }
    if (errors.empty()) errors = done.errors();
  }
  if (!errors.empty()) return errors;
  return make_error(Code::T01,
                    fmt::format("trees of {} different multiplicities need as many threadblocks, "
                                "but {} are allowed",
                                blocks, allowed),
                    "allow more threadblocks, or use a smaller `k`");
}

// Of what groups have in equal chunks.
class Lowering {
 public:
  Lowering(std::vector<GroupForest> groups, std::vector<CollectiveForest> forests,
           const IdVector<Rank, std::int32_t>& box_of, const PlanOptions& options)
      : groups_(std::move(groups)),
        forests_(std::move(forests)),
        box_of_(box_of),
        options_(options) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].forest = &forests_[g];
      schedule::append_segments(groups_[g], g, segments_);
    }
    if (has_all_in_order(groups_.front(), box_of.size()))
      views_ = schedule::Views(forests_.front());
  }

  // Of first ranks alone, if they are enough for all.
  Expected<std::optional<schedule::ClassPlan>> run_classes() {
    std::optional<schedule::ClassPlan> classes;
    if (!views_.move_all_ranks() || !schedule::keep_boxes(views_, box_of_)) return classes;
    schedule::FirstRanks first;
    first_ranks_ = &first;
    auto plan = run();
    first_ranks_ = nullptr;
    if (!first.are_enough) return classes;
    if (!plan) return plan.errors();
    classes = {*std::move(plan), std::move(views_), std::move(first.ends)};
    return classes;
  }

  // One threadblock for all levels has fewer channels.
  Expected<ExecutionPlan> run() {
    const auto whole = context_of(groups_, segments_, 1);
    if (const auto done = refuse_wide_trees(whole); !done) return done.errors();
    const schedule::Busiest busiest = schedule::busiest_of(whole);
    const std::int32_t depth = std::clamp(options_.shape.pipeline_depth, 1, levels_of(whole));
    if (depth > 1) {
      auto plan = of_depth(depth, busiest);
      if (plan) return plan;
    }
    return of_depth(1, busiest);
  }

 private:
  // Fewer parts are fewer operations; whole trees are of fewer sizes, too.
  [[nodiscard]] Expected<ExecutionPlan> of_depth(std::int32_t depth,
                                                 const schedule::Busiest& busiest) const {
    if (options_.shape.threadblocks > 1) {
      for (std::int64_t parts = options_.shape.parts; parts > 0; parts /= 2) {
        auto plan = of_parts(parts, depth, busiest);
        if (plan) return plan;
      }
    }
    return fit(context_of(groups_, segments_, depth), options_);
  }

  [[nodiscard]] schedule::PlanContext context_of(std::span<const GroupForest> groups,
                                                 const std::vector<Segment>& segments,
                                                 std::int32_t depth) const {
    return {.groups = groups,
            .segments = segments,
            .views = views_,
            .box_of = box_of_,
            .in_place = options_.in_place,
            .any_buffers = options_.any_buffers,
            .pipeline_depth = depth,
            .first_ranks = first_ranks_};
  }

  [[nodiscard]] Expected<ExecutionPlan> of_parts(std::int64_t parts, std::int32_t depth,
                                                 const schedule::Busiest& busiest) const {
    const std::int64_t threadblocks =
        std::min(options_.shape.threadblocks, options_.max_threadblocks);
    const std::int64_t most =
        std::max(kMostChunks / chunk_count(forests_.front()), std::int64_t{1});
    const schedule::Cut cut = schedule::cut_into(threadblocks * parts, busiest, most);
    std::vector<CollectiveForest> forests;
    for (const CollectiveForest& forest : forests_) forests.push_back(scaled(forest, cut.times));
    std::vector<GroupForest> groups = groups_;
    for (std::size_t g = 0; g < groups.size(); ++g) groups[g].forest = &forests[g];
    const std::vector<Segment> segments = cut_finer(segments_, cut);
    return fit(context_of(groups, segments, depth), options_);
  }

  std::vector<GroupForest> groups_;
  std::vector<CollectiveForest> forests_;
  const IdVector<Rank, std::int32_t>& box_of_;
  const PlanOptions& options_;
  std::vector<Segment> segments_;
  schedule::Views views_;
  schedule::FirstRanks* first_ranks_ = nullptr;  // null: all are written
};

}  // namespace

GroupForest group_of_all(const CollectiveForest& forest, std::size_t ranks) {
  GroupForest all{&forest, {}};
  for (std::size_t r = 0; r < ranks; ++r) all.members.emplace_back(r);
  return all;
}

Expected<ExecutionPlan> lower_to_plan(std::span<const GroupForest> groups,
                                      const IdVector<Rank, std::int32_t>& box_of,
                                      const PlanOptions& options) {
  FORESTCOLL_CHECK(options.shape.unit_bytes > 0 && options.shape.unit_bytes % 16 == 0,
                   "units of 16 bytes");
  if (const auto done = refuse_groups(groups); !done) return done.errors();
  auto forests = in_equal_chunks(groups);
  if (!forests) return forests.errors();
  return Lowering({groups.begin(), groups.end()}, *std::move(forests), box_of, options).run();
}

Expected<std::optional<schedule::ClassPlan>> schedule::lower_classes_to_plan(
    const CollectiveForest& forest, const IdVector<Rank, std::int32_t>& box_of,
    const PlanOptions& options) {
  const GroupForest all = group_of_all(forest, box_of.size());
  if (const auto done = refuse_groups({&all, 1}); !done) return done.errors();
  return Lowering({all}, {forest}, box_of, options).run_classes();
}

Expected<ExecutionPlan> lower_to_plan(const CollectiveForest& forest,
                                      const IdVector<Rank, std::int32_t>& box_of,
                                      const PlanOptions& options) {
  const GroupForest all = group_of_all(forest, box_of.size());
  return lower_to_plan({&all, 1}, box_of, options);
}

}  // namespace forestcoll
