#include "common/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/report/alltoall_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll::cli {
namespace {

// What is told of a network's limit, which may have its weights in other terms than the file.
SharedLimit with_whole_weights(const Network& network, std::size_t number) {
  const ArcLimit& limit = network.limits[number];
  const auto bandwidth = checked_mul(Ratio(limit.capacity), network.unit);
  SharedLimit whole{limit.name, bandwidth.value_or(Ratio(0)), {}};
  for (const auto& [arc, weight] : limit.uses) {
    whole.uses.push_back({network.graph.tail(arc), network.graph.head(arc), Ratio(weight)});
  }
  return whole;
}

SharedLimit as_written(const Topology& topology, const Network& network, std::size_t number) {
  SharedLimit whole = with_whole_weights(network, number);
  const SharedLimit::Use& first = whole.uses.front();
  for (const SharedLimit& of_file : topology.limits) {
    const auto use = std::ranges::find_if(of_file.uses, [&](const SharedLimit::Use& one) {
      return one.src == first.src && one.dst == first.dst;
    });
    if (of_file.name != whole.name || use == of_file.uses.end()) continue;
    const auto times = checked_div(first.weight, use->weight);
    const auto bandwidth = times ? checked_div(whole.bandwidth, *times) : std::nullopt;
    if (bandwidth != of_file.bandwidth) continue;
    whole.bandwidth = *bandwidth;
    break;
  }
  return whole;
}

// By the nodes that links join, one way.
std::map<std::pair<NodeId, NodeId>, std::string> kinds_of_links(const Topology& topology) {
  std::map<std::pair<NodeId, NodeId>, std::string> kinds;
  for (const TopologyLink& link : topology.links) {
    if (!link.enabled) continue;
    kinds[{link.src, link.dst}] = link.kind;
    if (link.full_duplex) kinds[{link.dst, link.src}] = link.kind;
  }
  return kinds;
}

std::string length_of_limit(const Network& network, std::size_t number,
                            const ProvingLengths& lengths) {
  const auto& uses = network.limits[number].uses;
  const bool is_weighed =
      std::ranges::any_of(uses, [](const auto& use) { return use.second != 1; });
  return fmt::format(": length {} each{}", lengths.limits[number],
                     is_weighed ? ", times its weight" : "");
}

// What the shares are of; of an allreduce stars of unequal shares may be faster.
const char* stars_in_words(Collective collective) {
  return collective == Collective::allreduce ? " by stars of equal shares"
                                             : " by trees of height 1";
}

constexpr std::size_t kMostRanksOfStars = 32;  // of more the program takes minutes

// The shares are of trees that branch at GPUs alone.
bool take_roles(Topology& topology) {
  bool had_any = false;
  for (TopologyNode& node : topology.nodes) {
    had_any |= std::exchange(node.multicast, false);
    had_any |= std::exchange(node.reduce, false);
  }
  return had_any;
}

Expected<Ratio> in_turn(const Ratio& first, const Ratio& second) {
  const auto sum = checked_add(first, second);
  const auto product = checked_mul(first, second);
  const auto both = sum && product ? checked_div(*product, *sum) : std::nullopt;
  if (both) return *both;
  return make_error(Code::E14, "the exact rate of both phases does not fit 64 bits",
                    "round the bandwidths to a coarser grid with --quantize");
}

}  // namespace

Expected<void> refuse_limits(const Topology& topology, std::string_view what) {
  if (topology.limits.empty()) return {};
  return make_error(
      Code::E18,
      fmt::format("{} does not know capacities that links share, and the topology has "
                  "{}",
                  what, counted(topology.limits.size(), "limit")),
      "leave it out, or take \"limits\" out of the file");
}

std::string in_words(const SharedLimit& limit) {
  return fmt::format("limit{}{} of {} GB/s, shared by {}", limit.name.empty() ? "" : " ",
                     limit.name, number(limit.bandwidth), counted(limit.uses.size(), "direction"));
}

std::string limit_in_words(const Topology& topology, const Network& network, std::size_t number) {
  return in_words(as_written(topology, network, number));
}

Json to_json(const SharedLimit& limit, const Topology& topology) {
  Json links = Json::array();
  for (const SharedLimit::Use& use : limit.uses) {
    links.push_back({{"src", topology.nodes[use.src].id},
                     {"dst", topology.nodes[use.dst].id},
                     {"limit_weight", exact(use.weight)}});
  }
  return {{"name", limit.name}, {"bandwidth", exact(limit.bandwidth)}, {"links", std::move(links)}};
}

