// Sets of GPUs to take of a fabric.
#include "forestcoll/gpu_choices.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/mix.hpp"
#include "forestcoll/rate.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll {
namespace {

using Ranks = std::vector<Rank>;
using Boxes = std::vector<Ranks>;

// Beginnings of runs that are tried: of boxes, and of GPUs within them.
constexpr std::size_t kMostStarts = 8;
// Classes of GPUs that are left out in turn, the smallest first, and likewise taken alone.
constexpr std::size_t kMostClasses = 4;
// Sets that are looked at, and arcs of all of them together, which take a second or so.
constexpr std::size_t kMostLookedAt = 4000, kMostArcs = 4'000'000, kLeastLookedAt = 64;

Ranks ranks_of(const Network& network) {
  Ranks all;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) all.emplace_back(r);
  return all;
}

// `most` + 1 where there are more.
std::size_t count_sets(std::size_t n, std::size_t count, std::size_t most) {
  std::size_t sets = 1;
  for (std::size_t i = 0; i < std::min(count, n - count); ++i) {
    sets = sets * (n - i) / (i + 1);
    if (sets > most) return most + 1;
  }
  return sets;
}

// Indices at equal steps.
struct Run {
  std::size_t begin = 0, step = 1;
};

// Of `length` among `n`: next to one another, and as far apart as there is room for.
std::vector<Run> runs_of(std::size_t length, std::size_t n) {
  std::vector<Run> runs;
  for (const std::size_t step : std::set<std::size_t>{1, n / length}) {
    const std::size_t last = n - 1 - (length - 1) * step;
    const std::size_t apart = std::bit_ceil((last + kMostStarts - 1) / kMostStarts);
    for (std::size_t begin = 0; begin <= last; begin += apart) runs.push_back({begin, step});
    if (last % apart != 0) runs.push_back({last, step});
  }
  return runs;
}

class ByBoxes {
 public:
  ByBoxes(const Topology& topology, const Network& network, std::size_t count, std::size_t most)
      : topology_(topology),
        network_(network),
        count_(count),
        most_(most),
        colours_(solver::colours_by_weight(network, uniform_weights(network))),
        left_(std::max(std::min(kMostLookedAt, kMostArcs / (1 + network.graph.arc_count())),
                       kLeastLookedAt)) {}

  GpuChoices run() && {
    std::size_t turn = 0;
    for (const Ranks& pool : pools()) {
      for (const Boxes& boxes : divisions(pool)) add_of_boxes(boxes, turn);
      ++turn;
    }
    std::ranges::stable_sort(found_, {}, &Found::turn);
    GpuChoices choices;
    for (Found& found : found_) {
      if (choices.sets.size() == most_ || left_ == 0) break;
      --left_;
      // Limits have no colours.
      const bool is_new = !network_.limits.empty() || seen_.insert(looks_of(found.set)).second;
      if (is_new) choices.sets.push_back(std::move(found.set));
    }
    return choices;
  }

 private:
  // Sets come in turns, so that the first ones are of all kinds.
  struct Found {
    std::size_t turn = 0;
    Ranks set;
  };

  // GPUs to choose from: all; all but those of one class; those of one class.
  [[nodiscard]] std::vector<Ranks> pools() const {
    std::map<std::uint64_t, Ranks> by_colour;
    const Ranks all = ranks_of(network_);
    const auto seen = solver::refined(network_, colours_);
    for (const Rank r : all) by_colour[seen[network_.ranks[r.index()]]].push_back(r);
    std::vector<Ranks> classes;
    for (auto& entry : by_colour) classes.push_back(std::move(entry.second));
    std::ranges::sort(classes);  // colours say nothing
    std::ranges::stable_sort(classes, {}, &Ranks::size);
    std::vector<Ranks> found{all};
    if (classes.size() == 1) return found;
    const std::size_t tried = std::min(kMostClasses, classes.size());
    for (std::size_t c = 0; c < tried; ++c) {
      auto& others = found.emplace_back();
      std::ranges::set_difference(all, classes[c], std::back_inserter(others));
    }
    found.insert(found.end(), classes.end() - static_cast<std::ptrdiff_t>(tried), classes.end());
    std::erase_if(found, [&](const Ranks& pool) { return pool.size() < count_; });
    return found;
  }

