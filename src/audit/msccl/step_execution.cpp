// The order is weakest where every chunk is an operation of its own (m = 1), so that is where it is
// checked. Call a step's j-th chunk its strand j. Strand j of a receive comes after strand j of its
// send, but other strands of the two are not ordered by that message alone. Program order and flags
// order whole steps. So A happens before B in one of two ways:
// - along a path with some program-order or flag edge: then all strands of A come before all of B;
// - along a chain of messages only (A sends to a step that forwards … to B): then strand a of A
//   comes before strand b of B exactly if a ≤ b. Every step receives one message and sends one, so
//   chains are disjoint lists.
// For the first, a step has two events: all of it comes after its beginning, and is over by its
// end. A message leads from beginning to beginning and from end to end; program order and flags
// lead from an end to a beginning. That a later message may reuse a slot of the connection orders
// nothing and is left out.
#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {
namespace {

std::int32_t beginning(std::int32_t step) {
  return 2 * step;
}
std::int32_t end(std::int32_t step) {
  return 2 * step + 1;
}

void find_access(const StepGraph& graph, std::int32_t number, Access& into) {
  const StepGraph::Node& node = graph.node(number);
  const Step& step = *node.step;
  const std::int32_t rank = graph.block_of(number).rank;
  into.rank = rank;
  into.count = step.count;
  into.adds_to_result = step.operation->reads_destination;
  into.sends = step.operation->sends;
  into.sender = node.message_from;
  into.reads.clear();
  into.writes.clear();
  if (step.operation->reads_source) into.reads.push_back({{rank, step.source, step.source_offset}});
  if (step.operation->writes) {
    into.writes.push_back({{rank, step.destination, step.destination_offset}});
  }
}

std::vector<std::int32_t> chains(const StepGraph& graph, std::span<const std::int32_t> order) {
  std::vector<std::int32_t> chain(graph.steps.size(), -1);
  for (const std::int32_t step : order) {
    const std::int32_t from = graph.node(step).message_from;
    chain[static_cast<std::size_t>(step)] = from < 0 ? step : chain[static_cast<std::size_t>(from)];
  }
  return chain;
}

// Two events of each step, its beginning and its end; a line for each threadblock.
EventOrder step_events(const StepGraph& graph, std::span<const std::int32_t> order) {
  const std::size_t steps = graph.steps.size();
  EventOrder events;
  for (const StepGraph::Block& block : graph.blocks) {
    events.line_begin.push_back(beginning(block.begin));
  }
  events.line_begin.push_back(static_cast<std::int32_t>(2 * steps));
  events.time.resize(2 * steps);
  for (std::size_t i = 0; i < steps; ++i) {
    const auto first = static_cast<std::size_t>(beginning(order[i]));
    events.time[first] = static_cast<std::int32_t>(2 * i);
    events.time[first + 1] = static_cast<std::int32_t>(2 * i + 1);
  }
  events.line.reserve(2 * steps);
  events.sender.reserve(2 * steps);
  for (const StepGraph::Node& node : graph.steps) {
    events.line.insert(events.line.end(), 2, node.threadblock);
    const std::int32_t from = node.message_from;
    events.sender.push_back(from < 0 ? -1 : beginning(from));
    events.sender.push_back(from < 0 ? -1 : end(from));
  }
  events.waits = Lists<EventOrder::Wait>(2 * steps, [&](auto&& add) {
    for (std::size_t s = 0; s < steps; ++s) {
      const std::int32_t on = graph.steps[s].depends_on;
      if (on >= 0) add(2 * s, events.wait_for(end(on)));
    }
  });
  return events;
}

}  // namespace

Execution step_execution(const StepGraph& graph, std::span<const std::int32_t> order) {
  Execution execution;
  execution.events = step_events(graph, order);
  execution.count = static_cast<std::int32_t>(graph.steps.size());
  for (const std::int32_t step : order) {
    if (!graph.node(step).step->operation->is_nop()) execution.operations.push_back(step);
  }
  execution.access = [&graph](std::int32_t step, Access& into) { find_access(graph, step, into); };
  execution.span = [](std::int32_t step) { return Span{beginning(step), {end(step), -1}}; };
  execution.chain = chains(graph, order);
  return execution;
}

}  // namespace forestcoll::audit
