#include "simulate/run/shared_links.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace forestcoll::simulate {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// What rounding leaves of a flow that has ended.
constexpr double kRounding = 1e-9;

}  // namespace

void SharedLinks::serve(Kind& kind, double now) {
  kind.served += kind.rate * (now - kind.since);
  kind.since = now;
}

void SharedLinks::note_change(std::int32_t kind) {
  if (std::exchange(has_changed_[static_cast<std::size_t>(kind)], 1) == 0) changed_.push_back(kind);
}

void SharedLinks::begin(const Activity& activity, std::int32_t number, double now) {
  Kind& kind = at(activity.kind);
  if (kind.flows.empty()) {
    kind.served = 0;
    kind.since = now;
  } else {
    serve(kind, now);
  }
  kind.weight += activity.weight;
  kind.flows.push_back({kind.served + activity.bytes, activity.bytes, activity.weight, number});
  std::push_heap(kind.flows.begin(), kind.flows.end(),
                 [](const Flow& a, const Flow& b) { return a.end > b.end; });
  kind.first_end = kind.flows.front().end;
  note_change(activity.kind);
}

void SharedLinks::end_flows(double now, double tolerance, std::vector<std::int32_t>& ended) {
  const double near = std::max(tolerance, kRounding);
  for (;;) {
    const double next = next_.least();
    if (next == kNever) return;
    const std::int32_t first = next_.first();
    Kind& kind = at(first);
    const bool due = next <= now;
    if (!due) {
      const Flow& flow = kind.flows.front();
      const double served = kind.served + kind.rate * (now - kind.since);
      if (flow.end - served > near * flow.bytes) return;
    }
    serve(kind, now);
    bool forced = due;  // rounding must not keep it alive
    while (!kind.flows.empty() &&
           (forced || kind.flows.front().end - kind.served <= near * kind.flows.front().bytes)) {
      forced = false;
      ended.push_back(kind.flows.front().activity);
      kind.weight -= kind.flows.front().weight;
      std::pop_heap(kind.flows.begin(), kind.flows.end(),
                    [](const Flow& a, const Flow& b) { return a.end > b.end; });
      kind.flows.pop_back();
    }
    if (kind.flows.empty()) {
      kind.weight = 0;
    } else {
      kind.first_end = kind.flows.front().end;
    }
    note_change(first);
    set_next(first, now);
  }
}

void SharedLinks::share_out(double now) {
  for (const std::int32_t k : changed_) shares_.set_weight(k, at(k).weight);
  for (const auto& [k, rate] : shares_.share_out()) {
    Kind& kind = at(k);
    serve(kind, now);
    kind.rate = rate;
    has_changed_[static_cast<std::size_t>(k)] = 0;
    set_next(k, now);
  }
  for (const std::int32_t k : changed_) {
    // At the rate that it had.
    if (std::exchange(has_changed_[static_cast<std::size_t>(k)], 0) != 0) set_next(k, now);
  }
  changed_.clear();
}

void SharedLinks::set_next(std::int32_t k, double now) {
  const Kind& kind = at(k);
  if (kind.flows.empty()) {
    next_.set(k, kNever);
  } else {
    const double left = kind.first_end - kind.served - kind.rate * (now - kind.since);
    next_.set(k, now + std::max(0.0, left) / kind.rate);
  }
}

}  // namespace forestcoll::simulate
