#include "schedule/mscclpp/plan_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "forestcoll/codes.hpp"
#include "schedule/mscclpp/blocks.hpp"
#include "schedule/mscclpp/messages_bound.hpp"

namespace forestcoll::schedule {
namespace {

std::size_t operations(const PlanThreadblock& block) {
  return block.before.size() + 1 + block.loop.size() + block.after.size();
}

}  // namespace

Expected<void> refuse_plan(const ExecutionPlan& plan, const std::string& remedy) {
  if (auto done = refuse_long_messages(plan); !done) return done;
  for (std::size_t r = 0; r < plan.gpus.size(); ++r) {
    const PlanGpu& gpu = plan.gpus[Rank(r)];
    for (std::size_t t = 0; t < gpu.threadblocks.size(); ++t) {
      const PlanThreadblock& block = gpu.threadblocks[t];
      if (operations(block) > kMaxPlanOperations) {
        return make_error(Code::T02,
                          fmt::format("threadblock {} of rank {} needs {} operations, but MSCCL++ "
                                      "holds {}",
                                      t, r, operations(block), kMaxPlanOperations),
                          "allow more threadblocks, or use a smaller `k`");
      }
      for (std::size_t kind = 0; kind < kPlanChannels; ++kind) {
        const std::size_t most =
            std::max(block.channels[kind].size(), block.remote_buffers[kind].size());
        if (most <= kMaxBlockChannels) continue;
        return make_error(
            Code::T03,
            fmt::format("threadblock {} of rank {} needs {} channels or remote buffers "
                        "of one kind, but MSCCL++ holds {}",
                        t, r, most, kMaxBlockChannels),
            "allow more threadblocks, or use a smaller `k`");
      }
    }
    const std::size_t ports = gpu.peers[static_cast<std::size_t>(PlanChannel::port)].size();
    if (ports > kMaxPortChannels) {
      return make_error(Code::T03,
                        fmt::format("rank {} needs {} port channels, but a proxy serves {}", r,
                                    ports, kMaxPortChannels),
                        remedy);
    }
  }
  return {};
}

}  // namespace forestcoll::schedule
