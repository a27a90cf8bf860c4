// The events of a plan, and what each of them shows to be over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audit/execution/event_order.hpp"
#include "audit/execution/execution.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

/// Must the access of `before`, or the beginning of a rank's call, be over when `after` begins?
struct PlanQuery {
  std::int32_t before = -1, after = -1;
};

/// An access of a node is over once one of its releases has happened: the next point at which its
/// threadblock is in step, or, for what a port channel carries, the next signal or flush. So the
/// events are the nodes that lie on chains, each chain a line; and other nodes where what they know
/// is no short list of events.
///
/// Relaxed signals and packets order execution, and so the beginning of calls and the end of reads:
/// a thread has the values of its loads before it takes another step that others can see. They
/// order no writes, which may still be under way to the memory of another rank.
class PlanEvents {
 public:
  /// `order` respects the graph. Cost: O(nodes + edges · log).
  PlanEvents(const PlanGraph& graph, std::span<const std::int32_t> order);

  [[nodiscard]] const EventOrder& data() const { return data_; }
  /// The order of execution alone; the same as that of data where nothing else is.
  [[nodiscard]] const EventOrder& in_time() const { return is_relaxed_ ? in_time_ : data_; }
  /// REQUIRES: the node accesses memory, or is the start or the end of a call.
  [[nodiscard]] Span span(std::int32_t node) const;
  [[nodiscard]] std::int32_t rank_of(std::int32_t event) const {
    return rank_of_line_[static_cast<std::size_t>(data_.line_of(event))];
  }
  /// Exact; `by` is one of the two orders. Cost: as `happens_before`.
  [[nodiscard]] std::vector<bool> known_before(std::span<const PlanQuery> queries,
                                               const EventOrder& by) const;

 private:
  // What a node comes after; weakly, if in time alone.
  struct Known {
    std::int32_t event = -1;
    bool weakly = false;
    friend auto operator<=>(const Known&, const Known&) = default;
  };
  struct Wait {
    std::int32_t event = -1;
    Known known;
  };

  void number_chains();
  void add_event(std::int32_t node);
  [[nodiscard]] std::span<const Known> known_at(std::int32_t node) const;
  [[nodiscard]] bool is_on_chain(std::int32_t node) const { return node_of(node).column >= 0; }
  [[nodiscard]] const PlanGraph::Node& node_of(std::int32_t n) const {
    return graph_.nodes[static_cast<std::size_t>(n)];
  }
  void collect_known(std::int32_t node);
  void keep_or_forget(std::int32_t node);

  const PlanGraph& graph_;
  EventOrder data_, in_time_;
  bool is_relaxed_ = false;
  std::vector<std::int32_t> event_;  ///< of each node, or −1
  std::vector<std::int32_t> rank_of_line_;
  std::vector<Known> known_;  ///< of the nodes that are no events, one after the other
  std::vector<std::uint32_t> known_begin_, known_end_;
  std::vector<Known> here_;  ///< of the node at hand
  std::vector<Wait> waits_;
};

/// What the nodes of a plan that move data do. The arguments outlive the result.
[[nodiscard]] Execution plan_execution(const PlanFile& plan, const PlanGraph& graph,
                                       const PlanEvents& events,
                                       std::span<const std::int32_t> order);

}  // namespace forestcoll::audit
