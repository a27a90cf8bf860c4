// Rates are max–min fair where each kind has the most that it may have, or crosses a full link on
// which nobody has more: its bottleneck. So when weights change, rates need to be found anew for
// few kinds: at first for those alone, in what all others leave of the links. Then
// - whoever has more than they on a link that holds them up must share with them, and
// - whoever was held up by a link that has room now, or on which others have more now, may have
// more and is taken, too, until there is nobody. Those who are left have the bottlenecks that they
// had. As rates that are max–min fair are the only ones, these are they.
// Once there is somebody, all are taken whose bottlenecks the taken ones cross, and those whose
// bottlenecks these cross: nearly all of their rates change, and to find them one by one takes
// twice as long.
//
// (Bertsekas and Gallager, Data Networks, 6.5.2.)
#include "simulate/run/fair_shares.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "simulate/run/binding_links.hpp"

namespace forestcoll::simulate {
namespace {

// What rounding makes of rates that are the same, and of a full link.
constexpr double kNearly = 1e-9;
// A rate that is found again.
constexpr double kSameRate = 1e-12;

bool is_more(double rate, double than) {
  return rate > than * (1 + kNearly);
}

}  // namespace

FairShares::FairShares(std::span<const double> capacity, std::span<const FlowKind> kinds)
    : kinds_(kinds.size()), links_(capacity.size()) {
  for (const FlowKind& kind : kinds) caps_.push_back(kind.most);
  std::sort(caps_.begin(), caps_.end());
  caps_.erase(std::unique(caps_.begin(), caps_.end()), caps_.end());
  by_cap_.resize(caps_.size());
  const std::vector<char> binding = binding_links(capacity, kinds);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Kind& kind = kinds_[k];
    kind.most = kinds[k].most;
    kind.cap = static_cast<std::int32_t>(std::lower_bound(caps_.begin(), caps_.end(), kind.most) -
                                         caps_.begin());
    kind.begin = static_cast<std::int32_t>(parts_.size());
    for (const LinkPart& part : kinds[k].route) {
      if (binding[static_cast<std::size_t>(part.link)] == 0) continue;
      parts_.push_back({part.link, static_cast<std::int32_t>(k), part.part, 0, -1});
    }
    kind.end = static_cast<std::int32_t>(parts_.size());
  }
  for (std::size_t l = 0; l < links_.size(); ++l) {
    links_[l].capacity = capacity[l];
    if (std::isfinite(capacity[l])) {
      links_[l].grid = std::ldexp(1.5, std::ilogb(capacity[l]) + 2);
    }
  }
  add_links();
}

// Where on each link its parts are.
void FairShares::add_links() {
  std::vector<std::int32_t> begin(links_.size() + 1, 0);
  for (const Part& part : parts_) ++begin[static_cast<std::size_t>(part.link) + 1];
  for (std::size_t l = 0; l < links_.size(); ++l) {
    begin[l + 1] += begin[l];
    links_[l].begin = begin[l];
  }
  crossing_.resize(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    put(begin[static_cast<std::size_t>(parts_[p].link)]++,
        {static_cast<std::int32_t>(p), parts_[p].kind});
  }
}

void FairShares::put(std::int32_t place, const Crossing& crossing) {
  crossing_[static_cast<std::size_t>(place)] = crossing;
  part(crossing.part).place = place;
}

// Of a kind on a link. In multiples of a small part of the capacity, which doubles add and subtract
// without rounding: so nothing is left of what has gone, however often that happens.
double FairShares::load_of(const Link& link, double part, double weight, double rate) {
  return (weight * part * rate + link.grid) - link.grid;
}

void FairShares::set_weight(std::int32_t k, double weight) {
  Kind& kind = at(k);
  kind.weight = weight;
  if (!std::exchange(kind.has_changed, true)) changed_.push_back(k);
}

