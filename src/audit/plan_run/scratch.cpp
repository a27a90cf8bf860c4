#include "audit/plan_run/scratch.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "audit/plan_run/races.hpp"

namespace forestcoll::audit {
namespace {

class DoubleScratch {
 public:
  DoubleScratch(const PlanFile& plan, const PlanGraph& graph, const MemoryMap& memory,
                Findings& findings)
      : plan_(plan),
        graph_(graph),
        memory_(memory),
        findings_(findings),
        last_write_(memory.total()) {}

  void run(const Execution& execution) {
    Access access;
    for (const std::int32_t n : execution.operations) {
      execution.access(n, access);
      reported_ = false;
      for (const Operand& chunk : access.reads) read(n, chunk, access.count);
      for (const Operand& chunk : access.writes) write(n, chunk, access.count);
    }
  }

 private:
  struct Write {
    std::int32_t node = -1;
    bool by_own_threads = false;
  };

  [[nodiscard]] bool by_own_threads(std::int32_t n, const Operand& chunk) const {
    const PlanGraph::Node& node = graph_.nodes[static_cast<std::size_t>(n)];
    return node.kind == PlanGraph::Kind::data && node.rank == chunk.rank && !chunk.switched;
  }
  [[nodiscard]] std::size_t first(const ChunkRef& chunk) const {
    return memory_.locate(chunk.rank, chunk.buffer, chunk.offset);
  }

  void read(std::int32_t n, const Operand& chunk, std::int64_t count) {
    if (chunk.buffer != Buffer::scratch || chunk.packets) return;
    const bool own = by_own_threads(n, chunk);
    for (std::int64_t strand = 0; strand < count && !reported_; ++strand) {
      const Write& last = last_write_[first(chunk) + static_cast<std::size_t>(strand)];
      if (last.node < 0 || last.by_own_threads == own) continue;
      report(n, chunk, strand, last);
    }
  }

  void write(std::int32_t n, const Operand& chunk, std::int64_t count) {
    if (chunk.buffer != Buffer::scratch || chunk.packets) return;
    const bool own = by_own_threads(n, chunk);
    for (std::int64_t strand = 0; strand < count; ++strand) {
      last_write_[first(chunk) + static_cast<std::size_t>(strand)] = {n, own};
    }
  }

  void report(std::int32_t n, const ChunkRef& chunk, std::int64_t strand, const Write& last) {
    reported_ = true;
    constexpr std::string_view kFirstHalf = "the first", kSecondHalf = "the second";
    findings_.add(
        Rule::undefined_read,
        place_of(graph_, memory_, n, {chunk.rank, chunk.buffer, chunk.offset + strand}),
        fmt::format("use_double_scratch_buffer: in every second call reads {} half of the scratch, "
                    "but {} ({}) writes {}",
                    last.by_own_threads ? kFirstHalf : kSecondHalf,
                    to_string(graph_.place(last.node)), graph_.op(plan_, last.node).name,
                    last.by_own_threads ? kSecondHalf : kFirstHalf),
        "leave use_double_scratch_buffer out: packets apart, only a rank's own threads take the "
        "other half");
  }

  const PlanFile& plan_;
  const PlanGraph& graph_;
  const MemoryMap& memory_;
  Findings& findings_;
  std::vector<Write> last_write_;  // of each chunk
  bool reported_ = false;          // for the operation at hand
};

}  // namespace

void check_double_scratch(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                          const MemoryMap& memory, Findings& findings) {
  if (plan.doubles_scratch) DoubleScratch(plan, graph, memory, findings).run(execution);
}

}  // namespace forestcoll::audit
