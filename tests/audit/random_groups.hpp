// Process groups at random among the ranks of a plan, each with a forest of its own.
#pragma once

#include <deque>
#include <random>
#include <vector>

#include "audit/random_forest.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace audit_test {

/// The forests of such groups; with relays, edges lead over all ranks outside of a group.
class RandomGroups {
 public:
  /// `k`: of each group; empty: one or two.
  RandomGroups(forestcoll::Collective collective, const std::vector<std::vector<int>>& groups,
               int ranks, bool relays, std::mt19937_64& random, const std::vector<int>& k = {}) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      add(collective, groups[g], ranks, relays,
          k.empty() ? 1 + static_cast<int>(random() % 2) : k[g], random);
    }
  }
  RandomGroups(const RandomGroups&) = delete;
  RandomGroups& operator=(const RandomGroups&) = delete;

  std::vector<forestcoll::GroupForest> forests;

 private:
  void add(forestcoll::Collective collective, const std::vector<int>& group, int ranks, bool relays,
           int k, std::mt19937_64& random) {
    std::vector<int> others;
    for (int r = 0; r < ranks && relays; ++r) {
      if (std::ranges::find(group, r) == group.end()) others.push_back(r);
    }
    const auto n = static_cast<int>(group.size());
    trees_.push_back(
        random_collective(collective, n, k, false, random, {}, static_cast<int>(others.size())));
    forestcoll::GroupForest& made = forests.emplace_back();
    made.forest = &trees_.back();
    for (const int r : group) made.members.emplace_back(r);
    if (others.empty()) return;
    made.relays =
        forestcoll::IdVector<forestcoll::NodeId, forestcoll::Rank>(group.size() + others.size());
    for (std::size_t i = 0; i < others.size(); ++i) {
      made.relays[forestcoll::NodeId(group.size() + i)] = forestcoll::Rank(others[i]);
    }
  }

  std::deque<forestcoll::CollectiveForest> trees_;
};

}  // namespace audit_test
