#include "simulate/sources/flows_source.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/ratio.hpp"
#include "simulate/fabric/graph_maker.hpp"

namespace forestcoll::simulate {

using audit::FlowNode;
using audit::FlowPair;
using audit::FlowPath;
using audit::FlowsFile;

namespace {

class MessageReader {
 public:
  MessageReader(const FlowsFile& flows, const Topology& topology, Fabric& fabric)
      : flows_(flows), fabric_(fabric), node_of_(nodes_with_ids(topology, flows.ids)) {}

  std::vector<FlowMessage> read() {
    for (const FlowPair& pair : flows_.pairs) {
      const double amount = static_cast<double>(pair.bytes.value_or(1)) / buffer();
      for (std::size_t p = pair.begin; p < pair.end; ++p) add_path(flows_.paths[p], amount);
    }
    return by_round();
  }

 private:
  // What a rank sends on average, in units of a pair's data, or in bytes.
  [[nodiscard]] double buffer() const {
    const auto ranks = static_cast<double>(flows_.ranks.size());
    if (flows_.collective != "alltoallv") return ranks;
    auto total = static_cast<double>(flows_.own_bytes.value_or(0));
    for (const FlowPair& pair : flows_.pairs) total += static_cast<double>(pair.bytes.value_or(0));
    return total / ranks;
  }

  void add_path(const FlowPath& path, double amount) {
    const auto share = parse_ratio(path.share);
    FORESTCOLL_CHECK(share.has_value(), "verified flows have shares");
    std::vector<NodeId> leg = {node(path.nodes.front())};
    std::int32_t before = -1;
    std::size_t number = 0;
    for (std::size_t i = 1; i < path.nodes.size(); ++i) {
      leg.push_back(node(path.nodes[i]));
      if (!fabric_.network().is_compute(leg.back())) continue;
      before = add_leg(leg, path.rounds[number++], share->to_double() * amount, before);
      leg = {leg.back()};
    }
  }
  [[nodiscard]] NodeId node(FlowNode n) const { return node_of_[static_cast<std::size_t>(n)]; }

  std::int32_t add_leg(const std::vector<NodeId>& leg, std::int64_t round, double part,
                       std::int32_t before) {
    const std::int32_t route = fabric_.along(leg);
    const auto next = static_cast<std::int32_t>(messages_.size());
    const auto [at, is_new] = number_.emplace(std::pair(round, route), next);
    if (is_new) {
      const Network& network = fabric_.network();
      messages_.push_back({.round = round,
                           .route = route,
                           .from = network.rank_of[leg.front()].value,
                           .out = network.graph.find(leg[0], leg[1]).value,
                           .in = network.graph.find(leg[leg.size() - 2], leg.back()).value});
    }
    FlowMessage& message = messages_[static_cast<std::size_t>(at->second)];
    message.part += part;
    if (before >= 0) message.bringing.push_back(before);
    return at->second;
  }

