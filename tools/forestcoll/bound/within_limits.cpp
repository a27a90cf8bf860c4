#include "bound/within_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "common/limits.hpp"
#include "common/options/collective_option.hpp"
#include "forestcoll/codes.hpp"
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
  return ProvedByLengths{operation.collective, *std::move(demand), *std::move(optimum)};
}

Expected<BoundRow> row_of(const ProvedByLengths& proved, std::optional<Rank> root,
                          const Fabric& fabric) {
  const JointOptimum& optimum = proved.optimum;
  const auto ranks = static_cast<std::int64_t>(fabric.network.ranks.size());
  const auto busbw = checked_mul(optimum.at_most, busbw_factor(proved.collective, ranks));
  if (!busbw) {
    return make_error(Code::E14, "the exact busbw of this fabric does not fit 64 bits",
                      "round the bandwidths to a coarser grid with --quantize");
  }
  return BoundRow{proved.collective, root, optimum.at_most, *busbw,
                  figures_within_limits(optimum, switch_roles(fabric.topology), proved.collective)};
}

// Solves each collective once.
class Rows {
 public:
  explicit Rows(const Fabric& fabric) : fabric_(fabric) {}

  Expected<void> add(Collective collective, std::optional<Rank> root) {
    auto proved = prove(fabric_.network, operation_of_all(fabric_.network, collective, root));
    if (!proved) return proved.errors();
    auto row = row_of(*proved, root, fabric_);
    if (!row) return row.errors();
    answer_.rows.push_back(*std::move(row));
    answer_.proved.push_back(*std::move(proved));
    return {};
  }

  // Of an allreduce that stands among the rows, beside its phases or without them.
  Expected<void> describe_allreduce() {
    const auto gather = rate_of(Collective::allgather);
    const auto scatter = rate_of(Collective::reduce_scatter);
    const auto row = std::ranges::find(answer_.rows, Collective::allreduce, &BoundRow::collective);
    if (!gather) return gather.errors();
    if (!scatter) return scatter.errors();
    row->rates.allreduce = allreduce_within_limits(row->rates, gather, scatter);
    if (answer_.rows.size() == 1) answer_.rate_per_root = per_root(*gather);
    return {};
  }

  BoundAnswer finish() {
    const BoundRow& first = answer_.rows.front();
    if (!answer_.rate_per_root) {
      answer_.rate_per_root = is_rooted(first.collective) ? first.algbw : per_root(first.algbw);
    }
    return std::move(answer_);
  }

 private:
  Expected<Ratio> rate_of(Collective collective) {
    const auto row = std::ranges::find(answer_.rows, collective, &BoundRow::collective);
    if (row != answer_.rows.end()) return row->algbw;
    const auto optimum =
        optimum_of_all(fabric_.network, operation_of_all(fabric_.network, collective));
    return optimum ? Expected<Ratio>(optimum->at_most) : Expected<Ratio>(optimum.errors());
  }

  [[nodiscard]] std::optional<Ratio> per_root(const Ratio& algbw) const {
    const Weights weights = shares(fabric_.network);
    const auto all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
    return checked_div(algbw, Ratio(all));
  }

  const Fabric& fabric_;
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
  if (std::ranges::count(asked->collectives, Collective::allreduce) > 0) {
    if (const auto done = rows.describe_allreduce(); !done) return done.errors();
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
  const auto lines = in_words(ProvingLengths{proved.optimum.lengths, proved.optimum.limit_lengths},
                              fabric.topology, fabric.network);
  const std::string_view name = to_string(proved.collective);
  if (lines.size() == 1) return fmt::format("bottleneck of {}: {}\n", name, lines.front());
  std::string text = fmt::format(
      "bottleneck of {}, as lengths: all data covers at least as much as these carry\n", name);
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

Json to_json(const ProvedByLengths& proved, const Fabric& fabric) {
  return to_json(ProvingLengths{proved.optimum.lengths, proved.optimum.limit_lengths},
                 fabric.topology, fabric.network);
}

}  // namespace forestcoll::cli
