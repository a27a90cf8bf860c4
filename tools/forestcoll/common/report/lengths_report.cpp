#include "common/report/lengths_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "forestcoll/ratio.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

// A limit and its length in a proof, in the terms of the file, whose weights need not be whole.
struct WrittenLimit {
  SharedLimit limit;
  std::int64_t length = 0;
};

SharedLimit with_whole_weights(const Network& network, std::size_t number) {
  const ArcLimit& limit = network.limits[number];
  const auto bandwidth = checked_mul(Ratio(limit.capacity), network.unit);
  SharedLimit whole{limit.name, bandwidth.value_or(Ratio(0)), {}};
  for (const auto& [arc, weight] : limit.uses) {
    whole.uses.push_back({network.graph.tail(arc), network.graph.head(arc), Ratio(weight)});
  }
  return whole;
}

// `length`: in the terms of the network, whose weights are whole.
WrittenLimit as_written(const Topology& topology, const Network& network, std::size_t number,
                        std::int64_t length = 0) {
  SharedLimit whole = with_whole_weights(network, number);
  const SharedLimit::Use& first = whole.uses.front();
  for (const SharedLimit& of_file : topology.limits) {
    const auto use = std::ranges::find_if(of_file.uses, [&](const SharedLimit::Use& one) {
      return one.src == first.src && one.dst == first.dst;
    });
    if (of_file.name != whole.name || use == of_file.uses.end()) continue;
    const auto times = checked_div(first.weight, use->weight);
    const auto bandwidth = times ? checked_div(whole.bandwidth, *times) : std::nullopt;
    const auto longer = times ? checked_mul(Ratio(length), *times) : std::nullopt;
    if (bandwidth != of_file.bandwidth || !longer || longer->den() != 1) continue;
    whole.bandwidth = *bandwidth;
    for (SharedLimit::Use& one : whole.uses) one.weight = one.weight / *times;
    return {std::move(whole), longer->num()};
  }
  return {std::move(whole), length};
}

// Links of one kind, length and capacity that the same operations use.
struct AlikeLinks {
  std::string kind;
  std::int64_t length = 0;
  Capacity capacity = 0;
  std::vector<std::size_t> operations;
  auto operator<=>(const AlikeLinks&) const = default;
};

std::string links_in_words(const AlikeLinks& alike, const std::vector<ArcId>& arcs,
                           const Topology& topology, const Network& network) {
  const auto bandwidth = checked_mul(Ratio(alike.capacity), network.unit);
  return fmt::format("{} of {}{}{} GB/s, {} -> {}{}", counted(arcs.size(), "link"), alike.kind,
                     alike.kind.empty() ? "" : " ", number(bandwidth.value_or(Ratio(0))),
                     topology.nodes[network.graph.tail(arcs.front())].id,
                     topology.nodes[network.graph.head(arcs.front())].id,
                     arcs.size() > 1 ? ", …" : "");
}

// What follows the length of a limit.
std::string weights_in_words(const SharedLimit& limit) {
  const bool is_weighed = std::ranges::any_of(
      limit.uses, [](const SharedLimit::Use& use) { return use.weight != Ratio(1); });
  return is_weighed ? ", times its weight" : "";
}

// Limits of one bandwidth and length, on as many directions: each by itself where they are few.
void add_limits(const JointOptimum& optimum, const Topology& topology, const Network& network,
                std::vector<LengthLine>& lines) {
  constexpr std::size_t kMostApart = 4;
  using Look = std::tuple<Ratio, std::size_t, std::int64_t, std::string>;
  std::map<Look, std::size_t> known;
  std::vector<std::vector<std::size_t>> classes;
  for (std::size_t l = 0; l < network.limits.size(); ++l) {
    if (optimum.limit_lengths[l] == 0) continue;
    const WrittenLimit written = as_written(topology, network, l, optimum.limit_lengths[l]);
    const Look look{written.limit.bandwidth, written.limit.uses.size(), written.length,
                    weights_in_words(written.limit)};
    const auto [at, is_new] = known.try_emplace(look, classes.size());
    if (is_new) classes.emplace_back();
    classes[at->second].push_back(l);
  }
  for (const std::vector<std::size_t>& alike : classes) {
    const auto [limit, length] =
        as_written(topology, network, alike.front(), optimum.limit_lengths[alike.front()]);
    const std::string weights = weights_in_words(limit);
    if (alike.size() > kMostApart) {
      lines.push_back({fmt::format("{} limits of {} GB/s, such as {}, each shared by {}",
                                   alike.size(), number(limit.bandwidth), name_of(limit, topology),
                                   counted(limit.uses.size(), "direction")),
                       fmt::format("length {}{}", length, weights),
                       {}});
      continue;
    }
    for (const std::size_t l : alike) {
      lines.push_back({limit_in_words(topology, network, l),
                       fmt::format("length {} each{}", length, weights),
                       {}});
    }
  }
}

