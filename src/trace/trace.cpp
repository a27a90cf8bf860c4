// One list of operations for each rank, in an order in which the program ends.
#include "forestcoll/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "audit/common/findings.hpp"
#include "audit/common/line_index.hpp"
#include "audit/msccl/checks.hpp"
#include "audit/msccl/step_graph.hpp"
#include "audit/msccl/target_rules.hpp"
#include "audit/msccl/xml_reader.hpp"
#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/verify.hpp"
#include "simulate/fabric/graph_maker.hpp"

namespace forestcoll {
namespace {

using audit::StepGraph;

// How a buffer goes over a program.
struct Passes {
  std::int64_t chunk_bytes = 0;
  std::int64_t count = 1;
  std::int32_t split = 1;  // chunks of a message at most
  std::int64_t slots = 1;

  // Bytes of a chunk in one pass: they differ by one at most.
  [[nodiscard]] std::int64_t bytes(std::int64_t pass) const {
    const std::int64_t rest = chunk_bytes % count;
    return chunk_bytes / count + (pass < rest ? 1 : 0);
  }
};

Passes cut_into_passes(const audit::Program& program, std::int64_t bytes) {
  const SimulationParameters runtime;  // the protocols' buffers, as the runtimes have them
  const ProtocolParameters& protocol = runtime.of_protocol(program.protocol);
  Passes passes;
  passes.chunk_bytes = bytes / program.chunks;
  passes.slots = protocol.slots;
  passes.count = simulate::passes_for(static_cast<double>(passes.chunk_bytes), protocol.pass_bytes);
  const auto fit =
      static_cast<std::int64_t>(protocol.pass_bytes) / std::max<std::int64_t>(1, passes.bytes(0));
  passes.split = static_cast<std::int32_t>(std::clamp<std::int64_t>(fit, 1, audit::kMaxCount));
  return passes;
}

bool is_message(const StepGraph::Node& node) {
  return node.message_from >= 0 || node.message_to >= 0;
}

// Messages that a step is cut into; 1 of one that has none.
std::int64_t parts_of(const StepGraph::Node& node, const Passes& passes) {
  if (!is_message(node)) return 1;
  return std::max(1, (node.step->count + passes.split - 1) / passes.split);
}

std::int64_t count_operations(const StepGraph& graph, const Passes& passes) {
  std::int64_t of_a_pass = 0;
  for (const StepGraph::Node& node : graph.steps) {
    const int kinds = node.message_from >= 0 && node.message_to >= 0 ? 2 : 1;
    of_a_pass += kinds * parts_of(node, passes);
  }
  if (of_a_pass > kMaxTraceOperations) return of_a_pass;  // the product would not tell more
  return std::min(passes.count, kMaxTraceOperations + 1) * of_a_pass;
}

class TraceMaker {
 public:
  TraceMaker(const audit::Program& program, const StepGraph& graph, const Passes& passes)
      : graph_(graph),
        passes_(passes),
        ranks_(program.gpus.size()),
        last_of_block_(graph.blocks.size(), -1),
        last_of_step_(graph.steps.size(), -1) {
    for (const audit::Gpu& gpu : program.gpus) {
      for (const audit::Threadblock& block : gpu.threadblocks) channel_.push_back(block.channel);
    }
  }

  // `order`: of the steps, as they can end.
  std::vector<std::vector<TraceOperation>> make(const std::vector<std::int32_t>& order) {
    for (std::int64_t pass = 0; pass < passes_.count; ++pass) {
      for (const std::int32_t step : order) add_step(step, passes_.bytes(pass));
    }
    return std::move(ranks_);
  }

 private:
  // A step that hands on receives a part, then sends it, then goes on to the next.
  void add_step(std::int32_t s, std::int64_t chunk_bytes) {
    const StepGraph::Node& node = graph_.node(s);
    std::int64_t flag = node.depends_on < 0 ? -1 : last_of_step(node.depends_on);
    if (!is_message(node)) add(s, {.kind = TraceOperation::Kind::local}, flag);
    std::int64_t left = is_message(node) ? node.step->count : 0;
    for (; left > 0; left -= passes_.split, flag = -1) {
      const std::int64_t bytes = std::min<std::int64_t>(left, passes_.split) * chunk_bytes;
      if (node.message_from >= 0) add_message(s, TraceOperation::Kind::receive, bytes, flag);
      if (node.message_to >= 0) add_message(s, TraceOperation::Kind::send, bytes, flag);
    }
  }

  void add_message(std::int32_t s, TraceOperation::Kind kind, std::int64_t bytes,
                   std::int64_t flag) {
    const StepGraph::Block& block = graph_.block_of(s);
    const bool sends = kind == TraceOperation::Kind::send;
    const std::int32_t other = sends ? block.sends_to : block.receives_from;
    add(s,
        {.kind = kind,
         .peer = graph_.blocks[static_cast<std::size_t>(other)].rank,
         .tag = channel_[static_cast<std::size_t>(graph_.node(s).threadblock)],
         .bytes = bytes},
        flag);
  }

  void add(std::int32_t s, TraceOperation operation, std::int64_t flag) {
    const StepGraph::Block& block = graph_.block_of(s);
    auto& operations = ranks_[static_cast<std::size_t>(block.rank)];
    std::int64_t& before = last_of_block_[static_cast<std::size_t>(graph_.node(s).threadblock)];
    operation.threadblock = block.id;
    operation.after = {before, flag == before ? -1 : flag};
    before = last_of_step_[static_cast<std::size_t>(s)] = std::ssize(operations);
    operations.push_back(operation);
  }

  [[nodiscard]] std::int64_t last_of_step(std::int32_t step) const {
    return last_of_step_[static_cast<std::size_t>(step)];
  }

  const StepGraph& graph_;
  const Passes& passes_;
  std::vector<std::vector<TraceOperation>> ranks_;
  std::vector<std::int32_t> channel_;  // by threadblock
  std::vector<std::int64_t> last_of_block_, last_of_step_;
};

}  // namespace

Expected<Trace> make_trace(std::string_view xml, std::string_view file, std::string_view target,
                           std::int64_t bytes) {
  const audit::TargetRules& rules = *audit::find_target_rules(target);
  audit::Findings findings(file);
  auto program = audit::read_msccl_xml(xml, file, audit::LineIndex(xml), rules, findings);
  if (!program) return program.errors();
  audit::check_structure(*program, rules, VerifyOptions{}.sms, findings);
  FORESTCOLL_CHECK(!findings.blocked(), "traces are made of verified schedules");
  if (bytes < program->chunks) {
    return make_error(Code::M01, fmt::format("{} bytes for {} chunks", bytes, program->chunks),
                      "name a larger size, or a smaller `k`", {.file = std::string(file)});
  }
  const StepGraph graph = audit::build_step_graph(*program, findings);
  const Passes passes = cut_into_passes(*program, bytes);
  if (count_operations(graph, passes) > kMaxTraceOperations) {
    return make_error(
        Code::M06,
        fmt::format("more than {} messages of {} bytes in all", kMaxTraceOperations, bytes),
        "name a smaller size, or a smaller `k`", {.file = std::string(file)});
  }
  std::vector<std::int32_t> order;
  if (audit::find_deadlock(graph, passes.split, passes.slots, &order)) {
    return make_error(Code::M05, fmt::format("gets stuck at {} bytes", bytes),
                      "name a smaller size", {.file = std::string(file)});
  }
  return Trace{std::string(to_string(program->pattern)), passes.chunk_bytes * program->chunks,
               TraceMaker(*program, graph, passes).make(order)};
}

}  // namespace forestcoll
