#include "run/plan/task.hpp"

#include "audit/plan/channels.hpp"

namespace forestcoll::run {
namespace {

using audit::ChannelKind;
using audit::PlanKind;
using audit::PlanOp;

template <class T>
const T& item(const std::vector<T>& list, std::int64_t i) {
  return list[static_cast<std::size_t>(i)];
}

class Resolver {
 public:
  Resolver(const audit::PlanFile& plan, std::size_t rank)
      : gpu_(plan.gpus[rank]),
        rank_(static_cast<std::int32_t>(rank)),
        memory_peers_(audit::peers_of(gpu_, ChannelKind::memory)),
        port_peers_(audit::peers_of(gpu_, ChannelKind::port)),
        groups_(audit::groups_of(gpu_)) {}

  [[nodiscard]] std::vector<PlanTask> tasks(const audit::PlanThreadblock& block) const {
    std::vector<PlanTask> tasks;
    for (const PlanOp& op : block.ops) tasks.push_back(task(block, op));
    return tasks;
  }

 private:
  [[nodiscard]] PlanTask task(const audit::PlanThreadblock& block, const PlanOp& op) const {
    PlanTask task;
    task.op = &op;
    for (const std::int64_t place : op.channels) task.ends.push_back(end(block, op, place));
    const audit::PlanTraits* traits = audit::traits_of(op.kind);
    if (traits == nullptr) return task;
    task.chunks = op.sources.front().size;
    task.is_pairwise = traits->pairwise;
    task.is_by_port = op.channel_kind == ChannelKind::port && traits->through_port;
    task.waits_for_packets = audit::waits_for_packets(op.kind);
    for (std::size_t i = 0; i < op.sources.size(); ++i) {
      add(block, op, op.sources[i], audit::reads_packets(op, i), task.reads);
    }
    for (std::size_t i = 0; i < op.destinations.size(); ++i) {
      add(block, op, op.destinations[i], audit::writes_packets(op, i), task.writes);
    }
    // One source goes to all.
    if (task.is_pairwise) task.reads.resize(task.writes.size(), task.reads.front());
    return task;
  }

  [[nodiscard]] PlanEnd end(const audit::PlanThreadblock& block, const PlanOp& op,
                            std::int64_t place) const {
    PlanEnd end;
    end.kind = op.channel_kind;
    if (op.channel_kind == ChannelKind::switched) return end;
    const auto& peers = op.channel_kind == ChannelKind::memory ? memory_peers_ : port_peers_;
    const std::int64_t id = item(audit::ids_of(block.channels, op.channel_kind), place);
    end.rank = item(peers, id).rank;
    end.ordinal = item(peers, id).ordinal;
    return end;
  }

  void add(const audit::PlanThreadblock& block, const PlanOp& op, const audit::PlanSlice& slice,
           bool packets, std::vector<PlanSpan>& spans) const {
    if (slice.is_local) {
      spans.push_back({rank_, slice.buffer, slice.index, packets});
    } else if (slice.is_switched) {
      const auto ids = audit::ids_of(block.channels, ChannelKind::switched);
      const audit::PlanGroup& group = item(groups_, item(ids, slice.switch_channel));
      for (const std::int64_t rank : group.ranks) {
        spans.push_back({static_cast<std::int32_t>(rank), group.buffer, slice.index, packets});
      }
    } else {
      const auto ids = audit::ids_of(block.remote_buffers, op.channel_kind);
      const audit::PlanRemoteBuffer& remote = item(gpu_.remote_buffers, item(ids, slice.remote));
      spans.push_back(
          {static_cast<std::int32_t>(remote.rank), remote.buffer, slice.index, packets});
    }
  }

  const audit::PlanGpu& gpu_;
  std::int32_t rank_;
  std::vector<audit::PlanPeer> memory_peers_, port_peers_;
  std::vector<audit::PlanGroup> groups_;
};

}  // namespace

std::vector<std::vector<PlanTask>> tasks_of(const audit::PlanFile& plan, std::size_t rank) {
  const Resolver resolver(plan, rank);
  std::vector<std::vector<PlanTask>> tasks;
  for (const audit::PlanThreadblock& block : plan.gpus[rank].threadblocks) {
    tasks.push_back(resolver.tasks(block));
  }
  return tasks;
}

}  // namespace forestcoll::run