const std::vector<FairShares::Change>& FairShares::share_out() {
  changes_.clear();
  for (const std::int32_t k : changed_) {
    Kind& kind = at(k);
    kind.has_changed = false;
    if (kind.weight == kind.shared) continue;
    if ((kind.weight > 0) != (kind.shared > 0)) note_active(kind);
    take(k);
  }
  changed_.clear();
  if (taken_.empty()) return changes_;
  fill();
  while (take_unfair()) {
    take_connected();
    fill();
  }
  settle();
  return changes_;
}

// It has weight now, or has none any more.
void FairShares::note_active(const Kind& kind) {
  for (std::int32_t p = kind.begin; p < kind.end; ++p) {
    Link& crossed = link(part(p).link);
    const std::int32_t to = crossed.begin + (kind.weight > 0 ? crossed.active++ : --crossed.active);
    const std::int32_t from = part(p).place;
    put(from, crossing_[static_cast<std::size_t>(to)]);
    put(to, {p, part(p).kind});
  }
}

void FairShares::take(std::int32_t k) {
  Kind& kind = at(k);
  if (std::exchange(kind.taken, true)) return;
  taken_.push_back(k);
  for (std::int32_t p = kind.begin; p < kind.end; ++p) {
    Part& crossing = part(p);
    Link& crossed = link(crossing.link);
    if (!std::exchange(crossed.touched, true)) touched_.push_back(crossing.link);
    crossed.load -= load_of(crossed, crossing.part, kind.shared, kind.rate);
    if (kind.weight == 0) continue;
    crossed.weight += kind.weight * crossing.part;
    crossed.most += kind.weight * crossing.part * kind.most;
    ++crossed.count;
    crossing.next = std::exchange(crossed.first, p);
  }
}

// The links' shares only grow while others fill up, so an old share in the heap is a lower bound.
void FairShares::fill() {
  begin_filling();
  std::size_t cap = 0;  // kinds of lower ones are frozen
  while (growing_ > 0) {
    if (!shares_.empty() && shares_.front().rate < caps_[cap]) {
      fill_first();
      continue;
    }
    for (const std::int32_t k : by_cap_[cap]) {
      if (at(k).growing) freeze(at(k), caps_[cap]);
    }
    ++cap;
  }
}

void FairShares::begin_filling() {
  shares_.clear();
  for (const std::int32_t l : touched_) {
    Link& crossed = link(l);
    crossed.left = std::max(0.0, crossed.capacity - crossed.load);
    crossed.growing_weight = crossed.weight;
    crossed.growing = crossed.count;
    crossed.highest = 0;
    crossed.reached = kNever;
    if (crossed.most > crossed.left) shares_.push_back({crossed.left / crossed.weight, l});
  }
  std::make_heap(shares_.begin(), shares_.end(), std::greater<>());
  growing_ = 0;
  for (auto& kinds : by_cap_) kinds.clear();
  for (const std::int32_t k : taken_) {
    Kind& kind = at(k);
    if (kind.weight == 0) continue;
    kind.growing = true;
    ++growing_;
    by_cap_[static_cast<std::size_t>(kind.cap)].push_back(k);
  }
}

// The first one in the heap is full, unless some of what crosses it does not grow any more.
void FairShares::fill_first() {
  const auto [share, l] = shares_.front();
  Link& full = link(l);
  if (full.growing > 0) {
    const double present = std::max(share, full.left / full.growing_weight);
    if (present > share * (1 + kNearly)) return replace_first({present, l});
    full.reached = present;
    full.weight_then = full.growing_weight;
    for (std::int32_t p = full.first; p >= 0; p = part(p).next) {
      Kind& kind = at(part(p).kind);
      if (kind.growing) freeze(kind, present);
    }
  }
  std::pop_heap(shares_.begin(), shares_.end(), std::greater<>());
  shares_.pop_back();
}

void FairShares::replace_first(const FairShare& share) {
  std::size_t at = 0;
  for (;;) {
    std::size_t below = 2 * at + 1;
    if (below >= shares_.size()) break;
    if (below + 1 < shares_.size() && shares_[below] > shares_[below + 1]) ++below;
    if (!(share > shares_[below])) break;
    shares_[at] = shares_[below];
    at = below;
  }
  shares_[at] = share;
}

