// A schedule as a timed graph: what is done again and again, and what waits for what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forestcoll::simulate {

/// Of a number of an activity, kind, link or class, which is not negative.
[[nodiscard]] constexpr std::size_t index(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

/// One of the links that a flow loads: of each byte, `part` goes over it.
struct LinkPart {
  std::int32_t link = -1;
  double part = 1;
};

/// Flows that share links alike: the same route, and the same rate that none exceeds.
struct FlowKind {
  std::vector<LinkPart> route;
  double most = 0;  ///< bytes per second; may be infinite
};

/// Something that takes time: a fixed time first, then, with a flow, as long as that takes. It is
/// done `repeats` times, one after the other. All is over when every effect is there.
struct Activity {
  double seconds = 0;
  std::int32_t kind = -1;  ///< of its flow; −1: none
  double bytes = 0;        ///< of each of `weight` flows
  double weight = 1;
  double after = 0;  ///< seconds from its end until its effect is there
  std::int64_t repeats = 1;
};

/// `to` needs `consumed` tokens each time it begins. Each time that `from` ends, `produced` tokens
/// arrive `delay` seconds later; `initial` ones are there at the beginning.
struct Wait {
  std::int32_t from = -1, to = -1;
  double delay = 0;
  std::int64_t initial = 0, produced = 1, consumed = 1;
};

struct EventGraph {
  std::vector<Activity> activities;
  std::vector<Wait> waits;
  std::vector<FlowKind> kinds;
  /// Capacities of links beside the fabric's and numbered after them: workers that flows share,
  /// whose bytes are seconds of work.
  std::vector<double> workers;

  std::int32_t add(const Activity& activity) {
    activities.push_back(activity);
    return static_cast<std::int32_t>(activities.size() - 1);
  }
  /// `to` waits for as many ends of `from` as it has begun, less `lag`.
  void wait(std::int32_t from, std::int32_t to, std::int64_t lag = 0, double delay = 0) {
    waits.push_back({from, to, delay, lag, 1, 1});
  }
  [[nodiscard]] double total_repeats() const {
    double total = 0;
    for (const Activity& activity : activities) total += static_cast<double>(activity.repeats);
    return total;
  }
};

/// What is simulated: one activity for each class of activities that begin and end together, on one
/// link for each class of links that are loaded alike. Classes may have one member each.
struct ClassGraph {
  EventGraph graph;                   ///< its workers are among the links
  std::vector<double> capacity;       ///< of one link of each class, bytes per second
  std::vector<std::int32_t> of_link;  ///< the class of each link of the fabric; −1: not loaded
  bool is_coarsest = false;           ///< no two classes are known to be one
};

}  // namespace forestcoll::simulate
