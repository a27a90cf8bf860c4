#include "common/report/findings/pcie_cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/report/report.hpp"
#include "forestcoll/bottleneck.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

struct Optimum {
  Ratio algbw;        ///< GB/s
  std::string limit;  ///< the cut in words
};

// The best allgather over these GPUs on what is left of the fabric; nothing where nothing joins
// them, or where its figures are beyond exact arithmetic.
std::optional<Optimum> best_allgather(const Topology& topology, const std::vector<std::string>& ids,
                                      std::vector<std::string> drop) {
  const auto left =
      degrade(topology, {.drop = std::move(drop), .ranks = fmt::format("{}", fmt::join(ids, ","))});
  const auto network = left ? to_digraph(left->topology) : left.errors();
  if (!network) return std::nullopt;
  const Rate rate = optimal_rate(*network, uniform_weights(*network));
  return Optimum{
      .algbw = Ratio(static_cast<std::int64_t>(ids.size())) * network->unit / rate.inverse,
      .limit =
          in_words(find_bottleneck(*network, rate, CollectivePhase::broadcast), left->topology)};
}

// The name of the first box, with what stands between it and the ids of its nodes.
std::string first_box(const Topology& topology) {
  const auto gpu = std::ranges::find(topology.nodes, NodeType::compute, &TopologyNode::type);
  return gpu == topology.nodes.end() || gpu->box.empty() ? "" : gpu->box + "/";
}

std::vector<std::string> in_box(const std::string& box, const std::vector<std::string>& ids) {
  std::vector<std::string> whole;
  for (const std::string& id : ids) whole.push_back(box + id);
  return whole;
}

}  // namespace

void add_cost_of_pcie(const ImportReport& report, const Topology& topology, Diagnostics& findings) {
  if (report.joined_by_pcie.empty()) return;
  const std::string box = first_box(topology);
  std::vector<std::string> all, largest;
  for (const auto& group : report.joined_by_pcie) {
    all.insert(all.end(), group.begin(), group.end());
    if (group.size() > largest.size()) largest = group;
  }
  const auto with = best_allgather(topology, in_box(box, all), {});
  if (!with) return;
  std::string& message = findings.front().message;
  message += fmt::format(". By these bandwidths an allgather over them moves {} GB/s at best ({})",
                         number(with->algbw), with->limit);
  if (largest.size() < 2) return;
  const auto without = best_allgather(topology, in_box(box, largest), {"kind=pcie"});
  if (!without) return;
  message += fmt::format("; one over {} alone, without PCIe, {} GB/s",
                         fmt::join(compress_ids(largest), ","), number(without->algbw));
}

}  // namespace forestcoll::cli
