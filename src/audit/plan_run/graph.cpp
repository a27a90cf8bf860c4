#include "audit/plan_run/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "audit/plan/channels.hpp"
#include "audit/plan/kinds.hpp"
#include "audit/plan_run/checks.hpp"
#include "audit/plan_run/pairs.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kThreads = 16;  // the most channels or semaphores of an operation

using Loop = PlanPairs::Loop;
constexpr Loop kNoLoop = {0, 0};

class GraphBuilder {
 public:
  GraphBuilder(const PlanFile& plan, const MemoryMap& memory, bool by_chunk, Findings& findings,
               const ChannelEnds& ends)
      : plan_(plan), memory_(memory), by_chunk_(by_chunk), findings_(findings), ends_(ends) {}

  PlanGraph build() {
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) add_rank(r);
    pairs_.connect(plan_, graph_, findings_);
    connect_packets(plan_, memory_, graph_, findings_);
    index_edges();
    return std::move(graph_);
  }

 private:
  using Kind = PlanGraph::Kind;
  struct Pending {
    std::int32_t effect;
    std::size_t thread;
    std::int32_t epoch;
  };
  struct PortState {
    std::int32_t column = -1, last_signal = -1, signals = 0;
    std::vector<Pending> unsignalled;
    std::vector<std::int32_t> unflushed;
  };

  std::int32_t add_node(Kind kind, std::int32_t op = -1, std::int32_t element = -1) {
    PlanGraph::Node node;
    node.kind = kind;
    node.rank = rank_;
    node.block = block_;
    node.op = op;
    node.element = element;
    return graph_.add(node);
  }
  PlanGraph::Node& node(std::int32_t n) { return graph_.nodes[static_cast<std::size_t>(n)]; }
  std::array<std::int32_t, 2>& released_by(std::int32_t n) {
    return graph_.released_by[static_cast<std::size_t>(n)];
  }
  void edge(std::int32_t from, std::int32_t to) { graph_.edges.emplace_back(from, to); }
  void put_on_chain(std::int32_t n, std::int32_t column, std::int32_t position) {
    node(n).column = column;
    node(n).position = position;
  }

  void add_rank(std::size_t r) {
    rank_ = static_cast<std::int32_t>(r);
    block_ = -1;
    const std::int32_t column = graph_.columns++;
    const std::int32_t start = add_node(Kind::start);
    const std::int32_t end = add_node(Kind::end);
    put_on_chain(start, column, 0);
    put_on_chain(end, column, 1);
    edge(start, end);
    graph_.start.push_back(start);
    graph_.end.push_back(end);
    graph_.first_block.push_back(blocks_);
    memory_peers_ = peers_of(plan_.gpus[r], ChannelKind::memory);
    port_peers_ = peers_of(plan_.gpus[r], ChannelKind::port);
    for (std::size_t t = 0; t < plan_.gpus[r].threadblocks.size(); ++t) add_block(r, t);
  }

  void add_block(std::size_t r, std::size_t t) {
    const PlanThreadblock& tb = plan_.gpus[r].threadblocks[t];
    block_ = blocks_++;
    block_column_ = graph_.columns++;
    epoch_ = -1;
    ports_.clear();
    members_ = {graph_.start[r]};
    memory_ids_ = ids_of(tb.channels, ChannelKind::memory);
    port_ids_ = ids_of(tb.channels, ChannelKind::port);
    sync(-1);
    for (std::size_t i = 0; i < tb.ops.size(); ++i) {
      const PlanOp& op = tb.ops[i];
      loop_ = op.loop < 0 ? kNoLoop
                          : Loop(tb.ops[static_cast<std::size_t>(op.loop)].unit_size,
                                 tb.ops[static_cast<std::size_t>(op.loop)].loop_chunks);
      add_op(op, static_cast<std::int32_t>(i));
    }
    sync(-1);
    edge(sync_, graph_.end[r]);
  }

  // A point at which all threads of the block are in step.
  void sync(std::int32_t op) {
    const std::int32_t next = add_node(Kind::sync, op);
    put_on_chain(next, block_column_, ++epoch_);
    for (const std::int32_t member : members_) edge(member, next);
    for (const std::int32_t access : accesses_) released_by(access)[0] = next;
    for (const std::int32_t effect : flushed_) released_by(effect)[1] = next;
    accesses_.clear();
    flushed_.clear();
    blocking_.clear();
    sync_ = next;
    members_ = {next};
    last_of_thread_.fill(next);
  }

  void add_op(const PlanOp& op, std::int32_t i) {
    switch (op.kind) {
      case PlanKind::pipeline:
        return;
      case PlanKind::nop:
        return sync(i);
      case PlanKind::barrier: {
        sync(i);
        const std::int32_t arrived = sync_;
        sync(i);
        pairs_.arrivals[{rank_, op.barrier}].push_back(
            {block_, arrived, sync_, op.participants, loop_});
        return;
      }
      case PlanKind::put:
      case PlanKind::put_signal:
      case PlanKind::put_signal_flush:
      case PlanKind::put_packets:
        if (op.channel_kind == ChannelKind::port) return add_port_puts(op, i);
        break;
      case PlanKind::read_put_packets:  // all threads wait; then each hands a channel its put
        if (op.channel_kind != ChannelKind::port) break;
        add_data(op, i);
        sync(i);
        return add_port_puts(op, i);
      case PlanKind::signal:
      case PlanKind::wait:
      case PlanKind::flush:
        return add_control(op, i);
      case PlanKind::acquire:
      case PlanKind::release:
        return add_semaphores(op, i);
      default:
        break;
    }
    add_data(op, i);
  }

  // What all threads do.
  void add_data(const PlanOp& op, std::int32_t i) {
    if (has_packets(op.kind)) return add_packets(op, i);
    add_access(add_node(Kind::data, i));
  }

  void add_access(std::int32_t data) {
    edge(sync_, data);
    members_.push_back(data);
    accesses_.push_back(data);
  }

  // Packets are waited for, and written, by threads of which some may still be held up by what the
  // block does in this epoch.
  void add_packets(const PlanOp& op, std::int32_t i) {
    const bool pairwise = traits_of(op.kind)->pairwise && by_chunk_;
    const auto elements = pairwise ? static_cast<std::int32_t>(op.destinations.size()) : 1;
    const auto strands =
        by_chunk_ ? static_cast<std::int32_t>(op.sources.front().size) : std::int32_t{1};
    const std::int32_t before = add_gate(blocking_);
    std::vector<std::int32_t> parts;
    for (std::int32_t e = 0; e < elements; ++e) {
      for (std::int32_t strand = 0; strand < strands; ++strand) {
        const std::int32_t data = add_node(Kind::data, i, pairwise ? e : -1);
        if (by_chunk_) node(data).strand = strand;
        put_on_chain(data, graph_.columns++, 0);
        released_by(data)[1] = data;
        add_access(data);
        if (before >= 0) edge(before, data);
        parts.push_back(data);
      }
    }
    if (waits_for_packets(op.kind)) blocking_ = {add_gate(parts)};
  }

  // After all of them; −1 where there are none.
  std::int32_t add_gate(const std::vector<std::int32_t>& nodes) {
    if (nodes.empty()) return -1;
    const std::int32_t gate = add_node(Kind::gate);
    for (const std::int32_t n : nodes) edge(n, gate);
    return gate;
  }

  // What one thread does, after what it did before.
  std::int32_t by_thread(std::size_t thread, std::int32_t op) {
    thread = std::min(thread, kThreads - 1);
    const std::int32_t n = add_node(Kind::control, op, static_cast<std::int32_t>(thread));
    edge(last_of_thread_[thread], n);
    for (const std::int32_t other : blocking_) {
      if (node(other).kind == Kind::gate) edge(other, n);
    }
    last_of_thread_[thread] = n;
    members_.push_back(n);
    blocking_.push_back(n);
    return n;
  }

  [[nodiscard]] std::int64_t channel_of(const PlanOp& op, std::size_t element) const {
    const auto& ids = op.channel_kind == ChannelKind::memory ? memory_ids_ : port_ids_;
    return ids[static_cast<std::size_t>(op.channels[element])];
  }
  PlanPairs::Uses& channel(const PlanOp& op, std::size_t element) {
    const auto id = static_cast<std::size_t>(channel_of(op, element));
    const PlanPeer& peer =
        op.channel_kind == ChannelKind::memory ? memory_peers_[id] : port_peers_[id];
    PlanPairs::Uses& uses = pairs_.channels[end_of(op.channel_kind, peer, id)];
    uses.peer = peer.rank;
    return uses;
  }

  [[nodiscard]] std::tuple<ChannelKind, std::int32_t, std::int32_t, std::int32_t> end_of(
      ChannelKind kind, const PlanPeer& peer, std::size_t id) const {
    if (!ends_) return {kind, rank_, peer.rank, peer.ordinal};
    const auto [own, other] = ends_(kind, rank_, static_cast<std::int32_t>(id));
    return {kind, own, other, 0};
  }

  PortState& port(std::int64_t id) {
    PortState& state = ports_[id];
    if (state.column < 0) state.column = graph_.columns++;
    return state;
  }

  void add_port_puts(const PlanOp& op, std::int32_t i) {
    for (std::size_t e = 0; e < op.channels.size(); ++e) {
      const std::int32_t issue = by_thread(e, i);
      const std::int32_t effect = add_node(Kind::effect, i, static_cast<std::int32_t>(e));
      edge(issue, effect);
      PortState& state = port(channel_of(op, e));
      state.unsignalled.push_back({effect, e, epoch_});
      state.unflushed.push_back(effect);
      if (op.kind != PlanKind::put_signal && op.kind != PlanKind::put_signal_flush) continue;
      channel(op, e).signals.push_back({signal_port(op, i, e, issue), loop_});
      if (op.kind == PlanKind::put_signal_flush) flush_port(state, by_thread(e, i));
    }
  }

  // What the channel was given before is over at `flush`.
  void flush_port(PortState& state, std::int32_t flush) {
    for (const std::int32_t effect : state.unflushed) {
      edge(effect, flush);
      flushed_.push_back(effect);
    }
    state.unflushed.clear();
  }

  // The effect of a signal: after those of all puts that the channel was given before it.
  std::int32_t signal_port(const PlanOp& op, std::int32_t i, std::size_t e, std::int32_t issue) {
    PortState& state = port(channel_of(op, e));
    const std::int32_t effect = add_node(Kind::signal_effect, i, static_cast<std::int32_t>(e));
    put_on_chain(effect, state.column, state.signals++);
    edge(issue, effect);
    if (state.last_signal >= 0) edge(state.last_signal, effect);
    state.last_signal = effect;
    std::erase_if(state.unsignalled, [&](const Pending& put) {
      if (put.epoch == epoch_ && put.thread != e) return false;
      edge(put.effect, effect);
      released_by(put.effect)[0] = effect;
      return true;
    });
    return effect;
  }

  void add_control(const PlanOp& op, std::int32_t i) {
    for (std::size_t e = 0; e < op.channels.size(); ++e) {
      const std::int32_t n = by_thread(e, i);
      node(n).relaxed = op.relaxed && op.channel_kind == ChannelKind::memory;
      if (op.kind == PlanKind::wait) {
        channel(op, e).waits.push_back({n, loop_});
      } else if (op.kind == PlanKind::flush) {
        flush_port(port(channel_of(op, e)), n);
      } else if (op.channel_kind == ChannelKind::memory) {
        channel(op, e).signals.push_back({n, loop_});
      } else {
        channel(op, e).signals.push_back({signal_port(op, i, e, n), loop_});
      }
    }
  }

  void add_semaphores(const PlanOp& op, std::int32_t i) {
    for (std::size_t e = 0; e < std::min(op.semaphores.size(), kThreads); ++e) {
      const std::int32_t n = by_thread(e, i);
      auto& uses = pairs_.semaphores[{rank_, op.semaphores[e]}];
      (op.kind == PlanKind::release ? uses.signals : uses.waits).push_back({n, loop_});
    }
  }

  void index_edges() {
    std::sort(graph_.edges.begin(), graph_.edges.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second, a.first) < std::tie(b.second, b.first);
    });
    std::sort(graph_.messages.begin(), graph_.messages.end(), [](const auto& a, const auto& b) {
      return std::tie(a.to, a.from) < std::tie(b.to, b.from);
    });
    graph_.before = Lists<>(graph_.nodes.size(), [&](auto&& add) {
      for (const auto& [from, to] : graph_.edges) add(static_cast<std::size_t>(to), from);
    });
  }

  const PlanFile& plan_;
  const MemoryMap& memory_;
  bool by_chunk_;
  Findings& findings_;
  const ChannelEnds& ends_;
  PlanGraph graph_;
  PlanPairs pairs_;
  // Of the rank and the threadblock that are being added:
  std::int32_t rank_ = -1, block_ = -1, blocks_ = 0, block_column_ = -1;
  std::vector<PlanPeer> memory_peers_, port_peers_;
  std::vector<std::int64_t> memory_ids_, port_ids_;
  std::map<std::int64_t, PortState> ports_;
  Loop loop_ = kNoLoop;
  std::int32_t sync_ = -1, epoch_ = -1;
  std::vector<std::int32_t> members_;   // of the epoch: what the next sync waits for
  std::vector<std::int32_t> accesses_;  // of the epoch
  std::vector<std::int32_t> blocking_;  // of the epoch: what may hold up threads
  std::vector<std::int32_t> flushed_;   // effects that a flush of the epoch waited for
  std::array<std::int32_t, kThreads> last_of_thread_{};
};

}  // namespace