  // Into boxes; where there are none, into blocks of ranks.
  [[nodiscard]] std::vector<Boxes> divisions(const Ranks& pool) const {
    std::map<std::string, std::size_t> number;
    Boxes boxes;
    for (const Rank r : pool) {
      const std::string& box = topology_.nodes[network_.ranks[r.index()]].box;
      const std::size_t at = number.emplace(box, boxes.size()).first->second;
      if (at == boxes.size()) boxes.emplace_back();
      boxes[at].push_back(r);
    }
    if (boxes.size() > 1) return {boxes};
    std::vector<Boxes> found{boxes};
    const std::size_t n = network_.ranks.size();
    for (std::size_t size = n / 2; size > 1; --size) {
      if (n % size != 0) continue;
      auto& blocks = found.emplace_back(n / size);
      for (const Rank r : pool) blocks[r.index() / size].push_back(r);
    }
    return found;
  }

  void add_of_boxes(const Boxes& boxes, std::size_t first_turn) {
    std::size_t largest = 0;
    for (const Ranks& box : boxes) largest = std::max(largest, box.size());
    const std::size_t most = std::min(count_, largest);
    for (std::size_t each = most; each > 0; --each) {
      Boxes enough;
      for (const Ranks& box : boxes) {
        if (box.size() >= each) enough.push_back(box);
      }
      const std::size_t taken = (count_ + each - 1) / each;
      if (taken > enough.size()) continue;
      std::size_t turn = first_turn + most - each;
      for (const Run& run : runs_of(taken, enough.size())) {
        Boxes chosen;
        for (std::size_t i = 0; i < taken; ++i) {
          chosen.push_back(enough[run.begin + i * run.step]);
        }
        add_of_each(chosen, each, turn++);
      }
    }
  }

  // So many GPUs of each box, at the same places in it, and the rest of the last.
  void add_of_each(const Boxes& boxes, std::size_t each, std::size_t turn) {
    const std::size_t places = std::ranges::min(boxes, {}, &Ranks::size).size();
    for (const Run& run : runs_of(each, places)) {
      Ranks set;
      for (const Ranks& box : boxes) {
        for (std::size_t i = 0; i < each && set.size() < count_; ++i) {
          set.push_back(box[run.begin + i * run.step]);
        }
      }
      std::ranges::sort(set);
      add(std::move(set), turn++);
    }
  }

  void add(Ranks set, std::size_t turn) {
    if (known_.insert(set).second) found_.push_back({turn, std::move(set)});
  }

  // What colour refinement sees of the fabric with these GPUs marked.
  [[nodiscard]] std::vector<std::uint64_t> looks_of(const Ranks& set) const {
    solver::NodeColours marked = colours_;
    for (const Rank r : set) {
      std::uint64_t& colour = marked[network_.ranks[r.index()]];
      colour = base::mix(colour + 1);
    }
    const auto seen = solver::refined(network_, std::move(marked));
    std::vector<std::uint64_t> looks(seen.begin(), seen.end());
    std::ranges::sort(looks);
    return looks;
  }

  const Topology& topology_;
  const Network& network_;
  std::size_t count_, most_;
  solver::NodeColours colours_;
  std::size_t left_;
  std::set<Ranks> known_;
  std::set<std::vector<std::uint64_t>> seen_;
  std::vector<Found> found_;
};

}  // namespace

GpuChoices all_gpu_choices(const Network& network, std::size_t count, std::size_t most) {
  const std::size_t n = network.ranks.size();
  if (count_sets(n, count, most) > most) return {};
  GpuChoices choices{{}, true};
  std::vector<bool> is_taken(n, false);
  std::fill_n(is_taken.begin(), count, true);
  do {
    auto& set = choices.sets.emplace_back();
    for (std::size_t r = 0; r < n; ++r) {
      if (is_taken[r]) set.emplace_back(r);
    }
  } while (std::prev_permutation(is_taken.begin(), is_taken.end()));
  return choices;
}

GpuChoices gpu_choices_by_boxes(const Topology& topology, const Network& network, std::size_t count,
                                std::size_t most) {
  return ByBoxes(topology, network, count, most).run();
}

}  // namespace forestcoll
