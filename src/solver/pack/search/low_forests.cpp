// How high trees come out is a matter of luck: with other numbers of trees, with less effort or
// where lower ones were asked for, trees may be low at a higher rate. So whatever one search finds
// is kept for all, and each ends where it cannot beat what is known. What is low enough is then
// squeezed (squeeze.hpp), as several copies too: that finds more in a hundredth of the time, from
// the best that the searches find.
//
// A search takes a hundred times as long as a packing. Small numbers of trees come first: their
// searches are the shortest, and copies of what they find are where larger numbers begin. Where
// several in turn find nothing better, the rest is left out. Where a rate is known that others have
// to reach, the easiest search comes before all of them: the fastest number of trees at that rate.
#include "solver/pack/search/low_forests.hpp"

#include <algorithm>
#include <utility>

#include "solver/low/low_trees.hpp"
#include "solver/pack/pack_so_far.hpp"
#include "solver/pack/search/low_by_program.hpp"
#include "solver/pack/search/scale_search.hpp"
#include "solver/pack/search/squeeze.hpp"
#include "solver/rate/scale.hpp"

namespace forestcoll::solver {
namespace {

// Tree edges up to which each search goes on for itself, whatever others found: so none finds less
// among others than alone.
constexpr std::int64_t kThoroughEdges = 1 << 9;

// Tree edges searched in turn without anything better being found after which more are not worth
// their time. Random exchanges take as long for 1,024 edges as for more.
constexpr std::int64_t kPatience = 1 << 14;
constexpr std::int64_t kPatienceOfExchanges = 1 << 11;
constexpr std::int64_t kPatienceOfMost = 1 << 13;
constexpr std::int64_t kMostOfExchanges = 1 << 10;

// A part of the optimum, as floating point knows that, above which it is reached.
constexpr double kAtOptimum = 1 - 1e-9;

// Forests, the fastest first, of which copies are squeezed.
constexpr std::size_t kSqueezed = 4;

std::int64_t patience_of(Effort effort) {
  if (effort == Effort::fast) return kPatience;
  return effort == Effort::max ? kPatienceOfMost : kPatienceOfExchanges;
}

std::int64_t edges_of_one(const Network& network, const Weights& weights) {
  const auto roots = std::count_if(weights.begin(), weights.end(), [](auto w) { return w > 0; });
  return std::max<std::int64_t>(1, roots) * static_cast<std::int64_t>(network.ranks.size());
}

bool is_stop(const Expected<void>& done) {
  return !done && was_stopped(done.errors());
}

}  // namespace

Patience::Patience(Effort effort, std::int64_t edges)
    : effort_(effort), edges_(edges), left_(patience_of(effort)) {}

void Patience::spend(std::int64_t k, bool has_found_better) {
  const std::int64_t most = effort_ == Effort::fast ? kPatience : kMostOfExchanges;
  const std::int64_t edges = k > most / edges_ ? most : k * edges_;
  left_ = has_found_better ? patience_of(effort_) : left_ - edges;
}

LowForests::LowForests(const Network& network, const Weights& weights, const Scaling& scaling,
                       const PackOptions& options, const OtherNumbers& others)
    : network_(network),
      weights_(weights),
      options_(options),
      least_(height_lower_bound(network, weights)),
      is_any_number_(others.is_any),
      most_scale_(others.most_scale),
      edges_of_one_(edges_of_one(network, weights)),
      fastest_(others.scalings.begin(), others.scalings.end()) {
  fastest_.insert(fastest_.begin(), scaling);
  std::stable_sort(fastest_.begin(), fastest_.end(),
                   [](const Scaling& a, const Scaling& b) { return is_faster(a, b); });
  in_turn_ = fastest_;
  if (!is_small()) return;
  std::stable_sort(in_turn_.begin(), in_turn_.end(),
                   [](const Scaling& a, const Scaling& b) { return a.k < b.k; });
}

Expected<void> LowForests::find_any(std::int32_t rival_height) {
  Expected<void> done;
  Patience patience(options_.effort, edges_of_one_);
  for (const Scaling& scaling : fastest_) {
    if (!may_win(scaling, rival_height)) break;
    if (gives_up(scaling, patience) || !may_be_low(scaling, rival_height)) continue;
    const auto before = best_rate(rival_height);
    auto found = pack_so_far(network_, weights_, scaling, options_, IfStopped::give_up,
                             {.most = rival_height});
    if (!found) done = found.errors();
    if (is_stop(done)) return done;
    if (found) known_.offer(std::move(found->packing));
    patience.spend(scaling.k, before != best_rate(rival_height));
  }
  return known_.best_within(rival_height) != nullptr ? Expected<void>() : done;
}

// The program first where it may be all that is needed; else where something may beat the rest.
Expected<void> LowForests::find_at(std::int32_t height) {
  if (!is_small()) return find_low(height, height);
  if (!may_win(fastest_.front(), height)) return {};
  const bool is_exact = LowTreeSearch::is_exact(network_.ranks.size(), height);
  if (is_exact) find_by_program(height);
  if (is_at_optimum(height)) return {};
  KnownForests widest;
  const auto may_be_fast = is_widest_enough(height, widest);
  if (!may_be_fast) return may_be_fast.errors();
  Expected<void> done;
  if (*may_be_fast) done = find_fastest(height);
  if (done) done = find_low(height, height);
  known_.take_over(std::move(widest));
  if (done) done = find_any(height);
  if (is_exact || is_stop(done) || !may_win(fastest_.front(), height)) return done;
  find_by_program(height);
  return known_.best_within(height) != nullptr ? Expected<void>() : done;
}

Expected<void> LowForests::find_low(std::int32_t height, std::int32_t rival_height) {
  Expected<void> done;
  PackOptions options = options_;
  options.enough_height = height;
  best_of_k_.clear();
  squeezed_.clear();
  for (const Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
    if (effort > options_.effort || (effort < options_.effort && !is_small())) continue;
    options.effort = effort;
    Patience patience(effort, edges_of_one_);
    for (const Scaling& scaling : in_turn_) {
      if (!may_win(scaling, rival_height) || gives_up(scaling, patience)) continue;
      const auto before = best_rate(rival_height);
      auto found = search(scaling, options, rival_height);
      if (is_stop(found)) return found;
      if (!found) done = std::move(found);
      patience.spend(scaling.k, before != best_rate(rival_height));
    }
    squeeze_all(height, height == rival_height);
  }
  return known_.best_within(rival_height) != nullptr ? Expected<void>() : done;
}

bool LowForests::is_thorough(const Scaling& scaling) const {
  return is_small() && scaling.k <= kThoroughEdges / edges_of_one_;
}

bool LowForests::gives_up(const Scaling& scaling, const Patience& patience) const {
  return is_small() && !is_thorough(scaling) && patience.is_over();
}

bool LowForests::may_win(const Scaling& scaling, std::int32_t rival_height) const {
  if (!is_within_scale(scaling)) return false;
  const Packing* rival = known_.best_within(rival_height);
  return rival == nullptr || (is_faster(scaling, rival->scaling) && !is_at_optimum(rival_height));
}

// By what the cuts leave of the fabric at that scale.
bool LowForests::may_be_low(const Scaling& scaling, std::int32_t height) const {
  if (height >= static_cast<std::int32_t>(network_.ranks.size()) - 1) return true;
  const Scaling whole{scaling.k, scaling.scale, floor_capacities(network_, scaling.scale)};
  return height_lower_bound(network_, weights_, whole) <= height;
}

bool LowForests::is_within_scale(const Scaling& scaling) const {
  return !most_scale_ || !is_faster({*most_scale_, 1}, ScaleAndK{scaling.scale, scaling.k});
}

bool LowForests::is_at_optimum(std::int32_t height) const {
  const auto most = most_.find(height);
  if (most == most_.end()) return false;
  if (most_scale_ && most->second * most_scale_->to_double() < kAtOptimum) return true;
  const auto best = best_rate(height);
  return best && best->to_double() >= most->second * kAtOptimum;
}

// Forests of the program.
void LowForests::find_by_program(std::int32_t height) {
  std::vector<std::int64_t> numbers;
  for (const Scaling& scaling : in_turn_) numbers.push_back(scaling.k);
  LowPackings found =
      pack_by_program(network_, weights_, height, numbers, is_any_number_, options_, most_scale_);
  if (found.most) most_[height] = *found.most;
  for (Packing& packing : found.packings) known_.offer(std::move(packing));
}

// Per root, of the best that is known.
std::optional<Ratio> LowForests::best_rate(std::int32_t height) const {
  const Packing* best = known_.best_within(height);
  if (best == nullptr) return std::nullopt;
  return checked_div(Ratio(best->scaling.k), best->scaling.scale);
}

// Where trees of the fastest number do not get so low at the lowest rate that is worth anything,
// those at higher rates do not either, if that rate is lower at all. `widest` is told what was
// found.
Expected<bool> LowForests::is_widest_enough(std::int32_t height, KnownForests& widest) {
  if (!most_scale_ || !may_be_low(fastest_.front(), height)) return true;
  PackOptions options = options_;
  options.enough_height = height;
  ScaleSearch search(network_, weights_, fastest_.front(), options, rivals_at(height), widest);
  if (search.most_steps() < 1) return true;
  if (auto done = search.run_at_most(); is_stop(done)) return done.errors();
  return widest.best_within(height) != nullptr;
}

// The fastest number of trees, where it loses next to nothing. With the usual effort first: where
// that is enough, more need not be spent.
Expected<void> LowForests::find_fastest(std::int32_t height) {
  const Scaling& fastest = fastest_.front();
  if (may_be_low(fastest, height)) {
    PackOptions usual = options_;
    usual.effort = std::min(options_.effort, Effort::normal);
    auto found =
        pack_so_far(network_, weights_, fastest, usual, IfStopped::give_up, {.most = height});
    if (!found) return was_stopped(found.errors()) ? found.errors() : Expected<void>();
    known_.offer(std::move(found->packing));
    if (!may_win(fastest, height)) return {};
  }
  if (auto found = find_fastest_with_longer_descents(height); !found) return found;
  if (!may_win(fastest, height)) return {};
  PackOptions options = options_;
  options.enough_height = height;
  // What longer descents did not reach, the same effort with shorter ones does not either.
  const std::int64_t first = options_.effort == Effort::normal ? 1 : 0;
  auto done = ScaleSearch(network_, weights_, fastest, options, rivals_at(height), known_)
                  .run_at_first_steps(first);
  if (is_stop(done)) return done;
  if (const Packing* best = known_.best_within(height)) {
    known_.offer(squeeze(network_, *best, 1, fastest.scale, height, options_.stop));
  }
  return {};
}

// Once, at the rate that cannot be beaten: where it succeeds, none of the searches that lose some
// of it is needed.
Expected<void> LowForests::find_fastest_with_longer_descents(std::int32_t height) {
  const Scaling& fastest = fastest_.front();
  if (options_.effort == Effort::fast || !may_be_low(fastest, height)) return {};
  PackOptions options = options_;
  options.enough_height = height;
  options.effort = Effort::normal;
  auto found = pack_so_far(network_, weights_, fastest, options, IfStopped::give_up,
                           {.most = height, .descents = Descents::as_long});
  if (!found) return was_stopped(found.errors()) ? found.errors() : Expected<void>();
  known_.offer(std::move(found->packing));
  return {};
}

// With little effort a search of each number alone costs next to nothing.
Expected<void> LowForests::search(const Scaling& scaling, const PackOptions& options,
                                  std::int32_t rival_height) {
  const bool is_asked = options.enough_height == rival_height;
  const bool is_alone =
      is_thorough(scaling) || (is_small() && is_asked && options.effort == Effort::fast);
  KnownForests own;
  KnownForests& rivals = is_alone ? own : known_;
  auto done =
      ScaleSearch(network_, weights_, scaling, options, rivals_at(rival_height), rivals).run();
  if (const Packing* best = rivals.best_within(options.enough_height)) note(*best);
  if (is_alone) known_.take_over(std::move(own));
  return done;
}

void LowForests::note(const Packing& packing) {
  const auto [at, is_new] = best_of_k_.try_emplace(packing.scaling.k, packing);
  if (!is_new && is_faster(packing.scaling, at->second.scaling)) at->second = packing;
}

// Numbers of trees from copies of fewer: all where these are few; else at the height that is asked
// for, from the fastest, and as many copies as may be; of the fastest of all any that may win.
void LowForests::squeeze_all(std::int32_t height, bool is_asked) {
  std::vector<std::int64_t> starts;
  for (const auto& [k, packing] : best_of_k_) starts.push_back(k);
  for (const std::int64_t k : starts) {
    for (const Scaling& scaling : in_turn_) {
      if (scaling.k % k == 0 && is_thorough(scaling)) squeeze_to(scaling, k, height);
    }
  }
  if (!is_small() || !is_asked) return;
  std::stable_sort(starts.begin(), starts.end(), [&](std::int64_t a, std::int64_t b) {
    return is_faster(best_of_k_.at(a).scaling, best_of_k_.at(b).scaling);
  });
  if (starts.size() > kSqueezed) starts.resize(kSqueezed);
  for (const std::int64_t k : starts) {
    for (const Scaling& scaling : in_turn_) {
      const bool is_tried = scaling.k == k || &scaling == most_copies(k) ||
                            (k == starts.front() && scaling.k % k == 0 && may_win(scaling, height));
      if (is_tried && !is_thorough(scaling)) squeeze_to(scaling, k, height);
    }
  }
}

// The largest multiple.
const Scaling* LowForests::most_copies(std::int64_t k) const {
  const Scaling* most = nullptr;
  for (const Scaling& scaling : in_turn_) {
    if (scaling.k % k == 0 && (most == nullptr || most->k < scaling.k)) most = &scaling;
  }
  return most;
}

// REQUIRES: a multiple of k.
void LowForests::squeeze_to(const Scaling& scaling, std::int64_t k, std::int32_t height) {
  const Packing& start = best_of_k_.at(k);
  const auto [at, is_new] = squeezed_.try_emplace({k, scaling.k}, start.scaling.scale);
  if ((!is_new && at->second == start.scaling.scale) || options_.stop.stop_requested()) return;
  at->second = start.scaling.scale;
  Packing packing = squeeze(network_, start, scaling.k / k, scaling.scale, height, options_.stop);
  note(packing);
  known_.offer(std::move(packing));
}

}  // namespace forestcoll::solver
