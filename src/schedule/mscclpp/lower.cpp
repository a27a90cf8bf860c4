// From a forest to an execution plan: segments are dealt to as many threadblocks as there may be,
// and to fewer where their channels are too many for a GPU's proxy.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/forest.hpp"
#include "schedule/equal_shares.hpp"
#include "schedule/mscclpp/blocks.hpp"
#include "schedule/mscclpp/messages_bound.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "schedule/mscclpp/plan_limits.hpp"
#include "schedule/mscclpp/segments.hpp"
#include "schedule/root_chunks.hpp"

namespace forestcoll {
namespace {

using schedule::Segment;

constexpr const char* kSmaller = "use a smaller `k`, or write the forest with `format=forest`";

std::size_t rank_count(const CollectiveForest& forest) {
  return forest.reduce ? forest.reduce->rank_count() : forest.broadcast->rank_count();
}

// Groups of segments of one size, each for one threadblock of every GPU: as many as allowed, each
// size its share of them.
std::vector<std::vector<std::int32_t>> deal(const std::vector<Segment>& segments,
                                            std::size_t threadblocks) {
  std::map<std::int64_t, std::vector<std::int32_t>> by_size;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    by_size[segments[s].count].push_back(static_cast<std::int32_t>(s));
  }
  std::vector<std::vector<std::int32_t>> groups;
  for (const auto& [size, list] : by_size) {
    const std::size_t share = std::max<std::size_t>(
        1, list.size() * threadblocks / std::max(segments.size(), threadblocks));
    const std::size_t first = groups.size();
    groups.resize(first + share);
    for (std::size_t i = 0; i < list.size(); ++i) {
      groups[first + i % share].push_back(list[i]);
    }
  }
  return groups;
}

// A threadblock takes part in a tree with all that its rank receives and sends there. What one tree
// alone has too much of, no dealing helps.
Expected<void> refuse_wide_trees(const schedule::PlanContext& context) {
  std::vector<schedule::Transfer> transfers;
  for (std::size_t s = 0; s < context.segments.size(); ++s) {
    transfers.clear();
    append_transfers(context.forest, context.segments[s], static_cast<std::int32_t>(s), transfers);
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
                      context.segments[s].root.value, end.first.value, joined.size(),
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

ExecutionPlan build(const schedule::PlanContext& context, const PlanOptions& options,
                    std::span<const std::vector<std::int32_t>> groups) {
  const CollectiveForest& forest = context.forest;
  ExecutionPlan plan;
  plan.collective = forest.collective;
  plan.in_place = options.in_place;
  plan.unit_bytes = options.unit_bytes;
  plan.min_bytes = options.min_bytes;
  const std::size_t ranks = rank_count(forest);
  plan.gpus = IdVector<Rank, PlanGpu>(ranks);
  const auto blocks = schedule::root_chunks(forest, ranks);
  const std::int64_t whole =
      std::ranges::max(blocks, {}, &schedule::ChunkRange::end).end;  // of the last that has any
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::int64_t own = blocks[Rank(r)].size();
    PlanGpu& gpu = plan.gpus[Rank(r)];
    gpu.input_chunks = forest.collective == Collective::allgather ? own : whole;
    gpu.output_chunks = forest.collective == Collective::reduce_scatter ? own : whole;
  }
  for (const auto& group : groups) schedule::append_threadblocks(context, group, plan);
  plan.max_bytes = schedule::max_bytes_of(options, plan);
  return plan;
}

}  // namespace

Expected<ExecutionPlan> lower_to_plan(const CollectiveForest& forest,
                                      const IdVector<Rank, std::int32_t>& box_of,
                                      const PlanOptions& options) {
  FORESTCOLL_CHECK(forest.reduce || forest.broadcast, "a collective has a forest");
  FORESTCOLL_CHECK(box_of.size() == rank_count(forest), "every rank has an entry");
  FORESTCOLL_CHECK(options.unit_bytes > 0 && options.unit_bytes % 16 == 0, "units of 16 bytes");
  if (const auto done = refuse_ranks_without_data(forest); !done) return done.errors();
  if (forest.collective == Collective::reduce) {
    return make_error(Code::T06, "MSCCL++ has no collective reduce",
                      "use reduce_scatter or allreduce, or another `format`");
  }
  const std::vector<Segment> segments = schedule::cut_into_segments(forest);
  const schedule::PlanContext context{forest, segments, box_of, options.in_place,
                                      options.any_buffers};
  if (const auto done = refuse_wide_trees(context); !done) return done.errors();
  // Fewer threadblocks have fewer channels, and more operations each.
  Diagnostics errors;
  const auto most = std::min(segments.size(), static_cast<std::size_t>(options.max_threadblocks));
  for (std::size_t threadblocks = most; threadblocks > 0; threadblocks /= 2) {
    const auto groups = deal(segments, threadblocks);
    if (groups.size() > static_cast<std::size_t>(options.max_threadblocks)) {
      return make_error(
          Code::T01,
          fmt::format("trees of {} different multiplicities need as many threadblocks, "
                      "but {} are allowed",
                      groups.size(), options.max_threadblocks),
          "allow more threadblocks, or use a smaller `k`");
    }
    ExecutionPlan plan = build(context, options, groups);
    const auto done = schedule::refuse_plan(plan, kSmaller);
    if (done) return plan;
    if (errors.empty()) errors = done.errors();
  }
  return errors;
}

}  // namespace forestcoll
