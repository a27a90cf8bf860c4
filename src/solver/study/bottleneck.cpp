// The solver names a cut by the nodes S inside it. For a broadcast phase what S owns leaves through
// the arcs from S to the rest. A reduce phase is the same on the fabric turned round, so there what
// is meant for S enters through the arcs from the rest to S, and it is the rest that sends.
#include "forestcoll/bottleneck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "forestcoll/text.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kNamesAtMost = 4;
constexpr std::size_t kExceptionsAtMost = 3;

IdVector<NodeId, bool> membership(const Network& network, const std::vector<NodeId>& nodes) {
  IdVector<NodeId, bool> inside(network.graph.node_count(), false);
  for (const NodeId node : nodes) inside[node] = true;
  return inside;
}

// A node without arcs is disabled: it is on neither side.
bool in_use(const Network& network, NodeId node) {
  return network.graph.first_out(node) != network.graph.last_out(node) ||
         !network.graph.in(node).empty();
}

std::string list_names(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  if (names.size() <= kNamesAtMost) {
    return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
  }
  return fmt::format("{}, {}, … {}", names[0], names[1], names.back());
}

std::vector<std::string> ids_of_ranks(const std::vector<Rank>& ranks, const Topology& topology) {
  std::vector<std::string> names;
  names.reserve(ranks.size());
  for (const Rank rank : ranks) names.push_back(topology.nodes[topology.ranks[rank.index()]].id);
  return names;
}

std::vector<Rank> all_but(const std::vector<Rank>& ranks, std::size_t count) {
  const std::set<Rank> excluded(ranks.begin(), ranks.end());
  std::vector<Rank> others;
  for (std::size_t rank = 0; rank < count; ++rank) {
    if (!excluded.contains(Rank(rank))) others.push_back(Rank(rank));
  }
  return others;
}

// The boxes whose GPUs these are, if they are all GPUs of those boxes; otherwise nothing. In order
// of their first rank.
std::vector<std::string> whole_boxes(const std::vector<Rank>& ranks, const Topology& topology) {
  std::map<std::string, std::size_t> missing;
  for (const NodeId node : topology.ranks) ++missing[topology.nodes[node].box];
  std::vector<std::string> boxes;
  for (const Rank rank : ranks) {
    const std::string& box = topology.nodes[topology.ranks[rank.index()]].box;
    if (box.empty()) return {};
    if (std::ranges::find(boxes, box) == boxes.end()) boxes.push_back(box);
    --missing[box];
  }
  const bool whole =
      std::ranges::all_of(boxes, [&](const std::string& box) { return missing[box] == 0; });
  return whole ? boxes : std::vector<std::string>();
}

Ratio exit_of(const Network& network, const Rate& rate) {
  return Ratio(rate.bottleneck.exit) * network.unit;
}

}  // namespace

Bottleneck find_bottleneck(const Network& network, const Rate& rate, CollectivePhase phase) {
  const auto inside = membership(network, rate.bottleneck.sending);
  const bool outward = phase == CollectivePhase::broadcast;
  Bottleneck found{
      .phase = phase,
      .inside = {},
      .weight = rate.bottleneck.weight,
      .sending = {},
      .links = {},
      .exit_bandwidth = exit_of(network, rate),
      .rate_per_root = network.unit / rate.inverse,
      .switches_cost = Ratio(rate.bottleneck.weight, rate.bottleneck.exit) < rate.inverse};
  for (std::size_t i = 0; i < network.graph.node_count(); ++i) {
    const NodeId node(i);
    if (inside[node] == outward && in_use(network, node)) found.sending.push_back(node);
  }
  for (std::size_t rank = 0; rank < network.ranks.size(); ++rank) {
    if (inside[network.ranks[rank]]) found.inside.push_back(Rank(rank));
  }
  for (std::size_t i = 0; i < network.graph.arc_count(); ++i) {
    const ArcId arc(i);
    const NodeId tail = network.graph.tail(arc);
    const NodeId head = network.graph.head(arc);
    if (inside[tail] == outward && inside[head] != outward) {
      found.links.push_back({tail, head, Ratio(network.capacity[arc]) * network.unit});
    }
  }
  return found;
}

std::string gpus_in_words(const std::vector<Rank>& ranks, const Topology& topology) {
  if (ranks.size() == 1) return "GPU " + ids_of_ranks(ranks, topology).front();
  const auto boxes = whole_boxes(ranks, topology);
  if (boxes.size() > kNamesAtMost) {
    return fmt::format("the {} GPUs of {} boxes ({})", ranks.size(), boxes.size(),
                       list_names(boxes));
  }
  if (!boxes.empty()) return fmt::format("the {} GPUs of {}", ranks.size(), list_names(boxes));
  const auto others = all_but(ranks, topology.ranks.size());
  if (others.size() <= kExceptionsAtMost && others.size() < ranks.size()) {
    return fmt::format("the {} GPUs other than {}", ranks.size(),
                       list_names(ids_of_ranks(others, topology)));
  }
  return fmt::format("the {} GPUs {}", ranks.size(), list_names(ids_of_ranks(ranks, topology)));
}

// The ranks beyond a cut, where they are few and the others are no whole boxes; else empty.
std::string few_others(const std::vector<Rank>& ranks, const Topology& topology) {
  if (ranks.size() == 1 || !whole_boxes(ranks, topology).empty()) return {};
  const auto others = all_but(ranks, topology.ranks.size());
  const bool few = others.size() <= kExceptionsAtMost && others.size() < ranks.size();
  return few ? list_names(ids_of_ranks(others, topology)) : "";
}

std::string links_in_words(const std::vector<CrossingLink>& links, const Ratio& bandwidth) {
  std::map<Ratio, std::size_t, std::greater<>> by_bandwidth;
  for (const CrossingLink& link : links) ++by_bandwidth[link.bandwidth];
  std::vector<std::string> groups;
  groups.reserve(by_bandwidth.size());
  for (const auto& [of_one, count] : by_bandwidth) {
    groups.push_back(fmt::format("{} of {} GB/s", counted(count, "link"), number(of_one)));
  }
  const std::string sum = fmt::format(" ({} GB/s)", number(bandwidth));
  return list_names(groups) + (links.size() > 1 ? sum : "");
}

std::string in_words(const Bottleneck& bottleneck, const Topology& topology) {
  std::string links = links_in_words(bottleneck.links, bottleneck.exit_bandwidth);
  if (bottleneck.switches_cost) {
    links += fmt::format("; switches whose two sides differ leave {} GB/s per root for trees",
                         number(bottleneck.rate_per_root));
  }
  const bool reduces = bottleneck.phase == CollectivePhase::reduce;
  if (const std::string few = few_others(bottleneck.inside, topology); !few.empty()) {
    return fmt::format("all data {} {} {} through {}", reduces ? "of" : "for", few,
                       reduces ? "leaves" : "enters", links);
  }
  return fmt::format("data {} {} {} through {}", reduces ? "for" : "of",
                     gpus_in_words(bottleneck.inside, topology), reduces ? "enters" : "leaves",
                     links);
}

std::vector<CrossingLink> largest_links(std::vector<CrossingLink> links, std::size_t count) {
  std::ranges::stable_sort(links, std::greater<>(), &CrossingLink::bandwidth);
  links.resize(std::min(count, links.size()));
  return links;
}

}  // namespace forestcoll
