#include "solver/pack/star_shares.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "solver/height/whole/passages.hpp"

namespace forestcoll::solver {
namespace {

// Of a tree, what rounding down does not count.
constexpr double kUncounted = 1.0 / 64;

// Does an arc of a rank lead out of its group?
bool leads_out(const Core& core, const Passages& passages, std::size_t group, ArcId arc) {
  const auto is_other = [&](NodeId v) {
    return core.rank_of[v].valid() && passages.group_of(core.rank_of[v]) != group;
  };
  const NodeId head = core.graph.head(arc);
  if (core.rank_of[head].valid()) return is_other(head);
  for (ArcId a = core.graph.first_out(head); a != core.graph.last_out(head); ++a.value) {
    if (!core.rank_of[core.graph.head(a)].valid() || is_other(core.graph.head(a))) return true;
  }
  return false;
}

// The most common of the values that are not 0; of equally common ones the largest.
double most_common(const IdVector<Rank, double>& values) {
  std::map<double, std::size_t> counts;
  for (const double value : values) {
    if (value > 0) ++counts[value];
  }
  const auto most = std::ranges::max_element(
      counts, [](const auto& a, const auto& b) { return a.second <= b.second; });
  return most->first;
}

// The group has what its ranks have together, rounded down: of these, one more where a rank lacks
// the most by its own.
void round_down(const std::vector<Rank>& members, const IdVector<Rank, double>& exact,
                Weights& trees) {
  double sum = kUncounted;
  for (const Rank r : members) sum += exact[r];
  auto left = static_cast<std::int64_t>(sum);
  for (const Rank r : members) {
    trees[r] = static_cast<std::int64_t>(exact[r] + kUncounted);
    left -= trees[r];
  }
  std::vector<Rank> order = members;
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](Rank r) { return exact[r] - static_cast<double>(trees[r]); });
  for (std::int64_t i = 0; i < left; ++i) ++trees[order[static_cast<std::size_t>(i)]];
}

}  // namespace

StarShares::StarShares(const Core& core) : leaving_rank_(core.compute.size(), 0) {
  const Passages passages(core, plain_resources(core.capacity), core.capacity);
  for (std::size_t g = 0; g < passages.group_count(); ++g) {
    const auto members = passages.members(g);
    members_.emplace_back(members.begin(), members.end());
    Capacity sum = 0, inside = 0;
    for (const Rank r : members) {
      const NodeId v = core.compute[r.index()];
      for (ArcId a = core.graph.first_out(v); a != core.graph.last_out(v); ++a.value) {
        (leads_out(core, passages, g, a) ? leaving_rank_[r] : inside) += core.capacity[a];
      }
      sum += leaving_rank_[r];
    }
    leaving_.push_back(sum);
    inside_.push_back(inside);
    is_joined_ &= sum > 0 && (members.size() == 1 || inside > 0);
  }
}

// With u times the capacities and one tree in all, a group of capacity c roots (u·c − 1) / (G − 2);
// of those that this leaves something, all together root the tree.
std::vector<double> StarShares::shares_of_groups() const {
  std::vector<Capacity> widest = leaving_;
  std::ranges::sort(widest, std::greater<>());
  const auto groups = static_cast<double>(widest.size());
  double sum = 0, scale = 0;
  for (std::size_t i = 0; i < widest.size(); ++i) {
    const auto width = static_cast<double>(widest[i]);
    if (i > 0 && scale * width <= 1) break;
    sum += width;
    scale = (static_cast<double>(i + 1) + groups - 2) / sum;
  }
  std::vector<double> shares;
  for (const Capacity width : leaving_) {
    shares.push_back(std::max(scale * static_cast<double>(width) - 1, 0.0) / (groups - 2));
  }
  return shares;
}

Weights StarShares::trees(std::int64_t k) const {
  const std::vector<double> of_groups = shares_of_groups();
  IdVector<Rank, double> shares(leaving_rank_.size(), 0);
  for (std::size_t g = 0; g < members_.size(); ++g) {
    // As for groups: what its own way out leaves beside what enters by it.
    const auto size = static_cast<double>(members_[g].size());
    const double through = (1 - of_groups[g]) / size;
    const double scale = ((static_cast<double>(members_.size()) - 2) * of_groups[g] + 1) /
                         static_cast<double>(leaving_[g]);
    double sum = 0;
    for (const Rank r : members_[g]) {
      shares[r] = std::max(scale * static_cast<double>(leaving_rank_[r]) - through, 0.0);
      sum += shares[r];
    }
    for (const Rank r : members_[g]) shares[r] *= sum > 0 ? of_groups[g] / sum : 0;
  }
  const double each = static_cast<double>(k) / most_common(shares);
  for (double& share : shares) share *= each;
  Weights trees(shares.size(), 0);
  for (const std::vector<Rank>& members : members_) round_down(members, shares, trees);
  return trees;
}

Ratio StarShares::scale(const Weights& trees) const {
  const auto groups = static_cast<std::int64_t>(members_.size());
  std::int64_t all = 0;
  std::vector<std::int64_t> at_place;  // what enters a group by the same place in it
  for (const std::vector<Rank>& members : members_) {
    at_place.resize(std::max(at_place.size(), members.size()), 0);
    for (std::size_t i = 0; i < members.size(); ++i) {
      all += trees[members[i]];
      at_place[i] += trees[members[i]];
    }
  }
  Ratio scale = 0;
  for (std::size_t g = 0; g < members_.size(); ++g) {
    std::int64_t rooted = 0;
    for (std::size_t i = 0; i < members_[g].size(); ++i) {
      const std::int64_t own = trees[members_[g][i]];
      rooted += own;
      // Others can take the place of one that roots nothing, or has no way out.
      if (own == 0 || leaving_rank_[members_[g][i]] == 0) continue;
      scale =
          std::max(scale, Ratio(at_place[i] + (groups - 2) * own, leaving_rank_[members_[g][i]]));
    }
    scale = std::max(scale, Ratio(all + (groups - 2) * rooted, leaving_[g]));
    const auto size = static_cast<std::int64_t>(members_[g].size());
    if (size > 1) scale = std::max(scale, Ratio(2 * (size - 1) * all, inside_[g]));
  }
  return scale;
}

}  // namespace forestcoll::solver
