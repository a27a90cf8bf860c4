// A first-order method for the saddle point of lengths and flows.
#pragma once

#include <array>
#include <cstddef>
#include <stop_token>
#include <vector>

#include "solver/alltoall/folded.hpp"

namespace forestcoll::solver::alltoall {

/// Looks for the saddle point of
///   min over flows f ≥ 0, max over potentials π and lengths ℓ ≥ 0 with Σ capacity · ℓ = 1 of
///   Σ ℓ · load(f) + Σ π · (need − inflow + outflow),
/// whose value is 1/θ: the primal-dual hybrid gradient method (Chambolle, Pock 2011) with diagonal
/// steps, reflected, pulled towards an anchor after Halpern, and restarted from where it is once
/// its steps have become short (Lu, Yang, Restarted Halpern PDHG for Linear Programming, 2024). At
/// every restart the balance between the steps of the two sides follows how far each has moved, as
/// in PDLP (Applegate et al. 2021).
///
/// In single precision: what comes of it is proved elsewhere. Sources are worked on in blocks, each
/// with its potentials in cache; what blocks add up is added in their order, so that results do not
/// depend on the number of threads.
class Halpern {
 public:
  /// `folded` must outlive this, and have a source.
  Halpern(const Folded& folded, int threads);

  /// Fewer where `stop` asks for it. Cost: O(sources · m) each.
  void iterate(int iterations, const std::stop_token& stop);

  /// By row, on any scale; the last one is that of the most loaded fixed links.
  [[nodiscard]] const std::vector<double>& lengths() const { return lengths_; }
  /// On any scale; can be negative where it is to be none.
  [[nodiscard]] double flow(std::size_t source, std::size_t arc) const {
    return static_cast<double>(blocks_[source / kLanes].flow.now[arc][source % kLanes]);
  }

 private:
  static constexpr std::size_t kLanes = 16;
  using Lanes = std::array<float, kLanes>;

  struct Iterate {
    std::vector<Lanes> now, anchor;
  };
  struct Block {
    Iterate flow;                   ///< by arc
    Iterate potential;              ///< by node
    std::vector<Lanes> need, lack;  ///< by node: what is to stay there, and what does not
    std::vector<float> load;        ///< by row
    double flow_step = 0, potential_step = 0;  ///< squares of the last ones
  };

  void scale();
  void add_sources();
  void start();
  void step();
  void step_flows(Block& block, float keep) const;
  void step_potentials(Block& block, float keep) const;
  [[nodiscard]] double step_lengths(double keep);
  void project(std::vector<double>& lengths) const;
  [[nodiscard]] bool is_due(double moved);
  void restart();

  const Folded& folded_;
  int threads_;
  double need_scale_ = 1, capacity_scale_ = 1;  ///< so that both are near 1
  std::vector<float> degree_;                   ///< by node
  std::vector<double> capacity_, length_step_;  ///< by row; the last: of the fixed links
  std::vector<double> point_, anchor_;          ///< of lengths, scaled
  std::vector<float> point_now_;
  std::vector<double> lengths_;
  std::vector<Block> blocks_;
  double weight_ = 1;  ///< of the steps of prices, and one over that of flows
  int since_restart_ = 0, iterations_ = 0;
  double first_moved_ = 0, last_moved_ = 0;
};

}  // namespace forestcoll::solver::alltoall