bool is_held_by_limits(const ProvingLengths& lengths) {
  return std::ranges::any_of(lengths.limits, [](std::int64_t length) { return length > 0; });
}

Json limit_json(const Topology& topology, const Network& network, std::size_t number) {
  return to_json(with_whole_weights(network, number), topology);
}

Json to_json(const ProvingLengths& lengths, const Topology& topology, const Network& network) {
  Json links = Json::array(), limits = Json::array();
  for (std::size_t a = 0; a < lengths.links.size(); ++a) {
    const std::int64_t length = lengths.links[ArcId(a)];
    if (length == 0) continue;
    links.push_back({{"src", topology.nodes[network.graph.tail(ArcId(a))].id},
                     {"dst", topology.nodes[network.graph.head(ArcId(a))].id},
                     {"length", exact(Ratio(length))}});
  }
  for (std::size_t l = 0; l < lengths.limits.size(); ++l) {
    if (lengths.limits[l] == 0) continue;
    limits.push_back(limit_json(topology, network, l));
    limits.back()["length"] = exact(Ratio(lengths.limits[l]));
  }
  return {{"lengths", std::move(links)}, {"shared_limits", std::move(limits)}};
}

std::vector<std::string> in_words(const ProvingLengths& lengths, const Topology& topology,
                                  const Network& network) {
  std::vector<std::string> lines;
  std::map<std::tuple<std::string, Capacity, std::int64_t>, std::vector<ArcId>> alike;
  const auto kinds = kinds_of_links(topology);
  for (std::size_t a = 0; a < lengths.links.size(); ++a) {
    const ArcId arc(a);
    if (lengths.links[arc] == 0) continue;
    const std::string& kind = kinds.at({network.graph.tail(arc), network.graph.head(arc)});
    alike[{kind, network.capacity[arc], lengths.links[arc]}].push_back(arc);
  }
  for (const auto& [shape, arcs] : alike) {
    const auto& [kind, capacity, length] = shape;
    const auto bandwidth = checked_mul(Ratio(capacity), network.unit);
    lines.push_back(fmt::format(
        "{} of {}{}{} GB/s, {} -> {}{}: length {}", counted(arcs.size(), "link"), kind,
        kind.empty() ? "" : " ", number(bandwidth.value_or(Ratio(0))),
        topology.nodes[network.graph.tail(arcs.front())].id,
        topology.nodes[network.graph.head(arcs.front())].id, arcs.size() > 1 ? ", …" : "", length));
  }
  for (std::size_t l = 0; l < lengths.limits.size(); ++l) {
    if (lengths.limits[l] == 0) continue;
    lines.push_back(limit_in_words(topology, network, l) + length_of_limit(network, l, lengths));
  }
  constexpr const char* kPlain = ": length 1 each";
  if (lines.size() == 1 && lines.front().ends_with(kPlain)) {
    lines.front().resize(lines.front().size() - std::string_view(kPlain).size());
  }
  return lines;
}

RateFigures figures_within_limits(const JointOptimum& optimum, const SwitchRoles& roles,
                                  Collective collective) {
  const RateFigure by_trees{optimum.at_most, optimum.reached};
  if (!forestcoll::has_able_switches(roles, collective)) return {by_trees, by_trees};
  return {make_error(Code::E18,
                     "in-network multicast and reduction are not known where links share "
                     "capacities",
                     "see the optimum by trees, or take \"limits\" out of the file"),
          by_trees};
}

AllreduceFigures allreduce_within_limits(const RateFigures& figures, const Expected<Ratio>& gather,
                                         const Expected<Ratio>& scatter) {
  const RateFigure& figure = *figures.by_trees;
  AllreduceOptimum by_trees{.upper = figure.at_most, .statistics = {}};
  by_trees.split = AllreduceSplit{figure.at_least, {}, {}};
  by_trees.value = figure.at_least.to_double();
  Expected<Ratio> two_phases = gather && scatter ? in_turn(*gather, *scatter)
                               : gather          ? Expected<Ratio>(scatter.errors())
                                                 : Expected<Ratio>(gather.errors());
  AllreduceFigures known{std::move(two_phases), std::move(by_trees)};
  if (!figures.optimum) known.in_network = Expected<AllreduceOptimum>(figures.optimum.errors());
  return known;
}

