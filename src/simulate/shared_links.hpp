// Flows that share links, max–min fairly.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "simulate/event_graph.hpp"

namespace forestcoll::audit {

/// Flows of one kind always have the same rate, so only kinds are looked at: a kind has served so
/// many bytes to each of its flows, and a flow ends when that has grown by the flow's bytes. When
/// flows begin or end, rates change for kinds that share tight links with theirs, directly or
/// through others, and for no more: a link that could bear the most of all that crosses it holds
/// nobody up.
///
/// Max–min fair: all rates grow together; where a link is full, what crosses it stops growing, and
/// so does what has reached the most that its kind may have (progressive filling).
class SharedLinks {
 public:
  /// `capacity` of every link in bytes per second. REQUIRES: every route has links.
  SharedLinks(std::span<const double> capacity, std::span<const FlowKind> kinds);

  /// A flow of an activity begins: `weight` times `bytes`.
  void begin(const Activity& activity, std::int32_t number, double now);
  /// When the next flow ends, at the present rates; infinite where there is none.
  [[nodiscard]] double next_end() const {
    return heap_.empty() ? std::numeric_limits<double>::infinity() : at(heap_.front()).next;
  }
  /// Ends the flows that are due at `now`, and those that are but `tolerance` of their bytes from
  /// it; appends their activities.
  void end_flows(double now, double tolerance, std::vector<std::int32_t>& ended);
  /// Brings the rates up to date after flows have begun and ended.
  /// Cost: O(n log n) in what shares links with them.
  void share_out(double now);
  /// Of each flow of a kind that has any, bytes per second.
  [[nodiscard]] double rate(std::int32_t kind) const { return hot(kind).rate; }

 private:
  struct Flow {
    double end;  // of what the kind has served
    double bytes;
    double weight;
    std::int32_t activity;
  };
  // What is needed of every kind that crosses a link, apart from the rest of it.
  struct Hot {
    double weight = 0;     // of its flows
    double most = 0;       // FlowKind::most
    double rate = 0;       // of a flow of weight 1
    bool changed = false;  // flows have begun or ended
    bool seen = false;
    bool growing = false;  // while filling: has no rate yet
  };
  struct Kind {
    double shared_weight = 0;  // for which the rates were last shared out
    double served = 0;         // to a flow of weight 1, until `since`
    double since = 0;
    double next = std::numeric_limits<double>::infinity();  // end of its first flow
    std::int32_t position = -1;                             // in heap_
    std::size_t cap = 0;                                    // position of its `most` in caps_
    std::vector<Flow> flows;                                // a heap, the next to end first
  };
  struct Link {
    double left = 0;           // while filling: capacity that is not given away
    double weight = 0;         // while filling: of the kinds that cross it and have no rate yet
    std::int32_t growing = 0;  // so many kinds; 0 whatever rounding leaves of their weight
    bool tight = false;        // when it was last looked at
    bool seen = false;
  };

  [[nodiscard]] const Kind& at(std::int32_t kind) const {
    return kinds_[static_cast<std::size_t>(kind)];
  }
  Kind& at(std::int32_t kind) { return kinds_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const Hot& hot(std::int32_t kind) const {
    return hot_[static_cast<std::size_t>(kind)];
  }
  Hot& hot(std::int32_t kind) { return hot_[static_cast<std::size_t>(kind)]; }
  Link& link(std::int32_t l) { return links_[static_cast<std::size_t>(l)]; }
  struct Crossing {
    std::int32_t kind;
    double part;
  };
  [[nodiscard]] std::span<const Crossing> crossing(std::int32_t link) const;
  [[nodiscard]] std::span<const LinkPart> route(std::int32_t kind) const;

  void note_change(std::int32_t kind);
  void serve(std::int32_t kind, double now);
  void collect_component();
  void add_kind(std::int32_t kind);
  bool look_at(std::int32_t link);
  void fill(double now);
  void freeze(std::int32_t kind, double rate, double now);
  void set_next(std::int32_t kind, double now);
  void place(std::int32_t kind);
  void move_up(std::size_t position);
  void move_down(std::size_t position);
  void put(std::size_t position, std::int32_t kind);

  std::span<const double> capacity_;
  std::vector<Hot> hot_;
  std::vector<Kind> kinds_;
  std::vector<LinkPart> route_;  // by kind
  std::vector<std::int32_t> route_begin_;
  std::vector<Link> links_;
  std::vector<double> caps_;        // the different values of FlowKind::most, ascending
  std::vector<Crossing> crossing_;  // by link
  std::vector<std::int32_t> crossing_begin_;
  std::vector<std::int32_t> heap_;  // kinds that have flows, by `next`
  std::vector<std::int32_t> changed_;
  // Of the component that is filled:
  std::vector<std::int32_t> seen_links_, tight_links_, component_kinds_;
  std::vector<std::vector<std::int32_t>> by_cap_;  // kinds
  std::vector<std::pair<double, std::int32_t>> shares_;
};

}  // namespace forestcoll::audit
