// What happens before what while a program runs, whatever its format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "audit/common/lists.hpp"

namespace forestcoll::audit {

/// Events on lines. A line is what a threadblock, a channel or a call goes through, one event after
/// the other, and an event may come after events of other lines as well. Event A happens before B
/// exactly if a path leads from A to B.
struct EventOrder {
  /// `line` may be −1 where the event, such as that of a signal, only hands on what came before it.
  struct Wait {
    std::int32_t event = -1, line = -1;
  };
  /// The events of line l are line_begin[l] … line_begin[l + 1] − 1, in their order.
  std::vector<std::int32_t> line_begin;
  std::vector<std::int32_t> line;    ///< of each event
  std::vector<std::int32_t> time;    ///< of each event, its place in a linear order of all events
  Lists<Wait> waits;                 ///< of each event, events of other lines that it waits for
  std::vector<std::int32_t> sender;  ///< likewise, what sent it its data; −1: nothing. Or empty

  [[nodiscard]] std::int32_t line_of(std::int32_t event) const {
    return line[static_cast<std::size_t>(event)];
  }
  [[nodiscard]] Wait wait_for(std::int32_t event) const { return {event, line_of(event)}; }
  [[nodiscard]] std::int32_t first_of_line(std::int32_t event) const {
    return line_begin[static_cast<std::size_t>(line_of(event))];
  }
  /// What any of the events from `first` to `last` wait for.
  [[nodiscard]] std::span<const Wait> waits_between(std::int32_t first, std::int32_t last) const {
    return waits.between(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
  }
  [[nodiscard]] std::int32_t sender_of(std::int32_t event) const {
    return sender.empty() ? -1 : sender[static_cast<std::size_t>(event)];
  }
};

/// Between which events an operation lies: it begins after `begins`, and is over by any of `over`;
/// −1: there is no such event.
struct Span {
  std::int32_t begins = -1;
  std::array<std::int32_t, 2> over = {-1, -1};
};

/// Must any of `over` happen before `begins`, or be it?
struct OrderQuery {
  std::array<std::int32_t, 2> over = {-1, -1};
  std::int32_t begins = -1;
};

/// Whether each of the queries holds. Exact.
/// Cost: O(events · n / 64) in bounded memory, where the queries have n different `begins`, or n
/// different `over`.
[[nodiscard]] std::vector<bool> happens_before(const EventOrder& events,
                                               std::span<const OrderQuery> queries);

/// Whether a query holds at a glance: on one line, or by what the last few events before `begins`
/// wait for. A yes is exact. Cost: O(1).
[[nodiscard]] bool is_near(const EventOrder& events, const OrderQuery& query);

}  // namespace forestcoll::audit
