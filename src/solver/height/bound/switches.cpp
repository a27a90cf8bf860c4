// Heights that few edges through switches force, where ranks have arcs of their own too.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/height/bound/cuts.hpp"

namespace forestcoll::solver {
namespace {

constexpr std::int64_t kMostSwitchSteps = std::int64_t{1} << 24;

// Ranks joined by arcs of their own. An edge through switches comes to one rank, at depth 1 at
// least; without another one a tree of height h gets h − 1 hops further from there.
class DirectReach {
 public:
  DirectReach(const Network& network, const Weights& weights, const Scaling& scaling)
      : network_(network), weights_(weights), scaling_(scaling), component_(network.ranks.size()) {
    number_components();
    for (std::size_t r = 0; r < network.ranks.size(); ++r) measure(Rank(r));
  }

  /// The least height at which all trees need no more edges through switches than there can be.
  std::int32_t least_height() {
    const Int128 most = edges_through_switches();
    const auto ranks = static_cast<std::int32_t>(network_.ranks.size());
    std::int32_t height = 1;
    while (height < ranks && needed(height) > most) ++height;
    return height;
  }

 private:
  template <class Visit>
  void for_each_neighbour(Rank r, Visit&& visit) const {
    const NodeId v = network_.ranks[r.index()];
    for (ArcId a = network_.graph.first_out(v); a != network_.graph.last_out(v); ++a.value) {
      const Rank to = network_.rank_of[network_.graph.head(a)];
      if (to.valid() && scaling_.capacity[a] > 0) visit(to);
    }
  }

  // Whatever the direction of the arcs: nothing direct leads from one component to another.
  void number_components() {
    std::vector<std::vector<Rank>> both(network_.ranks.size());
    for (std::size_t r = 0; r < both.size(); ++r) {
      for_each_neighbour(Rank(r), [&](Rank to) {
        both[r].push_back(to);
        both[to.index()].push_back(Rank(r));
      });
    }
    constexpr auto kNone = std::numeric_limits<std::size_t>::max();
    component_.assign(both.size(), kNone);
    for (std::size_t r = 0; r < both.size(); ++r) {
      if (component_[Rank(r)] != kNone) continue;
      queue_.assign(1, Rank(r));
      component_[Rank(r)] = size_.size();
      for (std::size_t q = 0; q < queue_.size(); ++q) {
        for (const Rank to : both[queue_[q].index()]) {
          if (component_[to] != kNone) continue;
          component_[to] = size_.size();
          queue_.push_back(to);
        }
      }
      size_.push_back(static_cast<std::int64_t>(queue_.size()));
    }
    largest_.resize(size_.size());
    within_.resize(network_.ranks.size());
  }

  // How many ranks are within 0, 1, 2, … hops.
  void measure(Rank start) {
    std::vector<std::int64_t>& within = within_[start.index()];
    depth_.assign(network_.ranks.size(), -1);
    depth_[start] = 0;
    queue_.assign(1, start);
    for (std::size_t q = 0; q < queue_.size(); ++q) {
      const auto depth = static_cast<std::size_t>(depth_[queue_[q]]);
      if (within.size() <= depth) within.resize(depth + 1, 0);
      ++within[depth];
      for_each_neighbour(queue_[q], [&](Rank to) {
        if (depth_[to] >= 0) return;
        depth_[to] = static_cast<std::int32_t>(depth) + 1;
        queue_.push_back(to);
      });
    }
    std::partial_sum(within.begin(), within.end(), within.begin());
    std::vector<std::int64_t>& largest = largest_[component_[start]];
    const std::size_t depths = std::max(largest.size(), within.size());
    const auto at = [](const std::vector<std::int64_t>& sums, std::size_t depth) {
      return sums.empty() ? 0 : sums[std::min(depth, sums.size() - 1)];
    };
    std::vector<std::int64_t> most(depths);
    for (std::size_t d = 0; d < depths; ++d) most[d] = std::max(at(largest, d), at(within, d));
    largest = std::move(most);
  }

  // Such edges leave a rank for a switch and enter a rank from one.
  [[nodiscard]] Int128 edges_through_switches() const {
    Int128 up = 0, down = 0;
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
      const bool from_rank = network_.is_compute(network_.graph.tail(ArcId(a)));
      const bool to_rank = network_.is_compute(network_.graph.head(ArcId(a)));
      if (from_rank && !to_rank) up += scaling_.capacity[ArcId(a)];
      if (!from_rank && to_rank) down += scaling_.capacity[ArcId(a)];
    }
    return std::min(up, down);
  }

  // Edges through switches that trees of this height have at least.
  [[nodiscard]] Int128 needed(std::int32_t height) const {
    const auto most_within = [&](std::size_t component) {
      const auto& largest = largest_[component];
      return largest[std::min(static_cast<std::size_t>(height - 1), largest.size() - 1)];
    };
    const auto entries = [](std::int64_t ranks, std::int64_t each) {
      return (ranks + each - 1) / each;
    };
    Int128 all = 0;
    for (std::size_t c = 0; c < size_.size(); ++c) all += entries(size_[c], most_within(c));
    Int128 sum = 0;
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      const std::size_t own = component_[Rank(r)];
      const auto& within = within_[r];
      const std::int64_t reached =
          within[std::min(static_cast<std::size_t>(height), within.size() - 1)];
      const Int128 of_tree = all - entries(size_[own], most_within(own)) +
                             entries(size_[own] - reached, most_within(own));
      sum += of_tree * weights_[Rank(r)] * scaling_.k;
    }
    for (std::size_t c = 0; c < size_.size(); ++c) {
      if (entries(size_[c], most_within(c)) == 1) sum += second_entries(c, height);
    }
    return sum;
  }

  // Trees that come to a component at one rank only must come to one that reaches all the others
  // in time; the capacity into those ranks may not do for all trees from outside.
  [[nodiscard]] Int128 second_entries(std::size_t component, std::int32_t height) const {
    Int128 missing = 0;
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      if (component_[Rank(r)] != component) {
        missing += Int128{weights_[Rank(r)]} * scaling_.k;
        continue;
      }
      const auto& within = within_[r];
      if (within[std::min(static_cast<std::size_t>(height - 1), within.size() - 1)] <
          size_[component]) {
        continue;
      }
      for (const ArcId a : network_.graph.in(network_.ranks[r])) {
        if (!network_.is_compute(network_.graph.tail(a))) missing -= scaling_.capacity[a];
      }
    }
    return std::max<Int128>(missing, 0);
  }

  const Network& network_;
  const Weights& weights_;
  const Scaling& scaling_;
  IdVector<Rank, std::size_t> component_;
  std::vector<std::int64_t> size_;                  ///< of each component
  std::vector<std::vector<std::int64_t>> within_;   ///< by rank and hops
  std::vector<std::vector<std::int64_t>> largest_;  ///< by component and hops
  IdVector<Rank, std::int32_t> depth_;
  std::vector<Rank> queue_;
};

}  // namespace

std::int32_t height_forced_by_switches(const Network& network, const Weights& weights,
                                       const Scaling& scaling) {
  const auto ranks = static_cast<std::int64_t>(network.ranks.size());
  const bool switched = ranks < static_cast<std::int64_t>(network.graph.node_count());
  if (!switched || ranks * size_of(network) > kMostSwitchSteps) return 1;
  return DirectReach(network, weights, scaling).least_height();
}

}  // namespace forestcoll::solver
