// The best joint rate as a linear program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/network.hpp"
#include "solver/joint/stream_orbits.hpp"
#include "solver/joint/streams.hpp"
#include "solver/linear/cut_program.hpp"

namespace forestcoll::solver {

/// What it is worth is the rate of the largest amount that a stream has. Rates of different amounts
/// are different variables, in proportion to one another, so that floating point sees numbers of
/// one size.
class JointProgram {
 public:
  /// REQUIRES: the network and the streams outlive this.
  JointProgram(const Network& network, std::span<const Stream> streams, const StreamOrbits& orbits);

  [[nodiscard]] const CutProgram& program() const { return program_; }
  [[nodiscard]] std::int64_t largest_amount() const { return rates_.rbegin()->first; }

  /// The prices of the capacity rows, by arc, shared out evenly over the arcs of a
  /// row; 0 on arcs that no stream may take.
  [[nodiscard]] IdVector<ArcId, double> lengths(std::span<const double> prices) const;
  /// What an operation's streams take of every arc. `values`: by variable.
  [[nodiscard]] IdVector<ArcId, std::int64_t> load(std::size_t operation,
                                                   std::span<const std::int64_t> values) const;

 private:
  void add_rates();
  void add_trees(std::size_t stream);
  void own(const Stream& stream, TreeCommodity& commodity) const;
  void own_any(const Stream& stream, TreeCommodity& commodity);
  void add_paths(std::size_t stream);
  void add_balance(std::map<std::size_t, std::int64_t> row);
  void add_capacity_rows();

  [[nodiscard]] std::size_t variable(std::size_t stream, std::size_t place) const {
    return orbits_.of_arcs[stream][place];
  }

  const Network& network_;
  std::span<const Stream> streams_;
  const StreamOrbits& orbits_;
  CutProgram program_;                         // variables: classes of arcs, of roots, then rates
  std::map<std::int64_t, std::size_t> rates_;  // variables, by amount
  std::set<std::vector<Term>> balances_;       // rows that there are
  std::vector<std::vector<ArcId>> arcs_of_row_;
};

}  // namespace forestcoll::solver