void FairShares::freeze(Kind& kind, double rate) {
  kind.growing = false;
  kind.filled = rate;
  --growing_;
  for (std::int32_t p = kind.begin; p < kind.end; ++p) {
    Link& crossed = link(part(p).link);
    const double weight = kind.weight * part(p).part;
    crossed.left -= weight * rate;
    crossed.growing_weight -= weight;
    crossed.highest = rate;  // rates only grow
    --crossed.growing;
  }
}

// Whether there are any for whom what was found leaves no bottleneck, or from whom it takes one.
bool FairShares::take_unfair() {
  const std::size_t before = taken_.size(), links = touched_.size();
  for (std::size_t i = 0; i < links; ++i) {
    Link& crossed = link(touched_[i]);
    if (crossed.active == crossed.count) {  // all are taken
      crossed.holds_up = false;
      crossed.most_rate = 0;
      continue;
    }
    if (crossed.reached < kNever && is_more(crossed.most_rate, crossed.reached)) {
      take_richer(crossed);
    }
    if (!crossed.holds_up) continue;
    const bool is_full = crossed.left <= kNearly * crossed.capacity;
    if (!is_full || is_more(crossed.highest, crossed.most_rate)) take_held_up(crossed);
  }
  return taken_.size() > before;
}

// Those who have more than what all of them would have together with those who were held up.
void FairShares::take_richer(Link& crossed) {
  double share = crossed.reached, most = 0;
  for (bool goes_on = true; goes_on;) {
    double weight = crossed.weight_then, all = crossed.reached * weight;
    for (const auto& [p, k] : crossing(crossed)) {
      const Kind& kind = at(k);
      if (kind.taken || !is_more(kind.rate, share)) continue;
      most = std::max(most, kind.rate);
      weight += kind.weight * part(p).part;
      all += kind.weight * part(p).part * kind.rate;
    }
    goes_on = is_more(all / weight, share);
    share = std::max(share, all / weight);
  }
  if (most == 0) {  // they are taken already
    crossed.most_rate = crossed.reached;
    crossed.holds_up = false;
    return;
  }
  share = std::min(share, most);  // whatever rounding says
  for (const auto& [p, k] : crossing(crossed)) {
    if (at(k).rate >= share) take(k);
  }
}

void FairShares::take_held_up(Link& crossed) {
  const double least = crossed.most_rate * (1 - 2 * kNearly);
  crossed.holds_up = false;
  for (const auto& [p, k] : crossing(crossed)) {
    const Kind& kind = at(k);
    if (kind.rate >= least && kind.rate < kind.most) take(k);
  }
}

// Whoever is held up by a link that somebody crosses who is taken, who was taken here included.
void FairShares::take_connected() {
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    Link& crossed = link(touched_[i]);
    if (crossed.holds_up && crossed.active != crossed.count) take_held_up(crossed);
  }
}

void FairShares::settle() {
  for (const std::int32_t k : taken_) {
    Kind& kind = at(k);
    kind.taken = false;
    kind.shared = kind.weight;
    if (kind.weight == 0) continue;
    if (std::abs(kind.filled - kind.rate) > kSameRate * kind.rate) {
      kind.rate = kind.filled;
      changes_.push_back({k, kind.rate});
    }
    for (std::int32_t p = kind.begin; p < kind.end; ++p) {
      Link& crossed = link(part(p).link);
      crossed.load += load_of(crossed, part(p).part, kind.weight, kind.rate);
    }
  }
  for (const std::int32_t l : touched_) {
    Link& crossed = link(l);
    if (crossed.reached < kNever) {
      const bool stays = crossed.holds_up && !is_more(crossed.most_rate, crossed.reached);
      if (!stays) crossed.most_rate = crossed.reached;
      crossed.holds_up = true;
    } else if (!crossed.holds_up) {
      crossed.most_rate = std::max(crossed.most_rate, crossed.highest);
    }
    crossed.touched = false;
    crossed.count = 0;
    crossed.first = -1;
    crossed.weight = crossed.most = 0;
  }
  taken_.clear();
  touched_.clear();
}

}  // namespace forestcoll::simulate
