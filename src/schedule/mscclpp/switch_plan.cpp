// From trees that branch at a switch to switch channels. Where all ranks hang on one switch, the
// in-tree of a root is a combining load of its chunks, and the out-tree a store for all: together
// the one operation that the executor has.
//
// Of callers' buffers a switch reaches those alone that were allocated for it. For any buffers all
// of it is in scratch, which is: a block of every rank copies one part of its input there, with
// some of all ranks' shares, and after the sums the part to its output.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "schedule/mscclpp/barrier.hpp"
#include "schedule/mscclpp/messages_bound.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll {
namespace {

// Threadblocks that share the chunks of a rank; as many as NCCL takes on eight H100.
constexpr std::int32_t kMostBlocks = 16;

// All ranks but the root hang on one switch, and that on the root.
bool is_star(const Forest& forest, TreeId t, std::size_t ranks) {
  if (forest.rank_count() != ranks + 1) return false;
  const Rank root = forest.tree(t).root, hub(ranks);
  if (root == hub) return false;
  for (std::size_t v = 0; v <= ranks; ++v) {
    if (Rank(v) == root) continue;
    if (forest.parent(t, Rank(v)) != (Rank(v) == hub ? root : hub)) return false;
    if (forest.path(t, Rank(v)).size() != 2) return false;
  }
  return true;
}

// What each rank roots, in chunks; nothing where a tree is no star.
std::optional<std::vector<std::int64_t>> chunks_of_stars(const std::vector<BranchingTrees>& phase,
                                                         std::size_t ranks) {
  std::vector<std::int64_t> chunks(ranks, 0);
  for (const BranchingTrees& trees : phase) {
    for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
      if (!is_star(trees.forest, TreeId(t), ranks)) return std::nullopt;
      const Forest::Tree& tree = trees.forest.tree(TreeId(t));
      chunks[tree.root.index()] += tree.multiplicity;
    }
  }
  return chunks;
}

Diagnostic no_switch_channels(std::string why) {
  return make_error(Code::T06,
                    std::move(why) + ", which MSCCL++ cannot run through switch channels",
                    "write the forest with `format=forest`, or let the trees be of GPUs alone");
}

class SwitchPlanMaker {
 public:
  SwitchPlanMaker(const BranchingForest& forest, const std::vector<std::int64_t>& roots,
                  const PlanOptions& options)
      : roots_(roots),
        in_place_(options.in_place),
        any_buffers_(options.any_buffers),
        blocks_(std::min(options.max_threadblocks, kMostBlocks)) {
    plan_.collective = Collective::allreduce;
    plan_.in_place = options.in_place;
    plan_.unit_bytes = options.shape.unit_bytes;
    plan_.min_bytes = options.min_bytes;
    plan_.gpus = IdVector<Rank, PlanGpu>(forest.ranks.size());
    const std::int64_t chunks = forest.chunks * blocks_;
    for (PlanGpu& gpu : plan_.gpus) {
      gpu.input_chunks = gpu.output_chunks = chunks;
      if (any_buffers_) gpu.scratch_chunks = chunks;
    }
    plan_.max_bytes = schedule::max_bytes_of(options, plan_);
    for (std::size_t r = 0; r < roots.size(); ++r) ranks_.emplace_back(r);
  }

  ExecutionPlan make() {
    const std::int64_t part = std::accumulate(roots_.begin(), roots_.end(), std::int64_t{0});
    std::int64_t before = 0;  // of the ranks below, in one part
    for (std::size_t r = 0; r < roots_.size(); ++r) {
      add_groups(plan_.gpus[Rank(r)]);
      for (std::int32_t b = 0; b < blocks_; ++b) {
        if (any_buffers_) {
          add_block_in_scratch(Rank(r), {b * part, part}, b * part + before);
        } else {
          add_block(Rank(r), blocks_ * before + b * roots_[r]);
        }
      }
      before += roots_[r];
    }
    return std::move(plan_);
  }

 private:
  struct Part {
    std::int64_t first = 0, count = 0;  // chunks
  };

