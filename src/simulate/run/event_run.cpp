#include "simulate/run/event_run.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "simulate/run/event_queue.hpp"
#include "simulate/run/shared_links.hpp"

namespace forestcoll::simulate {
namespace {

constexpr double kSameMoment = 1 + 1e-12;     // times that only rounding tells apart
constexpr std::int64_t kLookUp = 1 << 14;     // activities between two looks at the outside world
constexpr std::int64_t kLookAhead = 1 << 10;  // and between two looks at what is left to do

// The times that activities and waits take, each once, ascending: one queue of the events for each.
std::vector<double> delays_of(const EventGraph& graph) {
  std::set<double> delays;
  double last = 0;  // the same ones follow each other
  const auto note = [&](double delay) {
    if (delay != std::exchange(last, delay)) delays.insert(delay);
  };
  for (const Activity& activity : graph.activities) note(activity.seconds);
  for (const Wait& wait : graph.waits) note(wait.delay);
  return {delays.begin(), delays.end()};
}

class EventRun {
 public:
  EventRun(const EventGraph& graph, std::span<const double> capacity,
           const EventRunOptions& options)
      : EventRun(graph, capacity, options, delays_of(graph)) {}

  EventRunResult run() {
    for (std::size_t a = 0; a < states_.size(); ++a) try_begin(static_cast<std::int32_t>(a));
    settle();
    while (advance()) {
      if (now_ > options_.most_seconds || will_be_late()) {
        result_.late = true;
        return result_;
      }
      if (result_.ended < looked_ + kLookUp) continue;
      looked_ = result_.ended;
      if (options_.progress) options_.progress(result_.ended);
      if (options_.stop.stop_requested()) return result_;
    }
    result_.seconds = std::max(now_, last_effect_);
    for (std::size_t a = 0; a < states_.size(); ++a) {
      if (states_[a].left <= 0 && !states_[a].busy) continue;
      result_.stuck = static_cast<std::int32_t>(a);
      return result_;
    }
    result_.complete = true;
    return result_;
  }

 private:
  struct State {
    std::int64_t left = 0;     // times that it has yet to begin
    std::int32_t missing = 0;  // waits without enough tokens
    std::int32_t queue = -1;   // of its fixed time; −1: none
    bool busy = false;
    bool flows = false, lasts = false;  // has a flow; its effect comes later
  };
  struct Tokens {
    std::int64_t here = 0, produced = 1, consumed = 1;
    std::int32_t to = -1;
    std::int32_t queue = -1;  // of the delay; −1: none
  };

  EventRun(const EventGraph& graph, std::span<const double> capacity,
           const EventRunOptions& options, const std::vector<double>& delays)
      : graph_(graph),
        capacity_(capacity),
        options_(options),
        may_give_up_(options.most_seconds < std::numeric_limits<double>::infinity()),
        links_(capacity, graph.kinds),
        events_(delays) {
    if (may_give_up_) add_all_work();
    const auto queue = [&](double delay) {
      const auto found = std::lower_bound(delays.begin(), delays.end(), delay);
      return delay > 0 ? static_cast<std::int32_t>(found - delays.begin()) : -1;
    };
    const std::size_t n = graph.activities.size();
    states_.resize(n);
    in_begin_.assign(n + 1, 0);
    out_begin_.assign(n + 1, 0);
    for (std::size_t a = 0; a < n; ++a) {
      const Activity& activity = graph.activities[a];
      states_[a].left = activity.repeats;
      states_[a].queue = queue(activity.seconds);
      states_[a].flows = activity.kind >= 0 && activity.bytes > 0;
      states_[a].lasts = activity.after > 0;
    }
    for (const Wait& wait : graph.waits) {
      if (never_lacks(wait)) continue;
      ++in_begin_[index(wait.to) + 1];
      ++out_begin_[index(wait.from) + 1];
    }
    for (std::size_t i = 0; i < n; ++i) {
      in_begin_[i + 1] += in_begin_[i];
      out_begin_[i + 1] += out_begin_[i];
    }
    in_.resize(index(in_begin_[n]));
    out_.resize(index(out_begin_[n]));
    std::vector<std::int32_t> in(in_begin_.begin(), in_begin_.end() - 1);
    std::vector<std::int32_t> out(out_begin_.begin(), out_begin_.end() - 1);
    for (const Wait& wait : graph.waits) {
      if (never_lacks(wait)) continue;
      const std::int32_t w = out[index(wait.from)]++;
      in_[index(in[index(wait.to)]++)] = w;
      out_[index(w)] = {wait.initial, wait.produced, wait.consumed, wait.to, queue(wait.delay)};
      if (wait.initial < wait.consumed) ++states_[index(wait.to)].missing;
    }
  }

