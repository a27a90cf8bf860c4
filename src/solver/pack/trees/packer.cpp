// Packing spanning trees straight into a switched fabric, by lazy cuts.
//
// Let q_r be the trees that root r still owes. A completion exists as long as, for every set X
// that holds a compute node,
//     residual capacity into X ≥ Σ_{r∉X} q_r   (+ a tree in progress that has not reached X),
// provided that every switch can pass on what enters it: balanced switches can be split off
// without lowering any of these cuts (Bang-Jensen, Frank, Jackson 1995, after Mader), and what
// remains is Edmonds' theorem (1973) on disjoint branchings. A route through switches takes as
// much from a switch's ingress as from its egress, so balance is kept.
//
// Testing that invariant for each step is what made published packers slow. Here trees grow
// greedily, guarded only by a pool of known cuts, and the invariant is tested after whole batches
// by one flow per sink. A violated cut joins the pool, and the newest trees that damage it are
// taken back: that never lowers any cut's slack, so the sinks that were already tested stay good
// and the same pass goes on. Each failed test adds a cut that the pool lacked, so this ends.
// When nothing is owed any more, the forest itself is the proof.
//
// Where the fabric has automorphisms, a tree is packed together with its images under the group,
// so that one root of each orbit is enough; the invariant is then the same for all images, and
// sinks are tested once per orbit. A symmetric packing need not exist where a packing does: the
// caller then tries a smaller group. Ranks that the group leaves alone come last, one by one.
#include "solver/pack/trees/packer.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace forestcoll::solver {
namespace {

// Trees between two tests of the invariant, at first.
constexpr std::size_t kFirstBatch = 16;

// Failed tests of one tree after which its edges are tested one by one.
constexpr int kFailedTests = 4;

// Routes through switches that are tried for one edge: few, and all (in effect) before a tree is
// called impossible.
constexpr int kRoutesTried = 64;
constexpr int kAllRoutes = 1 << 20;

}  // namespace

Packer::Packer(const Core& core, const Orbits& orbits, const IdVector<Rank, std::int64_t>& owed,
               std::vector<Rank> roots, int threads, TreeStore& store, PackStatistics& statistics,
               Budget& budget)
    : core_(core),
      orbits_(orbits),
      roots_(std::move(roots)),
      state_(core, orbits, owed, store),
      growth_(
          state_, [this](std::span<const ArcId> route) { return allows(route); }, budget),
      invariant_(state_, threads, budget),
      statistics_(statistics),
      budget_(budget),
      batch_(kFirstBatch),
      least_owed_(state_.total_owed()) {}

bool Packer::run(const std::function<void(std::int64_t owed)>& report) {
  const bool done = pack_all(report);
  if (state_.growing().active()) state_.set_multiplicity(0);
  return done;
}

bool Packer::pack_all(const std::function<void(std::int64_t owed)>& report) {
  if (!invariant_.holds([this](const SinkSide& side) { state_.add_cut(side); })) return false;
  const auto owes = [this](Rank root) { return state_.owed(root) > 0; };
  while (std::any_of(roots_.begin(), roots_.end(), owes)) {
    for (const Rank root : roots_) {
      while (owes(root)) {
        if (!(has_images() ? pack_with_images(root) : pack_one(root))) return false;
        report(state_.total_owed());
      }
    }
  }
  statistics_.cuts += static_cast<std::int64_t>(state_.pool().size());
  return true;
}

bool Packer::pack_one(Rank root) {
  state_.begin_tree(root);
  exact_ = failed_tests_ >= kFailedTests && unverified_.empty();
  bool verified = false;
  int routes = kRoutesTried;
  while (!verified) {
    if (budget_.is_over()) return false;
    if (!growth_.extend(routes, routes == kAllRoutes)) {
      if (!exact_ && test_and_repair()) continue;
      // The invariant holds, yet a tree this wide does not go on from here.
      if (state_.growing().multiplicity == 1) {
        if (routes == kAllRoutes) return false;
        routes = kAllRoutes;
        continue;
      }
      shrink_to_extend();
    } else if (!exact_ && state_.total_owed() > 0 && unverified_.size() + 1 >= batch_) {
      // Tested before it is finished, a tree loses only the subtrees that do damage.
      verified = !test_and_repair();
      if (budget_.is_over()) return false;
    } else {
      break;
    }
  }
  const SlotId slot = state_.finish_tree();
  if constexpr (base::kCheckProofs) prove_pool();
  if (!verified && !exact_) unverified_.push_back(slot);
  if (state_.total_owed() < least_owed_) {
    least_owed_ = state_.total_owed();
    failed_tests_ = 0;
  }
  return true;
}

