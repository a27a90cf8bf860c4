#include <fmt/format.h>

#include <optional>
#include <set>
#include <vector>

#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/design.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/whole_collective.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll {
namespace {

Diagnostic beyond_arithmetic() {
  return make_error(Code::E14, "the exact rates of this cluster do not fit 64 bits",
                    "choose another number of GPUs");
}

// What is reached where links share capacities, and what is proved to be the most.
Expected<ProvedInterval> by_program(const Network& network, Collective collective) {
  const auto optimum = optimum_of_all(network, operation_of_all(network, collective));
  if (!optimum) return optimum.errors();
  return ProvedInterval{optimum->reached, optimum->at_most};
}

// algbw of an allgather: N roots at the rate of one.
Expected<Ratio> allgather_of(const Network& network) {
  if (!network.limits.empty()) {
    const auto found = by_program(network, Collective::allgather);
    return found ? Expected<Ratio>(found->least) : Expected<Ratio>(found.errors());
  }
  const Ratio inverse = tree_rate(network, uniform_weights(network)).inverse;
  const auto per_root = checked_div(network.unit, inverse);
  const auto ranks = static_cast<std::int64_t>(network.ranks.size());
  const auto rate = per_root ? checked_mul(*per_root, Ratio(ranks)) : std::nullopt;
  return rate ? Expected<Ratio>(*rate) : Expected<Ratio>(beyond_arithmetic());
}

Expected<Ratio> reduce_scatter_of(const Network& network, const Ratio& allgather) {
  if (!network.limits.empty()) {
    const auto found = by_program(network, Collective::reduce_scatter);
    return found ? Expected<Ratio>(found->least) : Expected<Ratio>(found.errors());
  }
  return is_symmetric(network) ? Expected<Ratio>(allgather) : allgather_of(reversed(network));
}

Expected<ProvedInterval> alltoall_of(const Network& network) {
  if (!network.limits.empty()) return by_program(network, Collective::alltoall);
  const std::size_t ranks = network.ranks.size();
  const auto alltoall = alltoall_optimum(network, Demand::uniform(ranks));
  if (!alltoall) return alltoall.errors();
  const Ratio n(static_cast<std::int64_t>(ranks));
  const auto least = checked_mul(alltoall->proof.reached, n);
  const auto most = checked_mul(alltoall->proof.at_most, n);
  if (!least || !most) return beyond_arithmetic();
  return ProvedInterval{*least, *most};
}

// Of the switches outside of boxes, one of each kind that looks alike from all sides.
std::vector<std::string> switches_that_fail(const Topology& topology, const Network& network) {
  const auto colours =
      solver::refined(network, solver::colours_by_weight(network, uniform_weights(network)));
  std::set<std::uint64_t> met;
  std::vector<std::string> ids;
  for (std::size_t v = 0; v < colours.size(); ++v) {
    const std::string& id = topology.nodes[NodeId(v)].id;
    const bool in_box = network.is_compute(NodeId(v)) || id.find('/') != std::string::npos;
    if (!in_box && met.insert(colours[NodeId(v)]).second) ids.push_back(id);
  }
  return ids;
}

// Without one switch; 0 where that cuts GPUs off.
Expected<Ratio> without(const Topology& topology, const std::string& id) {
  const auto left = degrade(topology, {.drop = {id}});
  if (!left) {
    if (is_of_disconnection(left.errors().front().code)) return Ratio(0);
    return left.errors();
  }
  const auto network = to_digraph(left->topology);
  if (!network) return network.errors();
  return allgather_of(*network);
}

}  // namespace

Expected<ClusterFigures> cluster_figures(const ClusterShape& shape) {
  const auto parsed = parse_topology(to_topology_json(to_document(shape)), "cluster");
  if (!parsed) return parsed.errors();
  const auto network = to_digraph(parsed->topology);
  if (!network) return network.errors();
  const auto allgather = allgather_of(*network);
  if (!allgather) return allgather.errors();
  const auto reduce_scatter = reduce_scatter_of(*network, *allgather);
  if (!reduce_scatter) return reduce_scatter.errors();
  // Two phases after one another: the harmonic sum.
  const Ratio both = Ratio(1) / *allgather + Ratio(1) / *reduce_scatter;
  ClusterFigures figures;
  figures.allgather = *allgather;
  figures.allreduce = Ratio(1) / both;
  const auto alltoall = alltoall_of(*network);
  if (!alltoall) return alltoall.errors();
  figures.alltoall = *alltoall;
  figures.after_failure = *allgather;
  for (const std::string& id : switches_that_fail(parsed->topology, *network)) {
    const auto left = without(parsed->topology, id);
    if (!left) return left.errors();
    if (*left < figures.after_failure || figures.failed.empty()) {
      figures.after_failure = *left;
      figures.failed = id;
    }
    if (*left == Ratio(0)) break;  // nothing costs more
  }
  return figures;
}

}  // namespace forestcoll