  void add_groups(PlanGpu& gpu) const {
    PlanSwitchGroup all;
    all.ranks = ranks_;
    if (any_buffers_) all.buffer = Buffer::scratch;
    gpu.switch_groups.push_back(all);
    if (in_place_ || any_buffers_) return;
    all.buffer = Buffer::output;
    gpu.switch_groups.push_back(std::move(all));
  }

  // Also of a rank that roots nothing: the others wait for it.
  void add_block(Rank rank, std::int64_t first) {
    PlanGpu& gpu = plan_.gpus[rank];
    PlanThreadblock block;
    block.count = std::max<std::int64_t>(1, roots_[rank.index()]);
    const schedule::Barrier barrier(ranks_, rank, gpu, block);
    barrier.append(block.before);
    if (roots_[rank.index()] > 0) {
      block.switch_channels = in_place_ ? std::vector{0} : std::vector{0, 1};
      const PlanSlice sum{.buffer = in_place_ ? Buffer::input : Buffer::output,
                          .index = first,
                          .switched = in_place_ ? 0 : 1};
      block.before.push_back(
          combined({.buffer = Buffer::input, .index = first, .switched = 0}, sum));
    }
    barrier.append(block.before);
    gpu.threadblocks.push_back(std::move(block));
  }

  void add_block_in_scratch(Rank rank, Part part, std::int64_t first) {
    PlanGpu& gpu = plan_.gpus[rank];
    PlanThreadblock block;
    block.count = std::max<std::int64_t>(1, roots_[rank.index()]);
    const schedule::Barrier barrier(ranks_, rank, gpu, block);
    block.before.push_back(copied(Buffer::input, Buffer::scratch, part));
    barrier.append(block.before);
    if (roots_[rank.index()] > 0) {
      block.switch_channels = {0};
      const PlanSlice share{.buffer = Buffer::scratch, .index = first, .switched = 0};
      block.before.push_back(combined(share, share));
    }
    barrier.append(block.before);
    block.before.push_back(
        copied(Buffer::scratch, in_place_ ? Buffer::input : Buffer::output, part));
    gpu.threadblocks.push_back(std::move(block));
  }

  static PlanOperation combined(const PlanSlice& from, const PlanSlice& to) {
    PlanOperation operation;
    operation.kind = PlanOperation::Kind::combine;
    operation.sources = {from};
    operation.destinations = {to};
    return operation;
  }

  static PlanOperation copied(Buffer from, Buffer to, Part part) {
    PlanOperation operation;
    operation.kind = PlanOperation::Kind::copy;
    operation.sources = {{.buffer = from, .index = part.first}};
    operation.destinations = {{.buffer = to, .index = part.first}};
    operation.count = part.count;
    return operation;
  }

  const std::vector<std::int64_t>& roots_;
  bool in_place_, any_buffers_;
  std::int32_t blocks_;
  std::vector<Rank> ranks_;
  ExecutionPlan plan_;
};

}  // namespace

Expected<ExecutionPlan> lower_to_switch_plan(const BranchingForest& forest,
                                             const IdVector<Rank, std::int32_t>& box_of,
                                             const PlanOptions& options) {
  const std::size_t ranks = forest.ranks.size();
  FORESTCOLL_CHECK(box_of.size() == ranks, "every rank has an entry");
  FORESTCOLL_CHECK(options.max_threadblocks > 0, "a threadblock at least");
  const auto is_first = [&](std::int32_t box) { return box >= 0 && box == box_of[Rank(0)]; };
  if (!std::all_of(box_of.begin(), box_of.end(), is_first)) {
    return no_switch_channels("the ranks are of several boxes");
  }
  const auto reduce = chunks_of_stars(forest.reduce, ranks);
  const auto broadcast = chunks_of_stars(forest.broadcast, ranks);
  if (!reduce || !broadcast) {
    return no_switch_channels("a tree does not hang all ranks on one switch");
  }
  FORESTCOLL_CHECK(*reduce == *broadcast, "what is reduced at a rank is broadcast from it");
  ExecutionPlan plan = SwitchPlanMaker(forest, *reduce, options).make();
  if (const auto done = schedule::refuse_long_messages(plan); !done) return done.errors();
  return plan;
}

}  // namespace forestcoll
