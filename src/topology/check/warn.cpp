#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/topology_text.hpp"
#include "topology/check/validate.hpp"
#include "topology/model/arcs.hpp"
#include "topology/model/link_kind.hpp"
#include "topology/model/pcie_direction.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::int64_t kLargestUsual = 10'000;  // GB/s
constexpr std::int64_t kLargestUsualRatio = 10'000;

// A sum that is given up where it does not fit: the warnings that need it are left out.
class Sum {
 public:
  void add(const Ratio& term) {
    if (value_) value_ = checked_add(*value_, term);
  }
  [[nodiscard]] const std::optional<Ratio>& value() const { return value_; }

 private:
  std::optional<Ratio> value_ = Ratio(0);
};

std::string in_gbs(const Ratio& bandwidth) {
  return exact_text(bandwidth) + " GB/s";
}

class Warnings {
 public:
  Warnings(const Document& document, const Expansion& expansion, Findings& findings)
      : document_(document),
        expansion_(expansion),
        topology_(expansion.topology),
        findings_(findings),
        arcs_(enabled_arcs(topology_)),
        pcie_direction_(pcie_directions(topology_, arcs_)) {}

  void run() {
    check_switches();
    check_pairs();
    check_units();
    check_kinds();
    check_boxes();
  }

 private:
  // W01 and W02.
  void check_switches() {
    const std::size_t n = topology_.nodes.size();
    std::vector<Sum> out(n), in(n);
    // The one neighbour met so far; the switch itself as soon as there are two.
    IdVector<NodeId, NodeId> neighbour(n);
    const auto meet = [&](NodeId node, NodeId other) {
      if (!neighbour[node].valid()) {
        neighbour[node] = other;
      } else if (neighbour[node] != other) {
        neighbour[node] = node;
      }
    };
    for (const DirectedLink& link : arcs_) {
      const Ratio& bandwidth = topology_.links[link.link].bandwidth;
      out[link.arc.tail.index()].add(bandwidth);
      in[link.arc.head.index()].add(bandwidth);
      meet(link.arc.tail, link.arc.head);
      meet(link.arc.head, link.arc.tail);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const NodeId id(i);
      const TopologyNode& node = topology_.nodes[id];
      if (node.type != NodeType::switch_node || !node.enabled) continue;
      const auto &leaves = out[i].value(), &enters = in[i].value();
      const bool carries = neighbour[id] == id && leaves != Ratio(0) && enters != Ratio(0);
      if (!carries) {
        const std::string why = !neighbour[id].valid() ? "no links"
                                : neighbour[id] != id  ? "one neighbour only"
                                                       : "links in one direction only";
        findings_.warning(Code::W02, where_node(document_, expansion_.node_origin[id]),
                          fmt::format("switch {} carries nothing: it has {}", quote(node.id), why),
                          "Link it on, or remove it.");
      } else if (leaves && enters && *leaves != *enters && !pcie_direction_[id]) {
        findings_.warning(Code::W01, where_node(document_, expansion_.node_origin[id]),
                          fmt::format("switch {} takes in {} and lets out {}", quote(node.id),
                                      in_gbs(*enters), in_gbs(*leaves)),
                          "The difference cannot be used; check its links.");
      }
    }
  }

  // The first pair of each entry, and how many more: one line per mistake.
  struct OfEntry {
    Arc arc;
    std::size_t more = 0;
  };
  using ByEntry = std::map<std::pair<std::int32_t, std::int32_t>, OfEntry>;

  void note(ByEntry& entries, const DirectedLink& link) const {
    const Origin origin = expansion_.link_origin[link.link];
    const auto [at, is_new] =
        entries.emplace(std::pair(origin.section, origin.entry), OfEntry{link.arc});
    if (!is_new) ++at->second.more;
  }

  void report(const ByEntry& entries, Code code, const char* problem, const char* remedy) {
    for (const auto& [key, pairs] : entries) {
      findings_.warning(
          code, where_link(document_, {key.first, key.second}),
          fmt::format("{} to {} {}{}", quote(topology_.nodes[pairs.arc.tail].id),
                      quote(topology_.nodes[pairs.arc.head].id), problem, and_more(pairs.more)),
          remedy);
    }
  }

