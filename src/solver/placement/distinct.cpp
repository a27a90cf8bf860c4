// Placements of a job that come to the same.
#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "forestcoll/gpu_choices.hpp"
#include "forestcoll/rate.hpp"
#include "solver/symmetry/fabric_group.hpp"

namespace forestcoll {
namespace {

// By operation, which ranks are together, and who is their root: what the bound depends on.
using Together = std::vector<std::set<std::pair<std::vector<Rank>, std::optional<Rank>>>>;

Together together_of(const Job& job, std::span<const Rank> placement) {
  Together together;
  for (const JobStep& step : job.steps) {
    for (const JobOperation& operation : step.operations) {
      auto& groups = together.emplace_back();
      for (std::vector<Rank> group : operation.groups) {
        for (Rank& rank : group) rank = placement[rank.index()];
        const auto root = operation.root ? std::optional(group[*operation.root]) : std::nullopt;
        if (!operation.demand) std::ranges::sort(group);
        groups.emplace(std::move(group), root);
      }
    }
  }
  return together;
}

// By rank, of automorphisms that move one.
std::vector<std::vector<Rank>> rank_images(const Network& network) {
  std::vector<std::vector<Rank>> images;
  for (const auto& nodes : solver::find_fabric_group(network, {}, uniform_weights(network))) {
    std::vector<Rank> image;
    bool moves = false;
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      image.push_back(network.rank_of[nodes[network.ranks[r]]]);
      moves = moves || image.back() != Rank(r);
    }
    if (moves) images.push_back(std::move(image));
  }
  return images;
}

std::vector<Rank> followed_by(std::span<const Rank> placement, const std::vector<Rank>& image) {
  std::vector<Rank> moved;
  for (const Rank rank : placement) moved.push_back(image[rank.index()]);
  return moved;
}

}  // namespace

std::vector<std::size_t> distinct_placements(const Network& network, const Job& job,
                                             std::span<const std::vector<Rank>> placements,
                                             bool by_symmetry) {
  std::map<Together, std::size_t> first;  // placements
  std::vector<std::size_t> distinct;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (first.emplace(together_of(job, placements[i]), i).second) distinct.push_back(i);
  }
  if (!by_symmetry || distinct.size() < 2) return distinct;
  boost::disjoint_sets_with_storage<> classes(placements.size());
  for (const std::vector<Rank>& image : rank_images(network)) {
    for (const std::size_t i : distinct) {
      const auto at = first.find(together_of(job, followed_by(placements[i], image)));
      if (at != first.end()) classes.union_set(i, at->second);
    }
  }
  std::set<std::size_t> known;
  std::erase_if(distinct, [&](std::size_t i) { return !known.insert(classes.find_set(i)).second; });
  return distinct;
}

}  // namespace forestcoll
