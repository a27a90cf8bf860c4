#include "whatif_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace forestcoll::cli {
namespace {

std::string name_of(LinkId id, const Topology& topology) {
  const TopologyLink& link = topology.links[id];
  return fmt::format("{} {} {}", topology.nodes[link.src].id, link.full_duplex ? "~" : "->",
                     topology.nodes[link.dst].id);
}

// "nvlink 300 GB/s", "16 pcie 25 GB/s and 16 ib 25 GB/s"
std::string kinds_of(const std::vector<LinkId>& links, const Topology& topology, bool counts) {
  std::map<std::pair<std::string, Ratio>, std::size_t> kinds;
  for (const LinkId id : links) {
    ++kinds[{topology.links[id].kind, topology.links[id].bandwidth}];
  }
  std::string text;
  std::size_t listed = 0;
  for (const auto& [kind, count] : kinds) {
    if (listed == 3) return text + ", …";
    ++listed;
    if (!text.empty()) text += ", ";
    if (counts) text += fmt::format("{} ", count);
    if (!kind.first.empty()) text += kind.first + " ";
    text += number(kind.second) + " GB/s";
  }
  return text;
}

// "box0/gpu0 ~ box0/nvsw (nvlink 300 GB/s), or another of 16"
std::string any_of(const std::vector<LinkId>& links, const Topology& topology) {
  std::string text = fmt::format("{} ({})", name_of(links.front(), topology),
                                 kinds_of({links.front()}, topology, false));
  if (links.size() > 1) text += fmt::format(", or another of {}", links.size());
  return text;
}

// Effects that read alike: of one size, on links of the same kinds.
struct Line {
  Ratio algbw;
  std::string kinds;
  std::vector<LinkId> links;  ///< of the first; of all where any one of them is meant
  bool together = false;
  std::size_t sets = 1;
};

void add(std::vector<Line>& lines, Line line) {
  const auto alike = std::ranges::find_if(lines, [&](const Line& other) {
    return other.algbw == line.algbw && other.kinds == line.kinds &&
           other.together == line.together;
  });
  if (alike == lines.end()) {
    lines.push_back(std::move(line));
  } else if (line.together) {
    ++alike->sets;
  } else {
    alike->links.insert(alike->links.end(), line.links.begin(), line.links.end());
  }
}

std::vector<Line> failure_lines(const WhatIf& what_if, const Topology& topology) {
  std::vector<Line> lines;
  for (const FailureEffect& failure : what_if.failures) {
    if (failure.algbw == what_if.algbw) continue;
    add(lines, {failure.algbw, kinds_of({failure.links.front()}, topology, false), failure.links});
  }
  return lines;
}

std::vector<Line> upgrade_lines(const WhatIf& what_if, const Topology& topology) {
  std::vector<Line> lines;
  for (const UpgradeEffect& upgrade : what_if.upgrades) {
    const bool together = upgrade.together && upgrade.links.size() > 1;
    const std::vector<LinkId> first = {upgrade.links.front()};
    add(lines, {upgrade.algbw, kinds_of(together ? upgrade.links : first, topology, together),
                upgrade.links, together});
  }
  return lines;
}

std::string in_words(const Line& line, const Topology& topology) {
  if (!line.together) return any_of(line.links, topology);
  std::string text = fmt::format("{} together, such as {}: {}", counted(line.links.size(), "link"),
                                 name_of(line.links.front(), topology), line.kinds);
  if (line.sets > 1) text += fmt::format(", or another of {} such sets", line.sets);
  return text;
}

std::string change(const Ratio& after, const Ratio& before) {
  const double percent = (after.to_double() / before.to_double() - 1) * 100;
  return fmt::format("{:+.1f} %", percent);
}

Json names(const std::vector<LinkId>& links, const Topology& topology) {
  Json list = Json::array();
  for (const LinkId id : links) {
    const TopologyLink& link = topology.links[id];
    list.push_back({{"src", topology.nodes[link.src].id},
                    {"dst", topology.nodes[link.dst].id},
                    {"kind", link.kind},
                    {"bandwidth", exact(link.bandwidth)}});
  }
  return list;
}

}  // namespace

std::string in_words(const WhatIf& what_if, const Topology& topology, const WhatIfOptions& options,
                     std::size_t count) {
  std::string text = fmt::format("what if one link fails ({} at {} GB/s):\n",
                                 to_string(options.collective), number(what_if.algbw));
  const auto list = [&](const std::vector<Line>& lines) {
    for (std::size_t i = 0; i < std::min(count, lines.size()); ++i) {
      const bool cut_off = lines[i].algbw == Ratio(0);
      text += fmt::format("  {:>9} {:>20}  {}\n",
                          cut_off ? "cut off" : change(lines[i].algbw, what_if.algbw),
                          cut_off ? "" : number(lines[i].algbw), in_words(lines[i], topology));
    }
  };
  list(failure_lines(what_if, topology));
  std::size_t of_no_cost = 0;
  for (const FailureEffect& failure : what_if.failures) {
    if (failure.algbw == what_if.algbw) of_no_cost += failure.links.size();
  }
  if (of_no_cost > 0) text += fmt::format("  no cost:  {}\n", counted(of_no_cost, "link"));
  text += fmt::format("what if links were {} times as wide:\n", number(options.factor));
  list(upgrade_lines(what_if, topology));
  if (what_if.upgrades.empty()) {
    text += "  no link, class of links or kind pays by itself\n";
  }
  return text;
}

Json to_json(const WhatIf& what_if, const Topology& topology, const WhatIfOptions& options) {
  Json failures = Json::array();
  for (const FailureEffect& failure : what_if.failures) {
    failures.push_back(
        {{"links", names(failure.links, topology)}, {"algbw", exact(failure.algbw)}});
  }
  Json upgrades = Json::array();
  for (const UpgradeEffect& upgrade : what_if.upgrades) {
    upgrades.push_back({{"links", names(upgrade.links, topology)},
                        {"together", upgrade.together},
                        {"algbw", exact(upgrade.algbw)}});
  }
  return {{"collective", to_string(options.collective)},
          {"algbw", exact(what_if.algbw)},
          {"factor", exact(options.factor)},
          {"failures", std::move(failures)},
          {"upgrades", std::move(upgrades)}};
}

}  // namespace forestcoll::cli
