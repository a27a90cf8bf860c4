// Each operation takes what it receives and what it reads, adds it up, and stores or sends the
// result.
#include "audit/execution/interpret.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace forestcoll::audit {
namespace {

class Interpreter {
 public:
  Interpreter(const Program& program, const Execution& execution, const MemoryMap& memory,
              const SymbolicMemory::PlaceOf& place_of, Findings& findings)
      : execution_(execution),
        memory_(program, memory, place_of, findings),
        messages_(static_cast<std::size_t>(execution.count)) {}

  Results run() {
    for (const std::int32_t operation : execution_.operations) perform(operation);
    return memory_.check_results();
  }

 private:
  void perform(std::int32_t operation) {
    execution_.access(operation, access_);
    memory_.begin(operation, access_.rank);
    std::vector<Content> incoming, outgoing;
    if (access_.sender >= 0) incoming.swap(messages_[static_cast<std::size_t>(access_.sender)]);
    for (std::int64_t strand = 0; strand < access_.count; ++strand) {
      if (access_.pairwise) {
        move(strand);
        continue;
      }
      const Content value =
          add(strand, incoming.empty() ? nullptr : &incoming[static_cast<std::size_t>(strand)]);
      for (const Operand& part : access_.writes) memory_.write(at(part, strand), value);
      if (access_.sends) outgoing.push_back(value);
    }
    if (access_.sends) messages_[static_cast<std::size_t>(operation)] = std::move(outgoing);
  }

  static ChunkRef at(ChunkRef chunk, std::int64_t strand) {
    chunk.offset += strand;
    return chunk;
  }

  void move(std::int64_t strand) {
    for (std::size_t i = 0; i < access_.writes.size(); ++i) {
      memory_.write(at(access_.writes[i], strand), memory_.read(at(access_.reads[i], strand)));
    }
  }

  Content add(std::int64_t strand, const Content* received) {
    std::optional<Content> sum;
    if (received != nullptr) sum = *received;
    const auto add_part = [&](const Operand& part) {
      const Content operand = memory_.read(at(part, strand));
      const Operand& into = access_.writes.empty() ? part : access_.writes.front();
      sum = sum ? memory_.add(*sum, operand, at(into, strand)) : operand;
    };
    for (const Operand& part : access_.reads) add_part(part);
    if (access_.adds_to_result) add_part(access_.writes.front());
    return *sum;
  }

  const Execution& execution_;
  SymbolicMemory memory_;
  std::vector<std::vector<Content>> messages_;
  Access access_;  // of the operation at hand
};

}  // namespace

Results interpret(const Program& program, const Execution& execution, const MemoryMap& memory,
                  const SymbolicMemory::PlaceOf& place_of, Findings& findings) {
  return Interpreter(program, execution, memory, place_of, findings).run();
}

}  // namespace forestcoll::audit
