#include "audit/plan_run/lifetimes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "audit/plan_run/races.hpp"

namespace forestcoll::audit {
namespace {

class Lifetimes {
 public:
  Lifetimes(const PlanGraph& graph, const PlanEvents& events, const MemoryMap& memory,
            Findings& findings)
      : graph_(graph), events_(events), memory_(memory), findings_(findings) {}

  void run(const Execution& execution) {
    index_waits();
    Access access;
    for (const std::int32_t n : execution.operations) {
      execution.access(n, access);
      for (const Operand& chunk : access.reads) check(n, chunk, false);
      for (const Operand& chunk : access.writes) check(n, chunk, true);
    }
    answer();
  }

 private:
  // An access that is to come after a call's beginning, or before its end.
  struct Use {
    std::int32_t node = -1;
    ChunkRef chunk;
    bool writes = false, at_beginning = false;
  };

  // For each line the event that first hears of a rank, and the last one that a rank hears of.
  void index_waits() {
    const auto for_each_wait = [](const EventOrder& order, auto&& visit) {
      for (std::size_t e = 0; e < order.line.size(); ++e) {
        const auto event = static_cast<std::int32_t>(e);
        for (const std::int32_t from : order.waits_of(event)) visit(from, event);
      }
    };
    for_each_wait(events_.in_time(), [&](std::int32_t from, std::int32_t event) {
      const auto first = heard_.emplace(key(event, events_.rank_of(from)), event).first;
      first->second = std::min(first->second, event);
    });
    for_each_wait(events_.data(), [&](std::int32_t from, std::int32_t event) {
      const auto last = told_.emplace(key(from, events_.rank_of(event)), from).first;
      last->second = std::max(last->second, from);
    });
  }

  [[nodiscard]] std::uint64_t key(std::int32_t event, std::int32_t rank) const {
    return static_cast<std::uint64_t>(events_.data().line_of(event)) << 32 |
           static_cast<std::uint64_t>(rank);
  }

  void check(std::int32_t n, const Operand& chunk, bool writes) {
    if (chunk.packets) return;
    const PlanGraph::Node& node = graph_.nodes[static_cast<std::size_t>(n)];
    const bool away = chunk.rank != node.rank;
    const Span span = events_.span(n);
    if (away && !has_heard(span.begins, chunk.rank)) note({n, chunk, writes, true});
    if (!away && node.kind != PlanGraph::Kind::effect) return;
    const bool is_told = std::ranges::any_of(
        span.over, [&](std::int32_t over) { return over >= 0 && has_told(over, chunk.rank); });
    if (!is_told) note({n, chunk, writes, false});
  }

  // Whether a message from the rank came before the event, which shows that it has begun.
  [[nodiscard]] bool has_heard(std::int32_t event, std::int32_t rank) const {
    const auto found = heard_.find(key(event, rank));
    return found != heard_.end() && found->second <= event;
  }

  // Whether the rank waits for something on the event's line that comes after it.
  [[nodiscard]] bool has_told(std::int32_t event, std::int32_t rank) const {
    const auto found = told_.find(key(event, rank));
    return found != told_.end() && found->second >= event;
  }

  // Once for all chunks of a rank that a node accesses, by a write if there is one.
  void note(const Use& use) {
    if (!uses_.empty()) {
      Use& last = uses_.back();
      if (last.node == use.node && last.chunk.rank == use.chunk.rank &&
          last.at_beginning == use.at_beginning) {
        if (use.writes && !last.writes && !use.at_beginning) last = use;
        return;
      }
    }
    uses_.push_back(use);
  }

  void answer() {
    std::vector<PlanQuery> queries;
    for (const Use& use : uses_) {
      const auto rank = static_cast<std::size_t>(use.chunk.rank);
      queries.push_back(use.at_beginning ? PlanQuery{graph_.start[rank], use.node}
                                         : PlanQuery{use.node, graph_.end[rank]});
    }
    const std::vector<bool> in_time = events_.known_before(queries, events_.in_time());
    const bool differ = &events_.data() != &events_.in_time();
    const std::vector<bool> data =
        differ ? events_.known_before(queries, events_.data()) : in_time;
    for (std::size_t q = 0; q < uses_.size(); ++q) {
      const Use& use = uses_[q];
      if (in_time[q] && (use.at_beginning || !use.writes || data[q])) continue;
      use.at_beginning ? report_early(use) : report_late(use, in_time[q]);
    }
  }

  void report_early(const Use& use) {
    findings_.add(Rule::race, place_of(graph_, memory_, use.node, use.chunk),
                  fmt::format("{} the chunk, and nothing shows that rank {} has begun its call",
                              use.writes ? "writes" : "reads", use.chunk.rank),
                  "let that rank signal first that it is ready");
  }

  // `in_time`: relaxed signals order the two in time, but not their data.
  void report_late(const Use& use, bool in_time) {
    findings_.add(
        Rule::race, place_of(graph_, memory_, use.node, use.chunk),
        fmt::format("{} the chunk, and {} keeps rank {} from ending its call before that",
                    use.writes ? "writes" : "reads",
                    in_time ? "only a relaxed signal, which orders no data," : "nothing",
                    use.chunk.rank),
        in_time ? kNotRelaxed : "let it wait for a signal that comes afterwards");
  }

  const PlanGraph& graph_;
  const PlanEvents& events_;
  const MemoryMap& memory_;
  Findings& findings_;
  std::unordered_map<std::uint64_t, std::int32_t> heard_, told_;  // by line and rank
  std::vector<Use> uses_;  // that no single wait shows to be right
};

}  // namespace

void check_lifetimes(const PlanGraph& graph, const PlanEvents& events, const Execution& execution,
                     const MemoryMap& memory, Findings& findings) {
  Lifetimes(graph, events, memory, findings).run(execution);
}

}  // namespace forestcoll::audit
