// What the executor of MSCCL++ checks itself is little: it indexes fixed arrays by what the file
// says.
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "audit/plan/channels.hpp"
#include "audit/plan/groups.hpp"
#include "audit/plan/rules/operations.hpp"
#include "audit/plan/rules/rules.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMaxRanks = 4096;
constexpr std::size_t kMaxFollowed = 4000;  // clocks have 16 bits

class PlanStructure {
 public:
  PlanStructure(const PlanFile& plan, std::int32_t sms, Program& program, Findings& findings)
      : plan_(plan), sms_(sms), program_(program), findings_(findings) {}

  void run() {
    check_header();
    check_gpus();
    check_process_groups();
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) check_gpu(r);
    check_switch_groups(plan_, findings_);
    if (slices_of(plan_) > kMaxSlices) {
      add(Rule::too_large, {},
          fmt::format("groups of threadblocks cut chunks into more than {} slices", kMaxSlices));
    }
    if (!findings_.blocked()) check_packet_rules(plan_, findings_);
    check_chunks();
  }

 private:
  void add(Rule rule, const Place& place, std::string message, std::string remedy = {}) {
    findings_.add(rule, place, std::move(message), std::move(remedy));
  }

  void check_header() {
    if (plan_.name.empty()) add(Rule::attribute, {}, "the plan has no name");
    if (!plan_.has_in_place) add(Rule::attribute, {}, "inplace: expected true or false");
    if (plan_.alignment < 1 || plan_.alignment > 4096) {
      add(Rule::attribute, {},
          fmt::format("buffer_alignment: expected 1 to 4096, found {}", plan_.alignment));
    }
    if (plan_.threads < 32 || plan_.threads > 1024 || plan_.threads % 32 != 0) {
      add(Rule::attribute, {},
          fmt::format("num_threads_per_block: expected a multiple of 32 up to 1024, found {}",
                      plan_.threads));
    }
    if (plan_.protocol != "Simple" && plan_.protocol != "LL") {
      add(Rule::unsupported, {},
          fmt::format("protocol: expected \"Simple\" or \"LL\", found \"{}\"", plan_.protocol));
    }
    read_collective();
    program_.protocol = plan_.protocol;
    program_.in_place = plan_.in_place;
    program_.out_of_place = !plan_.in_place;
    program_.ranks = static_cast<std::int64_t>(plan_.gpus.size());
  }

  void read_collective() {
    const std::string& name = plan_.collective;
    const auto pattern = name == "reducescatter" ? Pattern::reduce_scatter : parse_pattern(name);
    if (!pattern || name == "reduce_scatter" || name == "reduce") {
      add(Rule::unsupported, {},
          fmt::format("collective: expected allreduce, allgather, reducescatter, broadcast, "
                      "alltoall, scatter, gather or sendrecv, found \"{}\"",
                      name));
      return;
    }
    program_.pattern = *pattern;
  }

  void check_gpus() {
    if (plan_.gpus.empty()) add(Rule::numbering, {}, "the plan has no GPUs");
    if (std::ssize(plan_.gpus) > kMaxRanks) {
      add(Rule::too_large, {},
          fmt::format("{} GPUs; this verifier follows {}", plan_.gpus.size(), kMaxRanks));
    }
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) {
      if (plan_.gpus[r].id == static_cast<std::int64_t>(r)) continue;
      add(Rule::numbering, rank_place(r),
          fmt::format("id {} stands at position {}; the executor takes a rank's GPU by position",
                      plan_.gpus[r].id, r));
    }
  }

  // What all ranks do together otherwise.
  void check_process_groups() {
    if (plan_.process_groups.empty()) return;
    const Pattern pattern = program_.pattern;
    if (is_rooted(pattern) || pattern == Pattern::sendrecv) {
      add(Rule::unsupported, {},
          fmt::format("process_groups of a {}: this verifier follows those of an allreduce, an "
                      "allgather, a reducescatter or an alltoall",
                      to_string(pattern)));
    }
    std::set<std::int64_t> seen;
    for (const auto& group : plan_.process_groups) {
      if (group.empty()) add(Rule::attribute, {}, "process_groups: a group without a rank");
      auto& ranks = program_.groups.emplace_back();
      for (const std::int64_t rank : group) {
        const bool is_rank = rank >= 0 && rank < std::ssize(plan_.gpus);
        if (!is_rank || !seen.insert(rank).second) {
          add(Rule::attribute, {},
              fmt::format("process_groups: expected each of {} ranks once at most, found {}{}",
                          plan_.gpus.size(), rank, is_rank ? " again" : ""));
        }
        ranks.push_back(static_cast<std::int32_t>(rank));
      }
    }
  }

  static Place rank_place(std::size_t r) { return {static_cast<std::int32_t>(r), -1, -1, 0, {}}; }
  static Place block_place(std::size_t r, std::size_t t) {
    return {static_cast<std::int32_t>(r), static_cast<std::int32_t>(t), -1, 0, {}};
  }

  void limit(const Place& place, std::size_t number, std::size_t most, std::string_view what) {
    if (number <= most) return;
    add(Rule::limit, place, fmt::format("{} {}; the executor holds {}", number, what, most));
  }

  void check_gpu(std::size_t r) {
    const PlanGpu& gpu = plan_.gpus[r];
    for (const auto& [what, chunks] : {std::pair("input_chunks", gpu.input_chunks),
                                       std::pair("output_chunks", gpu.output_chunks),
                                       std::pair("scratch_chunks", gpu.scratch_chunks)}) {
      if (chunks >= 0 && chunks <= kMaxPlanChunks) continue;
      add(Rule::attribute, rank_place(r),
          fmt::format("{}: expected 0 to {}, found {}", what, kMaxPlanChunks, chunks));
    }
    if (gpu.threadblocks.size() > static_cast<std::size_t>(sms_)) {
      add(Rule::limit, rank_place(r),
          fmt::format("{} threadblocks on a GPU that holds {} at once: the rest never start, and "
                      "the others wait for them",
                      gpu.threadblocks.size(), sms_),
          "merge threadblocks, or say how many SMs the GPU has");
    }
    check_peers(r);
    check_remote_buffers(r);
    PlanOperations operations(plan_, r, findings_);
    for (std::size_t t = 0; t < gpu.threadblocks.size(); ++t) {
      check_threadblock(r, t);
      for (std::size_t i = 0; i < gpu.threadblocks[t].ops.size(); ++i) operations.check(t, i);
    }
  }

  void check_peers(std::size_t r) {
    for (const PlanChannels& list : plan_.gpus[r].channels) {
      if (list.kind == ChannelKind::none || list.kind == ChannelKind::other) {
        add(Rule::unsupported, rank_place(r), "channel_type: expected memory, port or switch");
      }
      for (const std::int64_t peer : list.ids) {
        if (peer >= 0 && peer < std::ssize(plan_.gpus) && peer != static_cast<std::int64_t>(r)) {
          continue;
        }
        add(Rule::connection, rank_place(r),
            fmt::format("connected_to {}: expected another of the {} ranks", peer,
                        plan_.gpus.size()));
      }
    }
    channels_[ChannelKind::memory] = peers_of(plan_.gpus[r], ChannelKind::memory).size();
    channels_[ChannelKind::port] = peers_of(plan_.gpus[r], ChannelKind::port).size();
    channels_[ChannelKind::switched] = groups_of(plan_.gpus[r]).size();
    limit(rank_place(r), channels_[ChannelKind::port], kMaxPlanPortChannels, "port channels");
  }

  void check_remote_buffers(std::size_t r) {
    for (const PlanRemoteBuffer& buffer : plan_.gpus[r].remote_buffers) {
      if (buffer.rank < 0 || buffer.rank >= std::ssize(plan_.gpus) ||
          buffer.rank == static_cast<std::int64_t>(r)) {
        add(Rule::connection, rank_place(r),
            fmt::format("remote buffer of rank {}: expected another of the {} ranks", buffer.rank,
                        plan_.gpus.size()));
      }
      if (!buffer.has_buffer) {
        add(Rule::attribute, rank_place(r), "a remote buffer without type");
      }
    }
  }

  void check_threadblock(std::size_t r, std::size_t t) {
    const PlanThreadblock& tb = plan_.gpus[r].threadblocks[t];
    if (tb.id != static_cast<std::int64_t>(t)) {
      add(Rule::numbering, block_place(r, t),
          fmt::format("id {} stands at position {}; threadblocks are numbered 0, 1, 2, …", tb.id,
                      t));
    }
    limit(block_place(r, t), tb.ops.size(), kMaxPlanOps, "operations in one threadblock");
    if (tb.ops.size() > kMaxFollowed) {
      add(Rule::too_large, block_place(r, t),
          fmt::format("this verifier follows {} operations of a threadblock", kMaxFollowed));
    }
    for (const ChannelKind kind : {ChannelKind::memory, ChannelKind::port, ChannelKind::switched}) {
      check_lists(r, t, kind);
    }
  }

  void check_lists(std::size_t r, std::size_t t, ChannelKind kind) {
    const PlanGpu& gpu = plan_.gpus[r];
    const PlanThreadblock& tb = gpu.threadblocks[t];
    const auto channels = ids_of(tb.channels, kind);
    const auto buffers = ids_of(tb.remote_buffers, kind);
    limit(block_place(r, t), channels.size(), kMaxPlanChannels, "channels of a kind in one block");
    limit(block_place(r, t), buffers.size(), kMaxPlanChannels, "remote buffers in one block");
    const auto known = static_cast<std::int64_t>(channels_[kind]);
    for (const std::int64_t id : channels) {
      if (id >= 0 && id < known) continue;
      add(Rule::connection, block_place(r, t),
          fmt::format("{} channel {}, but the GPU has {}", to_string(kind), id, known));
    }
    for (const std::int64_t id : buffers) {
      if (id < 0 || id >= std::ssize(gpu.remote_buffers)) {
        add(Rule::connection, block_place(r, t),
            fmt::format("remote buffer {}, but the GPU has {}", id, gpu.remote_buffers.size()));
        continue;
      }
      const PlanRemoteBuffer& buffer = gpu.remote_buffers[static_cast<std::size_t>(id)];
      if ((kind == ChannelKind::memory && buffer.memory) ||
          (kind == ChannelKind::port && buffer.port)) {
        continue;
      }
      add(Rule::connection, block_place(r, t),
          fmt::format("remote buffer {} is not reached through {} channels", id, to_string(kind)));
    }
  }

  // Sizes must be those of the collective, and all ranks must agree on the size of a chunk.
  void check_chunks() {
    if (plan_.gpus.empty() || findings_.blocked()) return;
    const PlanGpu& first = plan_.gpus.front();
    program_.chunks = output_is_part(program_.pattern) ? first.input_chunks : first.output_chunks;
    hold_gpus();
    const OwnParts parts(program_);
    if (program_.chunks < 1 || (is_divided(program_.pattern) && !parts.cover())) {
      add(Rule::chunk_count, rank_place(0),
          fmt::format("{} chunks of a {} over {} ranks{}", program_.chunks,
                      to_string(program_.pattern), program_.ranks,
                      program_.groups.empty() ? "" : ", in groups"));
      return;
    }
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) {
      const PlanGpu& gpu = plan_.gpus[r];
      const BufferSizes sizes =
          buffer_sizes(program_.pattern, program_.chunks, parts.size(static_cast<std::int32_t>(r)));
      if (gpu.input_chunks == 0 || gpu.output_chunks == 0) {
        add(Rule::chunk_count, rank_place(r),
            fmt::format("{} input and {} output chunks: the executor divides by each",
                        gpu.input_chunks, gpu.output_chunks));
      } else if (gpu.input_chunks != sizes.input || gpu.output_chunks != sizes.output) {
        add(Rule::chunk_count, rank_place(r),
            fmt::format("{} input and {} output chunks; a {} over {} ranks in {} chunks has {} and "
                        "{}",
                        gpu.input_chunks, gpu.output_chunks, to_string(program_.pattern),
                        parts.groups().size(static_cast<std::int32_t>(r)), program_.chunks,
                        sizes.input, sizes.output));
      }
    }
  }

  void hold_gpus() {
    for (const PlanGpu& gpu : plan_.gpus) {
      Gpu& held = program_.gpus.emplace_back();
      held.id = static_cast<std::int32_t>(program_.gpus.size() - 1);
      held.input_chunks = gpu.input_chunks;
      held.output_chunks = gpu.output_chunks;
      held.scratch_chunks = gpu.scratch_chunks;
    }
  }

  const PlanFile& plan_;
  std::int32_t sms_;
  Program& program_;
  Findings& findings_;
  std::map<ChannelKind, std::size_t> channels_;  // of the GPU that is checked
};

}  // namespace

void check_plan_structure(const PlanFile& plan, std::int32_t sms, Program& program,
                          Findings& findings) {
  PlanStructure(plan, sms, program, findings).run();
}

}  // namespace forestcoll::audit
