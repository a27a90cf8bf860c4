#include "solver/symmetry/runs.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/mix.hpp"

namespace forestcoll::solver {
namespace {

// Ranks of the longest run that is compared with others: of a box, or some boxes.
constexpr std::size_t kMaxRun = 256;

// Names of all runs of `size` ranks, by their first: runs that look alike have the same.
std::vector<std::uint64_t> name_runs(const std::vector<std::uint64_t>& colours, std::size_t size) {
  // A polynomial in an odd number, modulo 2^64.
  constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;
  std::uint64_t name = 0, highest = 1;
  for (std::size_t i = 1; i < size; ++i) highest *= kBase;
  std::vector<std::uint64_t> names;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    if (i >= size) name -= highest * colours[i - size];
    name = name * kBase + colours[i];
    if (i + 1 >= size) names.push_back(name);
  }
  return names;
}

}  // namespace

std::size_t count_different(std::vector<std::uint64_t> numbers) {
  std::ranges::sort(numbers);
  return static_cast<std::size_t>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
}

std::vector<Rank> largest_class(const Network& network, const NodeColours& node_colours,
                                const std::vector<Rank>& among) {
  const std::size_t ranks = among.size();
  std::vector<std::uint64_t> colours;
  for (const Rank r : among) colours.push_back(base::mix(node_colours[network.ranks[r.index()]]));
  if (count_different(colours) == ranks) return {};

  struct Runs {
    std::size_t count = 0, end = 0;  ///< disjoint ones, and where the last one ends
  };
  std::vector<Rank> best;
  for (std::size_t size = 1; size <= std::min(kMaxRun, ranks / 2) && best.size() + size <= ranks;
       ++size) {
    const auto names = name_runs(colours, size);
    std::unordered_map<std::uint64_t, Runs> runs;
    std::pair<std::size_t, std::uint64_t> most = {1, 0};
    for (std::size_t first = 0; first < names.size(); ++first) {
      Runs& alike = runs[names[first]];
      if (first < alike.end) continue;
      alike = {alike.count + 1, first + size};
      if (alike.count > most.first) most = {alike.count, names[first]};
    }
    if (most.first == 1 || most.first * size <= best.size()) continue;
    best.clear();
    for (std::size_t first = 0; first < names.size();) {
      if (names[first] != most.second) {
        ++first;
        continue;
      }
      for (std::size_t i = 0; i < size; ++i, ++first) best.push_back(among[first]);
    }
  }
  return best;
}

}  // namespace forestcoll::solver