Json length_json(std::int64_t length, LengthForm form) {
  return form == LengthForm::number ? Json(length) : exact(Ratio(length));
}

}  // namespace

std::string limit_name(const Topology& topology, const Network& network, std::size_t number) {
  return "limit " + name_of(with_whole_weights(network, number), topology);
}

std::string in_words(const SharedLimit& limit, const Topology& topology) {
  return fmt::format("limit {} of {} GB/s, shared by {}", name_of(limit, topology),
                     number(limit.bandwidth), counted(limit.uses.size(), "direction"));
}

std::string limit_in_words(const Topology& topology, const Network& network, std::size_t number) {
  return in_words(as_written(topology, network, number).limit, topology);
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

Json limit_json(const Topology& topology, const Network& network, std::size_t number) {
  return to_json(as_written(topology, network, number).limit, topology);
}

IdVector<ArcId, std::string> kinds_of_arcs(const Topology& topology, const Network& network) {
  IdVector<ArcId, std::set<std::string>> kinds(network.graph.arc_count());
  for (const TopologyLink& link : topology.links) {
    if (!link.enabled) continue;
    const ArcId there = network.graph.find(link.src, link.dst);
    const ArcId back = network.graph.find(link.dst, link.src);
    if (there.valid()) kinds[there].insert(link.kind);
    if (back.valid() && link.full_duplex) kinds[back].insert(link.kind);
  }
  IdVector<ArcId, std::string> joined;
  for (const auto& of_arc : kinds) {
    joined.push_back(fmt::format("{}", fmt::join(of_arc, "+")));
  }
  return joined;
}

bool is_held_by_limits(const JointOptimum& optimum) {
  return std::ranges::any_of(optimum.limit_lengths, [](std::int64_t length) { return length > 0; });
}

Json lengths_json(const ArcLengths& lengths, const Topology& topology, const Network& network,
                  LengthForm form) {
  Json links = Json::array();
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    const ArcId arc(a);
    if (lengths[arc] == 0) continue;
    links.push_back({{"src", topology.nodes[network.graph.tail(arc)].id},
                     {"dst", topology.nodes[network.graph.head(arc)].id},
                     {"length", length_json(lengths[arc], form)}});
  }
  return links;
}

Json limit_lengths_json(const std::vector<std::int64_t>& lengths, const Topology& topology,
                        const Network& network, LengthForm form) {
  Json limits = Json::array();
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    if (lengths[l] == 0) continue;
    const WrittenLimit written = as_written(topology, network, l, lengths[l]);
    limits.push_back(to_json(written.limit, topology));
    limits.back()["length"] = length_json(written.length, form);
  }
  return limits;
}

Json to_json(const JointOptimum& optimum, const Topology& topology, const Network& network) {
  return {{"lengths", lengths_json(optimum.lengths, topology, network, LengthForm::exact)},
          {"shared_limits",
           limit_lengths_json(optimum.limit_lengths, topology, network, LengthForm::exact)}};
}

std::vector<LengthLine> length_lines(const JointOptimum& optimum, const Topology& topology,
                                     const Network& network) {
  const auto kinds = kinds_of_arcs(topology, network);
  std::map<AlikeLinks, std::vector<ArcId>> found;
  for (std::size_t a = 0; a < optimum.lengths.size(); ++a) {
    const ArcId arc(a);
    if (optimum.lengths[arc] == 0) continue;
    AlikeLinks alike{kinds[arc], optimum.lengths[arc], network.capacity[arc], {}};
    for (std::size_t i = 0; i < optimum.loads.size(); ++i) {
      if (optimum.loads[i][arc] > 0) alike.operations.push_back(i);
    }
    found[std::move(alike)].push_back(arc);
  }
  std::vector<LengthLine> lines;
  for (const auto& [alike, arcs] : found) {
    lines.push_back({links_in_words(alike, arcs, topology, network),
                     fmt::format("length {}", alike.length), alike.operations});
  }
  add_limits(optimum, topology, network, lines);
  return lines;
}

std::vector<std::string> in_words(const JointOptimum& optimum, const Topology& topology,
                                  const Network& network) {
  const auto lines = length_lines(optimum, topology, network);
  if (lines.size() == 1 && lines.front().length == "length 1 each") return {lines.front().links};
  std::vector<std::string> words;
  for (const LengthLine& line : lines) words.push_back(line.links + ": " + line.length);
  return words;
}

}  // namespace forestcoll::cli
