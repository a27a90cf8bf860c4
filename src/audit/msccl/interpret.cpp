// The messages of a program over symbolic memory: each step takes what it receives and what it
// reads, adds the two where its type says so, and stores or sends the result.
#include "audit/msccl/interpret.hpp"

#include <utility>
#include <vector>

#include "audit/common/symbolic_memory.hpp"

namespace forestcoll::audit {
namespace {

class Interpreter {
 public:
  Interpreter(const Program& program, const StepGraph& graph, const MemoryMap& memory,
              Findings& findings)
      : graph_(graph),
        memory_(
            program, memory, [&graph](std::int32_t step) { return graph.place(step); }, findings),
        messages_(graph.steps.size()) {}

  Results run(std::span<const std::int32_t> order) {
    for (const std::int32_t step : order) perform(step);
    return memory_.check_results();
  }

 private:
  void perform(std::int32_t number) {
    const StepGraph::Node& node = graph_.node(number);
    const Operation& operation = *node.step->operation;
    if (operation.is_nop()) return;
    memory_.begin(number, rank(number));
    std::vector<Content> incoming;
    if (operation.receives) {
      incoming.swap(messages_[static_cast<std::size_t>(node.message_from)]);
    }
    std::vector<Content> outgoing;
    for (std::int32_t strand = 0; strand < node.step->count; ++strand) {
      const Content value =
          compute(number, strand,
                  operation.receives ? &incoming[static_cast<std::size_t>(strand)] : nullptr);
      if (operation.writes) memory_.write(destination(number, strand), value);
      if (operation.sends) outgoing.push_back(value);
    }
    if (operation.sends) messages_[static_cast<std::size_t>(number)] = std::move(outgoing);
  }

  Content compute(std::int32_t number, std::int32_t strand, const Content* received) {
    const Operation& operation = *graph_.node(number).step->operation;
    const ChunkRef into = operation.writes ? destination(number, strand) : source(number, strand);
    std::optional<Content> value;
    if (received != nullptr) value = *received;
    if (operation.reads_source) {
      const Content operand = memory_.read(source(number, strand));
      value = value ? memory_.add(*value, operand, into) : operand;
    }
    if (operation.reads_destination) {
      const Content operand = memory_.read(destination(number, strand));
      value = memory_.add(*value, operand, into);
    }
    return *value;
  }

  [[nodiscard]] std::int32_t rank(std::int32_t number) const {
    return graph_.block_of(number).rank;
  }
  [[nodiscard]] ChunkRef source(std::int32_t number, std::int32_t strand) const {
    const Step& step = *graph_.node(number).step;
    return {rank(number), step.source, step.source_offset + strand};
  }
  [[nodiscard]] ChunkRef destination(std::int32_t number, std::int32_t strand) const {
    const Step& step = *graph_.node(number).step;
    return {rank(number), step.destination, step.destination_offset + strand};
  }

  const StepGraph& graph_;
  SymbolicMemory memory_;
  std::vector<std::vector<Content>> messages_;
};

}  // namespace

Results interpret(const Program& program, const StepGraph& graph, const MemoryMap& memory,
                  std::span<const std::int32_t> order, Findings& findings) {
  return Interpreter(program, graph, memory, findings).run(order);
}

}  // namespace forestcoll::audit