RateFigures rates_within_limits(const Network& network, const SwitchRoles& roles,
                                Collective collective, std::optional<Rank> root,
                                const std::optional<JointOptimum>& known,
                                const std::stop_token& stop) {
  const auto optimum_of = [&](Collective one) {
    return optimum_of_all(network, operation_of_all(network, one, root), {.stop = stop});
  };
  const Expected<JointOptimum> optimum = known ? *known : optimum_of(collective);
  if (!optimum) return {optimum.errors(), optimum.errors()};
  RateFigures figures = figures_within_limits(*optimum, roles, collective);
  if (collective != Collective::allreduce) return figures;
  const auto rate_of = [&](Collective phase) {
    const auto alone = optimum_of(phase);
    return alone ? Expected<Ratio>(alone->at_most) : Expected<Ratio>(alone.errors());
  };
  figures.allreduce = allreduce_within_limits(figures, rate_of(Collective::allgather),
                                              rate_of(Collective::reduce_scatter));
  return figures;
}

Expected<AlltoallProof> proof_within_limits(const JointOptimum& optimum, const Demand& demand) {
  const std::size_t ranks = demand.ranks();
  std::int64_t moved = 1;  // of a buffer, in what a pair has: 1 / ranks of it
  if (!demand.is_of_blocks()) {
    moved = 0;
    for (std::size_t i = 0; i < ranks * ranks; ++i) {
      moved += demand(Rank(i / ranks), Rank(i % ranks));
    }
  }
  const Ratio buffers(static_cast<std::int64_t>(ranks), moved);
  // A buffer of blocks has one for each rank, and one of a demand what a rank sends on average.
  const auto scaled = [&](const Ratio& rate) {
    return demand.is_of_blocks() ? checked_div(rate, buffers) : checked_mul(rate, buffers);
  };
  const auto reached = scaled(optimum.reached), at_most = scaled(optimum.at_most);
  if (reached && at_most) return AlltoallProof{*reached, *at_most, {}, optimum.lengths};
  return make_error(Code::E14, "the exact rate of a pair does not fit 64 bits",
                    "round the bandwidths to a coarser grid with --quantize");
}

RateFigures paths_figures(const JointOptimum& optimum, const ParsedDemand& demand) {
  const auto proof = proof_within_limits(optimum, demand.demand);
  return proof ? paths_figures(*proof, demand) : RateFigures{proof.errors(), proof.errors()};
}

Expected<void> divide_limits(Fabric& fabric, const WholeCollective& asked, const Console& console) {
  if (fabric.network.limits.empty()) return {};
  JobOperation operation = operation_of_all(fabric.network, asked.collective, asked.root);
  if (asked.demand != nullptr && !asked.demand->is_of_blocks()) operation.demand = *asked.demand;
  bool are_stars = asked.max_height == 1 && !is_personalized(asked.collective) &&
                   fabric.network.ranks.size() <= kMostRanksOfStars;
  auto optimum = at_work("finding the best rate within limits", console, [&] {
    if (are_stars) {
      auto stars = optimum_of_stars(fabric.network, operation, {.shares = true});
      // Packing says that there are none of this height.
      are_stars = stars || stars.errors().front().code != Code::O08;
      if (are_stars) return stars;
    }
    return optimum_of_all(fabric.network, operation, {.shares = true});
  });
  if (!optimum) return optimum.errors();
  const auto part = within_limits(fabric.topology, fabric.network, operation, optimum->shares);
  if (!part) return part.errors();
  auto network = to_digraph(*part);
  if (!network) return network.errors();
  fabric.roles = switch_roles(fabric.topology);
  const bool had_roles = take_roles(fabric.topology);
  note(console,
       fmt::format("{}: of the links that share them, what {}{} at the best rate takes of each is "
                   "used: {} GB/s{}",
                   counted(fabric.topology.limits.size(), "limit"), operation.name,
                   are_stars ? stars_in_words(asked.collective) : "", number(optimum->reached),
                   optimum->is_exact() ? "" : ", of at most " + number(optimum->at_most)));
  if (asked.max_height == 1 && !is_personalized(asked.collective) &&
      fabric.network.ranks.size() > kMostRanksOfStars) {
    note(console, fmt::format("of more than {} GPUs these are the parts of trees of any height, "
                              "which may leave less to those of height 1",
                              kMostRanksOfStars));
  }
  if (had_roles) note(console, "with limits, in-network multicast and reduction are not used");
  if (!are_stars) {
    fabric.lengths = {optimum->lengths, optimum->limit_lengths};
    fabric.optimum = *std::move(optimum);
    fabric.optimum->loads.clear();
    fabric.optimum->shares.clear();
  }
  fabric.whole = std::exchange(fabric.network, *std::move(network));
  fabric.beside.reset();
  return {};
}

}  // namespace forestcoll::cli
