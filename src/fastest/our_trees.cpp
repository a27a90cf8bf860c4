#include "fastest/our_trees.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "choose/as_written.hpp"
#include "choose/trees.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/topology.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "topology/model/link_kind.hpp"

namespace forestcoll::fastest {
namespace {

using solver::height_of;

// Of one phase, whose roots' data are cut into `of_a` and `of_b` chunks.
bool have_same_trees(const Forest& a, std::int64_t of_a, const Forest& b, std::int64_t of_b) {
  if (a.tree_count() != b.tree_count()) return false;
  for (std::size_t t = 0; t < a.tree_count(); ++t) {
    const auto &tree = a.tree(TreeId(t)), &other = b.tree(TreeId(t));
    if (tree.root != other.root || tree.multiplicity * of_b != other.multiplicity * of_a) {
      return false;
    }
    for (std::size_t v = 0; v < a.rank_count(); ++v) {
      if (a.parent(TreeId(t), Rank(v)) != b.parent(TreeId(t), Rank(v))) return false;
    }
  }
  return true;
}

class OurTrees {
 public:
  OurTrees(const Fabric& fabric, Synthesis best, const CompileOptions& options,
           const OurTreesAsked& asked)
      : fabric_(fabric), options_(options), asked_(asked) {
    options_.synthesis.packing.progress = nullptr;
    found_.push_back(std::move(best));
  }

  std::vector<Synthesis> find() {
    for (Synthesis& each : asked_.few ? optimal() : all()) add(std::move(each));
    found_.erase(found_.begin());
    return std::move(found_);
  }

 private:
  using Search = std::function<std::vector<Synthesis>()>;

  [[nodiscard]] std::vector<Synthesis> all() const {
    std::vector<Search> numbers;
    for (std::int64_t k = 1; k <= scale::kMostTrees; k *= 2) {
      numbers.emplace_back([this, k] { return of_number(k); });
    }
    std::vector<Synthesis> found = found_by(numbers);
    const Synthesis& equal = of_equal_shares(found);
    std::vector<Search> further = {
        [&] { return choose::of_unequal_shares(equal, fabric_, options_); },
        [this] { return optimal(); }, [&] { return lower_trees(found); }};
    const std::vector<Network> narrower = narrower_between_boxes();
    for (const Network& network : narrower) {
      for (std::int64_t k = 1; k <= scale::kMostTrees; k *= 2) {
        further.emplace_back([&, k] { return of_narrower(network, k); });
      }
    }
    std::ranges::move(found_by(further), std::back_inserter(found));
    return found;
  }

  // One that is there already is not taken again, nor, of many ranks that are all roots, whose
  // programs are large as they are, one that has the same trees in more chunks.
  void add(Synthesis synthesis) {
    const bool are_many = fabric_.network.ranks.size() > scale::kMostRanksOfAllTrees &&
                          !is_rooted(options_.synthesis.collective);
    const auto is_same = [&](const Synthesis& other) {
      if (other.forest.weight != synthesis.forest.weight) return false;
      if (!are_many && other.forest.k != synthesis.forest.k) return false;
      if (!have_same_edges(other.forest, synthesis.forest)) return false;
      return are_many || link_loads(other.forest, fabric_.links()) ==
                             link_loads(synthesis.forest, fabric_.links());
    };
    if (std::ranges::any_of(found_, is_same)) return;
    const Synthesis& best = found_.front();  // what is known of the fabric, and of no other
    synthesis.forest.optimum = best.forest.optimum;
    synthesis.optimum_at_least = best.optimum_at_least;
    synthesis.two_phases = best.two_phases;
    found_.push_back(std::move(synthesis));
  }

  [[nodiscard]] bool is_stopped() const { return options_.synthesis.packing.stop.stop_requested(); }

  // What knows nothing of each other is searched at the same time.
  [[nodiscard]] std::vector<Synthesis> found_by(const std::vector<Search>& searches) const {
    std::vector<std::vector<Synthesis>> found(searches.size());
    tbb::parallel_for(std::size_t{0}, searches.size(), [&](std::size_t s) {
      if (!is_stopped()) found[s] = searches[s]();
    });
    std::vector<Synthesis> all;
    for (auto& forests : found) std::ranges::move(forests, std::back_inserter(all));
    return all;
  }

  // Ours; or where its shares are unequal, the fastest of `numbers`, whose trees can be as wide as
  // any shares make them.
  [[nodiscard]] const Synthesis& of_equal_shares(const std::vector<Synthesis>& numbers) const {
    const Synthesis& ours = found_.front();
    if (ours.forest.weight.empty() || numbers.empty()) return ours;
    return *std::ranges::max_element(numbers, {},
                                     [](const Synthesis& each) { return each.forest.algbw; });
  }