// A tree and all its images at once. Every one is tested when it is finished, so the invariant
// holds whenever one begins.
bool Packer::pack_with_images(Rank root) {
  state_.begin_tree(root);
  while (!growth_.extend(kRoutesTried, false)) {
    if (budget_.is_over()) return false;
    const std::int64_t multiplicity = state_.growing().multiplicity;
    const std::size_t missing = core_.compute.size() - state_.growing().reached.size();
    // A wide tree that lacks a few ranks is too wide for what is left of some orbits.
    const bool wide = multiplicity > 1 && missing * 16 < core_.compute.size();
    if (!wide && invariant_.can_test_growing() && test_and_repair()) continue;
    if (multiplicity == 1) return false;
    shrink_to_extend();
  }
  unverified_.assign(1, state_.finish_tree());
  if constexpr (base::kCheckProofs) prove_pool();
  if (state_.total_owed() == 0) return true;
  test_and_repair();
  return !budget_.is_over();
}

// The last word on an edge, where the invariant is known to hold. A route through switches enters
// cuts that the exact test of an edge does not see: it is taken on trust, and the next test of
// all sinks judges it.
bool Packer::allows(std::span<const ArcId> route) {
  if (!exact_) return true;
  if (route.size() > 1) {
    exact_ = false;
    return true;
  }
  const SinkSide violated =
      invariant_.test_edge(core_.graph.tail(route.front()), core_.graph.head(route.front()));
  if (violated.empty()) return true;
  state_.add_cut(violated);
  return false;
}

// The largest smaller multiplicity at which some rank can be attached; at 1 if nowhere.
void Packer::shrink_to_extend() {
  ++statistics_.splits;
  std::int64_t fits = 1;
  std::int64_t fails = state_.growing().multiplicity;
  while (fails - fits > 1) {
    const std::int64_t middle = fits + (fails - fits) / 2;
    state_.set_multiplicity(middle);
    (growth_.can_extend(kRoutesTried) ? fits : fails) = middle;
  }
  state_.set_multiplicity(fits);
}

// Tests the invariant at every sink. Violated cuts join the pool and trees are taken back until
// all hold. True where something was violated.
bool Packer::test_and_repair() {
  ++statistics_.checks;
  const std::size_t packed = unverified_.size() + 1;
  const bool holds = invariant_.test([this](const SinkSide& side) { repair(side); });
  adapt_batch(packed, packed - unverified_.size() - 1);
  unverified_.clear();
  if (!holds) ++failed_tests_;
  exact_ = !has_images() && failed_tests_ >= kFailedTests;
  return !holds;
}

// Proof level: what the pool has added up step by step is what the definition says.
void Packer::prove_pool() {
  for (std::size_t x = 0; x < state_.pool().size(); ++x) {
    const SinkSide& inside = state_.pool().inside(CutId(x));
    FORESTCOLL_CHECK(state_.pool().slack(CutId(x)) == state_.slack_of(inside),
                     "a cut's slack is its definition");
    FORESTCOLL_CHECK(state_.pool().slack(CutId(x)) >= 0, "the pool's invariant");
  }
}

// Larger batches while little has to be taken back.
void Packer::adapt_batch(std::size_t packed, std::size_t removed) {
  if (removed * 2 >= packed) {
    batch_ = std::max<std::size_t>(1, std::min(batch_, packed) / 2);
  } else if (removed * 8 <= packed && packed >= batch_) {
    batch_ *= 2;
  }
}

// Makes the violated cut hold: first by dropping what enters it needlessly from the tree in
// progress, then by taking back the newest trees that do.
void Packer::repair(const SinkSide& side) {
  const CutId x = state_.add_cut(side);
  const CutPool& pool = state_.pool();
  FORESTCOLL_CHECK(pool.slack(x) < 0, "a violated cut has negative slack");
  while (pool.slack(x) < 0 && drop_newest_damage(x)) count_repair();
  for (std::size_t i = unverified_.size(); i-- > 0 && pool.slack(x) < 0;) {
    if (!state_.damages(unverified_[i], side)) continue;
    state_.remove_tree(unverified_[i]);
    unverified_.erase(unverified_.begin() + static_cast<std::ptrdiff_t>(i));
    count_repair();
  }
  FORESTCOLL_CHECK(pool.slack(x) >= 0, "taking trees back must mend a cut");
}

void Packer::count_repair() {
  ++statistics_.repairs;
  budget_.spend_repair();
}

// Takes back the newest edge of the tree in progress that damages the cut; false without one.
bool Packer::drop_newest_damage(CutId x) {
  if (!state_.growing().active()) return false;
  const Rank newest = state_.newest_damage(x);
  if (newest.valid()) state_.detach_subtree(newest);
  return newest.valid();
}

}  // namespace forestcoll::solver
