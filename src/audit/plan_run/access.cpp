// What the operations of a plan touch.
#include <algorithm>
#include <utility>

#include "audit/plan/channels.hpp"
#include "audit/plan/kinds.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {
namespace {

// The operands of one side that a node touches: all, or that of its element.
class NodeOperands {
 public:
  NodeOperands(const PlanFile& plan, const PlanGraph& graph, std::int32_t n)
      : node_(graph.nodes[static_cast<std::size_t>(n)]),
        op_(graph.op(plan, n)),
        gpu_(plan.gpus[static_cast<std::size_t>(node_.rank)]),
        block_(gpu_.threadblocks[static_cast<std::size_t>(
            node_.block - graph.first_block[static_cast<std::size_t>(node_.rank)])]) {}

  void find_reads(std::vector<Operand>& parts) const {
    // One source goes to all channels.
    const bool one = op_.kind == PlanKind::read_put_packets;
    for (std::size_t i = 0; i < op_.sources.size(); ++i) {
      if (one || touches(i)) add(op_.sources[i], reads_packets(op_, i), parts);
    }
    // Packets are added up first, the local operand last.
    if (adds(op_.kind) && waits_for_packets(op_.kind)) {
      std::rotate(parts.begin(), parts.begin() + 1, parts.end());
    }
  }

  void find_writes(std::vector<Operand>& parts) const {
    const bool only_waits = node_.kind == PlanGraph::Kind::data &&
                            op_.kind == PlanKind::read_put_packets &&
                            op_.channel_kind == ChannelKind::port;
    for (std::size_t i = 0; i < op_.destinations.size() && !only_waits; ++i) {
      if (touches(i)) add(op_.destinations[i], writes_packets(op_, i), parts);
    }
  }

 private:
  [[nodiscard]] bool touches(std::size_t i) const {
    return node_.element < 0 || static_cast<std::size_t>(node_.element) == i;
  }

  void add(PlanSlice slice, bool packets, std::vector<Operand>& parts) const {
    slice.index += std::max(node_.strand, 0);
    if (slice.is_local) {
      parts.push_back({{node_.rank, slice.buffer, slice.index}, packets, false});
      return;
    }
    const auto at = [](const auto& list, std::int64_t i) {
      return list[static_cast<std::size_t>(i)];
    };
    if (slice.is_switched) {
      const auto list = ids_of(block_.channels, ChannelKind::switched);
      const PlanGroup group = at(groups_of(gpu_), at(list, slice.switch_channel));
      for (const std::int64_t rank : group.ranks) {
        parts.push_back(
            {{static_cast<std::int32_t>(rank), group.buffer, slice.index}, packets, true});
      }
      return;
    }
    const auto list = ids_of(block_.remote_buffers, op_.channel_kind);
    const PlanRemoteBuffer remote = at(gpu_.remote_buffers, at(list, slice.remote));
    parts.push_back(
        {{static_cast<std::int32_t>(remote.rank), remote.buffer, slice.index}, packets, false});
  }

  const PlanGraph::Node& node_;
  const PlanOp& op_;
  const PlanGpu& gpu_;
  const PlanThreadblock& block_;
};

std::vector<std::int32_t> switched_ranks(const std::vector<Operand>& parts) {
  std::vector<std::int32_t> ranks;
  for (const Operand& part : parts) {
    if (part.switched) ranks.push_back(part.rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

}  // namespace

std::vector<GroupAccess> group_accesses_of(const Access& access, std::int32_t rank) {
  std::vector<GroupAccess> found;
  auto read = switched_ranks(access.reads), stored = switched_ranks(access.writes);
  if (!read.empty()) found.push_back({rank, std::move(read), false});
  if (!stored.empty()) found.push_back({rank, std::move(stored), true});
  return found;
}

void find_access(const PlanFile& plan, const PlanGraph& graph, std::int32_t n, Access& into) {
  into.reads.clear();
  into.writes.clear();
  if (!graph.moves_data(n)) return;
  const PlanOp& op = graph.op(plan, n);
  const PlanGraph::Node& node = graph.nodes[static_cast<std::size_t>(n)];
  const NodeOperands operands(plan, graph, n);
  into.rank = node.rank;
  into.count = node.strand >= 0 ? 1 : op.sources.front().size;
  into.pairwise = traits_of(op.kind)->pairwise;
  operands.find_reads(into.reads);
  operands.find_writes(into.writes);
}

Access access_of(const PlanFile& plan, const PlanGraph& graph, std::int32_t n) {
  Access access;
  find_access(plan, graph, n, access);
  return access;
}

}  // namespace forestcoll::audit
