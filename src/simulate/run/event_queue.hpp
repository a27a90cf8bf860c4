// What happens later, in the order in which it does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace forestcoll::simulate {

/// Events that lie one of few fixed delays ahead when they are pushed. Time never runs backwards,
/// so those of one delay come in the order in which they were pushed: a queue for each delay, and a
/// heap of the queues' heads. Cost: O(log of the delays), whatever the number of events.
class EventQueue {
 public:
  struct Event {
    double time;
    std::int32_t number;
  };

  /// REQUIRES: no delay is there twice.
  explicit EventQueue(std::vector<double> delays)
      : delays_(std::move(delays)), queues_(delays_.size()) {}

  [[nodiscard]] bool empty() const { return heads_.empty(); }
  /// When the next event is due. REQUIRES: not empty().
  [[nodiscard]] double time() const { return heads_.front().first; }

  /// An event that is due a queue's delay after `now`. REQUIRES: `now` has not become less.
  void push(std::int32_t queue, double now, std::int32_t number) {
    const auto l = static_cast<std::size_t>(queue);
    const double time = now + delays_[l];
    if (queues_[l].empty()) add_head({time, queue});
    queues_[l].push({time, number});
  }
  /// The number of the next event; of those at the same time, by delay, then as they were pushed.
  std::int32_t pop() {
    std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
    const std::int32_t queue = heads_.back().second;
    heads_.pop_back();
    auto& events = queues_[static_cast<std::size_t>(queue)];
    const std::int32_t number = events.front().number;
    events.pop();
    if (!events.empty()) add_head({events.front().time, queue});
    return number;
  }

 private:
  using Head = std::pair<double, std::int32_t>;  // time, queue

  void add_head(const Head& head) {
    heads_.push_back(head);
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>());
  }

  std::vector<double> delays_;
  std::vector<std::queue<Event>> queues_;
  std::vector<Head> heads_;  // a heap, the earliest first
};

}  // namespace forestcoll::simulate
