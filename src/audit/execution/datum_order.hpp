// The events of one datum, and which of them happen before which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "audit/execution/execution.hpp"

namespace forestcoll::audit {

/// Among the events that a datum's operations begin after and are over by, the edges are: one event
/// of a line after the other; and where an event, or one of the last few before it on its line,
/// waits for an event of another line, the last one there that is of the datum and no later. A yes
/// is exact, a no only means "not this way". One object serves one datum after the other.
class DatumOrder {
 public:
  explicit DatumOrder(const Execution& execution);

  /// Begins with a datum, by the operations that access it. Cost: O(events · log).
  void begin(std::span<const std::int32_t> operations);

  /// Chooses a path between the events of the query, and finds for each event where on it the event
  /// leads to, and from where on it the event is reached. False if there is no such path.
  /// REQUIRES, here and below: the query's events are of the datum. Cost: O(events).
  [[nodiscard]] bool follow(const OrderQuery& query);
  /// Whether a way between the events of the query joins the path that was chosen.
  [[nodiscard]] bool holds_by_the_path(const OrderQuery& query) const;

  /// Finds what comes after each of some events, in the order of their numbers: at most
  /// `most_columns` at once. Cost: O(events · columns / 64).
  void sweep(std::span<const std::int32_t> columns);
  [[nodiscard]] std::size_t most_columns() const;
  /// Whether `before`, one of the columns, is seen to come before the other.
  [[nodiscard]] bool is_swept(std::int32_t before, std::int32_t after) const;

 private:
  using Index = std::uint32_t;  // of an event among those of the datum

  [[nodiscard]] Index index(std::int32_t event) const;
  [[nodiscard]] std::span<const Index> edges(Index i) const {
    return {edges_.data() + first_edge_[i], edges_.data() + first_edge_[i + 1]};
  }
  std::pair<Index, Index>& within(std::int32_t event) {
    return within_[static_cast<std::size_t>(order_.line_of(event))];
  }
  void collect_events(std::span<const std::int32_t> operations);
  void order_in_time();
  void find_edges(Index i);
  void wait_for(const EventOrder::Wait& wait, std::int32_t depth = 0);
  [[nodiscard]] bool choose_path(Index before, Index after);
  void find_ways_to_the_path();
  void find_ways_from_the_path();

  const Execution& execution_;
  const EventOrder& order_;
  std::vector<std::int32_t> events_;             ///< of the datum, by number
  std::vector<std::pair<Index, Index>> within_;  ///< where those of a line stand among them
  std::vector<Index> in_time_;
  std::vector<std::uint64_t> by_time_;
  std::vector<Index> edges_, first_edge_;  ///< what comes before each
  std::span<const std::int32_t> columns_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> rows_;  ///< a bit of each event for each column
  std::vector<char> is_reached_;
  std::vector<Index> path_;
  std::vector<std::int32_t> to_, from_;  ///< places on the path
};

}  // namespace forestcoll::audit
