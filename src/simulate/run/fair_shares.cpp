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
    : kinds_(kinds.size()),
      rates_(kinds.size(), 0),
      untaken_rates_(kinds.size(), 0),
      held_rates_(kinds.size(), 0),
      frozen_(kinds.size(), 0),
      links_(capacity.size()),
      taken_(kinds.size() + 1),
      touched_(capacity.size() + 1),
      shares_(capacity.size() + 1),
      changes_(kinds.size()) {
  for (const FlowKind& kind : kinds) caps_.push_back(kind.most);
  std::sort(caps_.begin(), caps_.end());
  caps_.erase(std::unique(caps_.begin(), caps_.end()), caps_.end());
  by_cap_.resize(caps_.size());
  capped_.resize(kinds.size() + 1);
  const std::vector<char> binding = binding_links(capacity, kinds);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Kind& kind = kinds_[k];
    kind.most = kinds[k].most;
    kind.cap = static_cast<std::int32_t>(std::lower_bound(caps_.begin(), caps_.end(), kind.most) -
                                         caps_.begin());
    ++by_cap_[static_cast<std::size_t>(kind.cap)].begin;
    kind.begin = static_cast<std::int32_t>(parts_.size());
    for (const LinkPart& part : kinds[k].route) {
      if (binding[static_cast<std::size_t>(part.link)] == 0) continue;
      parts_.push_back({part.link, 0, part.part});
    }
    kind.end = static_cast<std::int32_t>(parts_.size());
  }
  std::int32_t end = 0;
  for (CapList& list : by_cap_) list.begin = std::exchange(end, end + list.begin);
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
  members_.resize(parts_.size() + 1);
  found_.resize(std::max(parts_.size(), kinds_.size()) + 1);
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    for (std::int32_t p = kinds_[k].begin; p < kinds_[k].end; ++p) {
      put(begin[static_cast<std::size_t>(part(p).link)]++, {p, static_cast<std::int32_t>(k)});
    }
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

std::span<const FairShares::Change> FairShares::share_out() {
  std::size_t count = 0;
  for (const std::int32_t k : changed_) {
    Kind& kind = at(k);
    kind.has_changed = false;
    if (kind.weight == kind.shared) continue;
    if ((kind.weight > 0) != (kind.shared > 0)) note_active(k);
    found_[count++] = k;
  }
  changed_.clear();
  if (count == 0) return {};
  take_found(count);
  fill();
  while (take_unfair()) {
    take_connected();
    fill();
  }
  return std::span(changes_).first(settle());
}

// It has weight now, or has none any more.
void FairShares::note_active(std::int32_t k) {
  const Kind& kind = at(k);
  for (std::int32_t p = kind.begin; p < kind.end; ++p) {
    Link& crossed = link(part(p).link);
    const std::int32_t to = crossed.begin + (kind.weight > 0 ? crossed.active++ : --crossed.active);
    const std::int32_t from = part(p).place;
    put(from, crossing_[static_cast<std::size_t>(to)]);
    put(to, {p, k});
  }
}

// The first `count` of found_.
void FairShares::take_found(std::size_t count) {
  Link* const links = links_.data();
  std::int32_t* const touched = touched_.data();
  std::int32_t* const members = members_.data();
  double* const untaken_rates = untaken_rates_.data();
  std::size_t touched_count = touched_count_;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t k = found_[i];
    if (std::exchange(untaken_rates[k], kTaken) == kTaken) continue;
    taken_[taken_count_++] = k;
    const Kind& kind = at(k);
    held_rates_[static_cast<std::size_t>(k)] = kTaken;
    const double own = kind.weight, most = kind.most;
    const std::int32_t is_member = own > 0 ? 1 : 0;
    Part* const end = parts_.data() + kind.end;
    for (Part* crossing = parts_.data() + kind.begin; crossing != end; ++crossing) {
      Link& crossed = links[crossing->link];
      touched[touched_count] = crossing->link;
      touched_count += std::exchange(crossed.untouched, 0U);
      const double weight = own * crossing->part;
      crossing->weight = weight;
      crossed.load -= crossing->load;
      crossed.weight += weight;
      crossed.most += is_member != 0 ? weight * most : 0;
      members[crossed.begin + crossed.count] = k;
      crossed.count += is_member;
    }
    CapList& list = by_cap_[static_cast<std::size_t>(kind.cap)];
    capped_[static_cast<std::size_t>(list.begin + list.count)] = k;
    list.count += is_member;
    member_count_ += static_cast<std::size_t>(is_member);
  }
  touched_count_ = touched_count;
}

// The links' shares only grow while others fill up, so an old share is a lower bound.
void FairShares::fill() {
  begin_filling();
  std::size_t cap = 0;  // kinds of lower ones are frozen
  while (growing_ > 0) {
    if (share_count_ > 0 && shares_[share_count_ - 1].rate < caps_[cap]) {
      fill_first();
      continue;
    }
    const CapList& list = by_cap_[cap];
    std::size_t count = 0;
    for (std::int32_t i = 0; i < list.count; ++i) {
      count = find_growing(capped_[static_cast<std::size_t>(list.begin + i)], count);
    }
    freeze_found(count, caps_[cap]);
    ++cap;
  }
}

void FairShares::begin_filling() {
  share_count_ = 0;
  for (std::size_t i = 0; i < touched_count_; ++i) {
    Link& crossed = link(touched_[i]);
    crossed.left = std::max(0.0, crossed.capacity - crossed.load);
    crossed.growing_weight = crossed.weight;
    crossed.growing = crossed.count;
    crossed.highest = 0;
    crossed.reached = kNever;
    shares_[share_count_] = {crossed.left / crossed.weight, touched_[i]};
    share_count_ += crossed.most > crossed.left ? 1 : 0;
  }
  std::sort(shares_.data(), shares_.data() + share_count_, std::greater<>());
  growing_ = member_count_;
  ++filling_;
}

