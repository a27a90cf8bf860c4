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
  [[nodiscard]] double rate(std::int32_t kind) const {
    return rates_[static_cast<std::size_t>(kind)];
  }
  /// Brings the rates up to date, and says which have changed, until it is called again.
  /// Cost: O(n log n) in the kinds whose rates may change, for each round of looking further, if
  /// links are full in about the order in which they would be alone; none that the bottlenecks of
  /// all others stay as they are.
  std::span<const Change> share_out();

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kTaken = -1;  // less than any rate

  // One link of a kind's route.
  struct Part {
    std::int32_t link;
    std::int32_t place;  // in crossing_
    double part;
    double weight = 0;  // that it puts on the link, since it was taken last
    double load = 0;    // see `load_of`, at the rate that the kind has
  };
  // What taking and filling need of a kind lies together, and so it does of a link.
  struct alignas(64) Kind {
    double weight = 0;
    double shared = 0;         // the weight for which the rate is
    double most = 0;           // FlowKind::most
    double filled = 0;         // the rate that filling came to
    std::int32_t begin = 0;    // in parts_
    std::int32_t end = 0;      // in parts_
    std::int32_t cap = 0;      // position of `most` in caps_
    bool has_changed = false;  // in weight, perhaps
  };
  struct alignas(64) Link {
    double left = 0, growing_weight = 0;
    std::int32_t growing = 0;     // so many kinds; 0 whatever rounding leaves of their weight
    std::int32_t count = 0;       // of the kinds that are taken
    std::int32_t begin = 0;       // in crossing_ and members_
    std::int32_t active = 0;      // so many from there on have weight
    double highest = 0;           // rate of a kind that is taken
    double reached = kNever;      // the rate at which it was full and held somebody up
    double weight_then = 0;       // that was growing
    double weight = 0, most = 0;  // of the kinds that are taken
    double load = 0;              // of all others
    double most_rate = 0;         // no other that crosses it has more
    double capacity = 0;
    double grid = 0;              // see `load_of`
    std::uint32_t untouched = 1;  // 0: kinds are taken
    bool holds_up = false;        // it is full, and who has `most_rate` has no other bottleneck
  };
  struct Crossing {
    std::int32_t part, kind;
  };
  struct CapList {
    std::int32_t begin = 0, count = 0;  // in capped_
  };
  // Of a link: what each that grows gets of it, or did a while ago.
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
  void note_active(std::int32_t kind);
  void put(std::int32_t place, const Crossing& crossing);
  void take_found(std::size_t count);
  void fill();
  void begin_filling();
  void fill_first();
  void replace_first(const FairShare& share);
  std::size_t find_growing(std::int32_t kind, std::size_t count);
  void freeze_found(std::size_t count, double rate);
  bool take_unfair();
  void take_richer(Link& crossed);
  void take_held_up(Link& crossed);
  void take_from(const Link& crossed, std::span<const double> rates, double least);
  void take_connected();
  std::size_t settle();

  // Most of the time goes into loops over a handful of kinds or links of which some are chosen, and
  // no processor foresees which. So the choice is no jump: each is written behind those that were
  // chosen, and counted if it is one of them. Thus lists have room for one more.
  std::vector<Kind> kinds_;
  std::vector<double> rates_;          // by kind
  std::vector<double> untaken_rates_;  // the same, or kTaken: for its rate to be found anew
  std::vector<double> held_rates_;     // the same, or kTaken where it has the most that it may have
  std::vector<std::int64_t> frozen_;   // by kind: the last filling that found its rate
  std::int64_t filling_ = 0;           // so many, this one included
  std::vector<Part> parts_;            // by kind
  std::vector<Link> links_;
  std::vector<Crossing> crossing_;     // parts by link, those of kinds that have weight first
  std::vector<double> caps_;           // the different values of FlowKind::most, ascending
  std::vector<std::int32_t> changed_;  // in weight, perhaps
  // Of what is taken: kinds, those with weight by link and by cap, and links.
  std::vector<std::int32_t> taken_, members_, capped_, touched_;
  std::vector<CapList> by_cap_;
  std::size_t taken_count_ = 0, member_count_ = 0, touched_count_ = 0;
  std::size_t growing_ = 0;          // kinds
  std::vector<std::int32_t> found_;  // kinds that are chosen for what is done next
  std::vector<FairShare> shares_;    // the first `share_count_`, descending
  std::size_t share_count_ = 0;
  std::vector<Change> changes_;
};

}  // namespace forestcoll::simulate