std::int32_t PlanGraph::add(const Node& node) {
  nodes.push_back(node);
  released_by.push_back({-1, -1});
  return static_cast<std::int32_t>(nodes.size() - 1);
}

Place PlanGraph::place(std::int32_t n) const {
  const Node& node = nodes[static_cast<std::size_t>(n)];
  Place place;
  place.rank = node.rank;
  if (node.block >= 0) {
    place.threadblock = node.block - first_block[static_cast<std::size_t>(node.rank)];
  }
  place.step = node.op;
  return place;
}

const PlanOp& PlanGraph::op(const PlanFile& plan, std::int32_t n) const {
  const Node& node = nodes[static_cast<std::size_t>(n)];
  const auto rank = static_cast<std::size_t>(node.rank);
  return plan.gpus[rank]
      .threadblocks[static_cast<std::size_t>(node.block - first_block[rank])]
      .ops[static_cast<std::size_t>(node.op)];
}

PlanGraph::Carries PlanGraph::carries(std::int32_t from, std::int32_t to) const {
  const Node& a = nodes[static_cast<std::size_t>(from)];
  const Node& b = nodes[static_cast<std::size_t>(to)];
  const bool packets = b.kind == Kind::data && (a.kind == Kind::data || a.kind == Kind::effect);
  if (packets) return Carries::beginnings;
  if (a.kind == Kind::gate || b.kind == Kind::gate) return Carries::nothing;
  return b.relaxed && a.rank != b.rank ? Carries::beginnings : Carries::everything;
}

PlanGraph build_plan_graph(const PlanFile& plan, const MemoryMap& memory, bool by_chunk,
                           Findings& findings, const ChannelEnds& ends) {
  return GraphBuilder(plan, memory, by_chunk, findings, ends).build();
}

}  // namespace forestcoll::audit
