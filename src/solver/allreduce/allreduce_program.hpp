// The allreduce optimum as a linear program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"
#include "solver/allreduce/tree_class.hpp"
#include "solver/allreduce/twin_graph.hpp"
#include "solver/linear/cut_program.hpp"

namespace forestcoll::solver {

/// A fabric, what its switches can do, and what is alike in it.
struct AllreduceFabric {
  /// What is alike has the same of `weights`, where these matter.
  /// REQUIRES: the network `of` outlives this; what switches `can` is empty or as many as nodes.
  AllreduceFabric(const Network& of, const SwitchRoles& can);
  AllreduceFabric(const Network& of, const SwitchRoles& can, const Weights& weights);

  const Network& network;
  SwitchRoles roles;
  std::vector<NodeImage> generators;
  NetworkOrbits orbits;
  /// Turning all arcs round leaves it as it is: then, by the argument for orbits, reduce is
  /// broadcast turned round.
  bool reversible = false;
  /// There are no in-trees: a broadcast.
  bool broadcast_alone = false;

  /// What trees are chosen apart.
  [[nodiscard]] std::vector<TreePhases> kinds() const {
    if (broadcast_alone) return {TreePhases::broadcast};
    if (reversible) return {TreePhases::both};
    return {TreePhases::broadcast, TreePhases::reduce};
  }
};

/// One commodity of the program: the trees of a class, or all of them.
struct AllreduceCommodity {
  TreeClass trees;
  TwinGraph twins;
  bool turned = false;
};

class AllreduceProgram {
 public:
  /// Of trees of these classes.
  AllreduceProgram(const AllreduceFabric& fabric, std::vector<TreeClass> classes);
  /// Where data may be mixed and taken apart in switches that copy or combine, and need not flow
  /// as trees: they take in and give out what they like, and only what reaches the ranks counts.
  /// No trees are faster, whatever they span. Without such switches it is the program of trees.
  static AllreduceProgram relaxed(const AllreduceFabric& fabric);
  /// The same where every rank roots a part by its weight.
  /// REQUIRES: the fabric's symmetries keep the weights.
  static AllreduceProgram of_shares(const AllreduceFabric& fabric, const Weights& weights);

  /// Of out-trees of these classes alone, from ranks with these shares.
  /// REQUIRES: the classes are of broadcasts; the fabric is of a broadcast alone, and its
  /// symmetries keep the weights.
  static AllreduceProgram of_broadcast(const AllreduceFabric& fabric,
                                       std::vector<TreeClass> classes, const Weights& weights);

  [[nodiscard]] const CutProgram& program() const { return program_; }
  [[nodiscard]] std::span<const AllreduceCommodity> commodities() const { return commodities_; }

  /// What the program prices an arc at, per unit that trees (of both phases, where in-trees are the
  /// out-trees turned round) take of it. `prices`: of the program's rows.
  [[nodiscard]] IdVector<ArcId, double> arc_prices(std::span<const double> prices) const;

 private:
  using Taken = std::map<std::size_t, std::int64_t>;  // coefficients by variable
  struct AddedRow {
    std::size_t number = 0;
    bool is_new = false;
    double divisor = 1;  // of all coefficients, as they were
  };
  struct OrbitOfArcs {
    std::int64_t members = 0;
    Capacity capacity = 0;
    std::size_t reversed = 0;  // the orbit of the reverse arcs, where the fabric is reversible
    // By row, how much it counts of what trees take of an arc.
    std::vector<std::pair<std::size_t, double>> counted = {};
  };

  AllreduceProgram(const AllreduceFabric& fabric, Weights given);
  AllreduceProgram(const AllreduceFabric& fabric, std::vector<TreeClass> classes, Weights given);

  void add_class(TreeClass trees);
  void number_arcs(TreeCommodity& commodity);
  void number_roots(TreeCommodity& commodity);
  void add_sinks(TreeCommodity& commodity) const;
  void add_balance_rows(const TreeCommodity& commodity);
  void finish();
  void add_objective();
  [[nodiscard]] std::vector<Taken> taken_by_orbit() const;
  void add_capacity_rows();
  AddedRow add_capacity_row(Taken taken, std::int64_t members, Capacity capacity);
  void add_rows_of_limits(const std::vector<Taken>& taken);
  void add_shares_rows();

  const AllreduceFabric& fabric_;
  bool relaxed_ = false;
  CutProgram program_;
  std::vector<AllreduceCommodity> commodities_;
  Weights given_;                                    // shares of roots; empty: any
  std::map<std::size_t, std::size_t> common_roots_;  // of a relaxed program, by orbit of nodes
  std::map<std::pair<std::vector<Term>, Capacity>, std::size_t> rows_;  // of capacities
  std::vector<OrbitOfArcs> orbits_;
};

}  // namespace forestcoll::solver
