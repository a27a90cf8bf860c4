// One path of a datum, through the place where the data is complete, say, answers most queries: an
// event comes before another if the first place on the path that it leads to is no later than the
// last one from which the other is reached. What is left is swept, one bit for each event that is
// asked about.
#include "audit/execution/datum_order.hpp"

#include <algorithm>
#include <limits>

namespace forestcoll::audit {
namespace {

constexpr std::size_t kRowBytes = std::size_t{1} << 26;
constexpr std::size_t kMostWords = 16;
constexpr std::int32_t kEventsBack = 64;  // whose waits are looked at
constexpr std::int32_t kDepth = 4;        // events in a row that hand on

constexpr std::int32_t kNowhere = std::numeric_limits<std::int32_t>::max();

}  // namespace

DatumOrder::DatumOrder(const Execution& execution)
    : execution_(execution), order_(execution.events), within_(order_.line_begin.size()) {}

void DatumOrder::begin(std::span<const std::int32_t> operations) {
  for (const std::int32_t event : events_) within(event) = {};
  collect_events(operations);
  for (Index i = 0; i < events_.size(); ++i) {
    auto& [begin, end] = within(events_[i]);
    if (begin == end) begin = i;
    end = i + 1;
  }
  order_in_time();
  edges_.clear();
  first_edge_.assign(1, 0);
  for (Index i = 0; i < events_.size(); ++i) {
    find_edges(i);
    first_edge_.push_back(static_cast<Index>(edges_.size()));
  }
}

void DatumOrder::collect_events(std::span<const std::int32_t> operations) {
  events_.clear();
  for (const std::int32_t operation : operations) {
    const Span span = execution_.span(operation);
    events_.push_back(span.begins);
    for (const std::int32_t over : span.over) {
      if (over >= 0) events_.push_back(over);
    }
  }
  if (!std::is_sorted(events_.begin(), events_.end())) std::sort(events_.begin(), events_.end());
  events_.erase(std::unique(events_.begin(), events_.end()), events_.end());
}

void DatumOrder::order_in_time() {
  by_time_.clear();
  for (Index i = 0; i < events_.size(); ++i) {
    const auto time = static_cast<std::uint64_t>(order_.time[static_cast<std::size_t>(events_[i])]);
    by_time_.push_back(time << 32 | i);
  }
  std::sort(by_time_.begin(), by_time_.end());
  in_time_.clear();
  for (const std::uint64_t entry : by_time_) in_time_.push_back(static_cast<Index>(entry));
}

DatumOrder::Index DatumOrder::index(std::int32_t event) const {
  return static_cast<Index>(std::lower_bound(events_.begin(), events_.end(), event) -
                            events_.begin());
}

void DatumOrder::find_edges(Index i) {
  const std::int32_t event = events_[i];
  // What the events before it waited for, it need not wait for again.
  std::int32_t known = order_.first_of_line(event);
  if (i > 0 && events_[i - 1] >= known) {
    edges_.push_back(i - 1);
    known = events_[i - 1] + 1;
  }
  const std::int32_t first = std::max(known, event - kEventsBack);
  for (const EventOrder::Wait& wait : order_.waits_between(first, event)) wait_for(wait);
  if (const std::int32_t sender = order_.sender_of(event); sender >= 0) {
    edges_.push_back(index(sender));
  }
}

// The last event of the datum that is the one waited for, or before it on its line. Of one that
// only hands on what came before it, those that it waits for in turn.
void DatumOrder::wait_for(const EventOrder::Wait& wait, std::int32_t depth) {
  const auto& [event, line] = wait;
  if (line < 0) {
    if (depth == kDepth) return;
    for (const auto& other : order_.waits_between(event, event)) wait_for(other, depth + 1);
    return;
  }
  const auto [begin, end] = within_[static_cast<std::size_t>(line)];
  Index i = end;
  while (i > begin && events_[i - 1] > event) --i;
  if (i > begin) edges_.push_back(i - 1);
}

std::size_t DatumOrder::most_columns() const {
  return 64 * std::clamp<std::size_t>(kRowBytes / (8 * events_.size()), 1, kMostWords);
}

void DatumOrder::sweep(std::span<const std::int32_t> columns) {
  columns_ = columns;
  words_ = (columns.size() + 63) / 64;
  rows_.assign(events_.size() * words_, 0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    rows_[index(columns[c]) * words_ + c / 64] |= std::uint64_t{1} << c % 64;
  }
  for (const Index i : in_time_) {
    std::uint64_t* row = rows_.data() + i * words_;
    for (const Index before : edges(i)) {
      const std::uint64_t* other = rows_.data() + before * words_;
      for (std::size_t w = 0; w < words_; ++w) row[w] |= other[w];
    }
  }
}

bool DatumOrder::is_swept(std::int32_t before, std::int32_t after) const {
  const auto bit = static_cast<std::size_t>(
      std::lower_bound(columns_.begin(), columns_.end(), before) - columns_.begin());
  return (rows_[index(after) * words_ + bit / 64] >> bit % 64 & 1) != 0;
}

bool DatumOrder::follow(const OrderQuery& query) {
  const auto leads = [&](std::int32_t over) {
    return over >= 0 && choose_path(index(over), index(query.begins));
  };
  if (!std::ranges::any_of(query.over, leads)) return false;
  find_ways_to_the_path();
  find_ways_from_the_path();
  return true;
}

bool DatumOrder::holds_by_the_path(const OrderQuery& query) const {
  const std::int32_t from = from_[index(query.begins)];
  return std::ranges::any_of(
      query.over, [&](std::int32_t over) { return over >= 0 && to_[index(over)] <= from; });
}

// Back from `after`, by events that `before` leads to.
bool DatumOrder::choose_path(Index before, Index after) {
  is_reached_.assign(events_.size(), 0);
  is_reached_[before] = 1;
  for (const Index i : in_time_) {
    for (const Index from : edges(i)) is_reached_[i] |= is_reached_[from];
  }
  if (is_reached_[after] == 0) return false;
  path_.assign(1, after);
  while (path_.back() != before) {
    for (const Index from : edges(path_.back())) {
      if (is_reached_[from] == 0) continue;
      path_.push_back(from);
      break;
    }
  }
  std::reverse(path_.begin(), path_.end());
  return true;
}

void DatumOrder::find_ways_to_the_path() {
  to_.assign(events_.size(), kNowhere);
  for (std::size_t p = 0; p < path_.size(); ++p) to_[path_[p]] = static_cast<std::int32_t>(p);
  for (std::size_t n = in_time_.size(); n-- > 0;) {
    for (const Index from : edges(in_time_[n])) to_[from] = std::min(to_[from], to_[in_time_[n]]);
  }
}

void DatumOrder::find_ways_from_the_path() {
  from_.assign(events_.size(), -1);
  for (std::size_t p = 0; p < path_.size(); ++p) from_[path_[p]] = static_cast<std::int32_t>(p);
  for (const Index i : in_time_) {
    for (const Index from : edges(i)) from_[i] = std::max(from_[i], from_[from]);
  }
}

}  // namespace forestcoll::audit
