#include "audit/plan_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "audit/plan_structure.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kThreads = 16;  // the most channels or semaphores of an operation
constexpr std::size_t kNamed = 8;     // operations of a cycle that are spelt out

// A round of a pipeline is told from another by what it loops over.
using Loop = std::pair<std::int64_t, std::int64_t>;
constexpr Loop kNoLoop = {0, 0};

// One end's use of one direction: its nodes in order, and the loops that they stand in.
struct Uses {
  std::vector<std::int32_t> nodes;
  std::vector<Loop> loops;
  void add(std::int32_t node, Loop loop) {
    nodes.push_back(node);
    loops.push_back(loop);
  }
};

struct Channel {
  Uses signals, waits;
};

class GraphBuilder {
 public:
  GraphBuilder(const PlanFile& plan, Findings& findings) : plan_(plan), findings_(findings) {}

  PlanGraph build() {
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) add_rank(r);
    pair_channels();
    pair_barriers();
    pair_semaphores();
    index_edges();
    return std::move(graph_);
  }

 private:
  using Kind = PlanGraph::Kind;
  struct Pending {
    std::int32_t effect;
    std::size_t thread;
    std::int32_t phase;
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
    graph_.nodes.push_back(node);
    graph_.released_by.push_back({-1, -1});
    return static_cast<std::int32_t>(graph_.nodes.size() - 1);
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
    phase_ = -1;
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
    put_on_chain(next, block_column_, ++phase_);
    for (const std::int32_t member : members_) edge(member, next);
    for (const std::int32_t access : accesses_) released_by(access)[0] = next;
    for (const std::int32_t effect : flushed_) released_by(effect)[1] = next;
    accesses_.clear();
    flushed_.clear();
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
        arrivals_[{rank_, op.barrier}].push_back({block_, arrived, sync_, op.participants, loop_});
        return;
      }
      case PlanKind::put:
      case PlanKind::put_signal:
        if (op.channel_kind == ChannelKind::port) return add_port_puts(op, i);
        break;
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
    const std::int32_t data = add_node(Kind::data, i);
    edge(sync_, data);
    members_.push_back(data);
    accesses_.push_back(data);
  }

  // What one thread does, after what it did before.
  std::int32_t by_thread(std::size_t thread, std::int32_t op) {
    thread = std::min(thread, kThreads - 1);
    const std::int32_t n = add_node(Kind::control, op, static_cast<std::int32_t>(thread));
    edge(last_of_thread_[thread], n);
    last_of_thread_[thread] = n;
    members_.push_back(n);
    return n;
  }

  [[nodiscard]] std::int64_t channel_of(const PlanOp& op, std::size_t element) const {
    const auto& ids = op.channel_kind == ChannelKind::memory ? memory_ids_ : port_ids_;
    return ids[static_cast<std::size_t>(op.channels[element])];
  }
  Channel& channel(const PlanOp& op, std::size_t element) {
    const auto id = static_cast<std::size_t>(channel_of(op, element));
    const PlanPeer& peer =
        op.channel_kind == ChannelKind::memory ? memory_peers_[id] : port_peers_[id];
    return channels_[{op.channel_kind, rank_, peer.rank, peer.ordinal}];
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
      state.unsignalled.push_back({effect, e, phase_});
      state.unflushed.push_back(effect);
      if (op.kind == PlanKind::put_signal) {
        channel(op, e).signals.add(signal_port(op, i, e, issue), loop_);
      }
    }
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
      if (put.phase == phase_ && put.thread != e) return false;
      edge(put.effect, effect);
      released_by(put.effect)[0] = effect;
      return true;
    });
    return effect;
  }

  void add_control(const PlanOp& op, std::int32_t i) {
    for (std::size_t e = 0; e < op.channels.size(); ++e) {
      const std::int32_t n = by_thread(e, i);
      if (op.kind == PlanKind::wait) {
        channel(op, e).waits.add(n, loop_);
      } else if (op.kind == PlanKind::flush) {
        PortState& state = port(channel_of(op, e));
        for (const std::int32_t effect : state.unflushed) {
          edge(effect, n);
          flushed_.push_back(effect);
        }
        state.unflushed.clear();
      } else if (op.channel_kind == ChannelKind::memory) {
        channel(op, e).signals.add(n, loop_);
      } else {
        channel(op, e).signals.add(signal_port(op, i, e, n), loop_);
      }
    }
  }

  void add_semaphores(const PlanOp& op, std::int32_t i) {
    for (std::size_t e = 0; e < std::min(op.semaphores.size(), kThreads); ++e) {
      const std::int32_t n = by_thread(e, i);
      auto& uses = semaphores_[{rank_, op.semaphores[e]}];
      (op.kind == PlanKind::release ? uses.signals : uses.waits).add(n, loop_);
    }
  }

  [[nodiscard]] Place place(std::int32_t n) const { return graph_.place(plan_, n); }
  [[nodiscard]] std::string name(std::int32_t n) const { return to_string(place(n)); }

  // The i-th wait is for the i-th signal.
  void pair_uses(const Uses& signals, const Uses& waits, const std::string& what) {
    const std::size_t most = std::max(signals.nodes.size(), waits.nodes.size());
    for (std::size_t i = 0; i < most; ++i) {
      if (i >= waits.nodes.size()) {
        findings_.add(Code::unmatched, place(signals.nodes[i]),
                      fmt::format("signal {} of {} is never waited for, so the next call takes it "
                                  "for its own",
                                  i, what));
        return;
      }
      if (i >= signals.nodes.size()) {
        findings_.add(Code::unmatched, place(waits.nodes[i]),
                      fmt::format("waits for signal {} of {}, but there are {}", i, what,
                                  signals.nodes.size()));
        return;
      }
      if (signals.loops[i] != waits.loops[i]) {
        findings_.add(Code::unmatched, place(waits.nodes[i]),
                      fmt::format("waits in another pipeline than {} signals in, or one of the two "
                                  "in none ({})",
                                  name(signals.nodes[i]), what));
        return;
      }
      edge(signals.nodes[i], waits.nodes[i]);
    }
  }

  void pair_channels() {
    for (const auto& [key, here] : channels_) {
      const auto& [kind, from, to, ordinal] = key;
      const auto there = channels_.find({kind, to, from, ordinal});
      const Uses none;
      pair_uses(
          here.signals, there == channels_.end() ? none : there->second.waits,
          fmt::format("{} channel {} from rank {} to rank {}", to_string(kind), ordinal, from, to));
      if (there == channels_.end()) {
        pair_uses(none, here.waits,
                  fmt::format("{} channel {} from rank {} to rank {}", to_string(kind), ordinal, to,
                              from));
      }
    }
  }

  struct Arrival {
    std::int32_t block, arrived, left;
    std::int64_t participants;
    Loop loop;
  };

  void pair_barriers() {
    for (const auto& [key, arrivals] : arrivals_) {
      std::map<std::int32_t, std::vector<Arrival>> by_block;
      for (const Arrival& arrival : arrivals) by_block[arrival.block].push_back(arrival);
      const auto blocks = std::ssize(by_block);
      const auto& first = by_block.begin()->second;
      for (const auto& [block, own] : by_block) {
        const bool alike =
            own.size() == first.size() &&
            std::equal(own.begin(), own.end(), first.begin(), [](const auto& a, const auto& b) {
              return a.loop == b.loop && a.participants == b.participants;
            });
        if (alike && own.front().participants == blocks) continue;
        findings_.add(Code::dependency, place(own.front().arrived),
                      fmt::format("barrier {} is for {} threadblocks; {} use it, {} times here and "
                                  "{} in threadblock {}",
                                  key.second, own.front().participants, blocks, own.size(),
                                  first.size(), place(first.front().arrived).threadblock));
        return;
      }
      for (std::size_t round = 0; round < first.size(); ++round) {
        rank_ = key.first;
        block_ = -1;
        const std::int32_t all = add_node(Kind::barrier);
        for (const auto& [block, own] : by_block) {
          edge(own[round].arrived, all);
          edge(all, own[round].left);
        }
      }
    }
  }

  [[nodiscard]] bool by_one_block(const Uses& uses) const {
    return std::all_of(uses.nodes.begin(), uses.nodes.end(), [&](std::int32_t n) {
      return graph_.nodes[static_cast<std::size_t>(n)].block ==
             graph_.nodes[static_cast<std::size_t>(uses.nodes.front())].block;
    });
  }

  void pair_semaphores() {
    for (const auto& [key, uses] : semaphores_) {
      const auto first = plan_.gpus[static_cast<std::size_t>(key.first)]
                             .semaphores[static_cast<std::size_t>(key.second)];
      if (first != 0 || !by_one_block(uses.signals) || !by_one_block(uses.waits)) {
        const Uses& any = uses.waits.nodes.empty() ? uses.signals : uses.waits;
        findings_.add(Code::unsupported, place(any.nodes.front()),
                      "this verifier follows semaphores that begin at 0 and have one threadblock "
                      "that releases and one that acquires");
        continue;
      }
      pair_uses(uses.signals, uses.waits, fmt::format("semaphore {}", key.second));
    }
  }

  void index_edges() {
    std::sort(graph_.edges.begin(), graph_.edges.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second, a.first) < std::tie(b.second, b.first);
    });
    graph_.before_begin.assign(graph_.nodes.size() + 1, 0);
    graph_.before.reserve(graph_.edges.size());
    for (const auto& [from, to] : graph_.edges) {
      graph_.before.push_back(from);
      ++graph_.before_begin[static_cast<std::size_t>(to) + 1];
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      graph_.before_begin[n + 1] += graph_.before_begin[n];
    }
  }

  const PlanFile& plan_;
  Findings& findings_;
  PlanGraph graph_;
  std::map<std::tuple<ChannelKind, std::int32_t, std::int32_t, std::int32_t>, Channel> channels_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<Arrival>> arrivals_;
  std::map<std::pair<std::int32_t, std::int64_t>, Channel> semaphores_;
  // Of the rank and the threadblock that are being added:
  std::int32_t rank_ = -1, block_ = -1, blocks_ = 0, block_column_ = -1;
  std::vector<PlanPeer> memory_peers_, port_peers_;
  std::vector<std::int64_t> memory_ids_, port_ids_;
  std::map<std::int64_t, PortState> ports_;
  Loop loop_ = kNoLoop;
  std::int32_t sync_ = -1, phase_ = -1;
  std::vector<std::int32_t> members_;   // of the phase: what the next sync waits for
  std::vector<std::int32_t> accesses_;  // of the phase
  std::vector<std::int32_t> flushed_;   // effects that a flush of the phase waited for
  std::array<std::int32_t, kThreads> last_of_thread_{};
};

