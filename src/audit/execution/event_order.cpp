// A bit of every event for each of some events that are asked about: those that come before it,
// swept forth in time, or those that come after it, swept back. Many are swept at once, as many as
// memory is given to.
#include "audit/execution/event_order.hpp"

#include <algorithm>

namespace forestcoll::audit {
namespace {

constexpr std::size_t kSweepBytes = std::size_t{256} << 20;
constexpr std::size_t kWordsOfSweep = 16;
constexpr std::int32_t kNear = 16;  // events before one that are looked at

class Sweeps {
 public:
  explicit Sweeps(const EventOrder& events) : events_(events), in_time_(events.time.size()) {
    for (std::size_t e = 0; e < in_time_.size(); ++e) {
      in_time_[static_cast<std::size_t>(events.time[e])] = static_cast<std::int32_t>(e);
    }
  }

  std::vector<bool> answer(std::span<const OrderQuery> queries) {
    std::vector<Asked> asked = pairs_of(queries, true);
    std::vector<Asked> back = pairs_of(queries, false);
    const bool forth = count_columns(asked) < count_columns(back);
    if (!forth) asked = std::move(back);
    std::vector<bool> answers(queries.size(), false);
    for (std::size_t first = 0; first < asked.size();) {
      const std::size_t last = choose_columns(asked, first);
      forth ? sweep_forth() : sweep_back();
      for (std::size_t column = 0; first < last; ++first) {
        while (columns_[column] != asked[first].column) ++column;
        const std::uint64_t word = row(asked[first].row)[column / 64];
        if ((word >> column % 64 & 1) != 0) answers[asked[first].query] = true;
      }
    }
    return answers;
  }

 private:
  // One of the events of a query that would do, and the event that it must come before.
  struct Asked {
    std::int32_t column, row;  // events
    std::uint32_t query;
  };

  static std::vector<Asked> pairs_of(std::span<const OrderQuery> queries, bool forth) {
    std::vector<Asked> pairs;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      for (const std::int32_t over : queries[q].over) {
        if (over < 0) continue;
        const auto [column, row] =
            forth ? std::pair(over, queries[q].begins) : std::pair(queries[q].begins, over);
        pairs.push_back({column, row, static_cast<std::uint32_t>(q)});
      }
    }
    std::ranges::sort(pairs, {}, [](const Asked& a) { return std::pair(a.column, a.query); });
    return pairs;
  }

  static std::size_t count_columns(const std::vector<Asked>& sorted) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (i == 0 || sorted[i].column != sorted[i - 1].column) ++count;
    }
    return count;
  }

  [[nodiscard]] std::uint64_t* row(std::int32_t event) {
    return rows_.data() + static_cast<std::size_t>(event) * words_;
  }

  // As many, from that of `first` on, as one sweep takes; returns where the next begin.
  std::size_t choose_columns(const std::vector<Asked>& asked, std::size_t first) {
    const std::size_t most =
        64 * std::clamp<std::size_t>(kSweepBytes / (8 * in_time_.size()), 1, kWordsOfSweep);
    columns_.clear();
    for (; first < asked.size(); ++first) {
      if (!columns_.empty() && columns_.back() == asked[first].column) continue;
      if (columns_.size() == most) break;
      columns_.push_back(asked[first].column);
    }
    words_ = (columns_.size() + 63) / 64;
    rows_.assign(in_time_.size() * words_, 0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      row(columns_[c])[c / 64] |= std::uint64_t{1} << c % 64;
    }
    return first;
  }

  void sweep_forth() {
    for (const std::int32_t event : in_time_) {
      for_each_before(event, [&](std::int32_t before) { join(event, before); });
    }
  }
  void sweep_back() {
    for (auto event = in_time_.rbegin(); event != in_time_.rend(); ++event) {
      for_each_before(*event, [&](std::int32_t before) { join(before, *event); });
    }
  }

  template <class Visit>
  void for_each_before(std::int32_t event, Visit&& visit) const {
    if (event > events_.first_of_line(event)) visit(event - 1);
    for (const auto& [before, line] : events_.waits_between(event, event)) visit(before);
    if (const std::int32_t sender = events_.sender_of(event); sender >= 0) visit(sender);
  }

  void join(std::int32_t into, std::int32_t from) {
    for (std::size_t w = 0; w < words_; ++w) row(into)[w] |= row(from)[w];
  }

  const EventOrder& events_;
  std::vector<std::int32_t> in_time_;
  std::vector<std::int32_t> columns_;  // of the sweep: events, by number
  std::size_t words_ = 0;
  std::vector<std::uint64_t> rows_;
};

}  // namespace

std::vector<bool> happens_before(const EventOrder& events, std::span<const OrderQuery> queries) {
  if (queries.empty()) return {};
  return Sweeps(events).answer(queries);
}

bool is_near(const EventOrder& events, const OrderQuery& query) {
  const std::int32_t first = std::max(events.first_of_line(query.begins), query.begins - kNear);
  return std::ranges::any_of(query.over, [&](std::int32_t over) {
    if (over < 0) return false;
    const std::int32_t line = events.line_of(over);
    const auto shows = [&](const EventOrder::Wait& wait) {
      return wait.line == line && over <= wait.event;
    };
    return shows(events.wait_for(query.begins)) ||
           std::ranges::any_of(events.waits_between(first, query.begins), shows);
  });
}

}  // namespace forestcoll::audit