  // W03 and W07.
  void check_pairs() {
    std::vector<DirectedLink> sorted = arcs_;
    const auto ends = [](const Arc& arc) { return std::pair(arc.tail, arc.head); };
    std::stable_sort(
        sorted.begin(), sorted.end(),
        [&](const DirectedLink& a, const DirectedLink& b) { return ends(a.arc) < ends(b.arc); });
    ByEntry repeated, opposite, one_way;
    std::size_t one_way_pairs = 0, both_ways = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const DirectedLink& link = sorted[i];
      const TopologyLink& drawn = topology_.links[link.link];
      if (i > 0 && sorted[i - 1].arc == link.arc) {
        // The way back of a full-duplex link is the same repetition.
        const TopologyLink& first = topology_.links[sorted[i - 1].link];
        const bool is_opposite = first.src == drawn.dst && first.full_duplex && drawn.full_duplex;
        if (link.arc.tail == drawn.src) note(is_opposite ? opposite : repeated, link);
        continue;
      }
      const auto back = std::pair(link.arc.head, link.arc.tail);
      const auto at = std::lower_bound(
          sorted.begin(), sorted.end(), back,
          [&](const DirectedLink& a, const auto& wanted) { return ends(a.arc) < wanted; });
      const bool has_way_back = at != sorted.end() && ends(at->arc) == back;
      const bool meant = pcie_direction_[link.arc.tail] || pcie_direction_[link.arc.head];
      if (has_way_back) {
        both_ways += link.arc.tail < link.arc.head ? 1 : 0;
      } else if (!meant) {
        ++one_way_pairs;
        note(one_way, link);
      }
    }
    // A fabric whose pairs are mostly of one way is one of one-way links, and says so at each.
    if (one_way_pairs >= both_ways) one_way.clear();
    report(
        opposite, Code::W03, "is linked a second time, from the other end",
        "A link goes both ways already, so the two bandwidths add up: remove this entry, or write "
        "\"duplex\": \"simplex\" in both.");
    report(repeated, Code::W03, "is linked a second time",
           "The bandwidths are summed; write \"count\" for parallel links.");
    report(one_way, Code::W07, "has no way back",
           "Leave out \"duplex\": \"simplex\" for a link that works both ways.");
  }

  // W04, by the bandwidth of single links as it is written.
  void check_units() {
    std::optional<LinkId> least, most;
    for (const DirectedLink& link : arcs_) {
      const Ratio& single = entry_of(link.link).single;
      if (!least || single < entry_of(*least).single) least = link.link;
      if (!most || single > entry_of(*most).single) most = link.link;
    }
    if (!most) return;
    const Ratio &low = entry_of(*least).single, &high = entry_of(*most).single;
    const auto ratio = checked_div(high, low);
    if (high > kLargestUsual) {
      findings_.warning(Code::W04,
                        where_link(document_, expansion_.link_origin[*most]) + "/bandwidth",
                        fmt::format("{} is above 10 TB/s", in_gbs(high)), unit_remedy());
    } else if (!ratio || *ratio > kLargestUsualRatio) {
      findings_.warning(
          Code::W04, where_link(document_, expansion_.link_origin[*most]) + "/bandwidth",
          fmt::format("{} is more than 10,000 times the {} of {}", in_gbs(high), in_gbs(low),
                      where_link(document_, expansion_.link_origin[*least])),
          unit_remedy());
    }
  }

  // W04, by what a cable of that kind can carry.
  void check_kinds() {
    const auto check = [&](const Section& section) {
      for (const LinkEntry& entry : section.links) {
        const auto most = most_of_kind(entry.kind);
        if (!entry.enabled || !most || entry.single <= *most) continue;
        findings_.warning(Code::W04, section.where(entry) + "/bandwidth",
                          fmt::format("{} is more than a link of kind {} carries, {} GB/s at most",
                                      in_gbs(entry.single), quote(entry.kind), *most),
                          unit_remedy() + " Parallel cables are written with \"count\".");
      }
    };
    for (const Section& section : document_.templates) check(section);
    check(document_.top);
  }

  static std::string unit_remedy() {
    return "Is it a slip of the unit? Gb/s is an eighth of GB/s.";
  }

  [[nodiscard]] const LinkEntry& entry_of(LinkId link) const {
    const Origin origin = expansion_.link_origin[link];
    return section_of(document_, origin).links[static_cast<std::size_t>(origin.entry)];
  }

  // W05: the links of boxes of one template are alike, so what differs is how they are linked on. A
  // link that is slow or off is in the file, and so known; one that is missing may be forgotten.
  void check_boxes() {
    constexpr auto kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> box_of(topology_.nodes.size(), kNone);
    for (std::size_t b = 0; b < expansion_.boxes.size(); ++b) {
      const BoxInstance& box = expansion_.boxes[b];
      for (std::size_t i = 0; i < box.node_count; ++i) box_of[box.first_node.index() + i] = b;
    }
    std::vector<std::size_t> links(expansion_.boxes.size());
    for (const TopologyLink& link : topology_.links) {
      const std::size_t a = box_of[link.src.index()], b = box_of[link.dst.index()];
      if (a != kNone) ++links[a];
      if (b != kNone && b != a) ++links[b];
    }
    std::vector<std::vector<std::size_t>> boxes_of(document_.templates.size());
    for (std::size_t b = 0; b < expansion_.boxes.size(); ++b) {
      boxes_of[expansion_.boxes[b].template_index].push_back(b);
    }
    for (const auto& boxes : boxes_of) compare(boxes, links);
  }

  // Boxes of one template, and the links of each.
  void compare(const std::vector<std::size_t>& boxes, const std::vector<std::size_t>& links) {
    std::map<std::size_t, std::size_t> boxes_with;
    for (const std::size_t b : boxes) ++boxes_with[links[b]];
    if (boxes_with.size() < 2) return;
    // The usual number; the largest of equally usual ones, for a box loses links and never gains
    // any.
    const auto usual =
        std::max_element(boxes_with.begin(), boxes_with.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second, a.first) < std::pair(b.second, b.first);
        });
    for (const std::size_t b : boxes) {
      const BoxInstance& box = expansion_.boxes[b];
      if (links[b] == usual->first) continue;
      findings_.warning(
          Code::W05, document_.boxes[box.entry].where(),
          fmt::format("box {} has {} links, {} of template {} {}", quote(box.name), links[b],
                      usual->second == 1 ? "another box" : fmt::format("{} boxes", usual->second),
                      quote(document_.templates[box.template_index].name), usual->first),
          "Is a link missing from the file? One that failed stays in it with \"enabled\": false.");
    }
  }

  const Document& document_;
  const Expansion& expansion_;
  const Topology& topology_;
  Findings& findings_;
  std::vector<DirectedLink> arcs_;
  IdVector<NodeId, bool> pcie_direction_;  // nodes that are one way for PCIe's sake
};

}  // namespace

void warn(const Document& document, const Expansion& expansion, Findings& findings) {
  Warnings(document, expansion, findings).run();
  warn_kinds(document, findings);
  warn_missing(document, expansion, findings);
  warn_limits(ineffective_limits(expansion.topology), expansion.topology, "/limits", findings);
}

}  // namespace forestcoll::topology
