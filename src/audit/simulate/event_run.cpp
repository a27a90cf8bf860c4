#include "audit/simulate/event_run.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "audit/simulate/shared_links.hpp"

namespace forestcoll::audit {
namespace {

constexpr double kSameMoment = 1 + 1e-12;  // times that only rounding tells apart
constexpr std::int64_t kLookUp = 1 << 14;  // activities between two looks at the outside world

class EventRun {
 public:
  EventRun(const EventGraph& graph, std::span<const double> capacity,
           const EventRunOptions& options)
      : graph_(graph), options_(options), links_(capacity, graph.kinds) {
    const std::size_t n = graph.activities.size();
    states_.resize(n);
    in_begin_.assign(n + 1, 0);
    out_begin_.assign(n + 1, 0);
    for (const Wait& wait : graph.waits) {
      ++in_begin_[index(wait.to) + 1];
      ++out_begin_[index(wait.from) + 1];
    }
    for (std::size_t i = 0; i < n; ++i) {
      in_begin_[i + 1] += in_begin_[i];
      out_begin_[i + 1] += out_begin_[i];
    }
    in_.resize(graph.waits.size());
    out_.resize(graph.waits.size());
    tokens_.resize(graph.waits.size());
    std::vector<std::int32_t> in(in_begin_.begin(), in_begin_.end() - 1);
    std::vector<std::int32_t> out(out_begin_.begin(), out_begin_.end() - 1);
    for (std::size_t w = 0; w < graph.waits.size(); ++w) {
      const Wait& wait = graph.waits[w];
      in_[index(in[index(wait.to)]++)] = static_cast<std::int32_t>(w);
      out_[index(out[index(wait.from)]++)] = static_cast<std::int32_t>(w);
      tokens_[w] = wait.initial;
      if (wait.initial < wait.consumed) ++states_[index(wait.to)].missing;
    }
  }

  EventRunResult run() {
    for (std::size_t a = 0; a < states_.size(); ++a) try_begin(static_cast<std::int32_t>(a));
    settle();
    while (advance()) {
      if (result_.ended < looked_ + kLookUp) continue;
      looked_ = result_.ended;
      if (options_.progress) options_.progress(result_.ended);
      if (options_.stop.stop_requested()) return result_;
    }
    result_.seconds = std::max(now_, last_effect_);
    for (std::size_t a = 0; a < states_.size(); ++a) {
      if (states_[a].left(graph_.activities[a]) == 0 && !states_[a].busy) continue;
      result_.stuck = static_cast<std::int32_t>(a);
      return result_;
    }
    result_.complete = true;
    return result_;
  }

 private:
  struct State {
    std::int64_t begun = 0;
    std::int32_t missing = 0;  // waits without enough tokens
    bool busy = false;
    [[nodiscard]] std::int64_t left(const Activity& activity) const {
      return activity.repeats - begun;
    }
  };
  // After its fixed time, an activity goes on with its flow or ends; a token arrives.
  struct Event {
    double time = 0;
    bool is_token = false;
    std::int32_t number = -1;
    bool operator>(const Event& other) const {
      return std::tie(time, is_token, number) > std::tie(other.time, other.is_token, other.number);
    }
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] const Activity& activity(std::int32_t a) const {
    return graph_.activities[index(a)];
  }

  // The next moment at which something happens; false where there is none.
  bool advance() {
    const double event =
        events_.empty() ? std::numeric_limits<double>::infinity() : events_.top().time;
    const double next = std::min(event, links_.next_end());
    if (next == std::numeric_limits<double>::infinity()) return false;
    now_ = std::max(now_, next);
    while (!events_.empty() && events_.top().time <= now_ * kSameMoment) {
      const Event due = events_.top();
      events_.pop();
      if (due.is_token) {
        add_tokens(due.number);
      } else {
        after_fixed_time(due.number);
      }
    }
    links_.end_flows(now_, options_.tolerance, ended_);
    settle();
    return true;
  }

  // Carries out all that happens at this moment, however long the chain of causes.
  void settle() {
    while (!ended_.empty()) {
      batch_.swap(ended_);
      for (const std::int32_t a : batch_) end(a);
      batch_.clear();
    }
    links_.share_out(now_);
  }

  void try_begin(std::int32_t a) {
    State& state = states_[index(a)];
    if (state.busy || state.missing > 0 || state.left(activity(a)) <= 0) return;
    state.busy = true;
    ++state.begun;
    for (std::int32_t i = in_begin_[index(a)]; i < in_begin_[index(a) + 1]; ++i) {
      const std::size_t w = index(in_[index(i)]);
      tokens_[w] -= graph_.waits[w].consumed;
      if (tokens_[w] < graph_.waits[w].consumed) ++state.missing;
    }
    if (activity(a).seconds > 0) {
      events_.push({now_ + activity(a).seconds, false, a});
    } else {
      after_fixed_time(a);
    }
  }

  void after_fixed_time(std::int32_t a) {
    if (activity(a).kind >= 0 && activity(a).bytes > 0) {
      links_.begin(activity(a), a, now_);
    } else {
      ended_.push_back(a);
    }
  }

  void end(std::int32_t a) {
    ++result_.ended;
    last_effect_ = std::max(last_effect_, now_ + activity(a).after);
    states_[index(a)].busy = false;
    for (std::int32_t i = out_begin_[index(a)]; i < out_begin_[index(a) + 1]; ++i) {
      const std::int32_t w = out_[index(i)];
      if (graph_.waits[index(w)].delay > 0) {
        events_.push({now_ + graph_.waits[index(w)].delay, true, w});
      } else {
        add_tokens(w);
      }
    }
    try_begin(a);
  }

  void add_tokens(std::int32_t w) {
    const Wait& wait = graph_.waits[index(w)];
    std::int64_t& tokens = tokens_[index(w)];
    const bool lacked = tokens < wait.consumed;
    tokens += wait.produced;
    if (!lacked || tokens < wait.consumed) return;
    --states_[index(wait.to)].missing;
    try_begin(wait.to);
  }

  const EventGraph& graph_;
  const EventRunOptions& options_;
  SharedLinks links_;
  std::vector<State> states_;
  std::vector<std::int32_t> in_, in_begin_, out_, out_begin_;  // waits by activity
  std::vector<std::int64_t> tokens_;                           // by wait
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::int32_t> ended_, batch_;
  double now_ = 0, last_effect_ = 0;
  std::int64_t looked_ = 0;
  EventRunResult result_;
};

}  // namespace

EventRunResult run_events(const EventGraph& graph, std::span<const double> capacity,
                          const EventRunOptions& options) {
  return EventRun(graph, capacity, options).run();
}

}  // namespace forestcoll::audit
