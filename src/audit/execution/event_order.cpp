// For some events that are asked about, a bit of every event that leads to each, swept back in time.
// Many are swept at once, as many as memory is given to.
#include "audit/execution/event_order.hpp"

#include <algorithm>
#include <numeric>

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
    std::vector<std::size_t> by_target(queries.size());
    std::iota(by_target.begin(), by_target.end(), std::size_t{0});
    std::ranges::stable_sort(by_target, {}, [&](std::size_t q) { return queries[q].begins; });
    std::vector<bool> answers(queries.size(), false);
    for (std::size_t first = 0; first < by_target.size();) {
      const std::size_t last = choose_targets(queries, by_target, first);
      sweep();
      for (std::size_t i = first; i < last; ++i) {
        answers[by_target[i]] = holds(queries[by_target[i]]);
      }
      first = last;
    }
    return answers;
  }

 private:
  [[nodiscard]] std::uint64_t* row(std::int32_t event) {
    return rows_.data() + static_cast<std::size_t>(event) * words_;
  }

  // As many, from that of `first` on, as one sweep takes; returns where the next begin.
  std::size_t choose_targets(std::span<const OrderQuery> queries,
                             std::span<const std::size_t> by_target, std::size_t first) {
    const std::size_t most =
        64 * std::clamp<std::size_t>(kSweepBytes / (8 * in_time_.size()), 1, kWordsOfSweep);
    targets_.clear();
    std::size_t last = first;
    for (; last < by_target.size(); ++last) {
      const std::int32_t target = queries[by_target[last]].begins;
      if (!targets_.empty() && targets_.back() == target) continue;
      if (targets_.size() == most) break;
      targets_.push_back(target);
    }
    words_ = (targets_.size() + 63) / 64;
    return last;
  }

  void sweep() {
    rows_.assign(in_time_.size() * words_, 0);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      row(targets_[t])[t / 64] |= std::uint64_t{1} << t % 64;
    }
    for (auto event = in_time_.rbegin(); event != in_time_.rend(); ++event) {
      if (*event > events_.first_of_line(*event)) join(*event - 1, *event);
      for (const std::int32_t before : events_.waits_of(*event)) join(before, *event);
      if (const std::int32_t sender = events_.sender_of(*event); sender >= 0) join(sender, *event);
    }
  }

  void join(std::int32_t into, std::int32_t from) {
    for (std::size_t w = 0; w < words_; ++w) row(into)[w] |= row(from)[w];
  }

  [[nodiscard]] bool holds(const OrderQuery& query) {
    const auto t = static_cast<std::size_t>(
        std::ranges::lower_bound(targets_, query.begins) - targets_.begin());
    return std::ranges::any_of(query.over, [&](std::int32_t over) {
      return over >= 0 && (row(over)[t / 64] >> t % 64 & 1) != 0;
    });
  }

  const EventOrder& events_;
  std::vector<std::int32_t> in_time_;
  std::vector<std::int32_t> targets_;  // of the sweep, by number
  std::size_t words_ = 0;
  std::vector<std::uint64_t> rows_;  // a bit of each event for each target
};

}  // namespace

std::vector<bool> happens_before(const EventOrder& events, std::span<const OrderQuery> queries) {
  if (queries.empty()) return {};
  return Sweeps(events).answer(queries);
}

bool is_near(const EventOrder& events, const OrderQuery& query) {
  const auto shows = [&](std::int32_t event) {
    return std::ranges::any_of(query.over, [&](std::int32_t over) {
      return over >= 0 && over <= event && events.line_of(over) == events.line_of(event);
    });
  };
  const std::int32_t first = std::max(events.first_of_line(query.begins), query.begins - kNear);
  return shows(query.begins) ||
         std::ranges::any_of(events.waits_between(first, query.begins), shows);
}

}  // namespace forestcoll::audit
