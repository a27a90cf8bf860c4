// What every lowered schedule must keep, whatever its data: a target's limits and the rules for
// channels, dependencies and nops.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "forestcoll/schedule.hpp"

namespace forestcoll::testing {

/// The first rule that `schedule` breaks, or nothing.
inline std::string broken_rule(const Schedule& schedule, const TargetLimits& target,
                               std::int32_t max_threadblocks) {
  const auto n = static_cast<int>(schedule.programs.size());
  for (int r = 0; r < n; ++r) {
    const RankProgram& program = schedule.programs[Rank(r)];
    const auto fits = [&](const Slice& slice, std::int64_t count) {
      const std::int64_t size = slice.buffer == Buffer::input    ? program.input_chunks
                                : slice.buffer == Buffer::output ? program.output_chunks
                                                                 : program.scratch_chunks;
      return slice.offset >= 0 && slice.offset + count <= size && slice.offset <= target.max_offset;
    };
    std::set<std::tuple<bool, int, int>> ends;
    std::map<std::pair<bool, int>, int> per_channel;
    std::set<std::pair<int, int>> depended;
    std::int64_t elements = 1 + n;
    if (std::ssize(program.threadblocks) > std::min(max_threadblocks, target.max_threadblocks)) {
      return fmt::format("rank {}: {} threadblocks", r, program.threadblocks.size());
    }
    for (std::size_t b = 0; b < program.threadblocks.size(); ++b) {
      const Threadblock& block = program.threadblocks[b];
      const std::string place = fmt::format("rank {} threadblock {}: ", r, b);
      elements += 1 + std::ssize(block.steps);
      if (block.channel < 0 || block.channel >= schedule.channels) return place + "channel";
      if (std::ssize(block.steps) > target.max_steps) return place + "steps";
      for (const auto& [sends, peer] :
           {std::pair(true, block.send_peer), std::pair(false, block.recv_peer)}) {
        if (!peer.valid()) continue;
        if (peer == Rank(r) || peer.value >= n) return place + "peer";
        if (!ends.insert({sends, peer.value, block.channel}).second) return place + "shared end";
        if (++per_channel[{sends, block.channel}] > target.max_per_channel) {
          return place + "too many on one channel";
        }
      }
      for (std::size_t s = 0; s < block.steps.size(); ++s) {
        const Step& step = block.steps[s];
        if (step.count < 1 || step.count > target.max_count) return place + "count";
        const bool is_nop = step.operation == Operation::nop;
        const Operation o = step.operation;
        const bool receives = o == Operation::recv || o == Operation::recv_copy_send ||
                              o == Operation::recv_reduce_send ||
                              o == Operation::recv_reduce_copy ||
                              o == Operation::recv_reduce_copy_send;
        const bool sends = o == Operation::send || o == Operation::recv_copy_send ||
                           o == Operation::recv_reduce_send ||
                           o == Operation::recv_reduce_copy_send;
        const bool ignores_src = o == Operation::recv || o == Operation::recv_copy_send;
        const bool ignores_dst = o == Operation::send || o == Operation::recv_reduce_send;
        if (!fits(step.src, ignores_src ? 1 : step.count)) return place + "src";
        if (!fits(step.dst, ignores_dst ? 1 : step.count)) return place + "dst";
        if (sends && !block.send_peer.valid()) return place + "send";
        if (receives && !block.recv_peer.valid()) return place + "recv";
        if (!target.fused_steps && !is_nop && o != Operation::send && o != Operation::recv &&
            o != Operation::reduce && o != Operation::copy) {
          return place + "fused";
        }
        if (is_nop && (!step.depends_on || step.has_dependent || s + 1 == block.steps.size() ||
                       !block.steps[s + 1].depends_on)) {
          return place + "nop";
        }
        if (step.depends_on) {
          const StepRef ref = *step.depends_on;
          if (ref.threadblock == static_cast<int>(b)) return place + "depends on itself";
          if (ref.threadblock < 0 || ref.threadblock >= target.max_depended ||
              ref.threadblock >= std::ssize(program.threadblocks)) {
            return place + "dependency";
          }
          depended.insert({ref.threadblock, ref.step});
        }
      }
    }
    if (elements > target.max_elements) return fmt::format("rank {}: {} elements", r, elements);
    for (std::size_t b = 0; b < program.threadblocks.size(); ++b) {
      for (std::size_t s = 0; s < program.threadblocks[b].steps.size(); ++s) {
        const bool is_depended = depended.erase({static_cast<int>(b), static_cast<int>(s)}) > 0;
        if (program.threadblocks[b].steps[s].has_dependent != is_depended) {
          return fmt::format("rank {} threadblock {} step {}: flag", r, b, s);
        }
      }
    }
    if (!depended.empty()) return fmt::format("rank {}: a dependency on no step", r);
  }
  return "";
}

}  // namespace forestcoll::testing
