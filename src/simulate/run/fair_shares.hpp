// The rates of flows that share links, max–min fairly.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "simulate/fabric/event_graph.hpp"

namespace forestcoll::simulate {

/// Kinds of flows, each with a weight (of so many flows it has the bytes), and the rate of each.
///
/// Max–min fair: all rates grow together; where a link is full, what crosses it stops growing, and
/// so does what has reached the most that its kind may have (progressive filling).
class FairShares {
 public:
  struct Change {
    std::int32_t kind;
    double rate;
  };

  /// `capacity` of every link in bytes per second. REQUIRES: every route has links.
  FairShares(std::span<const double> capacity, std::span<const FlowKind> kinds);

  [[nodiscard]] double weight(std::int32_t kind) const { return at(kind).weight; }
  /// From the next `share_out` on. REQUIRES: it is not negative.
  void set_weight(std::int32_t kind, double weight);
  /// Of a flow of weight 1, bytes per second; of a kind without weight, what it had last.
  [[nodiscard]] double rate(std::int32_t kind) const { return at(kind).rate; }
  /// Brings the rates up to date, and says which have changed, until it is called again.
  /// Cost: O(n log n) in the kinds whose rates may change, for each round of looking further; none
  /// that the bottlenecks of all others stay as they are.
  const std::vector<Change>& share_out();

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // One link of a kind's route.
  struct Part {
    std::int32_t link, kind;
    double part;
    std::int32_t place;  // in crossing_
    std::int32_t next;   // part of another kind that is taken, on the same link; −1: none
  };
  struct Kind {
    double weight = 0;
    double shared = 0;  // the weight for which the rate is
    double most = 0;    // FlowKind::most
    double rate = 0;
    double filled = 0;         // the rate that filling came to
    std::int32_t begin = 0;    // in parts_
    std::int32_t end = 0;      // in parts_
    std::int32_t cap = 0;      // position of `most` in caps_
    bool has_changed = false;  // in weight, perhaps
    bool taken = false;        // for its rate to be found anew
    bool growing = false;      // while filling: has no rate yet
  };
  // What filling needs lies together.
  struct alignas(64) Link {
    double left = 0, growing_weight = 0;
    std::int32_t growing = 0;     // so many kinds; 0 whatever rounding leaves of their weight
    std::int32_t count = 0;       // of the kinds that are taken
    std::int32_t first = -1;      // part of a kind that is taken
    bool touched = false;         // kinds are taken
    bool holds_up = false;        // it is full, and who has `most_rate` has no other bottleneck
    double highest = 0;           // rate of a kind that is taken
    double reached = kNever;      // the rate at which it was full and held somebody up
    double weight_then = 0;       // that was growing
    double weight = 0, most = 0;  // of the kinds that are taken
    double load = 0;              // of all others
    double most_rate = 0;         // no other that crosses it has more
    double capacity = 0;
    double grid = 0;          // see `load_of`
    std::int32_t begin = 0;   // in crossing_
    std::int32_t active = 0;  // so many from there on have weight
  };
  struct Crossing {
    std::int32_t part, kind;
  };
  // Of a link: what each that grows gets of it.
  struct FairShare {
    double rate;
    std::int32_t link;
    bool operator>(const FairShare& other) const {
      return rate > other.rate || (rate == other.rate && link > other.link);
    }
  };

  [[nodiscard]] const Kind& at(std::int32_t kind) const {
    return kinds_[static_cast<std::size_t>(kind)];
  }
  Kind& at(std::int32_t kind) { return kinds_[static_cast<std::size_t>(kind)]; }
  Link& link(std::int32_t l) { return links_[static_cast<std::size_t>(l)]; }
  Part& part(std::int32_t p) { return parts_[static_cast<std::size_t>(p)]; }
  // Those that have weight.
  [[nodiscard]] std::span<const Crossing> crossing(const Link& link) const {
    return {crossing_.data() + link.begin, static_cast<std::size_t>(link.active)};
  }
  static double load_of(const Link& link, double part, double weight, double rate);

  void add_links();
  void note_active(const Kind& kind);
  void put(std::int32_t place, const Crossing& crossing);
  void take(std::int32_t kind);
  void fill();
  void begin_filling();
  void fill_first();
  void replace_first(const FairShare& share);
  void freeze(Kind& kind, double rate);
  bool take_unfair();
  void take_richer(Link& crossed);
  void take_held_up(Link& crossed);
  void take_connected();
  void settle();

  std::vector<Kind> kinds_;
  std::vector<Part> parts_;  // by kind
  std::vector<Link> links_;
  std::vector<Crossing> crossing_;     // parts by link, those of kinds that have weight first
  std::vector<double> caps_;           // the different values of FlowKind::most, ascending
  std::vector<std::int32_t> changed_;  // in weight, perhaps
  std::vector<std::int32_t> taken_, touched_;
  std::size_t growing_ = 0;                        // kinds
  std::vector<std::vector<std::int32_t>> by_cap_;  // kinds that are taken
  std::vector<FairShare> shares_;                  // a heap, the least first
  std::vector<Change> changes_;
};

}  // namespace forestcoll::simulate