  [[nodiscard]] std::vector<Synthesis> of_number(std::int64_t k) const {
    SynthesizeOptions fixed = options_.synthesis;
    fixed.trees_per_root = {TreesPerRoot::Mode::fixed, k};
    auto found = choose::synthesize_as_written(fabric_.network, fixed, options_.format);
    if (!found || found->back().stopped) return {};
    return *std::move(found);
  }

  // The highest rate of all, of as many trees as that takes.
  [[nodiscard]] std::vector<Synthesis> optimal() const {
    std::vector<Synthesis> result;
    SynthesizeOptions asked = options_.synthesis;
    asked.beside_less = false;
    asked.trees_per_root = {};
    auto found = choose::synthesize_as_written(fabric_.network, asked, options_.format);
    if (!found) return result;
    for (Synthesis& each : *found) {
      if (!each.stopped) result.push_back(std::move(each));
    }
    return result;
  }

  // Lower trees at lower rates: of one tree per root, for small sizes.
  [[nodiscard]] std::vector<Synthesis> lower_trees(const std::vector<Synthesis>& numbers) const {
    std::vector<Synthesis> result;
    if (fabric_.network.ranks.size() > scale::kMostRanksOfAllTrees) return result;
    if (numbers.empty() || numbers.front().forest.k != 1) return result;
    std::int32_t height = height_of(numbers.front().forest);
    const std::int32_t least = numbers.front().least_height;
    SynthesizeOptions asked = options_.synthesis;
    asked.beside_less = false;
    asked.packing.effort = asked_.of_low;
    asked.trees_per_root = {TreesPerRoot::Mode::fixed, 1};
    while (height > least && !is_stopped()) {
      asked.max_height = height - 1;
      auto lower = synthesize(fabric_.network, asked);
      if (!lower || lower->stopped) break;
      height = height_of(lower->forest);
      result.push_back(*std::move(lower));
    }
    return result;
  }

  // The fabric as if links that leave a box carried a half and a quarter: its trees send less
  // between boxes, in fewer and larger messages, which is faster for sizes at which latency counts.
  [[nodiscard]] std::vector<Network> narrower_between_boxes() const {
    std::vector<Network> found;
    if (fabric_.network.ranks.size() > scale::kMostRanksOfAllTrees) return found;
    Topology topology = fabric_.topology;
    for (int i = 0; i < 2; ++i) {
      for (TopologyLink& link : topology.links) {
        if (topology::reach_of(link.kind) == topology::Reach::leaves) {
          link.bandwidth = link.bandwidth * Ratio(1, 2);
        }
      }
      auto network = to_digraph(topology);
      if (!network) break;
      found.push_back(*std::move(network));
    }
    return found;
  }

  [[nodiscard]] std::vector<Synthesis> of_narrower(const Network& narrower, std::int64_t k) const {
    std::vector<Synthesis> result;
    SynthesizeOptions asked = options_.synthesis;
    asked.packing.effort = asked_.of_low;
    auto found = choose::synthesize_at(narrower, asked, k);
    if (!found) return result;
    const auto algbw = congestion_algbw(found->forest, fabric_.links());
    if (!algbw) return result;
    found->forest.algbw = found->allowed = *algbw;
    result.push_back(*std::move(found));
    return result;
  }

  const Fabric& fabric_;
  CompileOptions options_;  // no progress is told, by several threads at once
  const OurTreesAsked asked_;
  std::vector<Synthesis> found_;
};

// All links as if they shared nothing: trees may keep the limits all the same, and choose among
// more than the parts.
Fabric without_limits(const Fabric& fabric) {
  Fabric open = fabric;
  open.network = fabric.links();
  open.network.limits.clear();
  open.whole.reset();
  open.reached_on_whole.reset();
  return open;
}

}  // namespace

bool have_same_edges(const CollectiveForest& a, const CollectiveForest& b) {
  const auto are_same = [&](const std::optional<Forest>& x, const std::optional<Forest>& y) {
    return x.has_value() == y.has_value() && (!x || have_same_trees(*x, a.k, *y, b.k));
  };
  return are_same(a.reduce, b.reduce) && are_same(a.broadcast, b.broadcast);
}

std::vector<Synthesis> find_our_trees(const Fabric& fabric, Synthesis best,
                                      const CompileOptions& options, const OurTreesAsked& asked) {
  auto found = OurTrees(fabric, best, options, asked).find();
  if (!fabric.whole || asked.few) return found;
  const Fabric open = without_limits(fabric);
  for (Synthesis& each : OurTrees(open, std::move(best), options, asked).find()) {
    const auto algbw = congestion_algbw(each.forest, fabric.links());
    if (!algbw) continue;
    each.forest.algbw = each.allowed = *algbw;
    found.push_back(std::move(each));
  }
  return found;
}

}  // namespace forestcoll::fastest
