// Flows that share links, max–min fairly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/fabric/event_graph.hpp"
#include "simulate/run/fair_shares.hpp"
#include "simulate/run/least_number.hpp"

namespace forestcoll::simulate {

/// Flows of one kind always have the same rate, so only kinds are looked at: a kind has served so
/// many bytes to each of its flows, and a flow ends when that has grown by the flow's bytes. Rates
/// are max–min fair.
class SharedLinks {
 public:
  /// `capacity` of every link in bytes per second. REQUIRES: every route has links.
  SharedLinks(std::span<const double> capacity, std::span<const FlowKind> kinds)
      : shares_(capacity, kinds),
        kinds_(kinds.size()),
        has_changed_(kinds.size(), 0),
        next_(kinds.size()) {}

  /// A flow of an activity begins: `weight` times `bytes`.
  void begin(const Activity& activity, std::int32_t number, double now);
  /// When the next flow ends, at the present rates; infinite where there is none.
  [[nodiscard]] double next_end() { return next_.least(); }
  /// Ends the flows that are due at `now`, and those that are but `tolerance` of their bytes from
  /// it; appends their activities.
  void end_flows(double now, double tolerance, std::vector<std::int32_t>& ended);
  /// Brings the rates up to date after flows have begun and ended.
  /// Cost: see FairShares::share_out.
  void share_out(double now);
  /// Of each flow of a kind that has any, bytes per second.
  [[nodiscard]] double rate(std::int32_t kind) const { return at(kind).rate; }

 private:
  struct Flow {
    double end;  // of what the kind has served
    double bytes;
    double weight;
    std::int32_t activity;
  };
  struct alignas(64) Kind {
    double rate = 0;    // of a flow of weight 1
    double served = 0;  // to a flow of weight 1, until `since`
    double since = 0;
    double first_end = 0;     // of its first flow
    double weight = 0;        // of its flows
    std::vector<Flow> flows;  // a heap, the next to end first
  };

  [[nodiscard]] const Kind& at(std::int32_t kind) const {
    return kinds_[static_cast<std::size_t>(kind)];
  }
  Kind& at(std::int32_t kind) { return kinds_[static_cast<std::size_t>(kind)]; }

  void note_change(std::int32_t kind);
  static void serve(Kind& kind, double now);
  void set_next(std::int32_t kind, double now);
  FairShares shares_;
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> has_changed_;  // by kind: 1 once flows have begun or ended
  LeastNumber next_;                       // by kind: when its first flow ends
  std::vector<std::int32_t> changed_;
};

}  // namespace forestcoll::simulate
