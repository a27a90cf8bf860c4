#include "solver/joint/streams.hpp"

#include <algorithm>
#include <utility>

namespace forestcoll::solver {
namespace {

class StreamList {
 public:
  StreamList(const Network& network, bool relays) : network_(network), relays_(relays) {}

  void add(const Commodity& commodity, std::size_t operation) {
    next_ = {.operation = operation,
             .commodity = commodities_++,
             .of = &commodity,
             .amounts = {},
             .arcs = {}};
    using Kind = Commodity::Kind;
    switch (commodity.kind) {
      case Kind::broadcast:
      case Kind::reduce:
        add_stream(Stream::Kind::trees, commodity.kind == Kind::reduce, commodity.amounts);
        return;
      case Kind::allreduce:
        add_stream(Stream::Kind::any_roots, false, commodity.amounts);
        add_stream(Stream::Kind::any_roots, true, commodity.amounts);
        return;
      case Kind::paths:
        add_paths(commodity);
    }
  }

  std::vector<Stream> take() { return std::move(streams_); }

 private:
  void add_paths(const Commodity& commodity) {
    const std::size_t n = commodity.members.size();
    std::vector<std::vector<std::int64_t>> from(n), to(n);
    std::size_t begins = 0, ends = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        from[i].push_back(commodity.amounts[i * n + j]);
        to[i].push_back(commodity.amounts[j * n + i]);
      }
      begins += is_zero(from[i]) ? 0 : 1;
      ends += is_zero(to[i]) ? 0 : 1;
    }
    const bool turned = ends < begins;
    for (std::size_t i = 0; i < n; ++i) {
      auto& amounts = turned ? to[i] : from[i];
      if (is_zero(amounts)) continue;
      next_.origin = commodity.members[i];
      add_stream(Stream::Kind::paths, turned, std::move(amounts));
    }
  }

  static bool is_zero(const std::vector<std::int64_t>& amounts) {
    return std::ranges::all_of(amounts, [](std::int64_t amount) { return amount == 0; });
  }

  void add_stream(Stream::Kind kind, bool turned, std::vector<std::int64_t> amounts) {
    next_.kind = kind;
    next_.turned = turned;
    next_.amounts = std::move(amounts);
    Stream& stream = streams_.emplace_back(next_);
    const Digraph& graph = network_.graph;
    IdVector<NodeId, bool> open(graph.node_count(), false);
    for (std::size_t v = 0; v < open.size(); ++v) {
      open[NodeId(v)] = passes_on(network_, NodeId(v), false, relays_);
    }
    for (const NodeId v : stream.of->members) open[v] = true;
    const NodeId source = only_source(stream);
    for (std::size_t a = 0; a < graph.arc_count(); ++a) {
      const Arc& arc = graph.arcs()[a];
      const bool back = (turned ? arc.tail : arc.head) == source;
      if (open[arc.tail] && open[arc.head] && !back) stream.arcs.push_back(ArcId(a));
    }
    while (leave_dead_ends(stream)) {
    }
  }

  // Leaves out arcs of nodes that are no members and have one neighbour: what enters these comes
  // back. False where there are none.
  bool leave_dead_ends(Stream& stream) const {
    IdVector<NodeId, NodeId> neighbour(network_.graph.node_count());
    IdVector<NodeId, bool> leads_on(network_.graph.node_count(), false);
    const auto note = [&](NodeId v, NodeId other) {
      if (neighbour[v].valid() && neighbour[v] != other) leads_on[v] = true;
      neighbour[v] = other;
    };
    for (const NodeId v : stream.of->members) leads_on[v] = true;
    for (const ArcId a : stream.arcs) {
      note(network_.graph.tail(a), network_.graph.head(a));
      note(network_.graph.head(a), network_.graph.tail(a));
    }
    return std::erase_if(stream.arcs, [&](ArcId a) {
             return !leads_on[network_.graph.tail(a)] || !leads_on[network_.graph.head(a)];
           }) > 0;
  }

  // Nothing ever has to come back to a node where all data is; invalid where there is none.
  static NodeId only_source(const Stream& stream) {
    if (stream.kind == Stream::Kind::paths) return stream.origin;
    if (stream.kind == Stream::Kind::any_roots) return {};
    NodeId only;
    for (std::size_t i = 0; i < stream.amounts.size(); ++i) {
      if (stream.amounts[i] == 0) continue;
      if (only.valid()) return {};
      only = stream.of->members[i];
    }
    return only;
  }

  const Network& network_;
  bool relays_;
  std::size_t commodities_ = 0;
  Stream next_;
  std::vector<Stream> streams_;
};

}  // namespace

std::vector<Stream> streams_of(const Network& network, const JointDemand& demand) {
  StreamList list(network, demand.relays);
  for (std::size_t i = 0; i < demand.operations.size(); ++i) {
    for (const Commodity& commodity : demand.operations[i]) list.add(commodity, i);
  }
  return list.take();
}

}  // namespace forestcoll::solver
