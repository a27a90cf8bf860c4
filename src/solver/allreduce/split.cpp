#include "solver/allreduce/split.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace forestcoll::solver {
namespace {

// How near the bound what is reached has to be to be looked for there, as a fraction.
constexpr double kAgreement = 1e-6;

// The trees of one commodity of a program, as its first class has them.
class SplitCommodity {
 public:
  SplitCommodity(const Network& network, const AllreduceCommodity& commodity,
                 const TreeCommodity& variables, const ExactSolution& solution)
      : network_(network), commodity_(commodity), variables_(variables), solution_(solution) {}

  [[nodiscard]] bool has_trees() const {
    return std::ranges::any_of(variables_.owned, [&](const Term& owned) {
      return owned.coefficient != 0 && solution_.numerators[owned.variable] != 0;
    });
  }

  // Of an image, as out-trees or turned round.
  [[nodiscard]] AllreduceTrees trees(std::size_t kind, const NodeImage& image,
                                     bool in_trees) const {
    AllreduceTrees trees;
    trees.kind = kind;
    trees.image = image;
    for (const NodeId w : commodity_.twins.spanned) trees.switches.push_back(image[w]);
    std::ranges::sort(trees.switches);
    const std::size_t nodes = network_.graph.node_count();
    trees.root.assign(nodes, Ratio(0));
    for (std::size_t v = 0; v < variables_.owned.size(); ++v) {
      const Term& owned = variables_.owned[NodeId(v)];
      if (owned.coefficient == 0) continue;
      const NodeId root = v < nodes ? NodeId(v) : commodity_.twins.spanned[v - nodes];
      trees.root[image[root]] = amount(owned.variable);
    }
    for (std::size_t i = 0; i < commodity_.twins.arcs.size(); ++i) {
      const Ratio taken = amount(variables_.variable[i]);
      if (taken != Ratio(0))
        trees.taken.push_back(arc_of(commodity_.twins.arcs[i], image, in_trees, taken));
    }
    return trees;
  }

 private:
  [[nodiscard]] Ratio amount(std::size_t variable) const {
    return {solution_.numerators[variable], solution_.denominator};
  }

  // Of the program's trees, which are out-trees on the fabric or on its reverse.
  [[nodiscard]] AllreduceArc arc_of(const TwinArc& twin, const NodeImage& image, bool in_trees,
                                    const Ratio& taken) const {
    const Arc& along = network_.graph.arcs()[twin.along.index()];
    const bool turn = in_trees && !commodity_.turned;
    const NodeId tail = image[turn ? along.head : along.tail];
    const NodeId head = image[turn ? along.tail : along.head];
    return {network_.graph.find(tail, head), in_trees ? twin.to_twin : twin.from_twin,
            in_trees ? twin.from_twin : twin.to_twin, taken};
  }

  const Network& network_;
  const AllreduceCommodity& commodity_;
  const TreeCommodity& variables_;
  const ExactSolution& solution_;
};

}  // namespace

AllreduceSplit split_of(const Network& network, const AllreduceProgram& program,
                        const ExactSolution& solution) {
  AllreduceSplit split;
  for (std::size_t p = 0; p < program.commodities().size(); ++p) {
    const AllreduceCommodity& commodity = program.commodities()[p];
    const SplitCommodity part(network, commodity, program.program().commodities[p], solution);
    if (!part.has_trees()) continue;
    for (const NodeImage& image : commodity.trees.images) {
      if (!commodity.turned) split.broadcast.push_back(part.trees(p, image, false));
      if (commodity.trees.phases != TreePhases::broadcast) {
        split.reduce.push_back(part.trees(p, image, true));
      }
    }
  }
  return split;
}

void add_reached(const Network& network, const AllreduceProgram& program,
                 const CutGeneration& generation, const Ratio& upper, AllreduceOptimum& optimum) {
  const double most = upper.to_double();
  const double worth = std::min(generation.worth(), most);
  std::optional<ReachedProof> reached;
  if (worth >= most * (1 - kAgreement)) {
    if (auto exact = prove_reached(program.program(), generation.values(), upper)) {
      reached = {*std::move(exact), upper};
    }
  }
  if (!reached) {
    reached = prove_best_reached(program.program(), generation.cuts(), generation.values(), upper);
  }
  const auto algbw = reached ? checked_mul(reached->worth, network.unit) : std::nullopt;
  const double value = worth * network.unit.to_double();
  if (optimum.value && value < *optimum.value) return;  // others reach more
  optimum.value = value;
  if (!algbw || algbw->to_double() < value * (1 - kAgreement)) return;
  if (optimum.split && *algbw <= optimum.split->algbw) return;
  optimum.split = split_of(network, program, reached->solution);
  optimum.split->algbw = *algbw;
  optimum.value = algbw->to_double();
}

}  // namespace forestcoll::solver
