#include "simulate/shared_links.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace forestcoll::audit {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// What rounding leaves of a flow that has ended, or of a link that is full.
constexpr double kRounding = 1e-9;

}  // namespace

SharedLinks::SharedLinks(std::span<const double> capacity, std::span<const FlowKind> kinds)
    : capacity_(capacity),
      hot_(kinds.size()),
      kinds_(kinds.size()),
      route_begin_(1, 0),
      links_(capacity.size()),
      crossing_begin_(capacity.size() + 1, 0) {
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    hot_[k].most = kinds[k].most;
    caps_.push_back(kinds[k].most);
    route_.insert(route_.end(), kinds[k].route.begin(), kinds[k].route.end());
    route_begin_.push_back(static_cast<std::int32_t>(route_.size()));
    for (const LinkPart& part : kinds[k].route) {
      ++crossing_begin_[static_cast<std::size_t>(part.link) + 1];
    }
  }
  std::sort(caps_.begin(), caps_.end());
  caps_.erase(std::unique(caps_.begin(), caps_.end()), caps_.end());
  by_cap_.resize(caps_.size());
  for (std::size_t l = 0; l < capacity.size(); ++l) crossing_begin_[l + 1] += crossing_begin_[l];
  crossing_.resize(static_cast<std::size_t>(crossing_begin_.back()));
  std::vector<std::int32_t> filled(crossing_begin_.begin(), crossing_begin_.end() - 1);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto cap = std::lower_bound(caps_.begin(), caps_.end(), kinds[k].most);
    kinds_[k].cap = static_cast<std::size_t>(cap - caps_.begin());
    for (const LinkPart& part : kinds[k].route) {
      std::int32_t& at = filled[static_cast<std::size_t>(part.link)];
      crossing_[static_cast<std::size_t>(at++)] = {static_cast<std::int32_t>(k), part.part};
    }
  }
}

std::span<const SharedLinks::Crossing> SharedLinks::crossing(std::int32_t link) const {
  const auto l = static_cast<std::size_t>(link);
  return {crossing_.data() + crossing_begin_[l], crossing_.data() + crossing_begin_[l + 1]};
}

std::span<const LinkPart> SharedLinks::route(std::int32_t kind) const {
  const auto k = static_cast<std::size_t>(kind);
  return {route_.data() + route_begin_[k], route_.data() + route_begin_[k + 1]};
}

void SharedLinks::serve(std::int32_t number, double now) {
  Kind& kind = at(number);
  kind.served += hot(number).rate * (now - kind.since);
  kind.since = now;
}

void SharedLinks::note_change(std::int32_t kind) {
  if (hot(kind).changed) return;
  hot(kind).changed = true;
  changed_.push_back(kind);
}

void SharedLinks::begin(const Activity& activity, std::int32_t number, double now) {
  Kind& kind = at(activity.kind);
  if (kind.flows.empty()) {
    kind.served = 0;
    kind.since = now;
  } else {
    serve(activity.kind, now);
  }
  hot(activity.kind).weight += activity.weight;
  kind.flows.push_back({kind.served + activity.bytes, activity.bytes, activity.weight, number});
  std::push_heap(kind.flows.begin(), kind.flows.end(),
                 [](const Flow& a, const Flow& b) { return a.end > b.end; });
  note_change(activity.kind);
}

void SharedLinks::end_flows(double now, double tolerance, std::vector<std::int32_t>& ended) {
  const double near = std::max(tolerance, kRounding);
  while (!heap_.empty()) {
    const std::int32_t first = heap_.front();
    Kind& kind = at(first);
    const bool due = kind.next <= now;
    if (!due) {
      const Flow& flow = kind.flows.front();
      const double served = kind.served + hot(first).rate * (now - kind.since);
      if (flow.end - served > near * flow.bytes) return;
    }
    serve(first, now);
    bool forced = due;  // rounding must not keep it alive
    while (!kind.flows.empty() &&
           (forced || kind.flows.front().end - kind.served <= near * kind.flows.front().bytes)) {
      forced = false;
      ended.push_back(kind.flows.front().activity);
      hot(first).weight -= kind.flows.front().weight;
      std::pop_heap(kind.flows.begin(), kind.flows.end(),
                    [](const Flow& a, const Flow& b) { return a.end > b.end; });
      kind.flows.pop_back();
    }
    if (kind.flows.empty()) hot(first).weight = 0;
    note_change(first);
    set_next(first, now);
  }
}

void SharedLinks::share_out(double now) {
  component_kinds_.clear();
  for (const std::int32_t k : changed_) {
    if (hot(k).weight != at(k).shared_weight) add_kind(k);
  }
  if (!component_kinds_.empty()) {
    collect_component();
    fill(now);
  }
  for (const std::int32_t k : changed_) {
    if (hot(k).changed) set_next(k, now);  // at the rate that it had
    hot(k).changed = false;
  }
  changed_.clear();
}

void SharedLinks::add_kind(std::int32_t k) {
  if (hot(k).seen) return;
  hot(k).seen = true;
  at(k).shared_weight = hot(k).weight;
  component_kinds_.push_back(k);
}

