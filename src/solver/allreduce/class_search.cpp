#include "solver/allreduce/class_search.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "solver/allreduce/branching.hpp"
#include "solver/allreduce/split.hpp"
#include "solver/allreduce/twin_graph.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll::solver {
namespace {

// What an arc costs for being narrow, beside the dearest arc's price: among equally dear trees the
// one with the fewest arcs, wide rather than narrow.
constexpr double kNarrowness = 1e-3;

// Classes that are tried at once where cheap trees are of classes that are known.
constexpr std::size_t kMostNeighbours = 8;

// How near to what can be reached is near enough, as a fraction.
constexpr double kReached = 1e-9;

IdVector<ArcId, double> narrowness(const Network& network) {
  const auto least = static_cast<double>(std::ranges::min(network.capacity));
  IdVector<ArcId, double> lengths;
  for (const Capacity capacity : network.capacity) {
    lengths.push_back(least / static_cast<double>(capacity));
  }
  return lengths;
}

IdVector<ArcId, double> lengths_of(const Network& network, const IdVector<ArcId, double>& prices) {
  IdVector<ArcId, double> lengths = narrowness(network);
  const double dearest = std::ranges::max(prices);
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    const double price = std::max(prices[ArcId(a)], 0.0);
    lengths[ArcId(a)] = kNarrowness * lengths[ArcId(a)] + (dearest > 0 ? price / dearest : 0);
  }
  return lengths;
}

}  // namespace

bool ClassSearch::add_class(std::vector<NodeId> spanned, TreePhases phases) {
  std::ranges::sort(spanned);
  if (classes_.size() == limits_.classes || known_.contains({phases, spanned})) return false;
  auto trees = make_tree_class(fabric_.network, fabric_.generators, std::move(spanned), phases);
  if (!trees) return false;
  for (const NodeImage& image : trees->images) {
    std::vector<NodeId> moved;
    for (const NodeId w : trees->spanned) moved.push_back(image[w]);
    std::ranges::sort(moved);
    known_.emplace(phases, std::move(moved));
  }
  classes_.push_back(*std::move(trees));
  return true;
}

bool ClassSearch::add_cheap_classes(const IdVector<ArcId, double>& prices) {
  bool added = false;
  for (const TreePhases phases : fabric_.kinds()) {
    const bool turned = phases == TreePhases::reduce;
    added |= add_class(cheap_branching(fabric_, turned, prices), phases);
  }
  return added;
}

// With one switch more or less than a class that is known, a few at a time.
bool ClassSearch::add_neighbours() {
  std::size_t added = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const TreeClass known = classes_[i];
    std::vector<bool> seen(known.orbits.nodes.count, false);
    for (const NodeId w : able_switches(fabric_.roles, known.phases == TreePhases::reduce)) {
      if (seen[known.orbits.nodes.of[w.index()]]) continue;
      seen[known.orbits.nodes.of[w.index()]] = true;
      std::vector<NodeId> spanned = known.spanned;
      if (std::erase(spanned, w) == 0) spanned.push_back(w);
      added += add_class(std::move(spanned), known.phases) ? 1 : 0;
      if (added == kMostNeighbours) return true;
    }
  }
  return added > 0;
}

// The program of all classes so far; false where it was not solved.
bool ClassSearch::solve() {
  Solved next;
  next.program = std::make_unique<AllreduceProgram>(
      given_.empty() ? AllreduceProgram(fabric_, classes_)
                     : AllreduceProgram::of_broadcast(fabric_, classes_, given_));
  next.generation = std::make_unique<CutGeneration>(next.program->program());
  if (found()) next.generation->take_cuts(*best_.generation);
  const auto outcome = next.generation->run({limits_.rounds, limits_.stop, limits_.pivots});
  rounds_ += next.generation->rounds();
  if (outcome != CutGeneration::Outcome::complete) return false;
  best_ = std::move(next);
  return true;
}

bool ClassSearch::has_all_classes() const {
  constexpr std::size_t kMostSwitches = 16;
  std::size_t all = 0;
  for (const TreePhases phases : fabric_.kinds()) {
    const auto able = able_switches(fabric_.roles, phases == TreePhases::reduce).size();
    if (able > kMostSwitches) return false;
    all += std::size_t{1} << able;
  }
  return found() && program().commodities().size() == classes_.size() && known_.size() == all;
}

void ClassSearch::run(IdVector<ArcId, double> prices, double most) {
  for (const TreePhases phases : fabric_.kinds()) add_class({}, phases);
  if (!solve()) return;
  add_cheap_classes(narrowness(fabric_.network));
  add_cheap_classes(lengths_of(fabric_.network, prices));
  do {
    if (!solve() || best_.generation->worth() >= most * (1 - kReached)) return;
    prices = best_.program->arc_prices(best_.generation->prices());
  } while (add_cheap_classes(lengths_of(fabric_.network, prices)) || add_neighbours());
}

void ClassSearch::add_reached(const Ratio& upper, AllreduceOptimum& optimum) const {
  if (!found()) return;
  const Network& network = fabric_.network;
  solver::add_reached(network, program(), generation(), upper, optimum);
  const CutProgram& solved = program().program();
  if (!optimum.is_exact() && has_all_classes()) {
    const auto most = prove_upper(solved, generation().cuts(), generation().prices());
    if (most) optimum.of_trees = checked_mul(most->bound, network.unit);
  }
  optimum.statistics = {solved.variables, generation().cuts().size(),
                        optimum.statistics.rounds + rounds_};
}

}  // namespace forestcoll::solver
