// Execution plans of MSCCL++ as JSON. Field names and their meaning are those of releases 0.9 and
// 0.10; what has a default there is written all the same, and an operation stands on a line.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "emit/mscclpp_names.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "topology/format/json_value.hpp"

namespace forestcoll {

using Kind = PlanOperation::Kind;

namespace emit {

std::string_view name_of(Collective collective) {
  return collective == Collective::reduce_scatter ? "reducescatter" : to_string(collective);
}

std::string_view name_of(PlanChannel channel) {
  return channel == PlanChannel::memory ? "memory" : "port";
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::nop:
      return "nop";
    case Kind::put:
      return "put";
    case Kind::signal:
      return "signal";
    case Kind::wait:
      return "wait";
    case Kind::copy:
      return "copy";
    case Kind::combine:
      return "glres";
    case Kind::store:
      return "gstore";
    case Kind::pack:
      return "cpkt";
    case Kind::put_packets:
      return "ppkt";
    case Kind::store_packets:
      return "gstorepkt";
    case Kind::unpack:
      return "upkt";
    case Kind::add_packets:
      return "repkt";
    case Kind::reduce:
      break;
  }
  return "re";
}

std::string_view channel_type_of(const PlanOperation& operation) {
  switch (operation.kind) {
    case Kind::put:
    case Kind::put_packets:
    case Kind::signal:
    case Kind::wait:
      return name_of(operation.channel);
    case Kind::combine:
    case Kind::store:
    case Kind::store_packets:
      return "switch";
    default:
      return "";
  }
}

}  // namespace emit

namespace {

using emit::name_of;

constexpr std::int64_t kAlignment = 16;  // bytes; what the executor adds at a time
constexpr int kThreads = 1024;           // of a threadblock
// The executor forgets where in its allocation a buffer lies that a port channel sends from.
constexpr const char* kComment =
    " \"comment\":\"Only for input and output that begin their allocations: port channels send "
    "from there.\",\n";

std::string_view type_of(Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return "i";
    case Buffer::output:
      return "o";
    case Buffer::scratch:
      break;
  }
  return "s";
}

std::string numbers(const std::vector<std::int32_t>& list) {
  return fmt::format("[{}]", fmt::join(list, ","));
}

std::string slices(const std::vector<PlanSlice>& list, std::int64_t count) {
  std::string text = "[";
  for (const PlanSlice& slice : list) {
    if (text.size() > 1) text += ',';
    text += slice.switched >= 0 ? fmt::format("{{\"switch_channel_id\":{}", slice.switched)
            : slice.remote < 0  ? fmt::format("{{\"type\":\"{}\"", type_of(slice.buffer))
                                : fmt::format("{{\"buffer_id\":{}", slice.remote);
    text += fmt::format(",\"index\":{},\"size\":{}}}", slice.index, count);
  }
  return text + "]";
}

std::string operation_text(const PlanOperation& operation, std::int64_t count_of_block) {
  const std::int64_t count = operation.count > 0 ? operation.count : count_of_block;
  std::string text = fmt::format("{{\"name\":\"{}\"", name_of(operation.kind));
  if (!operation.sources.empty()) {
    text += ",\"src_buff\":" + slices(operation.sources, count);
    text += ",\"dst_buff\":" + slices(operation.destinations, count);
  }
  if (!operation.channels.empty()) text += ",\"channel_ids\":" + numbers(operation.channels);
  const std::string_view type = emit::channel_type_of(operation);
  if (!type.empty()) text += fmt::format(",\"channel_type\":\"{}\"", type);
  const bool adds = operation.kind == Kind::reduce || operation.kind == Kind::combine ||
                    operation.kind == Kind::add_packets;
  if (adds) text += ",\"reduce_op\":\"sum\"";
  return text + "}";
}

// Items of a list, one on a line.
class Lines {
 public:
  Lines(std::string& out, std::string_view indent) : out_(out), indent_(indent) {}
  void add(std::string_view item) {
    out_ += first_ ? "\n" : ",\n";
    out_ += indent_;
    out_ += item;
    first_ = false;
  }

 private:
  std::string& out_;
  std::string_view indent_;
  bool first_ = true;
};

void append_operations(std::string& out, const PlanThreadblock& block, std::int64_t unit) {
  Lines lines(out, "     ");
  for (const auto& operation : block.before) lines.add(operation_text(operation, block.count));
  if (!block.loop.empty()) {
    std::string pipeline = fmt::format(
        "{{\"name\":\"pipeline\",\"iter_context\":{{\"unit_size\":{},\"num_chunks\":{}}},\"ops\":[",
        unit, block.count);
    Lines inner(pipeline, "      ");
    for (const auto& operation : block.loop) inner.add(operation_text(operation, block.count));
    lines.add(pipeline + "]}");
  }
  for (const auto& operation : block.after) lines.add(operation_text(operation, block.count));
}

void append_threadblock(std::string& out, std::size_t number, const PlanThreadblock& block,
                        std::int64_t unit) {
  fmt::format_to(std::back_inserter(out), "{{\"id\":{},\"ops\":[", number);
  append_operations(out, block, unit);
  std::string channels, buffers;
  for (std::size_t kind = 0; kind < kPlanChannels; ++kind) {
    const std::string_view name = name_of(static_cast<PlanChannel>(kind));
    if (!block.channels[kind].empty()) {
      channels += fmt::format("{}{{\"channel_type\":\"{}\",\"channel_ids\":{}}}",
                              channels.empty() ? "" : ",", name, numbers(block.channels[kind]));
    }
    if (!block.remote_buffers[kind].empty()) {
      buffers += fmt::format("{}{{\"access_channel_type\":\"{}\",\"remote_buffer_ids\":{}}}",
                             buffers.empty() ? "" : ",", name, numbers(block.remote_buffers[kind]));
    }
  }
  if (!block.switch_channels.empty()) {
    channels += fmt::format("{}{{\"channel_type\":\"switch\",\"channel_ids\":{}}}",
                            channels.empty() ? "" : ",", numbers(block.switch_channels));
  }
  fmt::format_to(std::back_inserter(out),
                 "],\n     \"channels\":[{}],\"remote_buffer_refs\":[{}]}}", channels, buffers);
}

