#include "common/report/alltoall_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "common/report/lengths_report.hpp"
#include "forestcoll/bottleneck.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

// Kinds of lengths that are listed; more are counted.
constexpr std::size_t kLengthsAtMost = 4;

constexpr double kBytesPerSecond = 1e9;  // of 1 GB/s

// What crosses links.
Int128 crossing(const Demand& demand) {
  const auto ranks = static_cast<Int128>(demand.ranks());
  if (demand.is_of_blocks()) return demand.buffers() * (ranks - 1);
  return demand.total();
}

Diagnostic too_large() {
  return make_error(Code::E14, "the exact algbw does not fit 64 bits",
                    "give the demand in a larger unit, or round the bandwidths to a coarser grid "
                    "with --quantize");
}

CrossingLink link_of(const Network& network, ArcId a) {
  return {network.graph.tail(a), network.graph.head(a), Ratio(network.capacity[a]) * network.unit};
}

std::string line_of(const CrossingLink& link, const Topology& topology) {
  return fmt::format("  {} -> {}: {} GB/s", topology.nodes[link.src].id,
                     topology.nodes[link.dst].id, number(link.bandwidth));
}

// "64 blocks", "5000 bytes"
std::string amount_in_words(const Int128& amount, const Demand& demand) {
  return counted(static_cast<std::size_t>(amount), demand.is_of_blocks() ? "block" : "byte");
}

// Of the two sides of a cut, the one with fewer GPUs is named.
std::string cut_in_words(const AlltoallProof& proof, const Demand& demand, const Topology& topology,
                         const Network& network, std::size_t top) {
  std::vector<bool> sends(network.graph.node_count(), false);
  for (const NodeId v : proof.cut) sends[v.index()] = true;
  std::vector<Rank> inside, outside;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    (sends[network.ranks[r].index()] ? inside : outside).emplace_back(r);
  }
  Int128 amount = 0;
  for (const Rank s : inside) {
    for (const Rank t : outside) amount += demand(s, t);
  }
  std::vector<CrossingLink> links;
  Ratio bandwidth;
  for (std::size_t a = 0; a < proof.lengths.size(); ++a) {
    if (proof.lengths[ArcId(a)] == 0) continue;
    links.push_back(link_of(network, ArcId(a)));
    bandwidth = bandwidth + links.back().bandwidth;
  }
  const bool by_senders = inside.size() <= outside.size();
  const auto& named = by_senders ? inside : outside;
  const char* verb = by_senders ? "send" : "get";
  std::string text =
      fmt::format("bottleneck of {}: {} {}{} {} through {}\n", to_string(demand.collective()),
                  gpus_in_words(named, topology), verb, named.size() == 1 ? "s" : "",
                  amount_in_words(amount, demand), links_in_words(links, bandwidth));
  for (const CrossingLink& link : largest_links(links, top)) text += line_of(link, topology) + "\n";
  return text;
}

// "64 of length 1 (a -> b, …), 32 of length 2 (c -> d, …)"
std::string kinds_in_words(const std::vector<ArcId>& arcs, const AlltoallProof& proof,
                           const Topology& topology, const Network& network) {
  std::map<std::int64_t, std::vector<ArcId>, std::greater<>> by_length;
  for (const ArcId a : arcs) by_length[proof.lengths[a]].push_back(a);
  if (by_length.size() > kLengthsAtMost) {
    return fmt::format("of {} different lengths", by_length.size());
  }
  std::string text;
  for (const auto& [length, alike] : by_length) {
    const CrossingLink link = link_of(network, alike.front());
    text += fmt::format("{}{} of length {} ({} -> {}{})", text.empty() ? "" : ", ", alike.size(),
                        length, topology.nodes[link.src].id, topology.nodes[link.dst].id,
                        alike.size() == 1 ? "" : ", …");
  }
  return text;
}