// Whether it holds anybody up, or did so until now.
bool SharedLinks::look_at(std::int32_t l) {
  double weight = 0, most = 0;
  std::int32_t kinds = 0;
  for (const auto& [k, part] : crossing(l)) {
    const Hot& kind = hot(k);
    if (kind.weight == 0) continue;
    ++kinds;
    weight += kind.weight * part;
    most += kind.weight * part * kind.most;
  }
  const double capacity = capacity_[static_cast<std::size_t>(l)];
  const bool was_tight = link(l).tight;
  link(l) = {capacity, weight, kinds, most > capacity, true};
  seen_links_.push_back(l);
  if (link(l).tight) tight_links_.push_back(l);
  return was_tight || link(l).tight;
}

void SharedLinks::collect_component() {
  seen_links_.clear();
  tight_links_.clear();
  for (std::size_t i = 0; i < component_kinds_.size(); ++i) {
    for (const LinkPart& part : route(component_kinds_[i])) {
      if (link(part.link).seen || !look_at(part.link)) continue;
      for (const auto& [k, share] : crossing(part.link)) {
        if (hot(k).weight > 0) add_kind(k);
      }
    }
  }
  for (const std::int32_t l : seen_links_) link(l).seen = false;
  for (const std::int32_t k : component_kinds_) hot(k).seen = false;
}

// The links' shares only grow while others fill up, so an old share in the heap is a lower bound.
void SharedLinks::fill(double now) {
  std::size_t left = 0;
  for (const std::int32_t k : component_kinds_) {
    if (hot(k).weight == 0) continue;
    hot(k).growing = true;
    by_cap_[at(k).cap].push_back(k);
    ++left;
  }
  shares_.clear();
  for (const std::int32_t l : tight_links_) shares_.emplace_back(link(l).left / link(l).weight, l);
  std::make_heap(shares_.begin(), shares_.end(), std::greater<>());
  std::size_t cap = 0;  // kinds of lower ones are frozen
  while (left > 0) {
    if (shares_.empty() || caps_[cap] <= shares_.front().first) {
      for (const std::int32_t k : by_cap_[cap]) {
        if (!hot(k).growing) continue;
        freeze(k, caps_[cap], now);
        --left;
      }
      ++cap;
      continue;
    }
    std::pop_heap(shares_.begin(), shares_.end(), std::greater<>());
    const auto [share, l] = shares_.back();
    shares_.pop_back();
    if (link(l).growing == 0) continue;
    const double present = std::max(share, link(l).left / link(l).weight);
    if (present > share * (1 + kRounding)) {
      shares_.emplace_back(present, l);
      std::push_heap(shares_.begin(), shares_.end(), std::greater<>());
      continue;
    }
    for (const auto& [k, part] : crossing(l)) {
      if (!hot(k).growing) continue;
      freeze(k, present, now);
      --left;
    }
  }
  for (auto& kinds : by_cap_) kinds.clear();
}

void SharedLinks::freeze(std::int32_t k, double rate, double now) {
  Hot& kind = hot(k);
  kind.growing = false;
  for (const LinkPart& part : route(k)) {
    Link& crossed = link(part.link);
    crossed.left -= kind.weight * part.part * rate;
    crossed.weight -= kind.weight * part.part;
    --crossed.growing;
  }
  if (kind.rate == rate && !kind.changed) return;  // its flows end when they were to end
  serve(k, now);
  kind.rate = rate;
  kind.changed = false;
  set_next(k, now);
}

void SharedLinks::set_next(std::int32_t k, double now) {
  Kind& kind = at(k);
  if (kind.flows.empty()) {
    kind.next = kNever;
  } else {
    const double rate = hot(k).rate;
    const double left = kind.flows.front().end - kind.served - rate * (now - kind.since);
    kind.next = now + std::max(0.0, left) / rate;
  }
  place(k);
}

// A heap of the kinds that have flows, by when their next one ends, then by number.
void SharedLinks::place(std::int32_t k) {
  Kind& kind = at(k);
  if (kind.flows.empty()) {
    if (kind.position < 0) return;
    const auto position = static_cast<std::size_t>(kind.position);
    const std::int32_t last = heap_.back();
    heap_.pop_back();
    kind.position = -1;
    if (last == k) return;
    put(position, last);
    move_up(position);
    move_down(static_cast<std::size_t>(at(last).position));
    return;
  }
  if (kind.position < 0) {
    heap_.push_back(k);
    put(heap_.size() - 1, k);
  }
  move_up(static_cast<std::size_t>(kind.position));
  move_down(static_cast<std::size_t>(kind.position));
}

void SharedLinks::put(std::size_t position, std::int32_t k) {
  heap_[position] = k;
  at(k).position = static_cast<std::int32_t>(position);
}

void SharedLinks::move_up(std::size_t position) {
  const std::int32_t k = heap_[position];
  while (position > 0) {
    const std::size_t above = (position - 1) / 2;
    const std::int32_t other = heap_[above];
    if (std::pair(at(other).next, other) <= std::pair(at(k).next, k)) break;
    put(position, other);
    position = above;
  }
  put(position, k);
}

void SharedLinks::move_down(std::size_t position) {
  const std::int32_t k = heap_[position];
  for (;;) {
    std::size_t below = 2 * position + 1;
    if (below >= heap_.size()) break;
    const auto key = [&](std::size_t p) { return std::pair(at(heap_[p]).next, heap_[p]); };
    if (below + 1 < heap_.size() && key(below + 1) < key(below)) ++below;
    if (std::pair(at(k).next, k) <= key(below)) break;
    put(position, heap_[below]);
    position = below;
  }
  put(position, k);
}

}  // namespace forestcoll::audit