// A list of one: channels are numbered over all of them.
std::string switch_text(const PlanSwitchGroup& group) {
  std::vector<std::int32_t> ranks;
  for (const Rank rank : group.ranks) ranks.push_back(rank.value);
  return fmt::format(
      "{{\"channel_type\":\"switch\",\"buffer_type\":\"{}\",\"rank_groups\":[{{\"size\":{},"
      "\"ranks\":{}}}]}}",
      type_of(group.buffer), ranks.size(), numbers(ranks));
}

void append_gpu(std::string& out, std::size_t rank, const PlanGpu& gpu, std::int64_t unit) {
  fmt::format_to(std::back_inserter(out),
                 "  {{\"id\":{},\"input_chunks\":{},\"output_chunks\":{},\"scratch_chunks\":{},\n"
                 "   \"threadblocks\":[",
                 rank, gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks);
  Lines blocks(out, "    ");
  for (std::size_t t = 0; t < gpu.threadblocks.size(); ++t) {
    std::string block;
    append_threadblock(block, t, gpu.threadblocks[t], unit);
    blocks.add(block);
  }
  out += "],\n   \"channels\":[";
  bool first = true;
  for (std::size_t kind = 0; kind < kPlanChannels; ++kind) {
    if (gpu.peers[kind].empty()) continue;
    std::vector<std::int32_t> peers;
    for (const Rank peer : gpu.peers[kind]) peers.push_back(peer.value);
    fmt::format_to(std::back_inserter(out), "{}{{\"channel_type\":\"{}\",\"connected_to\":{}}}",
                   first ? "" : ",", name_of(static_cast<PlanChannel>(kind)), numbers(peers));
    first = false;
  }
  for (const PlanSwitchGroup& group : gpu.switch_groups) {
    out += (first ? "" : ",") + switch_text(group);
    first = false;
  }
  out += "],\n   \"remote_buffers\":[";
  for (std::size_t i = 0; i < gpu.remote_buffers.size(); ++i) {
    const PlanRemoteBuffer& buffer = gpu.remote_buffers[i];
    fmt::format_to(std::back_inserter(out),
                   "{}{{\"rank\":{},\"type\":\"{}\",\"access_channel_types\":[\"{}\"]}}",
                   i > 0 ? "," : "", buffer.rank.value, type_of(buffer.buffer),
                   name_of(buffer.channel));
  }
  out += "],\n   \"semaphores\":[]}";
}

// A key of ours, which no runtime reads: which ranks do the collective together.
std::string groups_text(const ExecutionPlan& plan) {
  if (plan.process_groups.empty()) return {};
  std::string text;
  for (const auto& group : plan.process_groups) {
    std::vector<std::int32_t> ranks;
    for (const Rank rank : group) ranks.push_back(rank.value);
    text += (text.empty() ? "" : ",") + numbers(ranks);
  }
  return fmt::format(" \"process_groups\":[{}],\n", text);
}

// The loader reads it as an int (src/core/executor/execution_plan.cc): 2 GiB would be negative, and
// fit no message. A byte less is the same, as buffers are aligned.
std::int64_t least_bytes(const ExecutionPlan& plan) {
  return std::min<std::int64_t>(plan.min_bytes, INT32_MAX);
}

}  // namespace

bool sends_from_the_callers(const PlanOperation& operation) {
  return operation.kind == Kind::put && operation.channel == PlanChannel::port &&
         std::any_of(operation.sources.begin(), operation.sources.end(),
                     [](const PlanSlice& source) { return source.buffer != Buffer::scratch; });
}

bool sends_from_the_callers(const ExecutionPlan& plan) {
  for (const PlanGpu& gpu : plan.gpus) {
    for (const PlanThreadblock& block : gpu.threadblocks) {
      if (std::any_of(block.loop.begin(), block.loop.end(),
                      [](const auto& each) { return sends_from_the_callers(each); })) {
        return true;
      }
    }
  }
  return false;
}

std::string to_mscclpp_json(const ExecutionPlan& plan, const std::string& name) {
  FORESTCOLL_CHECK(plan.collective != Collective::reduce, "MSCCL++ has no collective reduce");
  std::string out = fmt::format(
      "{{\"name\":{},\n{}{} \"collective\":\"{}\",\"protocol\":\"{}\",\"inplace\":{},"
      "\"reuse_resources\":false,\n \"gpus\":[",
      topology::quote_json(name), sends_from_the_callers(plan) ? kComment : "", groups_text(plan),
      name_of(plan.collective), plan.packets ? "LL" : "Simple", plan.in_place);
  for (std::size_t r = 0; r < plan.gpus.size(); ++r) {
    out += r > 0 ? ",\n" : "\n";
    append_gpu(out, r, plan.gpus[Rank(r)], plan.unit_bytes);
  }
  fmt::format_to(std::back_inserter(out),
                 "],\n \"num_threads_per_block\":{},\"use_double_scratch_buffer\":{},"
                 "\"buffer_alignment\":{},\"min_message_size\":{},\"max_message_size\":{}}}\n",
                 kThreads, plan.packets, kAlignment, least_bytes(plan), plan.max_bytes);
  return out;
}

}  // namespace forestcoll
