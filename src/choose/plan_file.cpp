#include "choose/plan_file.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "audit/plan/kinds.hpp"
#include "emit/mscclpp_names.hpp"

namespace forestcoll::choose {
namespace {

std::vector<std::int64_t> numbers_of(const std::vector<std::int32_t>& list) {
  return {list.begin(), list.end()};
}

std::vector<std::int64_t> numbers_of(const std::vector<Rank>& ranks) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(ranks.size());
  for (const Rank rank : ranks) numbers.push_back(rank.value);
  return numbers;
}

audit::Buffer buffer_in_file(Buffer buffer) {
  if (buffer == Buffer::input) return audit::Buffer::input;
  return buffer == Buffer::output ? audit::Buffer::output : audit::Buffer::scratch;
}

audit::ChannelKind kind_of(std::size_t channel) {
  return audit::channel_kind_of(emit::name_of(static_cast<PlanChannel>(channel)));
}

audit::PlanChannels channels_of(audit::ChannelKind kind, std::vector<std::int64_t> ids) {
  audit::PlanChannels list;
  list.kind = kind;
  list.ids = std::move(ids);
  return list;
}

audit::PlanSlice slice_of(const PlanSlice& slice, std::int64_t count) {
  audit::PlanSlice result;
  result.is_switched = slice.switched >= 0;
  result.is_remote = !result.is_switched && slice.remote >= 0;
  result.is_local = !result.is_switched && !result.is_remote;
  if (result.is_switched) result.switch_channel = slice.switched;
  if (result.is_remote) result.remote = slice.remote;
  if (result.is_local) result.buffer = buffer_in_file(slice.buffer);
  result.index = slice.index;
  result.size = count;
  return result;
}

// Operations of a block, in the order of its text.
class BlockOps {
 public:
  explicit BlockOps(const PlanThreadblock& block) : block_(block) {}

  std::vector<audit::PlanOp> make(std::int64_t unit) {
    add(block_.before);
    if (!block_.loop.empty()) {
      const auto pipeline = static_cast<std::int32_t>(ops_.size());
      audit::PlanOp& op = named("pipeline");
      op.unit_size = unit;
      op.loop_chunks = block_.count;
      add(block_.loop, pipeline);
    }
    add(block_.after);
    return std::move(ops_);
  }

 private:
  audit::PlanOp& named(std::string_view name) {
    audit::PlanOp& op = ops_.emplace_back();
    op.name = name;
    op.kind = audit::plan_kind_of(name);
    return op;
  }

  void add(const std::vector<PlanOperation>& operations, std::int32_t loop = -1) {
    for (const PlanOperation& operation : operations) {
      const std::int64_t count = operation.count > 0 ? operation.count : block_.count;
      audit::PlanOp& op = named(emit::name_of(operation.kind));
      op.loop = loop;
      op.channels = numbers_of(operation.channels);
      const std::string_view type = emit::channel_type_of(operation);
      if (!type.empty()) op.channel_kind = audit::channel_kind_of(type);
      for (const PlanSlice& each : operation.sources) op.sources.push_back(slice_of(each, count));
      for (const PlanSlice& each : operation.destinations) {
        op.destinations.push_back(slice_of(each, count));
      }
    }
  }

  const PlanThreadblock& block_;
  std::vector<audit::PlanOp> ops_;
};

audit::PlanThreadblock block_of(const PlanThreadblock& block, std::size_t id, std::int64_t unit) {
  audit::PlanThreadblock result;
  result.id = static_cast<std::int64_t>(id);
  result.ops = BlockOps(block).make(unit);
  for (std::size_t kind = 0; kind < kPlanChannels; ++kind) {
    const auto add = [&](auto& lists, const std::vector<std::int32_t>& ids) {
      if (!ids.empty()) lists.push_back(channels_of(kind_of(kind), numbers_of(ids)));
    };
    add(result.channels, block.channels[kind]);
    add(result.remote_buffers, block.remote_buffers[kind]);
  }
  if (!block.switch_channels.empty()) {
    result.channels.push_back(
        channels_of(audit::ChannelKind::switched, numbers_of(block.switch_channels)));
  }
  return result;
}

audit::PlanGpu gpu_in_file(const PlanGpu& gpu, std::size_t id, std::int64_t unit) {
  audit::PlanGpu result;
  result.id = static_cast<std::int64_t>(id);
  result.input_chunks = gpu.input_chunks;
  result.output_chunks = gpu.output_chunks;
  result.scratch_chunks = gpu.scratch_chunks;
  for (const PlanThreadblock& block : gpu.threadblocks) {
    result.threadblocks.push_back(block_of(block, result.threadblocks.size(), unit));
  }
  for (std::size_t kind = 0; kind < kPlanChannels; ++kind) {
    if (gpu.peers[kind].empty()) continue;
    result.channels.push_back(channels_of(kind_of(kind), numbers_of(gpu.peers[kind])));
  }
  for (const PlanSwitchGroup& group : gpu.switch_groups) {
    audit::PlanChannels& list =
        result.channels.emplace_back(channels_of(audit::ChannelKind::switched, {}));
    list.has_buffer = true;
    list.buffer = buffer_in_file(group.buffer);
    list.groups.push_back(numbers_of(group.ranks));
  }
  for (const PlanRemoteBuffer& buffer : gpu.remote_buffers) {
    const bool by_memory = buffer.channel == PlanChannel::memory;
    result.remote_buffers.push_back(
        {buffer.rank.value, true, buffer_in_file(buffer.buffer), by_memory, !by_memory});
  }
  return result;
}

}  // namespace

audit::PlanFile plan_file_of(const ExecutionPlan& plan) {
  audit::PlanFile file;
  file.name = "plan";
  file.collective = emit::name_of(plan.collective);
  file.protocol = plan.packets ? "LL" : "Simple";
  file.in_place = plan.in_place;
  file.has_in_place = true;
  file.doubles_scratch = plan.packets;
  file.min_size = static_cast<std::uint64_t>(plan.min_bytes);
  file.max_size = static_cast<std::uint64_t>(plan.max_bytes);
  for (const PlanGpu& gpu : plan.gpus) {
    file.gpus.push_back(gpu_in_file(gpu, file.gpus.size(), plan.unit_bytes));
  }
  for (const auto& group : plan.process_groups) file.process_groups.push_back(numbers_of(group));
  return file;
}

simulate::PlanImages images_of(const schedule::ClassPlan& classes) {
  const schedule::Views& views = classes.views;
  const auto ends = [&](audit::ChannelKind kind, std::int32_t rank, std::int32_t channel) {
    const auto& of_rank = classes.ends[Rank(rank)];
    const PlanChannel own =
        kind == audit::ChannelKind::memory ? PlanChannel::memory : PlanChannel::port;
    const schedule::ChannelEnd& end =
        of_rank[static_cast<std::size_t>(own)][static_cast<std::size_t>(channel)];
    return std::pair(end.own, end.other);
  };
  const auto image = [&](std::size_t i, Rank rank) { return views.image(i, rank); };
  return {{.count = views.images(), .of = image}, ends};
}

}  // namespace forestcoll::choose
