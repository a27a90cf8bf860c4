#include "simulate/least_time.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forestcoll::audit {
namespace {

std::size_t index(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

// Fabric's links, then workers.
double capacity_of(const EventGraph& graph, std::span<const double> capacity, std::int32_t link) {
  const std::size_t l = index(link);
  return l < capacity.size() ? capacity[l] : graph.workers[l - capacity.size()];
}

// By kind: seconds that a flow alone takes for each byte of each of so many flows.
struct KindTimes {
  double of_one = 0, of_weight = 0;
};

std::vector<KindTimes> kind_times(const EventGraph& graph, std::span<const double> capacity) {
  std::vector<KindTimes> times;
  for (const FlowKind& kind : graph.kinds) {
    KindTimes each{1 / kind.most, 0};
    for (const LinkPart& part : kind.route) {
      each.of_weight =
          std::max(each.of_weight, part.part / capacity_of(graph, capacity, part.link));
    }
    times.push_back(each);
  }
  return times;
}

// Of one round.
std::vector<double> durations(const EventGraph& graph, std::span<const double> capacity) {
  const std::vector<KindTimes> times = kind_times(graph, capacity);
  std::vector<double> seconds;
  for (const Activity& activity : graph.activities) {
    seconds.push_back(activity.seconds);
    if (activity.kind < 0) continue;
    const KindTimes& kind = times[index(activity.kind)];
    seconds.back() += activity.bytes * std::max(kind.of_one, kind.of_weight * activity.weight);
  }
  return seconds;
}

class FirstRounds {
 public:
  FirstRounds(const EventGraph& graph, std::vector<double> seconds)
      : graph_(graph),
        seconds_(std::move(seconds)),
        begins_(seconds_.size(), 0),
        out_begin_(seconds_.size() + 1, 0),
        missing_(seconds_.size(), 0) {
    for (const Wait& wait : graph.waits) {
      if (is_first(wait)) ++out_begin_[index(wait.from) + 1];
    }
    for (std::size_t a = 0; a < seconds_.size(); ++a) out_begin_[a + 1] += out_begin_[a];
    out_.resize(out_begin_.back());
    std::vector<std::size_t> next(out_begin_.begin(), out_begin_.end() - 1);
    for (std::size_t w = 0; w < graph.waits.size(); ++w) {
      if (!is_first(graph.waits[w])) continue;
      out_[next[index(graph.waits[w].from)]++] = w;
      ++missing_[index(graph.waits[w].to)];
    }
  }

  /// When each begins at the earliest.
  const std::vector<double>& run() {
    std::vector<std::size_t> ready;
    for (std::size_t a = 0; a < missing_.size(); ++a) {
      if (missing_[a] == 0) ready.push_back(a);
    }
    while (!ready.empty()) {
      const std::size_t a = ready.back();
      ready.pop_back();
      for (std::size_t i = out_begin_[a]; i < out_begin_[a + 1]; ++i) {
        const Wait& wait = graph_.waits[out_[i]];
        double& begin = begins_[index(wait.to)];
        begin = std::max(begin, begins_[a] + seconds_[a] + wait.delay);
        if (--missing_[index(wait.to)] == 0) ready.push_back(index(wait.to));
      }
    }
    return begins_;
  }

  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }

 private:
  // Whether the first round of `to` needs one of `from`.
  static bool is_first(const Wait& wait) { return wait.initial < wait.consumed; }

  const EventGraph& graph_;
  std::vector<double> seconds_, begins_;
  std::vector<std::size_t> out_begin_, out_;  // waits by the activity that they come from
  std::vector<std::int32_t> missing_;
};

// Sums of durations along activities of which each waits for the one before it, and the first of
// each such row.
struct Rows {
  std::vector<double> sum;  // up to and with this one
  std::vector<std::size_t> first;
};

Rows rows_of(const EventGraph& graph, const std::vector<double>& seconds) {
  const std::size_t n = seconds.size();
  std::vector<char> follows(n, 0);
  for (const Wait& wait : graph.waits) {
    if (wait.to == wait.from + 1 && wait.initial == 0) follows[index(wait.to)] = 1;
  }
  Rows rows{std::vector<double>(n), std::vector<std::size_t>(n)};
  for (std::size_t a = 0; a < n; ++a) {
    const bool goes_on = a > 0 && follows[a] != 0;
    rows.sum[a] = seconds[a] + (goes_on ? rows.sum[a - 1] : 0);
    rows.first[a] = goes_on ? rows.first[a - 1] : a;
  }
  return rows;
}

// A row whose first one waits for the last one's round before.
double longest_circle(const EventGraph& graph, const std::vector<double>& seconds,
                      const std::vector<double>& begins) {
  const Rows rows = rows_of(graph, seconds);
  double longest = 0;
  for (const Wait& wait : graph.waits) {
    const std::size_t from = index(wait.from), to = index(wait.to);
    const bool is_circle = wait.initial == 1 && wait.produced == 1 && wait.consumed == 1 &&
                           to <= from && rows.first[from] == rows.first[to];
    if (!is_circle) continue;
    const double round = rows.sum[from] - rows.sum[to] + seconds[to];
    const auto rounds =
        static_cast<double>(std::min(graph.activities[to].repeats, graph.activities[from].repeats));
    longest = std::max(longest, begins[to] + rounds * round);
  }
  return longest;
}

// What the busiest link or worker needs.
double least_link_seconds(const EventGraph& graph, std::span<const double> capacity) {
  std::vector<double> load(capacity.size() + graph.workers.size(), 0);
  for (const Activity& activity : graph.activities) {
    if (activity.kind < 0) continue;
    const double all = activity.bytes * activity.weight * static_cast<double>(activity.repeats);
    for (const LinkPart& part : graph.kinds[index(activity.kind)].route) {
      load[index(part.link)] += all * part.part;
    }
  }
  double most = 0;
  for (std::size_t l = 0; l < load.size(); ++l) {
    if (load[l] == 0) continue;
    most = std::max(most, load[l] / capacity_of(graph, capacity, static_cast<std::int32_t>(l)));
  }
  return most;
}

}  // namespace

double least_seconds(const EventGraph& graph, std::span<const double> capacity) {
  FirstRounds first(graph, durations(graph, capacity));
  const std::vector<double>& begins = first.run();
  const std::vector<double>& seconds = first.seconds();
  double least =
      std::max(least_link_seconds(graph, capacity), longest_circle(graph, seconds, begins));
  for (std::size_t a = 0; a < begins.size(); ++a) {
    const Activity& activity = graph.activities[a];
    const double rounds = static_cast<double>(activity.repeats) * seconds[a];
    least = std::max(least, begins[a] + rounds + activity.after);
  }
  return least;
}

}  // namespace forestcoll::audit
