// What the executor of MSCCL++ checks itself is little: it indexes fixed arrays by what the file
// says. Some operations do not do there what they are called: a `get` swaps its two offsets, a
// `pws` on a memory channel never signals, a `pwsf` sends from a wrong address. Plans that would
// trip over these are refused.
#include "audit/plan_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMaxRanks = 4096;
constexpr std::int64_t kMaxChunks = std::int64_t{1} << 24;  // of one buffer
constexpr std::size_t kMaxFollowed = 4000;                  // clocks have 16 bits
constexpr std::int64_t kReduceAlignment = 16;               // it adds 16 bytes at a time

class PlanStructure {
 public:
  PlanStructure(const PlanFile& plan, std::int32_t sms, Program& program, Findings& findings)
      : plan_(plan), sms_(sms), program_(program), findings_(findings) {}

  void run() {
    check_header();
    check_gpus();
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) check_gpu(r);
    check_chunks();
  }

 private:
  void add(Code code, Place place, std::string message, std::string remedy = {}) {
    findings_.add(code, std::move(place), std::move(message), std::move(remedy));
  }

  void check_header() {
    if (plan_.name.empty()) add(Code::attribute, {}, "the plan has no name");
    if (!plan_.has_in_place) add(Code::attribute, {}, "inplace: expected true or false");
    if (plan_.alignment < 1 || plan_.alignment > 4096) {
      add(Code::attribute, {},
          fmt::format("buffer_alignment: expected 1 to 4096, found {}", plan_.alignment));
    }
    if (plan_.protocol != "Simple") {
      add(Code::unsupported, {},
          fmt::format("protocol: this verifier follows \"Simple\", found \"{}\"", plan_.protocol));
    }
    if (plan_.reuses_resources) {
      add(Code::unsupported, {},
          "reuse_resources: this verifier does not follow scratch that is used several times");
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
      add(Code::unsupported, {},
          fmt::format("collective: expected allreduce, allgather, reducescatter, broadcast or "
                      "alltoall, found \"{}\"",
                      name));
      return;
    }
    program_.pattern = *pattern;
  }

  void check_gpus() {
    if (plan_.gpus.empty()) add(Code::numbering, {}, "the plan has no GPUs");
    if (std::ssize(plan_.gpus) > kMaxRanks) {
      add(Code::too_large, {},
          fmt::format("{} GPUs; this verifier follows {}", plan_.gpus.size(), kMaxRanks));
    }
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) {
      if (plan_.gpus[r].id == static_cast<std::int64_t>(r)) continue;
      add(Code::numbering, rank_place(r),
          fmt::format("id {} stands at position {}; the executor takes a rank's GPU by position",
                      plan_.gpus[r].id, r));
    }
  }

  static Place rank_place(std::size_t r) { return {static_cast<std::int32_t>(r), -1, -1, 0, {}}; }
  static Place block_place(std::size_t r, std::size_t t) {
    return {static_cast<std::int32_t>(r), static_cast<std::int32_t>(t), -1, 0, {}};
  }

  void limit(Place place, std::size_t number, std::size_t most, std::string_view what) {
    if (number <= most) return;
    add(Code::limit, std::move(place),
        fmt::format("{} {}; the executor holds {}", number, what, most));
  }

  void check_gpu(std::size_t r) {
    const PlanGpu& gpu = plan_.gpus[r];
    for (const auto& [what, chunks] : {std::pair("input_chunks", gpu.input_chunks),
                                       std::pair("output_chunks", gpu.output_chunks),
                                       std::pair("scratch_chunks", gpu.scratch_chunks)}) {
      if (chunks >= 0 && chunks <= kMaxChunks) continue;
      add(Code::attribute, rank_place(r),
          fmt::format("{}: expected 0 to {}, found {}", what, kMaxChunks, chunks));
    }
    if (gpu.threadblocks.size() > static_cast<std::size_t>(sms_)) {
      add(Code::limit, rank_place(r),
          fmt::format("{} threadblocks on a GPU that holds {} at once: the rest never start, and "
                      "the others wait for them",
                      gpu.threadblocks.size(), sms_),
          "merge threadblocks, or say how many SMs the GPU has");
    }
    limit(rank_place(r), gpu.semaphores.size(), kMaxPlanSemaphores, "semaphores");
    check_peers(r);
    check_remote_buffers(r);
    users_.clear();
    for (std::size_t t = 0; t < gpu.threadblocks.size(); ++t) check_threadblock(r, t);
  }

  void check_peers(std::size_t r) {
    for (const PlanChannels& list : plan_.gpus[r].channels) {
      if (list.kind != ChannelKind::memory && list.kind != ChannelKind::port) {
        add(Code::unsupported, rank_place(r),
            fmt::format("this verifier does not follow channels of type {}", to_string(list.kind)));
      }
      for (const std::int64_t peer : list.ids) {
        if (peer >= 0 && peer < std::ssize(plan_.gpus) && peer != static_cast<std::int64_t>(r)) {
          continue;
        }
        add(Code::connection, rank_place(r),
            fmt::format("connected_to {}: expected another of the {} ranks", peer,
                        plan_.gpus.size()));
      }
    }
    memory_channels_ = peers_of(plan_.gpus[r], ChannelKind::memory).size();
    port_channels_ = peers_of(plan_.gpus[r], ChannelKind::port).size();
    limit(rank_place(r), port_channels_, kMaxPlanPortChannels, "port channels");
  }

  void check_remote_buffers(std::size_t r) {
    for (const PlanRemoteBuffer& buffer : plan_.gpus[r].remote_buffers) {
      if (buffer.rank < 0 || buffer.rank >= std::ssize(plan_.gpus) ||
          buffer.rank == static_cast<std::int64_t>(r)) {
        add(Code::connection, rank_place(r),
            fmt::format("remote buffer of rank {}: expected another of the {} ranks", buffer.rank,
                        plan_.gpus.size()));
      }
      if (!buffer.has_buffer) {
        add(Code::attribute, rank_place(r), "a remote buffer without type");
      }
    }
  }

  void check_threadblock(std::size_t r, std::size_t t) {
    const PlanThreadblock& tb = plan_.gpus[r].threadblocks[t];
    if (tb.id != static_cast<std::int64_t>(t)) {
      add(Code::numbering, block_place(r, t),
          fmt::format("id {} stands at position {}; threadblocks are numbered 0, 1, 2, …", tb.id,
                      t));
    }
    limit(block_place(r, t), tb.ops.size(), kMaxPlanOps, "operations in one threadblock");
    if (tb.ops.size() > kMaxFollowed) {
      add(Code::too_large, block_place(r, t),
          fmt::format("this verifier follows {} operations of a threadblock", kMaxFollowed));
    }
    for (const ChannelKind kind : {ChannelKind::memory, ChannelKind::port}) {
      check_lists(r, t, kind);
    }
    for (std::size_t i = 0; i < tb.ops.size(); ++i) check_op(r, t, i);
  }

  void check_lists(std::size_t r, std::size_t t, ChannelKind kind) {
    const PlanGpu& gpu = plan_.gpus[r];
    const PlanThreadblock& tb = gpu.threadblocks[t];
    const auto channels = ids_of(tb.channels, kind);
    const auto buffers = ids_of(tb.remote_buffers, kind);
    limit(block_place(r, t), channels.size(), kMaxPlanChannels, "channels of a kind in one block");
    limit(block_place(r, t), buffers.size(), kMaxPlanChannels, "remote buffers in one block");
    const auto known =
        static_cast<std::int64_t>(kind == ChannelKind::memory ? memory_channels_ : port_channels_);
    for (const std::int64_t id : channels) {
      if (id >= 0 && id < known) continue;
      add(Code::connection, block_place(r, t),
          fmt::format("{} channel {}, but the GPU has {}", to_string(kind), id, known));
    }
    for (const std::int64_t id : buffers) {
      if (id < 0 || id >= std::ssize(gpu.remote_buffers)) {
        add(Code::connection, block_place(r, t),
            fmt::format("remote buffer {}, but the GPU has {}", id, gpu.remote_buffers.size()));
        continue;
      }
      const PlanRemoteBuffer& buffer = gpu.remote_buffers[static_cast<std::size_t>(id)];
      if (kind == ChannelKind::memory ? buffer.memory : buffer.port) continue;
      add(Code::connection, block_place(r, t),
          fmt::format("remote buffer {} is not reached through {} channels", id, to_string(kind)));
    }
  }

  void check_op(std::size_t r, std::size_t t, std::size_t i) {
    const PlanOp& op = plan_.gpus[r].threadblocks[t].ops[i];
    const Place place = plan_place(r, t, i);
    if (op.in_group) {
      add(Code::unsupported, place,
          "tbg_info: this verifier does not follow work that threadblocks share");
    }
    limit(place, op.channels.size(), kMaxPlanOpChannels, "channels in one operation");
    limit(place, op.sources.size(), kMaxPlanOpBuffers, "sources in one operation");
    limit(place, op.destinations.size(), kMaxPlanOpBuffers, "destinations in one operation");
    switch (op.kind) {
      case PlanKind::nop:
        return;
      case PlanKind::barrier:
        return check_barrier(r, op, place);
      case PlanKind::acquire:
      case PlanKind::release:
        return check_semaphores(r, op, place);
      case PlanKind::signal:
      case PlanKind::wait:
      case PlanKind::flush:
        return check_control(r, t, op, place);
      case PlanKind::pipeline:
        return check_pipeline(r, t, i);
      case PlanKind::put_signal_flush:
        add(Code::unsupported, place, "pwsf: the executor sends from a wrong address",
            "use put, signal and flush");
        return;
      case PlanKind::other:
        add(Code::unsupported, place,
            fmt::format("this verifier does not follow operations of type \"{}\"", op.name));
        return;
      default:
        check_data(r, t, i);
    }
  }

  void check_barrier(std::size_t r, const PlanOp& op, const Place& place) {
    if (op.barrier < 0 || op.barrier >= kMaxPlanBarriers) {
      add(Code::dependency, place,
          fmt::format("barrier_id: expected 0 to {}, found {}", kMaxPlanBarriers - 1, op.barrier));
    }
    const auto blocks = std::ssize(plan_.gpus[r].threadblocks);
    if (op.participants < 1 || op.participants > blocks) {
      add(Code::dependency, place,
          fmt::format("num_threadblocks: expected 1 to {}, found {}", blocks, op.participants));
    }
  }

  void check_semaphores(std::size_t r, const PlanOp& op, const Place& place) {
    const auto known = std::ssize(plan_.gpus[r].semaphores);
    if (op.semaphores.empty()) add(Code::attribute, place, op.name + " names no semaphore");
    for (const std::int64_t id : op.semaphores) {
      if (id >= 0 && id < known) continue;
      add(Code::dependency, place,
          fmt::format("semaphore {}, but the GPU has {}", id, plan_.gpus[r].semaphores.size()));
    }
  }

  void check_control(std::size_t r, std::size_t t, const PlanOp& op, const Place& place) {
    if (op.channel_kind != ChannelKind::memory && op.channel_kind != ChannelKind::port) {
      add(Code::attribute, place, op.name + " needs channel_type memory or port");
      return;
    }
    if (op.kind == PlanKind::flush && op.channel_kind != ChannelKind::port) {
      add(Code::unsupported, place, "flush is for port channels");
    }
    if (op.channels.empty()) add(Code::attribute, place, op.name + " names no channel");
    check_channels(r, t, op, place, op.kind == PlanKind::wait ? "waits" : "signals");
  }

  // Counters of a channel are not made for several threadblocks.
  void check_channels(std::size_t r, std::size_t t, const PlanOp& op, const Place& place,
                      std::string_view use) {
    const auto list = ids_of(plan_.gpus[r].threadblocks[t].channels, op.channel_kind);
    std::set<std::int64_t> seen;
    for (const std::int64_t id : op.channels) {
      if (id < 0 || id >= std::ssize(list)) {
        add(Code::connection, place,
            fmt::format("{} channel {}, but the threadblock lists {}", to_string(op.channel_kind),
                        id, list.size()));
        continue;
      }
      const std::int64_t channel = list[static_cast<std::size_t>(id)];
      // Puts are handed to a proxy one by one; counters are not.
      if (!seen.insert(channel).second && op.kind != PlanKind::put) {
        add(Code::connection, place, fmt::format("channel {} stands twice", id));
      }
      const auto [user, added] = users_.try_emplace({op.channel_kind, use == "waits", channel}, t);
      if (!added && user->second != t) {
        add(Code::connection, place,
            fmt::format("{} channel {} of the rank also {} in threadblock {}: its counter is not "
                        "made for two",
                        to_string(op.channel_kind), channel, use, user->second),
            "give each threadblock a channel of its own");
      }
    }
  }

  void check_pipeline(std::size_t r, std::size_t t, std::size_t i) {
    const auto& ops = plan_.gpus[r].threadblocks[t].ops;
    const PlanOp& op = ops[i];
    const Place place = plan_place(r, t, i);
    if (op.unit_size < 1 || op.unit_size > (std::int64_t{1} << 31) ||
        (plan_.alignment > 0 && op.unit_size % plan_.alignment != 0)) {
      add(Code::attribute, place,
          fmt::format("unit_size: expected a multiple of {} up to 2 GiB, found {}", plan_.alignment,
                      op.unit_size));
    }
    if (op.loop_chunks < 1 || op.loop_chunks > kMaxChunks) {
      add(Code::attribute, place,
          fmt::format("num_chunks: expected at least 1, found {}", op.loop_chunks));
    }
    if (op.loop >= 0) add(Code::unsupported, place, "a pipeline within a pipeline");
    if (i + 1 == ops.size() || ops[i + 1].loop != static_cast<std::int32_t>(i)) {
      add(Code::attribute, place, "a pipeline without operations");
    }
  }

  void check_data(std::size_t r, std::size_t t, std::size_t i) {
    const PlanOp& op = plan_.gpus[r].threadblocks[t].ops[i];
    const Place place = plan_place(r, t, i);
    check_shape(op, place);
    const bool moves = op.kind == PlanKind::put || op.kind == PlanKind::put_signal;
    if (moves && op.channel_kind == ChannelKind::port) {
      if (op.channels.size() != op.destinations.size()) {
        add(Code::connection, place, "a put through port channels names one for each destination");
      }
      check_channels(r, t, op, place, "signals");
    }
    const std::int64_t size = op.sources.empty() ? -1 : op.sources.front().size;
    for (const PlanSlice& slice : op.sources) check_slice(r, t, i, slice, size);
    for (const PlanSlice& slice : op.destinations) check_slice(r, t, i, slice, size);
    check_quirks(r, t, i, size);
  }

  // How many of its operands an operation takes from here and from elsewhere.
  void check_shape(const PlanOp& op, const Place& place) {
    const auto locals = [](const std::vector<PlanSlice>& slices) {
      return std::count_if(slices.begin(), slices.end(),
                           [](const PlanSlice& slice) { return slice.is_local; });
    };
    const auto sources = std::ssize(op.sources), destinations = std::ssize(op.destinations);
    const auto local_sources = locals(op.sources), local_destinations = locals(op.destinations);
    bool right = sources > 0 && destinations > 0;
    bool remote = true;
    switch (op.kind) {
      case PlanKind::put:
      case PlanKind::put_signal:
        right =
            right && sources == destinations && local_sources == sources && local_destinations == 0;
        break;
      case PlanKind::get:
        right = right && sources == destinations && local_sources == 0 &&
                local_destinations == destinations;
        break;
      case PlanKind::copy:
        right = sources == 1 && destinations == 1 && local_sources == 1 && local_destinations == 1;
        remote = false;
        break;
      case PlanKind::reduce:
        right = right && local_sources == sources && destinations == 1 && local_destinations == 1;
        remote = false;
        break;
      case PlanKind::reduce_send:
        right = right && local_sources == sources && first_is_the_local_one(op.destinations);
        break;
      case PlanKind::read_reduce:
        right = right && first_is_the_local_one(op.sources) && destinations == 1 &&
                local_destinations == 1;
        break;
      default:
        right =
            right && first_is_the_local_one(op.sources) && first_is_the_local_one(op.destinations);
    }
    if (!right) {
      add(Code::attribute, place,
          fmt::format("{} cannot have {} sources ({} local) and {} destinations ({} local)",
                      to_string(op.kind), sources, local_sources, destinations,
                      local_destinations));
    }
    const bool is_put = op.kind == PlanKind::put || op.kind == PlanKind::put_signal;
    const bool known =
        op.channel_kind == ChannelKind::memory || (is_put && op.channel_kind == ChannelKind::port);
    if (remote && !known) {
      add(Code::attribute, place,
          fmt::format("{} does not go through channels of type {}", to_string(op.kind),
                      to_string(op.channel_kind)));
    }
  }

  static bool first_is_the_local_one(const std::vector<PlanSlice>& slices) {
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (slices[i].is_local != (i == 0)) return false;
    }
    return true;
  }

  void check_slice(std::size_t r, std::size_t t, std::size_t i, const PlanSlice& slice,
                   std::int64_t size) {
    const Place place = plan_place(r, t, i);
    const PlanGpu& gpu = plan_.gpus[r];
    const PlanGpu* owner = &gpu;
    Buffer buffer = slice.buffer;
    if (slice.is_local == slice.is_remote) {
      add(Code::attribute, place, "a buffer needs either a type or a buffer_id");
      return;
    }
    if (slice.is_remote) {
      const PlanOp& op = gpu.threadblocks[t].ops[i];
      const auto list = ids_of(gpu.threadblocks[t].remote_buffers, op.channel_kind);
      if (slice.remote < 0 || slice.remote >= std::ssize(list)) {
        add(Code::connection, place,
            fmt::format("buffer_id {}, but the threadblock lists {} for {} channels", slice.remote,
                        list.size(), to_string(op.channel_kind)));
        return;
      }
      const std::int64_t id = list[static_cast<std::size_t>(slice.remote)];
      if (id < 0 || id >= std::ssize(gpu.remote_buffers)) return;  // reported with the list
      const auto& remote = gpu.remote_buffers[static_cast<std::size_t>(id)];
      if (remote.rank < 0 || remote.rank >= std::ssize(plan_.gpus)) return;
      owner = &plan_.gpus[static_cast<std::size_t>(remote.rank)];
      buffer = remote.buffer;
    }
    const std::int64_t chunks = buffer == Buffer::input    ? owner->input_chunks
                                : buffer == Buffer::output ? owner->output_chunks
                                                           : owner->scratch_chunks;
    if (slice.index < 0 || slice.size < 1 || slice.index > chunks ||
        slice.size > chunks - slice.index) {
      add(Code::bounds, place,
          fmt::format("index {} with size {} is beyond the {} chunks of the {} buffer", slice.index,
                      slice.size, chunks, to_string(buffer)));
    } else if (slice.size != size) {
      add(Code::bounds, place,
          fmt::format("sizes {} and {} in one operation; the executor uses one for all", size,
                      slice.size));
    }
  }

  void check_quirks(std::size_t r, std::size_t t, std::size_t i, std::int64_t size) {
    const auto& ops = plan_.gpus[r].threadblocks[t].ops;
    const PlanOp& op = ops[i];
    const Place place = plan_place(r, t, i);
    const bool reduces = op.kind == PlanKind::reduce || op.kind == PlanKind::reduce_send ||
                         op.kind == PlanKind::read_reduce || op.kind == PlanKind::read_reduce_send;
    if (reduces && plan_.alignment % kReduceAlignment != 0) {
      add(Code::attribute, place,
          fmt::format("the executor adds {} bytes at a time, but buffer_alignment is {}",
                      kReduceAlignment, plan_.alignment));
    }
    const bool from_memory =
        op.kind == PlanKind::put && op.channel_kind == ChannelKind::memory && !op.sources.empty();
    if (from_memory &&
        std::any_of(op.sources.begin(), op.sources.end(), [&](const PlanSlice& slice) {
          return slice.buffer != op.sources.front().buffer;
        })) {
      add(Code::unsupported, place,
          "a put through memory channels takes all its sources from the buffer of the first",
          "write one put for each buffer");
    }
    if (op.kind == PlanKind::put_signal && op.channel_kind == ChannelKind::memory) {
      add(Code::unsupported, place, "pws through a memory channel never signals",
          "use put, nop and signal");
    }
    if (op.kind == PlanKind::get) {
      for (std::size_t s = 0; s < std::min(op.sources.size(), op.destinations.size()); ++s) {
        if (op.sources[s].index == op.destinations[s].index) continue;
        add(Code::unsupported, place,
            "get: the executor swaps the two offsets, so both must be the same");
      }
    }
    if (op.loop < 0) return;
    const std::int64_t chunks = ops[static_cast<std::size_t>(op.loop)].loop_chunks;
    if (chunks != size) {
      add(Code::bounds, place,
          fmt::format("size {} in a pipeline over {} chunks: the executor counts on both being the "
                      "same",
                      size, chunks));
    }
  }

  // Sizes must be those of the collective, and all ranks must agree on the size of a chunk.
  void check_chunks() {
    if (plan_.gpus.empty() || findings_.blocked()) return;
    const PlanGpu& first = plan_.gpus.front();
    program_.chunks =
        program_.pattern == Pattern::reduce_scatter ? first.input_chunks : first.output_chunks;
    if (program_.chunks < 1 ||
        (is_divided(program_.pattern) && program_.chunks % program_.ranks != 0)) {
      add(Code::chunk_count, rank_place(0),
          fmt::format("{} chunks of a {} over {} ranks", program_.chunks,
                      to_string(program_.pattern), program_.ranks));
      return;
    }
    const BufferSizes sizes = buffer_sizes(program_.pattern, program_.chunks, program_.ranks);
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) {
      const PlanGpu& gpu = plan_.gpus[r];
      if (gpu.input_chunks != sizes.input || gpu.output_chunks != sizes.output) {
        add(Code::chunk_count, rank_place(r),
            fmt::format("{} input and {} output chunks; a {} over {} ranks in {} chunks has {} and "
                        "{}",
                        gpu.input_chunks, gpu.output_chunks, to_string(program_.pattern),
                        program_.ranks, program_.chunks, sizes.input, sizes.output));
      }
      Gpu& held = program_.gpus.emplace_back();
      held.id = static_cast<std::int32_t>(r);
      held.input_chunks = gpu.input_chunks;
      held.output_chunks = gpu.output_chunks;
      held.scratch_chunks = gpu.scratch_chunks;
    }
  }

  const PlanFile& plan_;
  std::int32_t sms_;
  Program& program_;
  Findings& findings_;
  std::size_t memory_channels_ = 0, port_channels_ = 0;  // of the GPU that is checked
  std::map<std::tuple<ChannelKind, bool, std::int64_t>, std::size_t> users_;  // threadblocks
};

}  // namespace

std::vector<PlanPeer> peers_of(const PlanGpu& gpu, ChannelKind kind) {
  std::vector<PlanPeer> peers;
  std::map<std::int64_t, std::int32_t> count;
  for (const PlanChannels& list : gpu.channels) {
    if (list.kind != kind) continue;
    for (const std::int64_t peer : list.ids) {
      peers.push_back({static_cast<std::int32_t>(peer), count[peer]++,
                       static_cast<std::int32_t>(peers.size())});
    }
  }
  return peers;
}

std::vector<std::int64_t> ids_of(const std::vector<PlanChannels>& lists, ChannelKind kind) {
  std::vector<std::int64_t> ids;
  for (const PlanChannels& list : lists) {
    if (list.kind == kind) ids.insert(ids.end(), list.ids.begin(), list.ids.end());
  }
  return ids;
}

void check_plan_structure(const PlanFile& plan, std::int32_t sms, Program& program,
                          Findings& findings) {
  PlanStructure(plan, sms, program, findings).run();
}

}  // namespace forestcoll::audit