  // Every message after those that bring its data.
  std::vector<FlowMessage> by_round() {
    std::vector<FlowMessage> sorted;
    std::vector<std::int32_t> place(messages_.size());
    for (const auto& [key, number] : number_) {
      place[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(sorted.size());
      sorted.push_back(std::move(messages_[static_cast<std::size_t>(number)]));
    }
    for (FlowMessage& message : sorted) {
      auto& list = message.bringing;
      for (std::int32_t& other : list) other = place[static_cast<std::size_t>(other)];
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return sorted;
  }

  const FlowsFile& flows_;
  Fabric& fabric_;
  std::vector<NodeId> node_of_;                                           // by FlowNode
  std::map<std::pair<std::int64_t, std::int32_t>, std::int32_t> number_;  // by round and route
  std::vector<FlowMessage> messages_;
};

// What uses a link, round by round: points in time at which all of a round has moved.
class LinkTurns {
 public:
  explicit LinkTurns(std::size_t links) : turns_(links) {}

  // The point of the round before this one on the link, and of the one before that; −1: none.
  struct Before {
    std::int32_t last = -1, last_but_one = -1;
  };
  // Messages come by round.
  Before add(std::int32_t link, std::int64_t round, std::int32_t flow, EventGraph& graph) {
    Turn& turn = turns_[static_cast<std::size_t>(link)];
    if (turn.round != round) {
      turn.before = {turn.point, turn.before.last};
      turn.point = graph.add({});
      turn.round = round;
    }
    graph.wait(flow, turn.point);
    return turn.before;
  }

 private:
  struct Turn {
    std::int64_t round = -1;
    std::int32_t point = -1;
    Before before;
  };
  std::vector<Turn> turns_;
};

class FlowsGraph {
 public:
  FlowsGraph(GraphMaker& maker, const std::vector<std::int32_t>& sends, double threadblocks,
             std::size_t links)
      : maker_(maker), step_kind_(sends.size(), -1), out_(links), in_(links) {
    for (std::size_t r = 0; r < sends.size(); ++r) {
      if (maker.step() > 0 && sends[r] > threadblocks)
        step_kind_[r] = maker.work_kind(threadblocks);
    }
  }

  void add(const std::vector<FlowMessage>& messages, double bytes) {
    for (const FlowMessage& message : messages) add(message, bytes);
  }

 private:
  void add(const FlowMessage& message, double bytes) {
    EventGraph& graph = maker_.graph;
    const double delay = maker_.delay(message.route);
    const std::int32_t flow =
        graph.add({.kind = maker_.kind(message.route, std::numeric_limits<double>::infinity()),
                   .bytes = maker_.on_links(message.part * bytes),
                   .after = delay});
    const std::int32_t begin = maker_.step() > 0 ? add_step(message.from) : flow;
    if (begin != flow) graph.wait(begin, flow);
    arrivals_.push_back({flow, delay});
    for (const std::int32_t other : message.bringing) {
      const Arrival& data = arrivals_[static_cast<std::size_t>(other)];
      graph.wait(data.flow, begin, 0, data.delay);
    }
    const auto sender = out_.add(message.out, message.round, flow, graph);
    const auto receiver = in_.add(message.in, message.round, flow, graph);
    for (const std::int32_t point : {sender.last, receiver.last}) {
      if (point >= 0) graph.wait(point, flow);
    }
    if (begin != flow && sender.last_but_one >= 0) graph.wait(sender.last_but_one, begin);
  }

  std::int32_t add_step(std::int32_t rank) {
    const std::int32_t kind = step_kind_[static_cast<std::size_t>(rank)];
    if (kind < 0) return maker_.graph.add({.seconds = maker_.step()});
    return maker_.graph.add({.kind = kind, .bytes = maker_.step()});
  }

  struct Arrival {
    std::int32_t flow;
    double delay;
  };

  GraphMaker& maker_;
  std::vector<std::int32_t> step_kind_;  // by rank; −1: a threadblock for each message
  LinkTurns out_, in_;                   // of senders and of receivers
  std::vector<Arrival> arrivals_;        // by message
};

}  // namespace

FlowsSource::FlowsSource(const FlowsFile& flows, const Topology& topology, Fabric& fabric)
    : messages_(MessageReader(flows, topology, fabric).read()),
      sends_(fabric.network().ranks.size(), 0) {
  for (const FlowMessage& message : messages_) ++sends_[static_cast<std::size_t>(message.from)];
}

double FlowsSource::full_pass(const SimulationParameters& /*parameters*/) {
  return std::numeric_limits<double>::infinity();
}

EventGraph FlowsSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                             double bytes) const {
  GraphMaker maker(fabric, parameters, parameters.simple);
  FlowsGraph(maker, sends_, parameters.threadblocks, fabric.capacity().size())
      .add(messages_, bytes);
  return std::move(maker.graph);
}

}  // namespace forestcoll::simulate