// Adds it to the first `count` of found_ if it grows, and says that it does not any more; how many
// these are then.
std::size_t FairShares::find_growing(std::int32_t k, std::size_t count) {
  found_[count] = k;
  const std::int64_t frozen = std::exchange(frozen_[static_cast<std::size_t>(k)], filling_);
  return count + (frozen != filling_ ? 1 : 0);
}

// The link with the least share is full, unless some of what crosses it does not grow any more.
void FairShares::fill_first() {
  const auto [share, l] = shares_[share_count_ - 1];
  Link& full = link(l);
  if (full.growing > 0) {
    const double present = std::max(share, full.left / full.growing_weight);
    if (present > share * (1 + kNearly)) return replace_first({present, l});
    full.reached = present;
    full.weight_then = full.growing_weight;
    std::size_t count = 0;
    const std::int32_t* members = members_.data() + full.begin;
    for (std::int32_t i = full.count; i > 0; --i) count = find_growing(members[i - 1], count);
    freeze_found(count, present);
  }
  --share_count_;
}

// They are few, and it seldom goes far: less than half of what a heap takes.
void FairShares::replace_first(const FairShare& share) {
  FairShare* at = shares_.data() + share_count_ - 1;
  for (; at != shares_.data() && share > at[-1]; --at) *at = at[-1];
  *at = share;
}

void FairShares::freeze_found(std::size_t count, double rate) {
  growing_ -= count;
  Link* const links = links_.data();
  for (std::size_t i = 0; i < count; ++i) {
    Kind& kind = at(found_[i]);
    kind.filled = rate;
    const Part* const end = parts_.data() + kind.end;
    for (const Part* crossing = parts_.data() + kind.begin; crossing != end; ++crossing) {
      Link& crossed = links[crossing->link];
      const double weight = crossing->weight;
      crossed.left -= weight * rate;
      crossed.growing_weight -= weight;
      crossed.highest = rate;  // rates only grow
      --crossed.growing;
    }
  }
}

// Whether there are any for whom what was found leaves no bottleneck, or from whom it takes one.
bool FairShares::take_unfair() {
  const std::size_t before = taken_count_, links = touched_count_;
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
  return taken_count_ > before;
}

// Those who have more than what all of them would have together with those who were held up.
void FairShares::take_richer(Link& crossed) {
  double share = crossed.reached, most = 0;
  for (bool goes_on = true; goes_on;) {
    double weight = crossed.weight_then, all = crossed.reached * weight;
    for (const auto& [p, k] : crossing(crossed)) {
      const double rate = untaken_rates_[static_cast<std::size_t>(k)];
      const bool has_more = is_more(rate, share);
      const double more = has_more ? part(p).weight : 0;
      most = std::max(most, has_more ? rate : 0);
      weight += more;
      all += more * rate;
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
  take_from(crossed, untaken_rates_, share);
}

void FairShares::take_held_up(Link& crossed) {
  crossed.holds_up = false;
  take_from(crossed, held_rates_, crossed.most_rate * (1 - 2 * kNearly));
}

// Those of whom it says this or more.
void FairShares::take_from(const Link& crossed, std::span<const double> rates, double least) {
  std::size_t count = 0;
  for (const auto& [p, k] : crossing(crossed)) {
    found_[count] = k;
    count += rates[static_cast<std::size_t>(k)] >= least ? 1 : 0;
  }
  take_found(count);
}

// Whoever is held up by a link that somebody crosses who is taken, who was taken here included.
void FairShares::take_connected() {
  for (std::size_t i = 0; i < touched_count_; ++i) {
    Link& crossed = link(touched_[i]);
    if (crossed.holds_up && crossed.active != crossed.count) take_held_up(crossed);
  }
}

std::size_t FairShares::settle() {
  Link* const links = links_.data();
  std::size_t change_count = 0;
  for (std::size_t i = 0; i < taken_count_; ++i) {
    const std::int32_t k = taken_[i];
    Kind& kind = at(k);
    double& rate = rates_[static_cast<std::size_t>(k)];
    kind.shared = kind.weight;
    if (kind.weight > 0 && std::abs(kind.filled - rate) > kSameRate * rate) {
      rate = kind.filled;
      changes_[change_count++] = {k, rate};
    }
    untaken_rates_[static_cast<std::size_t>(k)] = rate;
    held_rates_[static_cast<std::size_t>(k)] = rate < kind.most ? rate : kTaken;
    Part* const end = parts_.data() + kind.end;
    for (Part* crossing = parts_.data() + kind.begin; crossing != end; ++crossing) {
      Link& crossed = links[crossing->link];
      crossing->load = load_of(crossed, crossing->part, kind.weight, rate);
      crossed.load += crossing->load;
    }
  }
  for (std::size_t i = 0; i < touched_count_; ++i) {
    Link& crossed = link(touched_[i]);
    if (crossed.reached < kNever) {
      const bool stays = crossed.holds_up && !is_more(crossed.most_rate, crossed.reached);
      if (!stays) crossed.most_rate = crossed.reached;
      crossed.holds_up = true;
    } else if (!crossed.holds_up) {
      crossed.most_rate = std::max(crossed.most_rate, crossed.highest);
    }
    crossed.untouched = 1;
    crossed.count = 0;
    crossed.weight = crossed.most = 0;
  }
  for (CapList& list : by_cap_) list.count = 0;
  taken_count_ = touched_count_ = member_count_ = 0;
  return change_count;
}

}  // namespace forestcoll::simulate
