#include "simulate/sources/program_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "audit/common/program.hpp"
#include "audit/msccl/target_rules.hpp"

namespace forestcoll::simulate {
namespace {

using audit::kMaxCount;
using audit::Operation;
using audit::StepGraph;

// Of one activity of the step.
std::int32_t most_chunks(const StepGraph::Node& node, const ChunkPasses& chunk) {
  const bool is_message = node.message_from >= 0 || node.message_to >= 0;
  return is_message ? chunk.split : node.step->count;
}

class ProgramGraph {
 public:
  ProgramGraph(const StepGraph& steps, std::span<const std::int32_t> routes,
               const FlowClasses& classes, GraphMaker maker, double chunk_bytes)
      : steps_(steps),
        routes_(routes),
        classes_(classes),
        maker_(std::move(maker)),
        chunk_(passes_of_chunk(maker_.protocol(), chunk_bytes)) {}

  EventGraph build() {
    for (const std::int32_t b : classes_.first) add_steps(block(b));
    for (const std::int32_t b : classes_.first) {
      add_program_order(block(b));
      for (std::int32_t s = block(b).begin; s < block(b).end; ++s) add_waits(s);
      add_room(block(b));
    }
    return std::move(maker_.graph);
  }

 private:
  [[nodiscard]] const StepGraph::Block& block(std::int32_t b) const {
    return steps_.blocks[index(b)];
  }
  // Of the step of its class that is simulated.
  [[nodiscard]] std::int32_t first(std::int32_t step) const { return begin_[position(step)]; }
  [[nodiscard]] std::int32_t last(std::int32_t step) const {
    return begin_[position(step) + 1] - 1;
  }
  [[nodiscard]] std::size_t position(std::int32_t step) const {
    const std::int32_t of = classes_.of_sender[index(steps_.node(step).threadblock)];
    return begin_of_class_[index(of)] + index(steps_.index(step));
  }
  [[nodiscard]] std::int32_t next_activity() const {
    return static_cast<std::int32_t>(maker_.graph.activities.size());
  }

  void add_steps(const StepGraph::Block& block) {
    begin_of_class_.push_back(begin_.size());
    for (std::int32_t s = block.begin; s < block.end; ++s) {
      begin_.push_back(next_activity());
      add_step(s);
    }
    begin_.push_back(next_activity());
  }

  void add_step(std::int32_t s) {
    const StepGraph::Node& node = steps_.node(s);
    const std::int32_t most = most_chunks(node, chunk_);
    std::int32_t left = node.step->count;
    do {
      const std::int32_t chunks = std::min(left, most);
      maker_.graph.add(operation(node, chunks * chunk_.bytes));
      left -= chunks;
    } while (left > 0);
  }

  [[nodiscard]] Activity operation(const StepGraph::Node& node, double bytes) {
    const Operation& operation = *node.step->operation;
    Activity activity;
    activity.repeats = chunk_.passes;
    if (operation.is_nop()) return activity;
    if (node.message_to < 0) {
      activity.seconds =
          maker_.step() + (operation.reduces ? maker_.adding(bytes) : maker_.copying(bytes));
      return activity;
    }
    const double most = operation.reduces ? maker_.adding_gbs() : maker_.protocol().threadblock_gbs;
    activity.seconds = maker_.step();
    activity.kind = kind(node.threadblock, most);
    activity.bytes = maker_.on_links(bytes);
    return activity;
  }

  // Of what all threadblocks of the class send at once, each at most `gbs`.
  std::int32_t kind(std::int32_t b, double gbs) {
    const std::int32_t route = classes_.route[index(classes_.of_sender[index(b)])];
    const double most = maker_.most_on_links(routes_[index(b)], gbs);
    const auto next = static_cast<std::int32_t>(maker_.graph.kinds.size());
    const auto [at, is_new] = kinds_.emplace(std::pair(route, most), next);
    if (is_new) maker_.graph.kinds.push_back({classes_.routes[index(route)], most});
    return at->second;
  }

  // One operation after the other, and the next pass after the last.
  void add_program_order(const StepGraph::Block& block) {
    if (block.begin == block.end) return;
    const std::int32_t begin = first(block.begin), end = last(block.end - 1);
    for (std::int32_t a = begin; a < end; ++a) maker_.graph.wait(a, a + 1);
    if (begin < end) maker_.graph.wait(end, begin, 1);
  }

  // Of a step, for a flag and for messages.
  void add_waits(std::int32_t s) {
    const StepGraph::Node& node = steps_.node(s);
    if (node.depends_on >= 0) maker_.graph.wait(last(node.depends_on), first(s));
    if (node.message_from < 0) return;
    const std::int32_t sender = steps_.node(node.message_from).threadblock;
    const double delay = maker_.delay(routes_[index(sender)]);
    for (std::int32_t a = first(s); a <= last(s); ++a) {
      maker_.graph.wait(first(node.message_from) + (a - first(s)), a, 0, delay);
    }
  }

  // Operation i of a connection begins once operation i − slots has been received.
  void add_room(const StepGraph::Block& sender) {
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
  std::span<const std::int32_t> routes_;
  const FlowClasses& classes_;
  GraphMaker maker_;
  ChunkPasses chunk_;
  std::vector<std::size_t> begin_of_class_;
  std::vector<std::int32_t> begin_;  // activity of every step of a class, and that after the last
  std::map<std::pair<std::int32_t, double>, std::int32_t> kinds_;  // by route, and what it takes
};

}  // namespace

ChunkPasses passes_of_chunk(const ProtocolParameters& protocol, double chunk_bytes) {
  ChunkPasses chunk;
  chunk.passes = passes_for(chunk_bytes, protocol.pass_bytes);
  chunk.bytes = chunk_bytes / static_cast<double>(chunk.passes);
  const double fit = protocol.pass_bytes / chunk.bytes + 1e-9;
  chunk.split = static_cast<std::int32_t>(std::clamp(fit, 1.0, static_cast<double>(kMaxCount)));
  return chunk;
}

double activity_count(const StepGraph& steps, const FlowClasses& classes,
                      const ChunkPasses& chunk) {
  std::int64_t count = 0;
  for (const std::int32_t b : classes.first) {
    const StepGraph::Block& block = steps.blocks[index(b)];
    for (std::int32_t s = block.begin; s < block.end; ++s) {
      const StepGraph::Node& node = steps.node(s);
      const std::int32_t chunks = node.step->count;
      count += chunks > 0 ? (chunks - 1) / most_chunks(node, chunk) + 1 : 1;
    }
  }
  return static_cast<double>(count) * static_cast<double>(chunk.passes);
}

ClassGraph program_graph(const StepGraph& steps, std::span<const std::int32_t> routes,
                         const FlowClasses& classes, GraphMaker maker, double chunk_bytes) {
  EventGraph graph = ProgramGraph(steps, routes, classes, std::move(maker), chunk_bytes).build();
  return {std::move(graph), classes.capacity, classes.of_link, true};
}

}  // namespace forestcoll::simulate
