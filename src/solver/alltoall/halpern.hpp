// The first-order method for fabrics without symmetry.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "solver/alltoall/folded.hpp"

namespace forestcoll::solver::alltoall {

/// Looks for the saddle point of
///   min over flows f ≥ 0, max over potentials π and lengths ℓ ≥ 0 with Σ capacity · ℓ = 1 of
///   Σ ℓ · load(f) + Σ π · (need − inflow + outflow),
/// whose value is 1/θ: the primal-dual hybrid gradient method (Chambolle, Pock 2011) with diagonal
/// steps, reflected, pulled towards an anchor after Halpern, and restarted from where it is when its
/// steps have become short (Lu, Yang, Restarted Halpern PDHG for Linear Programming, 2024). At every
/// restart the balance between the steps of the two sides follows how far they moved, as in PDLP
/// (Applegate et al. 2021).
///
/// Single precision: what comes of it is proved elsewhere. Sources are worked on in blocks, each
/// with its potentials in cache; sums over blocks are in their order, so that results do not depend
/// on the number of threads.
class Halpern {
 public:
  Halpern(const Folded& folded, int threads);

  /// Cost: O(sources · m) each.
  void iterate(int iterations);

  /// By row, and at the end that of the fixed links together: 0 or more, Σ capacity · length = 1.
  [[nodiscard]] const std::vector<double>& lengths() const { return length_; }
  [[nodiscard]] double flow(std::size_t source, std::size_t arc) const {
    return blocks_[source / kLanes].flow[arc][source % kLanes];
  }

  static constexpr std::size_t kLanes = 16;
  using Lanes = std::array<float, kLanes>;

 //private:
  /// So many sources side by side.
  struct Block {
    std::vector<Lanes> flow, flow_anchor;            // by arc
    std::vector<Lanes> potential, potential_anchor;  // by node
    std::vector<Lanes> need, lack;                   // by node
    std::vector<float> load;                         // by row, of this block
    double moved_flow = 0, moved_potential = 0;      // squared, in the steps' metric
  };

  void step();
  void step_block(Block& block, float keep);
  double step_lengths(double keep);
  void project(std::vector<double>& lengths) const;
  void restart();
  void start();

  const Folded& folded_;
  int threads_;
  std::vector<float> degree_;      // by node
  std::vector<double> capacity_;   // by row, scaled; the fixed links' is 1
  std::vector<double> sigma_;      // by row, without weight
  double fixed_ = 0;               // the load of the fixed links
  std::vector<double> point_, anchor_, length_;  // of lengths, by row
  std::vector<float> length_now_;
  std::vector<Block> blocks_;
  double weight_ = 1;
  int since_ = 0, total_ = 0;
  double first_moved_ = 0, last_moved_ = 0;
  double need_scale_ = 1, capacity_scale_ = 1;
};

}  // namespace forestcoll::solver::alltoall