std::string describe(const PlanFile& plan, const PlanGraph& graph, std::int32_t n) {
  const PlanGraph::Node& node = graph.nodes[static_cast<std::size_t>(n)];
  std::string text = to_string(graph.place(plan, n));
  if (node.op >= 0) text += fmt::format(" ({})", graph.op(plan, n).name);
  return text;
}

// Walking back along what is still waited for closes a cycle.
void report_cycle(const PlanFile& plan, const PlanGraph& graph,
                  const std::vector<std::int32_t>& missing, Findings& findings) {
  std::vector<std::int32_t> seen(graph.nodes.size(), -1);
  std::int32_t n = 0;
  while (missing[static_cast<std::size_t>(n)] == 0) ++n;
  std::vector<std::int32_t> walk;
  while (seen[static_cast<std::size_t>(n)] < 0) {
    seen[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(walk.size());
    walk.push_back(n);
    for (const std::int32_t before : graph.predecessors(n)) {
      if (missing[static_cast<std::size_t>(before)] > 0) {
        n = before;
        break;
      }
    }
  }
  std::string text = "deadlock: ";
  std::size_t named = 0;
  std::int32_t first = -1;
  for (std::size_t i = static_cast<std::size_t>(seen[static_cast<std::size_t>(n)]); i < walk.size();
       ++i) {
    if (graph.nodes[static_cast<std::size_t>(walk[i])].kind != PlanGraph::Kind::control) continue;
    if (first < 0) first = walk[i];
    if (++named <= kNamed) {
      text += fmt::format("{}{}", named > 1 ? " waits for " : "", describe(plan, graph, walk[i]));
    }
  }
  if (named > kNamed) text += fmt::format(" … {} more", named - kNamed);
  if (first >= 0) text += " waits for the first";
  findings.add(Code::deadlock, first >= 0 ? graph.place(plan, first) : graph.place(plan, n),
               std::move(text));
}

}  // namespace

