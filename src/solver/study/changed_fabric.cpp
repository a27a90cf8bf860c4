#include "solver/study/changed_fabric.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/whole_collective.hpp"
#include "solver/common/reaches_all.hpp"

namespace forestcoll::solver {
namespace {

// Of fabrics where what unbalanced switches cost is worked out for every change: a linear program
// each, a tenth of a second at 1,000 GPUs. It depends on nothing that a change changes, so that all
// results compare.
constexpr std::size_t kMostLinks = 500;

// More cuts than these are not tried as a start: each costs a look at every arc.
constexpr std::size_t kMostCuts = 64;

Diagnostic too_large() {
  return inexact("the exact rate of a changed fabric does not fit 64-bit fractions");
}

}  // namespace

ChangedFabric::ChangedFabric(const Topology& topology, Collective collective,
                             std::optional<Rank> root)
    : topology_(topology),
      collective_(collective),
      ranks_(topology.ranks),
      root_(root ? topology.ranks[root->index()] : NodeId()),
      by_lengths_(!topology.limits.empty() &&
                  !has_able_switches(switch_roles(topology), collective)) {}

Expected<Ratio> ChangedFabric::solve() {
  const auto network = to_digraph(topology_);
  if (!network) return network.errors();
  const Network backward = reversed(*network);
  if (!reaches_all(*network) || !reaches_all(backward)) return Ratio(0);
  ++solved_;
  if (!topology_.limits.empty()) return solve_within_limits(*network);
  if (collective_ == Collective::allreduce) {
    const auto best = allreduce_optimum(*network, switch_roles(topology_), {.classes = 0});
    if (!best) return best.errors();
    return best->upper;
  }
  const auto algbw =
      has_reduce(collective_) ? phase(backward, backward_cuts_) : phase(*network, forward_cuts_);
  if (!algbw) return too_large();
  return *algbw;
}

Expected<Ratio> ChangedFabric::upper_by_switches(const Network& network, const SwitchRoles& roles,
                                                 std::optional<Rank> root) const {
  if (collective_ == Collective::allreduce) {
    const auto best = allreduce_optimum(network, roles, {.classes = 0});
    return best ? Expected<Ratio>(best->upper) : Expected<Ratio>(best.errors());
  }
  const auto best = phase_optimum(network, roles, collective_, root);
  return best ? Expected<Ratio>(best->upper) : Expected<Ratio>(best.errors());
}

Expected<Ratio> ChangedFabric::solve_within_limits(const Network& network) {
  std::optional<Rank> root;
  if (root_.valid()) root = network.rank_of[root_];
  const auto best = optimum_of_all(network, operation_of_all(network, collective_, root));
  if (!best) return best.errors();
  const SwitchRoles roles = switch_roles(topology_);
  if (has_able_switches(roles, collective_)) {
    last_cut_proves_ = false;
    const auto upper = upper_by_switches(network, roles, root);
    return upper ? std::max(*upper, best->reached) : upper;
  }
  last_lengths_.clear();
  for (std::size_t a = 0; a < best->lengths.size(); ++a) {
    if (best->lengths[ArcId(a)] == 0) continue;
    last_lengths_.emplace(network.graph.tail(ArcId(a)), network.graph.head(ArcId(a)));
  }
  return best->at_most;
}

Expected<Ratio> ChangedFabric::without(const std::vector<LinkId>& links) {
  for (const LinkId link : links) topology_.links[link].enabled = false;
  auto algbw = solve();
  for (const LinkId link : links) topology_.links[link].enabled = true;
  return algbw;
}

Expected<Ratio> ChangedFabric::without_a_cable(const std::vector<LinkId>& links) {
  std::vector<Ratio> factors;
  for (const LinkId link : links) {
    const std::int64_t count = topology_.links[link].count;
    factors.emplace_back(count - 1, count);
  }
  return scaled(links, factors);
}

Expected<Ratio> ChangedFabric::without(const std::vector<NodeId>& nodes) {
  for (const NodeId v : nodes) topology_.nodes[v].enabled = false;
  std::erase_if(topology_.ranks, [&](NodeId v) { return !topology_.nodes[v].enabled; });
  auto algbw = has_work() ? solve() : Expected<Ratio>(Ratio(0));
  for (const NodeId v : nodes) topology_.nodes[v].enabled = true;
  topology_.ranks = ranks_;
  return algbw;
}

Expected<Ratio> ChangedFabric::widened(const std::vector<LinkId>& links, const Ratio& factor) {
  return scaled(links, std::vector<Ratio>(links.size(), factor));
}

Expected<Ratio> ChangedFabric::scaled(const std::vector<LinkId>& links,
                                      const std::vector<Ratio>& factors) {
  std::vector<Ratio> before, after;
  for (std::size_t i = 0; i < links.size(); ++i) {
    before.push_back(topology_.links[links[i]].bandwidth);
    const auto bandwidth = checked_mul(before.back(), factors[i]);
    if (!bandwidth) return too_large();
    after.push_back(*bandwidth);
  }
  for (std::size_t i = 0; i < links.size(); ++i) topology_.links[links[i]].bandwidth = after[i];
  auto algbw = solve();
  for (std::size_t i = 0; i < links.size(); ++i) topology_.links[links[i]].bandwidth = before[i];
  return algbw;
}

Expected<Ratio> ChangedFabric::widened_limits(const std::vector<std::size_t>& limits,
                                              const Ratio& factor) {
  const std::vector<SharedLimit> before = topology_.limits;
  for (const std::size_t limit : limits) {
    const auto bandwidth = checked_mul(before[limit].bandwidth, factor);
    if (!bandwidth) {
      topology_.limits = before;
      return too_large();
    }
    topology_.limits[limit].bandwidth = *bandwidth;
  }
  auto algbw = solve();
  topology_.limits = before;
  return algbw;
}

bool ChangedFabric::may_pay(const std::vector<LinkId>& links) const {
  if (by_lengths_) {
    return std::ranges::all_of(tight_lengths_, [&](const Directions& lengths) {
      return std::ranges::any_of(links, [&](LinkId id) {
        const TopologyLink& link = topology_.links[id];
        return lengths.contains({link.src, link.dst}) ||
               (link.full_duplex && lengths.contains({link.dst, link.src}));
      });
    });
  }
  if (collective_ == Collective::allreduce) return true;
  return std::ranges::all_of(tight_, [&](const std::vector<bool>& cut) {
    return std::ranges::any_of(links, [&](LinkId id) {
      const TopologyLink& link = topology_.links[id];
      const bool out = cut[link.src.index()] && !cut[link.dst.index()];
      const bool in = !cut[link.src.index()] && cut[link.dst.index()];
      return out || (link.full_duplex && in);
    });
  });
}

void ChangedFabric::keep_tight_cut() {
  if (by_lengths_) return tight_lengths_.push_back(last_lengths_);
  if (!last_cut_proves_ || collective_ == Collective::allreduce) return;
  std::vector<bool> sends(topology_.nodes.size(), false);
  for (const NodeId v : last_cut_) sends[v.index()] = true;
  if (has_reduce(collective_)) sends.flip();
  tight_.push_back(std::move(sends));
}

bool ChangedFabric::has_work() const {
  if (topology_.ranks.size() < 2) return false;
  if (root_.valid()) return topology_.nodes[root_].enabled;
  if (collective_ != Collective::allgather && collective_ != Collective::reduce_scatter)
    return true;
  return std::ranges::any_of(topology_.ranks,
                             [&](NodeId v) { return topology_.nodes[v].weight > Ratio(0); });
}

// Those that still have compute nodes on both sides.
ChangedFabric::Cuts ChangedFabric::usable(const Cuts& cuts, const Network& network) {
  Cuts left;
  for (const std::vector<NodeId>& cut : cuts) {
    const auto inside =
        std::ranges::count_if(cut, [&](NodeId v) { return network.rank_of[v].valid(); });
    const auto all = static_cast<std::ptrdiff_t>(network.ranks.size());
    if (inside > 0 && inside < all) left.push_back(cut);
  }
  return left;
}

std::optional<Ratio> ChangedFabric::phase(const Network& network, Cuts& cuts) {
  const Weights weights =
      root_.valid() ? single_root(network, network.rank_of[root_]) : shares(network);
  const bool complete = topology_.ranks.size() == ranks_.size();
  Rate of_cuts = optimal_rate(network, weights, complete ? cuts : usable(cuts, network));
  // Where a switch does in the phase what trees cannot, the cuts are what bounds it.
  const bool are_able = has_able_switches(switch_roles(topology_), collective_);
  const Rate rate = topology_.links.size() > kMostLinks || are_able
                        ? std::move(of_cuts)
                        : tree_rate(network, weights, std::move(of_cuts));
  last_cut_ = rate.bottleneck.sending;
  last_cut_proves_ = is_proved_by_cut(rate);
  if (cuts.size() < kMostCuts && std::ranges::find(cuts, last_cut_) == cuts.end()) {
    cuts.push_back(last_cut_);
  }
  const std::int64_t all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  const auto in_units = checked_div(Ratio(all), rate.inverse);
  return in_units ? checked_mul(*in_units, network.unit) : std::nullopt;
}

}  // namespace forestcoll::solver
