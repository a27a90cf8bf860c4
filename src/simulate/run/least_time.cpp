#include "simulate/run/least_time.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace forestcoll::simulate {
namespace {

// By kind: seconds that a flow alone takes for each byte of each of so many flows.
struct KindTimes {
  double of_one = 0, of_weight = 0;
};

std::vector<KindTimes> kind_times(const EventGraph& graph, std::span<const double> capacity) {
  std::vector<KindTimes> times;
  for (const FlowKind& kind : graph.kinds) {
    KindTimes each{1 / kind.most, 0};
    for (const LinkPart& part : kind.route) {
      each.of_weight = std::max(each.of_weight, part.part / capacity[index(part.link)]);
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

// `to` begins so long after `from` ends, at the earliest.
struct Link {
  std::int32_t from, to;
  double delay;
};

// The longest chain to the begin of each activity, from `times` on.
// What lies on a circle keeps the time that it has.
std::vector<double> longest_chains(const std::vector<Link>& links,
                                   const std::vector<double>& seconds, std::vector<double> times) {
  // Together what is looked at together: most of the time goes into reaching memory.
  struct End {
    double delay;
    std::int32_t to;
  };
  struct Place {
    double time;
    std::int32_t missing;
    std::uint32_t begin;  // of its links
  };
  const std::size_t n = seconds.size();
  std::vector<Place> places(n + 1, {0, 0, 0});
  for (std::size_t a = 0; a < n; ++a) places[a].time = times[a];
  for (const Link& link : links) {
    ++places[index(link.from) + 1].begin;
    ++places[index(link.to)].missing;
  }
  for (std::size_t a = 0; a < n; ++a) places[a + 1].begin += places[a].begin;
  std::vector<std::uint32_t> next;
  for (const Place& place : places) next.push_back(place.begin);
  std::vector<End> ends(links.size());
  for (const Link& link : links) ends[next[index(link.from)]++] = {link.delay, link.to};
  std::vector<std::size_t> ready;
  for (std::size_t a = 0; a < n; ++a) {
    if (places[a].missing == 0) ready.push_back(a);
  }
  while (!ready.empty()) {
    const std::size_t a = ready.back();
    ready.pop_back();
    const double end = places[a].time + seconds[a];
    for (std::uint32_t i = places[a].begin; i < places[a + 1].begin; ++i) {
      Place& later = places[index(ends[i].to)];
      later.time = std::max(later.time, end + ends[i].delay);
      if (--later.missing == 0) ready.push_back(index(ends[i].to));
    }
  }
  for (std::size_t a = 0; a < n; ++a) times[a] = places[a].time;
  return times;
}

// When each begins for the first time, at the earliest.
std::vector<double> first_begins(const EventGraph& graph, const std::vector<double>& seconds) {
  std::vector<Link> links;
  for (const Wait& wait : graph.waits) {
    if (wait.initial < wait.consumed) links.push_back({wait.from, wait.to, wait.delay});
  }
  return longest_chains(links, seconds, std::vector<double>(seconds.size(), 0));
}

// From its last end until all is over, at least: the same chains, backwards.
std::vector<double> last_rests(const EventGraph& graph, const std::vector<double>& seconds) {
  std::vector<Link> links;
  for (const Wait& wait : graph.waits) {
    const std::int64_t needed = wait.consumed * graph.activities[index(wait.to)].repeats;
    const std::int64_t before =
        wait.initial + wait.produced * (graph.activities[index(wait.from)].repeats - 1);
    if (before < needed) links.push_back({wait.to, wait.from, wait.delay});
  }
  std::vector<double> rests;
  for (const Activity& activity : graph.activities) rests.push_back(activity.after);
  return longest_chains(links, seconds, std::move(rests));
}

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
                      const std::vector<double>& begins, const std::vector<double>& rests) {
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
    longest = std::max(longest, begins[to] + rounds * round + rests[from]);
  }
  return longest;
}

// What a link or worker has to carry, when it can begin to, and what follows at least.
struct LinkWork {
  double load = 0;
  double begin = std::numeric_limits<double>::infinity();
  double rest = std::numeric_limits<double>::infinity();
};

double least_link_seconds(const EventGraph& graph, std::span<const double> capacity,
                          const std::vector<double>& begins, const std::vector<double>& rests) {
  std::vector<LinkWork> links(capacity.size());
  for (std::size_t a = 0; a < begins.size(); ++a) {
    const Activity& activity = graph.activities[a];
    if (activity.kind < 0 || activity.bytes == 0) continue;
    const double all = activity.bytes * activity.weight * static_cast<double>(activity.repeats);
    for (const LinkPart& part : graph.kinds[index(activity.kind)].route) {
      LinkWork& link = links[index(part.link)];
      link.load += all * part.part;
      link.begin = std::min(link.begin, begins[a] + activity.seconds);
      link.rest = std::min(link.rest, rests[a]);
    }
  }
  double most = 0;
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (links[l].load == 0) continue;
    const double busy = links[l].load / capacity[l];
    most = std::max(most, links[l].begin + busy + links[l].rest);
  }
  return most;
}

}  // namespace

std::vector<double> link_loads(const ClassGraph& classes) {
  std::vector<double> loads(classes.capacity.size(), 0);
  for (const Activity& activity : classes.graph.activities) {
    if (activity.kind < 0) continue;
    const double all = activity.bytes * activity.weight * static_cast<double>(activity.repeats);
    for (const LinkPart& part : classes.graph.kinds[index(activity.kind)].route) {
      loads[index(part.link)] += all * part.part;
    }
  }
  return loads;
}

double least_seconds(const ClassGraph& classes) {
  const EventGraph& graph = classes.graph;
  const std::span<const double> capacity = classes.capacity;
  const std::vector<double> seconds = durations(graph, capacity);
  const std::vector<double> begins = first_begins(graph, seconds);
  const std::vector<double> rests = last_rests(graph, seconds);
  double least = std::max(least_link_seconds(graph, capacity, begins, rests),
                          longest_circle(graph, seconds, begins, rests));
  for (std::size_t a = 0; a < begins.size(); ++a) {
    const double rounds = static_cast<double>(graph.activities[a].repeats) * seconds[a];
    least = std::max(least, begins[a] + rounds + rests[a]);
  }
  return least;
}

}  // namespace forestcoll::simulate
