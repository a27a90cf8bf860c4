// All nodes are events but those that only access memory, which begin after a point in step, and
// gates. Each chain is a line, each other node has one of its own. An access is over once one of
// its releases has happened: the next point at which its threadblock is in step, or, for what a
// port channel carries, the next signal or flush.
//
// Relaxed signals and packets order execution alone: a thread has the values of its loads before it
// takes another step that others can see, but what it writes may still be under way to the memory
// of another rank.
#include <algorithm>
#include <utility>
#include <vector>

#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {
namespace {

using Carries = PlanGraph::Carries;
using Kind = PlanGraph::Kind;

bool is_event(const PlanGraph::Node& node) {
  return node.column >= 0 || (node.kind != Kind::data && node.kind != Kind::gate);
}

// Of each node the number of its event; −1: it is none.
using EventNumbers = std::vector<std::int32_t>;

// Events of a line have consecutive numbers, and stand on it in the order of their positions.
EventNumbers number_events(const PlanGraph& graph, EventOrder& events) {
  EventNumbers numbers(graph.nodes.size(), -1);
  std::vector<std::int32_t>& begin = events.line_begin;
  begin.assign(static_cast<std::size_t>(graph.columns) + 1, 0);
  for (const PlanGraph::Node& node : graph.nodes) {
    if (node.column >= 0) ++begin[static_cast<std::size_t>(node.column) + 1];
  }
  for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
  events.line.resize(static_cast<std::size_t>(begin.back()));
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const PlanGraph::Node& node = graph.nodes[n];
    if (node.column >= 0) {
      numbers[n] = begin[static_cast<std::size_t>(node.column)] + node.position;
      events.line[static_cast<std::size_t>(numbers[n])] = node.column;
    } else if (is_event(node)) {
      numbers[n] = begin.back();
      events.line.push_back(static_cast<std::int32_t>(begin.size()) - 1);
      begin.push_back(numbers[n] + 1);
    }
  }
  return numbers;
}

void order_in_time(const EventNumbers& numbers, std::span<const std::int32_t> order,
                   EventOrder& events) {
  events.time.resize(events.line.size());
  std::int32_t time = 0;
  for (const std::int32_t node : order) {
    const std::int32_t event = numbers[static_cast<std::size_t>(node)];
    if (event >= 0) events.time[static_cast<std::size_t>(event)] = time++;
  }
}

Lists<EventOrder::Wait> waits(const PlanGraph& graph, const EventNumbers& numbers,
                              const EventOrder& events, bool in_time) {
  return Lists<EventOrder::Wait>(events.line.size(), [&](auto&& add) {
    for (const auto& [from, to] : graph.edges) {
      const std::int32_t before = numbers[static_cast<std::size_t>(from)];
      const std::int32_t event = numbers[static_cast<std::size_t>(to)];
      if (before < 0 || event < 0 || events.line_of(before) == events.line_of(event)) continue;
      const Carries carries = graph.carries(from, to);
      if (carries == Carries::everything || (in_time && carries == Carries::beginnings)) {
        const bool is_on_chain = graph.nodes[static_cast<std::size_t>(from)].column >= 0;
        add(static_cast<std::size_t>(event), {before, is_on_chain ? events.line_of(before) : -1});
      }
    }
  });
}

Span span_of(const PlanGraph& graph, const EventNumbers& numbers, std::int32_t node) {
  const auto event = [&](std::int32_t n) { return numbers[static_cast<std::size_t>(n)]; };
  const Kind kind = graph.nodes[static_cast<std::size_t>(node)].kind;
  if (kind == Kind::start) return {event(node), {event(node), -1}};
  Span span;
  span.begins = event(node) >= 0 ? event(node) : event(graph.predecessors(node).front());
  const auto& releases = graph.released_by[static_cast<std::size_t>(node)];
  for (std::size_t i = 0; i < releases.size(); ++i) {
    if (releases[i] >= 0) span.over[i] = event(releases[i]);
  }
  return span;
}

bool has_relaxed_edges(const PlanGraph& graph) {
  return std::ranges::any_of(graph.edges, [&](const auto& edge) {
    return graph.carries(edge.first, edge.second) == Carries::beginnings;
  });
}

}  // namespace

Execution plan_execution(const PlanFile& plan, const PlanGraph& graph,
                         std::span<const std::int32_t> order) {
  Execution execution;
  EventNumbers numbers = number_events(graph, execution.events);
  order_in_time(numbers, order, execution.events);
  if (has_relaxed_edges(graph)) {
    execution.relaxed = execution.events;
    execution.relaxed->waits = waits(graph, numbers, execution.events, true);
  }
  execution.events.waits = waits(graph, numbers, execution.events, false);
  execution.count = static_cast<std::int32_t>(graph.nodes.size());
  for (const std::int32_t n : order) {
    if (graph.moves_data(n)) execution.operations.push_back(n);
  }
  execution.access = [&](std::int32_t n, Access& into) { find_access(plan, graph, n, into); };
  execution.span = [&graph, numbers = std::move(numbers)](std::int32_t n) {
    return span_of(graph, numbers, n);
  };
  return execution;
}

}  // namespace forestcoll::audit
