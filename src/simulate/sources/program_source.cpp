#include "simulate/sources/program_source.hpp"

#include <algorithm>
#include <utility>

#include "audit/msccl/target_rules.hpp"
#include "simulate/fabric/graph_maker.hpp"

namespace forestcoll::simulate {

using audit::Findings;
using audit::kMaxCount;
using audit::Operation;
using audit::Program;
using audit::StepGraph;

namespace {

class ProgramGraph {
 public:
  ProgramGraph(const StepGraph& steps, const std::vector<std::int32_t>& routes, GraphMaker& maker,
               double chunk_bytes)
      : steps_(steps),
        routes_(routes),
        maker_(maker),
        passes_(passes_for(chunk_bytes, maker.protocol().pass_bytes)),
        pass_bytes_(chunk_bytes / static_cast<double>(passes_)) {
    const double fit = maker.protocol().pass_bytes / pass_bytes_ + 1e-9;
    split_ = static_cast<std::int32_t>(std::clamp(fit, 1.0, static_cast<double>(kMaxCount)));
  }

  void build() {
    for (std::size_t s = 0; s < steps_.steps.size(); ++s) add_step(static_cast<std::int32_t>(s));
    first_.push_back(static_cast<std::int32_t>(maker_.graph.activities.size()));
    for (std::size_t b = 0; b < steps_.blocks.size(); ++b) add_program_order(steps_.blocks[b]);
    for (std::size_t s = 0; s < steps_.steps.size(); ++s) add_waits(static_cast<std::int32_t>(s));
    for (std::size_t b = 0; b < steps_.blocks.size(); ++b) add_room(static_cast<std::int32_t>(b));
  }

 private:
  [[nodiscard]] std::int32_t first(std::int32_t step) const {
    return first_[static_cast<std::size_t>(step)];
  }
  [[nodiscard]] std::int32_t last(std::int32_t step) const { return first(step + 1) - 1; }

  void add_step(std::int32_t s) {
    first_.push_back(static_cast<std::int32_t>(maker_.graph.activities.size()));
    const StepGraph::Node& node = steps_.node(s);
    const bool message = node.message_from >= 0 || node.message_to >= 0;
    const std::int32_t most = message ? split_ : node.step->count;
    std::int32_t left = node.step->count;
    do {
      const std::int32_t chunks = std::min(left, most);
      maker_.graph.add(operation(s, chunks * pass_bytes_));
      left -= chunks;
    } while (left > 0);
  }

  [[nodiscard]] Activity operation(std::int32_t s, double bytes) {
    const StepGraph::Node& node = steps_.node(s);
    const Operation& operation = *node.step->operation;
    Activity activity;
    activity.repeats = passes_;
    if (operation.is_nop()) return activity;
    if (node.message_to < 0) {
      activity.seconds =
          maker_.step() + (operation.reduces ? maker_.adding(bytes) : maker_.copying(bytes));
      return activity;
    }
    const double most = operation.reduces ? maker_.adding_gbs() : maker_.protocol().threadblock_gbs;
    activity.seconds = maker_.step();
    activity.kind = maker_.kind(routes_[static_cast<std::size_t>(node.threadblock)], most);
    activity.bytes = maker_.on_links(bytes);
    return activity;
  }

  // One operation after the other, and the next pass after the last.
  void add_program_order(const StepGraph::Block& block) {
    if (block.begin == block.end) return;
    const std::int32_t begin = first(block.begin), end = last(block.end - 1);
    for (std::int32_t a = begin; a < end; ++a) maker_.graph.wait(a, a + 1);
    if (begin < end) maker_.graph.wait(end, begin, 1);
  }

  void add_waits(std::int32_t s) {
    const StepGraph::Node& node = steps_.node(s);
    if (node.depends_on >= 0) maker_.graph.wait(last(node.depends_on), first(s));
    if (node.message_to < 0) return;
    const double delay = maker_.delay(routes_[static_cast<std::size_t>(node.threadblock)]);
    for (std::int32_t a = first(s); a <= last(s); ++a) {
      maker_.graph.wait(a, first(node.message_to) + (a - first(s)), 0, delay);
    }
  }

  // Operation i of a connection begins once operation i − slots has been received.
  void add_room(std::int32_t block) {
    const StepGraph::Block& sender = steps_.blocks[static_cast<std::size_t>(block)];
    std::vector<std::pair<std::int32_t, std::int32_t>> messages;
    for (std::int32_t s = sender.begin; s < sender.end; ++s) {
      const std::int32_t to = steps_.node(s).message_to;
      if (to < 0) continue;
      for (std::int32_t a = first(s); a <= last(s); ++a) {
        messages.emplace_back(a, first(to) + (a - first(s)));
      }
    }
    const auto slots = static_cast<std::size_t>(maker_.protocol().slots);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::size_t later = i + slots;
      maker_.graph.wait(messages[i].second, messages[later % messages.size()].first,
                        static_cast<std::int64_t>(later / messages.size()));
    }
  }

  const StepGraph& steps_;
  const std::vector<std::int32_t>& routes_;
  GraphMaker& maker_;
  std::int64_t passes_;
  double pass_bytes_;                // of a chunk in a pass
  std::int32_t split_ = 1;           // chunks of an operation
  std::vector<std::int32_t> first_;  // activity of every step
};

}  // namespace

ProgramSource::ProgramSource(Program program, Fabric& fabric, Findings& findings)
    : program_(std::move(program)), graph_(build_step_graph(program_, findings)) {
  for (const StepGraph::Block& block : graph_.blocks) {
    route_.push_back(-1);
    if (block.sends_to < 0) continue;
    const StepGraph::Block& other = graph_.blocks[static_cast<std::size_t>(block.sends_to)];
    route_.back() = fabric.between(Rank(block.rank), Rank(other.rank), findings);
  }
}

double ProgramSource::full_pass(const SimulationParameters& parameters) const {
  const SimulationParameters as_set = with_buffers(parameters, program_.buffer_bytes);
  return protocol_of(as_set, program_.protocol).pass_bytes * static_cast<double>(program_.chunks);
}

EventGraph ProgramSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                               double bytes) const {
  const SimulationParameters as_set = with_buffers(parameters, program_.buffer_bytes);
  GraphMaker maker(fabric, as_set, protocol_of(as_set, program_.protocol));
  ProgramGraph(graph_, route_, maker, bytes / static_cast<double>(program_.chunks)).build();
  return std::move(maker.graph);
}

}  // namespace forestcoll::simulate