Place PlanGraph::place(const PlanFile&, std::int32_t n) const {
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

PlanGraph build_plan_graph(const PlanFile& plan, Findings& findings) {
  return GraphBuilder(plan, findings).build();
}

std::vector<std::int32_t> order_plan(const PlanFile& plan, const PlanGraph& graph,
                                     Findings& findings) {
  std::vector<std::int32_t> missing(graph.nodes.size(), 0);  // predecessors not yet in the order
  std::vector<std::int32_t> begin(graph.nodes.size() + 1, 0);
  for (const auto& [from, to] : graph.edges) {
    ++missing[static_cast<std::size_t>(to)];
    ++begin[static_cast<std::size_t>(from) + 1];
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) begin[n + 1] += begin[n];
  std::vector<std::int32_t> after(graph.edges.size());
  std::vector<std::int32_t> filled(begin.begin(), begin.end() - 1);
  for (const auto& [from, to] : graph.edges) {
    after[static_cast<std::size_t>(filled[static_cast<std::size_t>(from)]++)] = to;
  }
  std::vector<std::int32_t> order;
  order.reserve(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (missing[n] == 0) order.push_back(static_cast<std::int32_t>(n));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto n = static_cast<std::size_t>(order[i]);
    for (std::int32_t e = begin[n]; e < begin[n + 1]; ++e) {
      const std::int32_t next = after[static_cast<std::size_t>(e)];
      if (--missing[static_cast<std::size_t>(next)] == 0) order.push_back(next);
    }
  }
  if (order.size() == graph.nodes.size()) return order;
  report_cycle(plan, graph, missing, findings);
  return {};
}

PlanAccess access_of(const PlanFile& plan, const PlanGraph& graph, std::int32_t n) {
  const PlanGraph::Node& node = graph.nodes[static_cast<std::size_t>(n)];
  const PlanOp& op = graph.op(plan, n);
  const PlanGpu& gpu = plan.gpus[static_cast<std::size_t>(node.rank)];
  const PlanThreadblock& tb = gpu.threadblocks[static_cast<std::size_t>(
      node.block - graph.first_block[static_cast<std::size_t>(node.rank)])];
  const auto resolve = [&](const PlanSlice& slice) -> ChunkRef {
    if (slice.is_local) return {node.rank, slice.buffer, slice.index};
    const auto list = ids_of(tb.remote_buffers, op.channel_kind);
    const auto& remote =
        gpu.remote_buffers[static_cast<std::size_t>(list[static_cast<std::size_t>(slice.remote)])];
    return {static_cast<std::int32_t>(remote.rank), remote.buffer, slice.index};
  };
  PlanAccess access;
  access.count = op.sources.front().size;
  for (std::size_t i = 0; i < op.sources.size(); ++i) {
    if (node.element >= 0 && static_cast<std::size_t>(node.element) != i) continue;
    access.reads.push_back(resolve(op.sources[i]));
  }
  for (std::size_t i = 0; i < op.destinations.size(); ++i) {
    if (node.element >= 0 && static_cast<std::size_t>(node.element) != i) continue;
    access.writes.push_back(resolve(op.destinations[i]));
  }
  return access;
}

}  // namespace forestcoll::audit