// All demand covers at least its distances, and the links carry so much length per second.
std::string lengths_in_words(const AlltoallProof& proof, const Demand& demand,
                             const Topology& topology, const Network& network, std::size_t top) {
  std::vector<ArcId> arcs;
  std::set<std::int64_t> lengths;
  double carried = 0;
  for (std::size_t a = 0; a < proof.lengths.size(); ++a) {
    if (proof.lengths[ArcId(a)] == 0) continue;
    arcs.emplace_back(a);
    lengths.insert(proof.lengths[ArcId(a)]);
    carried += static_cast<double>(proof.lengths[ArcId(a)]) *
               static_cast<double>(network.capacity[ArcId(a)]) * network.unit.to_double();
  }
  const double covered =
      carried / proof.at_most.to_double() / static_cast<double>(crossing(demand));
  const char* item = demand.is_of_blocks() ? "block" : "byte";
  if (lengths.size() == 1) {
    const CrossingLink first = link_of(network, arcs.front());
    const std::string named =
        fmt::format("{} -> {}{}", topology.nodes[first.src].id, topology.nodes[first.dst].id,
                    arcs.size() > 1 ? ", …" : "");
    return fmt::format(
        "bottleneck of {}: no cut alone, but {} together, all alike ({}): a {} crosses {} of "
        "them on average\n",
        to_string(demand.collective()), counted(arcs.size(), "link"), named, item,
        number(covered / static_cast<double>(*lengths.begin())));
  }
  std::string text = fmt::format(
      "bottleneck of {}: no cut alone, but {} together, {}: a {} covers a length of {} on "
      "average\n",
      to_string(demand.collective()), counted(arcs.size(), "link"),
      kinds_in_words(arcs, proof, topology, network), item, number(covered));
  std::ranges::stable_sort(arcs,
                           [&](ArcId a, ArcId b) { return proof.lengths[a] > proof.lengths[b]; });
  for (std::size_t i = 0; i < std::min(top, arcs.size()); ++i) {
    text += fmt::format("{}, length {}\n", line_of(link_of(network, arcs[i]), topology),
                        proof.lengths[arcs[i]]);
  }
  return text;
}

}  // namespace

RateFigures paths_figures(const AlltoallProof& proof, const ParsedDemand& demand) {
  const auto rates = rates_of(proof, demand);
  return rates ? figures_of(*rates) : RateFigures{rates.errors(), rates.errors()};
}

Expected<AlltoallRates> rates_of(const AlltoallProof& proof, const ParsedDemand& parsed) {
  const Demand& demand = parsed.demand;
  const auto buffers = static_cast<Int128>(demand.buffers());
  const auto buffer = Ratio::reduced(parsed.total, buffers),
             sent = Ratio::reduced(crossing(demand), buffers);
  if (!buffer || !sent) return too_large();
  const auto algbw = checked_mul(proof.reached, *buffer), busbw = checked_mul(proof.reached, *sent);
  const auto at_most = checked_mul(proof.at_most, *buffer);
  if (!algbw || !busbw || !at_most) return too_large();
  return AlltoallRates{*algbw, *busbw, *at_most};
}

RateFigures figures_of(const AlltoallRates& rates) {
  return rate_figures(RateFigure{rates.algbw_at_most, rates.algbw});
}

Json exact_or_reached(const Ratio& reached, bool is_exact) {
  Json json = exact(reached);
  if (!is_exact) json["exact"] = nullptr;
  return json;
}

Json to_json(const AlltoallProof& proof, const ParsedDemand& demand, const Topology& topology,
             const Network& network) {
  Json json = Json::object();
  if (demand.demand.is_of_blocks()) {
    json["pair"] = exact_or_reached(proof.reached, proof.is_exact());
    json["at_most"] = exact(proof.at_most);
  } else {
    json["bytes"] = demand.total;
    json["reached_seconds"] = 1 / proof.reached.to_double() / kBytesPerSecond;
    json["least_seconds"] = 1 / proof.at_most.to_double() / kBytesPerSecond;
  }
  json["lengths"] = lengths_json(proof.lengths, topology, network, LengthForm::exact);
  return json;
}

std::string rate_in_words(const AlltoallProof& proof, const Demand& demand,
                          const AlltoallRates& rates) {
  std::string text;
  if (demand.is_of_blocks()) {
    const char* who = demand.is_uniform() ? "every GPU sends to every other"
                      : demand.collective() == Collective::scatter ? "the root sends to every GPU"
                                                                   : "every GPU sends to the root";
    text =
        fmt::format("{} at {} GB/s\n", who,
                    proof.is_exact() ? number(proof.reached) : number(proof.reached.to_double()));
  } else {
    text = fmt::format("the demand takes {} ms\n",
                       number(1e3 / proof.reached.to_double() / kBytesPerSecond));
  }
  if (proof.is_exact()) return text;
  constexpr double kPercent = 100;
  const double more = proof.at_most.to_double() / proof.reached.to_double() - 1;
  return text +
         fmt::format(
             "flows reach that rate; the proved upper bound of algbw is {} GB/s, {} % more\n",
             number(rates.algbw_at_most.to_double()), number(kPercent * more));
}

std::string bottleneck_in_words(const AlltoallProof& proof, const Demand& demand,
                                const Topology& topology, const Network& network, std::size_t top) {
  return proof.cut.empty() ? lengths_in_words(proof, demand, topology, network, top)
                           : cut_in_words(proof, demand, topology, network, top);
}

}  // namespace forestcoll::cli
