// Finding the switches at which the trees of an allreduce branch.
#pragma once

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/allreduce/tree_class.hpp"
#include "solver/linear/cut_generation.hpp"

namespace forestcoll::solver {

/// Begins with trees that branch at ranks alone, and adds classes that are cheap at the prices of
/// the program so far, then such as differ from one by a switch, until it is worth as much as can
/// be or no class is new. (Column generation, where a class stands for all trees that span its
/// switches.)
class ClassSearch {
 public:
  /// `given`: the shares of the ranks, where the fabric is of a broadcast alone.
  /// REQUIRES: `fabric` outlives this.
  ClassSearch(const AllreduceFabric& fabric, const AllreduceLimits& limits, Weights given = {})
      : fabric_(fabric), limits_(limits), given_(std::move(given)) {}

  /// `prices` are for the first classes; no classes are worth more than `most`.
  /// Cost: per class a few searches for cheap trees, and all rounds of a program.
  void run(IdVector<ArcId, double> prices, double most);

  /// Whether a program was solved: the best of them. In floating point, as `CutGeneration` is.
  [[nodiscard]] bool found() const { return best_.generation != nullptr; }
  [[nodiscard]] const AllreduceProgram& program() const { return *best_.program; }
  [[nodiscard]] const CutGeneration& generation() const { return *best_.generation; }
  /// Puts what that reaches into `optimum`, as `solver::add_reached` does, what bounds all trees
  /// where all sets of switches are in it, and its statistics.
  void add_reached(const Ratio& upper, AllreduceOptimum& optimum) const;

 private:
  struct Solved {
    std::unique_ptr<AllreduceProgram> program;
    std::unique_ptr<CutGeneration> generation;
  };

  // Whether trees that branch at any set of switches are in the program.
  [[nodiscard]] bool has_all_classes() const;
  bool add_class(std::vector<NodeId> spanned, TreePhases phases);
  bool add_cheap_classes(const IdVector<ArcId, double>& prices);
  bool add_neighbours();
  bool solve();

  const AllreduceFabric& fabric_;
  const AllreduceLimits& limits_;
  const Weights given_;
  std::vector<TreeClass> classes_;
  std::set<std::pair<TreePhases, std::vector<NodeId>>> known_;  // all images
  Solved best_;
  int rounds_ = 0;
};

}  // namespace forestcoll::solver
