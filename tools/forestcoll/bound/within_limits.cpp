#include "bound/within_limits.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "common/limits.hpp"
#include "common/options/collective_option.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/rate_report.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/verify.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll::cli {
namespace {

Expected<ProvedByLengths> prove(const Network& network, JobOperation operation,
                                const std::stop_token& stop = {}) {
  auto demand = demand_of_all(network, operation);
  if (!demand) return demand.errors();
  JointLimits limits;
  limits.stop = stop;
  auto optimum = joint_optimum(network, *demand, limits);
  if (!optimum) return optimum.errors();
  optimum->loads.clear();
  return ProvedByLengths{operation.collective, *std::move(demand), *std::move(optimum)};
}

// Solves each collective once.
class Rows {
 public:
  explicit Rows(const Fabric& fabric) : fabric_(fabric), roles_(switch_roles(fabric.topology)) {}

  Expected<void> add(Collective collective, std::optional<Rank> root) {
    auto proved = prove(fabric_.network, operation_of_all(fabric_.network, collective, root));
    if (!proved) return proved.errors();
    solved_.emplace(collective, proved->optimum);
    RateFigures rates = figures_within_limits(fabric_.network, roles_, collective, root,
                                              [&](Collective one) { return by_trees(one); });
    const Ratio algbw = rates.optimum ? rates.optimum->at_most : proved->optimum.at_most;
    const auto busbw = busbw_of(algbw, collective, fabric_.network);
    if (!busbw) return busbw.errors();
    answer_.rows.push_back({collective, root, algbw, *busbw, std::move(rates)});
    answer_.proved.push_back(*std::move(proved));
    return {};
  }

  Expected<BoundAnswer> finish() {
    const Collective first = answer_.rows.front().collective;
    const auto phase = by_trees(first == Collective::allreduce ? Collective::allgather : first);
    if (!phase) return phase.errors();
    answer_.rate_per_root = is_rooted(first) ? phase->at_most : per_root(phase->at_most);
    return std::move(answer_);
  }

 private:
  Expected<JointOptimum> by_trees(Collective collective) {
    const auto known = solved_.find(collective);
    if (known != solved_.end()) return known->second;
    auto optimum = optimum_of_all(fabric_.network, operation_of_all(fabric_.network, collective));
    if (optimum) solved_.emplace(collective, *optimum);
    return optimum;
  }

  [[nodiscard]] std::optional<Ratio> per_root(const Ratio& algbw) const {
    const Weights weights = shares(fabric_.network);
    const auto all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
    return checked_div(algbw, Ratio(all));
  }

  const Fabric& fabric_;
  SwitchRoles roles_;
  std::map<Collective, JointOptimum> solved_;  // of all ranks, by trees
  BoundAnswer answer_;
};

struct Asked {
  std::vector<Collective> collectives;
  std::optional<Rank> root;  // of those that have one
};

Expected<Asked> collectives_of(const Fabric& fabric, const BoundArguments& options) {
  if (const auto collective = collective_of(options.collective)) {
    const auto root = find_root(fabric.topology, *collective, options.root);
    if (!root) return root.errors();
    return Asked{{*collective}, *root};
  }
  Asked asked{{Collective::allgather, Collective::reduce_scatter, Collective::allreduce}, {}};
  if (options.root.empty()) return asked;
  const auto root = find_rank(fabric.topology, options.root);
  if (!root) return root.errors();
  asked.root = *root;
  asked.collectives.insert(asked.collectives.end(), {Collective::broadcast, Collective::reduce});
  return asked;
}

}  // namespace

Expected<BoundAnswer> solve_within_limits(const Fabric& fabric, const BoundArguments& options) {
  const auto asked = collectives_of(fabric, options);
  if (!asked) return asked.errors();
  Rows rows(fabric);
  for (const Collective collective : asked->collectives) {
    const auto root = is_rooted(collective) ? asked->root : std::optional<Rank>();
    if (const auto done = rows.add(collective, root); !done) return done.errors();
  }
  return rows.finish();
}

Expected<PathsWithinLimits> paths_within_limits(const Network& network, const Demand& demand,
                                                const std::stop_token& stop) {
  JobOperation operation = operation_of_all(network, demand.collective(), demand.root());
  if (!demand.is_of_blocks()) operation.demand = demand;
  auto proved = prove(network, std::move(operation), stop);
  if (!proved) return proved.errors();
  auto proof = proof_within_limits(proved->optimum, demand);
  if (!proof) return proof.errors();
  return PathsWithinLimits{*std::move(proof), *std::move(proved)};
}

std::string flaw_of_lengths(const ProvedByLengths& proved, const Network& network) {
  const JointOptimum& optimum = proved.optimum;
  const auto again =
      joint_rate_by_lengths(network, proved.demand, optimum.lengths, optimum.limit_lengths);
  if (again == optimum.at_most && optimum.reached <= optimum.at_most) return "";
  return fmt::format(
      "forestcoll: internal error: the bound of the {} is {} GB/s, and independent code finds that "
      "the lengths prove {}; please report it\n",
      to_string(proved.collective), optimum.at_most.to_string(),
      again ? again->to_string() : "nothing");
}

std::string bottleneck_in_words(const ProvedByLengths& proved, const Fabric& fabric) {
  const bool is_able = !is_personalized(proved.collective) &&
                       has_able_switches(switch_roles(fabric.topology), proved.collective);
  const char* by_trees = is_able ? " by trees" : "";
  const auto lines = in_words(proved.optimum, fabric.topology, fabric.network);
  const std::string_view name = to_string(proved.collective);
  if (lines.size() == 1)
    return fmt::format("bottleneck of {}{}: {}\n", name, by_trees, lines.front());
  std::string text = fmt::format(
      "bottleneck of {}{}, as lengths: all data covers at least as much as these carry\n", name,
      by_trees);
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

}  // namespace forestcoll::cli