  // Whether all that will be needed is there from the beginning.
  [[nodiscard]] bool never_lacks(const Wait& wait) const {
    return wait.initial / wait.consumed >= activity(wait.to).repeats;
  }

  [[nodiscard]] const Activity& activity(std::int32_t a) const {
    return graph_.activities[index(a)];
  }

  // What no flow has begun to carry, from here on and with all links to itself.
  bool will_be_late() {
    if (!may_give_up_ || result_.ended < looked_ahead_ + kLookAhead) return false;
    looked_ahead_ = result_.ended;
    double longest = 0;
    for (const double seconds : left_) longest = std::max(longest, seconds);
    return (now_ + longest) * (1 - options_.tolerance) > options_.most_seconds;
  }

  void note_begun(const Activity& activity) {
    const double bytes = activity.bytes * activity.weight;
    for (const LinkPart& part : graph_.kinds[index(activity.kind)].route) {
      left_[index(part.link)] -= bytes * part.part / capacity_[index(part.link)];
    }
  }

  void add_all_work() {
    left_.assign(capacity_.size(), 0);
    for (const Activity& activity : graph_.activities) {
      if (activity.kind < 0) continue;
      const double bytes = activity.bytes * activity.weight * static_cast<double>(activity.repeats);
      for (const LinkPart& part : graph_.kinds[index(activity.kind)].route) {
        left_[index(part.link)] += bytes * part.part / capacity_[index(part.link)];
      }
    }
  }

  // The next moment at which something happens; false where there is none.
  bool advance() {
    const double event = events_.empty() ? std::numeric_limits<double>::infinity() : events_.time();
    const double next = std::min(event, links_.next_end());
    if (next == std::numeric_limits<double>::infinity()) return false;
    now_ = std::max(now_, next);
    while (!events_.empty() && events_.time() <= now_ * kSameMoment) {
      const std::int32_t due = events_.pop();
      if (due < 0) {
        add_tokens(out_[index(~due)]);
      } else {
        after_fixed_time(due);
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
    if (state.busy || state.missing > 0 || state.left <= 0) return;
    state.busy = true;
    --state.left;
    for (std::int32_t i = in_begin_[index(a)]; i < in_begin_[index(a) + 1]; ++i) {
      Tokens& tokens = out_[index(in_[index(i)])];
      tokens.here -= tokens.consumed;
      if (tokens.here < tokens.consumed) ++state.missing;
    }
    if (state.queue >= 0) {
      events_.push(state.queue, now_, a);
    } else {
      after_fixed_time(a);
    }
  }

  void after_fixed_time(std::int32_t a) {
    if (states_[index(a)].flows) {
      links_.begin(activity(a), a, now_);
      if (may_give_up_) note_begun(activity(a));
    } else {
      ended_.push_back(a);
    }
  }

  void end(std::int32_t a) {
    ++result_.ended;
    State& state = states_[index(a)];
    if (state.lasts) last_effect_ = std::max(last_effect_, now_ + activity(a).after);
    state.busy = false;
    for (std::int32_t w = out_begin_[index(a)]; w < out_begin_[index(a) + 1]; ++w) {
      Tokens& tokens = out_[index(w)];
      if (tokens.queue >= 0) {
        events_.push(tokens.queue, now_, ~w);
      } else {
        add_tokens(tokens);
      }
    }
    try_begin(a);
  }

  void add_tokens(Tokens& tokens) {
    const bool lacked = tokens.here < tokens.consumed;
    tokens.here += tokens.produced;
    if (!lacked || tokens.here < tokens.consumed) return;
    --states_[index(tokens.to)].missing;
    try_begin(tokens.to);
  }

  const EventGraph& graph_;
  std::span<const double> capacity_;
  const EventRunOptions& options_;
  bool may_give_up_;
  SharedLinks links_;
  std::vector<State> states_;
  std::vector<Tokens> out_;                  // by the activity that they come from
  std::vector<std::int32_t> out_begin_;      // of out_, by activity
  std::vector<std::int32_t> in_, in_begin_;  // which of out_, by activity that needs them
  EventQueue events_;                        // activities, and ~ of tokens that arrive
  std::vector<std::int32_t> ended_, batch_;
  double now_ = 0, last_effect_ = 0;
  std::int64_t looked_ = 0, looked_ahead_ = 0;
  std::vector<double> left_;  // by link: seconds of what has not begun
  EventRunResult result_;
};

}  // namespace

EventRunResult run_events(const EventGraph& graph, std::span<const double> capacity,
                          const EventRunOptions& options) {
  return EventRun(graph, capacity, options).run();
}

}  // namespace forestcoll::simulate
