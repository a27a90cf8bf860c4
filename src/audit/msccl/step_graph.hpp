// A program as one graph: the steps of all ranks, and who waits for whom.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "audit/execution/execution.hpp"

namespace forestcoll::audit {

/// All steps of all threadblocks, numbered by rank, threadblock and position.
struct StepGraph {
  struct Node {
    const Step* step = nullptr;
    std::int32_t threadblock = -1;   ///< of all ranks, numbered through
    std::int32_t depends_on = -1;    ///< the step waited for by flag
    std::int32_t message_from = -1;  ///< the step that sends what this one receives
    std::int32_t message_to = -1;    ///< the step that receives what this one sends
  };
  struct Block {
    std::int32_t rank = 0;
    std::int32_t id = 0;              ///< within the rank
    std::int32_t begin = 0, end = 0;  ///< its steps
    std::int32_t line = 0;
    std::int32_t sends_to = -1;  ///< the threadblock at the other end
    std::int32_t receives_from = -1;
  };
  std::vector<Node> steps;
  std::vector<Block> blocks;

  [[nodiscard]] const Block& block_of(std::int32_t step) const {
    return blocks[static_cast<std::size_t>(node(step).threadblock)];
  }
  [[nodiscard]] const Node& node(std::int32_t step) const {
    return steps[static_cast<std::size_t>(step)];
  }
  /// Position within its threadblock.
  [[nodiscard]] std::int32_t index(std::int32_t step) const { return step - block_of(step).begin; }
  [[nodiscard]] Place place(std::int32_t step) const {
    const Block& block = block_of(step);
    return {block.rank, block.id, index(step), node(step).step->line, {}};
  }
  /// Its place without the line, to name it within a sentence.
  [[nodiscard]] std::string name(std::int32_t step) const {
    Place at = place(step);
    at.line = 0;
    return to_string(at);
  }
};

/// Numbers the steps and matches the i-th send of every connection with its i-th receive. A
/// message or connection without its other end, or a message of another size there, is a finding.
/// `seen`: where programs of some ranks stand for all, the connection of one of these senders that
/// a connection (sender, receiver) is an image of. REQUIRES: check_structure found nothing that
/// blocks; `program` outlives the result. Cost: O(steps + threadblocks log threadblocks).
using Pair = std::pair<std::int32_t, std::int32_t>;
[[nodiscard]] StepGraph build_step_graph(const Program& program, Findings& findings,
                                         const std::function<Pair(Pair)>& seen = {});

/// Threadblocks that wait for one another: `cycle[i]` waits for `cycle[i + 1]`, the last for the
/// first, each at its step.
struct Deadlock {
  struct Wait {
    std::int32_t step = -1;
    enum class For { dependency, message, room } cause = For::dependency;
  };
  std::vector<Wait> cycle;
};

/// Runs the program once, with messages split into operations of at most `chunks_per_operation`
/// and at most `depth` operations of a connection in flight. As every wait is for progress that is
/// never taken back, the order of running does not matter: either all of it ends, or all of it is
/// stuck at one and the same place.
/// `order`, if asked for, receives the steps as they end: a linear order of happens-before.
/// Cost: O(operations + wake-ups).
[[nodiscard]] std::optional<Deadlock> find_deadlock(const StepGraph& graph,
                                                    std::int32_t chunks_per_operation,
                                                    std::int64_t depth,
                                                    std::vector<std::int32_t>* order = nullptr);

/// What the steps do, and between which events: operations have the numbers of the steps. `order`
/// is a linear order of all steps; the graph outlives the result. Cost: O(steps).
[[nodiscard]] Execution step_execution(const StepGraph& graph, std::span<const std::int32_t> order);

}  // namespace forestcoll::audit
