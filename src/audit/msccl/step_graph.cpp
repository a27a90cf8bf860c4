#include "audit/msccl/step_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace forestcoll::audit {
namespace {

// One direction of a pair of ranks on a channel.
struct Connection {
  std::int32_t sender = -1, receiver = -1;  // threadblocks
};
using Connections = std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Connection>;

std::vector<std::int32_t> steps_that(const StepGraph& graph, std::int32_t block,
                                     bool Operation::*does) {
  std::vector<std::int32_t> steps;
  if (block < 0) return steps;
  const StepGraph::Block& b = graph.blocks[static_cast<std::size_t>(block)];
  for (std::int32_t s = b.begin; s < b.end; ++s) {
    if (graph.node(s).step->operation->*does) steps.push_back(s);
  }
  return steps;
}

std::string describe(const Connections::key_type& key) {
  const auto& [from, to, channel] = key;
  return fmt::format("rank {} to rank {} on channel {}", from, to, channel);
}

// A runtime sets up every connection that a threadblock names, whether a step uses it or not, and
// waits for the other end.
bool has_both_ends(const StepGraph& graph, const Connections::key_type& key,
                   const Connection& connection, Findings& findings) {
  if (connection.sender >= 0 && connection.receiver >= 0) return true;
  const bool sends = connection.sender >= 0;
  const StepGraph::Block& block =
      graph.blocks[static_cast<std::size_t>(sends ? connection.sender : connection.receiver)];
  const auto& [from, to, channel] = key;
  findings.add(Rule::unmatched, Place{block.rank, block.id, -1, block.line, {}},
               fmt::format("unmatched connection {}: no threadblock of rank {} has {}=\"{}\" on "
                           "channel {}",
                           describe(key), sends ? to : from, sends ? "recv" : "send",
                           sends ? from : to, channel),
               fmt::format("give the threadblock {}=\"-1\", or rank {} a threadblock for the "
                           "other end",
                           sends ? "send" : "recv", sends ? to : from));
  return false;
}

void match(StepGraph& graph, const Connections::key_type& key, const Connection& connection,
           Findings& findings) {
  const auto sends = steps_that(graph, connection.sender, &Operation::sends);
  const auto receives = steps_that(graph, connection.receiver, &Operation::receives);
  if (sends.empty() && receives.empty() && !has_both_ends(graph, key, connection, findings)) return;
  for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    if (i >= receives.size()) {
      findings.add(Rule::unmatched, graph.place(sends[i]),
                   fmt::format("message {} from {} is never received: rank {} receives {} there", i,
                               describe(key), std::get<1>(key), receives.size()));
      return;
    }
    if (i >= sends.size()) {
      findings.add(Rule::unmatched, graph.place(receives[i]),
                   fmt::format("waits for message {} from {}, but rank {} sends {} there", i,
                               describe(key), std::get<0>(key), sends.size()));
      return;
    }
    StepGraph::Node& send = graph.steps[static_cast<std::size_t>(sends[i])];
    StepGraph::Node& receive = graph.steps[static_cast<std::size_t>(receives[i])];
    if (send.step->count != receive.step->count) {
      findings.add(Rule::unmatched, graph.place(receives[i]),
                   fmt::format("receives {} chunks, but {} sends {} (message {} from {})",
                               receive.step->count, graph.name(sends[i]), send.step->count, i,
                               describe(key)));
      return;
    }
    send.message_to = receives[i];
    receive.message_from = sends[i];
  }
  if (sends.empty()) return;
  graph.blocks[static_cast<std::size_t>(connection.sender)].sends_to = connection.receiver;
  graph.blocks[static_cast<std::size_t>(connection.receiver)].receives_from = connection.sender;
}

void number_steps(const Program& program, StepGraph& graph, Connections& connections,
                  const std::function<Pair(Pair)>& seen) {
  const auto connection = [&](std::int32_t from, std::int32_t to,
                              std::int32_t channel) -> Connection& {
    const Pair pair = seen ? seen({from, to}) : Pair(from, to);
    return connections[{pair.first, pair.second, channel}];
  };
  for (const Gpu& gpu : program.gpus) {
    for (const Threadblock& tb : gpu.threadblocks) {
      const auto number = static_cast<std::int32_t>(graph.blocks.size());
      StepGraph::Block block;
      block.rank = gpu.id;
      block.id = tb.id;
      block.line = tb.line;
      block.begin = static_cast<std::int32_t>(graph.steps.size());
      block.end = block.begin + static_cast<std::int32_t>(tb.steps.size());
      graph.blocks.push_back(block);
      for (const Step& step : tb.steps) {
        StepGraph::Node node;
        node.step = &step;
        node.threadblock = number;
        graph.steps.push_back(node);
      }
      if (tb.send_peer >= 0) {
        connection(gpu.id, tb.send_peer, tb.channel).sender = number;
      }
      if (tb.recv_peer >= 0) {
        connection(tb.recv_peer, gpu.id, tb.channel).receiver = number;
      }
    }
  }
}

void link_dependencies(const Program& program, StepGraph& graph) {
  std::size_t first_block = 0;
  std::size_t at = 0;
  for (const Gpu& gpu : program.gpus) {
    for (const Threadblock& tb : gpu.threadblocks) {
      for (const Step& step : tb.steps) {
        if (step.depends_threadblock >= 0) {
          const std::size_t on = first_block + static_cast<std::size_t>(step.depends_threadblock);
          graph.steps[at].depends_on = graph.blocks[on].begin + step.depends_step;
        }
        ++at;
      }
    }
    first_block += gpu.threadblocks.size();
  }
}

}  // namespace

StepGraph build_step_graph(const Program& program, Findings& findings,
                           const std::function<Pair(Pair)>& seen) {
  StepGraph graph;
  Connections connections;
  number_steps(program, graph, connections, seen);
  link_dependencies(program, graph);
  for (const auto& [key, connection] : connections) match(graph, key, connection, findings);
  return graph;
}

}  // namespace forestcoll::audit
