// The optimum of one fabric after another, each a small change from the first.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::solver {

/// Every result is GB/s of algbw, exact, and 0 where compute nodes are cut off: the `at_most` of
/// the optimum that `rate_figures` has of the changed fabric. Each phase is solved from the
/// narrowest of the cuts met so far; with more than 500 links by cuts alone, which unbalanced
/// switches can keep trees from. Errors: E14 where a number does not fit. Cost: a rate each, of an
/// allreduce the bound of `allreduce_optimum`; with limits that of `figures_within_limits`.
class ChangedFabric {
 public:
  /// REQUIRES: a root exactly where the collective needs one.
  ChangedFabric(const Topology& topology, Collective collective, std::optional<Rank> root);

  /// The fabric as it is.
  [[nodiscard]] Expected<Ratio> solve();
  [[nodiscard]] Expected<Ratio> without(const std::vector<LinkId>& links);
  /// With one cable less in each of the links. REQUIRES: they have several.
  [[nodiscard]] Expected<Ratio> without_a_cable(const std::vector<LinkId>& links);
  /// Among the compute nodes that are left; 0 also where fewer than two are, or none has data.
  [[nodiscard]] Expected<Ratio> without(const std::vector<NodeId>& nodes);
  /// With links of `factor` times their bandwidth.
  [[nodiscard]] Expected<Ratio> widened(const std::vector<LinkId>& links, const Ratio& factor);

  /// With capacities that links share (`Topology::limits`) of `factor` times their bandwidth.
  [[nodiscard]] Expected<Ratio> widened_limits(const std::vector<std::size_t>& limits,
                                               const Ratio& factor);

  /// False where a known bottleneck of the fabric as it is has none of these links across it, or
  /// has no lengths of them: to widen them is of no use. Always true of an allreduce without
  /// limits, whose two phases share the links, and of what switches copy or combine within limits.
  [[nodiscard]] bool may_pay(const std::vector<LinkId>& links) const;
  /// Keeps the cut of the last solution, or its lengths, whose rate was that of the fabric as it
  /// is, if they prove that.
  void keep_tight_cut();

  [[nodiscard]] std::int64_t solved() const { return solved_; }

 private:
  using Cuts = std::vector<std::vector<NodeId>>;
  using Directions = std::set<std::pair<NodeId, NodeId>>;

  [[nodiscard]] Expected<Ratio> scaled(const std::vector<LinkId>& links,
                                       const std::vector<Ratio>& factors);
  [[nodiscard]] Expected<Ratio> solve_within_limits(const Network& network);
  [[nodiscard]] Expected<Ratio> upper_by_switches(const Network& network, const SwitchRoles& roles,
                                                  std::optional<Rank> root) const;
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] static Cuts usable(const Cuts& cuts, const Network& network);
  [[nodiscard]] std::optional<Ratio> phase(const Network& network, Cuts& cuts);

  Topology topology_;
  Collective collective_;
  std::vector<NodeId> ranks_;  // of the whole fabric
  NodeId root_;                // invalid: the collective has none
  bool by_lengths_;            // of links and limits, in place of cuts
  Cuts forward_cuts_, backward_cuts_;
  std::vector<NodeId> last_cut_;
  bool last_cut_proves_ = true;
  std::vector<std::vector<bool>> tight_;  // flags of the side that sends the data
  Directions last_lengths_;               // of links that have one in the last proof, with limits
  std::vector<Directions> tight_lengths_;
  std::int64_t solved_ = 0;
};

}  // namespace forestcoll::solver
