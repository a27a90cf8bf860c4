// Three kinds of evidence, from the strongest to the weakest; the first that says something is
// taken.
//
// 1. Kinds of links. What NVLink, xGMI, PCIe and their like join is in one box: an island. What
//    only InfiniBand, Ethernet and their like join is not: where all links of GPUs are of such
//    kinds and no ids say otherwise, every GPU is a box. Links of other kinds may be either, so
//    there are two readings: the islands, and what is left whole where the links that leave are
//    cut. Where they differ, the ids decide, or else the islands, which is a doubt. A GPU alone in
//    its island, as where the file tells nothing of the links within its boxes, goes with the GPUs
//    of its prefix.
// 2. Prefixes: "box0/gpu3" is how the format names a node of a box. They count where the links bear
//    them out: the GPUs of each prefix are joined among themselves by what belongs to them, and no
//    link leads from a GPU straight to what belongs to another prefix, as it would in a torus.
// 3. Bandwidths, where no link has a known kind. In a box, GPUs have a wide way to one another
// (cables, or a switch of their own)
//    and a narrow one to their NIC. A leaf switch is not taken for an NVSwitch, for its GPUs have
//    no other way. That is the weakest sign: wide must be four times as wide as narrow, the parts
//    equally large, and it stays a doubt where the ids do not say the same.
//
// A part that failed still stands in its box: `enabled` is not looked at.
#include "topology/check/box_evidence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "graph/joined_items.hpp"
#include "topology/model/findings.hpp"
#include "topology/model/link_kind.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kOutside = BoxProposal::kOutside;
constexpr std::int64_t kClearlyWider = 4;
constexpr std::size_t kMostKinds = 3;  // that are named

bool is_gpu(const TopologyNode& node) {
  return node.type == NodeType::compute;
}

class Evidence {
 public:
  explicit Evidence(const Topology& topology)
      : topology_(topology), gpus_(gpus_of(topology)), ids_(topology, gpus_) {
    std::unordered_map<std::string_view, Reach> known;
    for (const TopologyLink& link : topology.links) {
      const auto [at, is_new] = known.try_emplace(link.kind, Reach::unknown);
      if (is_new) at->second = reach_of(link.kind);
      reach_.push_back(at->second);
    }
  }

  std::optional<BoxProposal> propose() {
    auto proposal = by_kinds();
    if (!proposal) proposal = by_prefixes();
    if (!proposal && no_kinds()) proposal = by_bandwidths();
    if (!proposal) return std::nullopt;
    const std::vector<std::size_t> linked = part_of_linked_gpus(proposal->part_of);
    for (std::size_t i = 0; i < linked.size(); ++i) {
      if (proposal->part_of[i] == kOutside) proposal->part_of[i] = linked[i];
    }
    return proposal;
  }

 private:
  [[nodiscard]] bool no_kinds() const {
    return std::ranges::all_of(reach_, [](Reach reach) { return reach == Reach::unknown; });
  }

  // All nodes apart, save those of the same declared box.
  [[nodiscard]] graph::JoinedItems declared() const {
    graph::JoinedItems groups(topology_.nodes.size());
    std::unordered_map<std::string_view, std::size_t> first;
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      const std::string& box = topology_.nodes[NodeId(i)].box;
      if (!box.empty()) groups.join(i, first.try_emplace(box, i).first->second);
    }
    return groups;
  }

  [[nodiscard]] BoxProposal of_groups(graph::JoinedItems& groups, Division division,
                                      std::string evidence) const {
    std::unordered_map<std::size_t, std::size_t> part_of_root;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      part_of_root.try_emplace(groups.first(gpus_[g].index()), division.part[g]);
    }
    std::vector<std::size_t> part_of;
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      const auto at = part_of_root.find(groups.first(i));
      part_of.push_back(at == part_of_root.end() ? kOutside : at->second);
    }
    return {std::move(division), std::move(part_of), std::move(evidence)};
  }

  // --- 1. kinds

  std::optional<BoxProposal> by_kinds() {
    graph::JoinedItems inner = declared(), whole = declared();
    for (std::size_t l = 0; l < reach_.size(); ++l) {
      const TopologyLink& link = topology_.links[LinkId(l)];
      if (reach_[l] == Reach::inside) inner.join(link.src.index(), link.dst.index());
      if (reach_[l] != Reach::leaves) whole.join(link.src.index(), link.dst.index());
    }
    const Division islands = divide(gpus_, inner), uncut = divide(gpus_, whole);
    const bool several = !islands.all_alone() && islands.parts() > 1;
    const bool confirmed = several && ids_.agree(islands);
    const bool guessed =
        !(islands == uncut) && !confirmed && !ids_.agree(uncut) && several && islands.none_alone();
    graph::JoinedItems& chosen = confirmed || guessed ? inner : whole;
    join_lonely(chosen);
    Division division = divide(gpus_, chosen);
    const bool says_nothing = division.parts() == 1
                                  ? islands.parts() > 1
                                  : division.all_alone() && !ids_.agree(division) && !all_leave();
    if (says_nothing) return std::nullopt;
    BoxProposal proposal = of_groups(chosen, std::move(division), "");
    const bool named = ids_.agree(proposal.gpus);
    proposal.evidence =
        fmt::format("links of kind {}{}", kinds_in_words(), named ? " and the ids" : "");
    if (guessed) {
      proposal.doubt = {gpus_.front(),
                        fmt::format("what joins the {} domains of kind {} is of no kind that is "
                                    "known to leave a box",
                                    proposal.gpus.parts(), kinds_in_words())};
    } else if (ids_.has_prefixes() && !named) {
      proposal.doubt = disagreement(proposal.gpus);
    } else if (!named && !(proposal.gpus == islands)) {
      proposal.doubt = {gpus_.front(),
                        fmt::format("what joins the GPUs of each of {} boxes is of no kind that "
                                    "is known to stay in one",
                                    proposal.gpus.parts())};
    }
    return proposal;
  }

  // Whether all links of every GPU are of kinds that leave a box: then no two GPUs are in one.
  [[nodiscard]] bool all_leave() const {
    std::vector<bool> leaves(topology_.nodes.size());
    for (std::size_t l = 0; l < reach_.size(); ++l) {
      const TopologyLink& link = topology_.links[LinkId(l)];
      for (const NodeId end : {link.src, link.dst}) {
        if (!is_gpu(topology_.nodes[end])) continue;
        if (reach_[l] != Reach::leaves) return false;
        leaves[end.index()] = true;
      }
    }
    return std::ranges::all_of(gpus_, [&](NodeId gpu) { return leaves[gpu.index()]; });
  }

  // GPUs alone in their groups go with those of their prefix, as long as these are in one group.
  void join_lonely(graph::JoinedItems& groups) const {
    const Division division = divide(gpus_, groups);
    const auto prefix = [&](std::size_t g) {
      return prefix_of(topology_.nodes[gpus_[g]].id, std::string_view::npos);
    };
    struct OfPrefix {
      std::size_t first, part;  // of the GPUs that are not alone; otherwise of all
      bool has_group, has_several;
    };
    std::unordered_map<std::string_view, OfPrefix> prefixes;
    const auto is_declared = [&](std::size_t g) { return !topology_.nodes[gpus_[g]].box.empty(); };
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      const std::size_t part = division.part[g];
      const bool grouped = division.size[part] > 1;
      if (!grouped && is_declared(g)) continue;
      const auto [at, is_new] = prefixes.try_emplace(prefix(g), OfPrefix{g, part, grouped, false});
      if (is_new || !grouped) continue;
      if (!at->second.has_group) {
        at->second = {g, part, true, false};
      } else if (at->second.part != part) {
        at->second.has_several = true;
      }
    }
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      if (prefix(g).empty() || is_declared(g) || division.size[division.part[g]] > 1) continue;
      const OfPrefix& others = prefixes.at(prefix(g));
      if (!others.has_several) groups.join(gpus_[g].index(), gpus_[others.first].index());
    }
  }

  // The kinds inside boxes, or else those that leave them.
  [[nodiscard]] std::string kinds_in_words() const {
    std::set<std::string_view> inside, leaves;
    for (std::size_t l = 0; l < reach_.size(); ++l) {
      const std::string_view kind = topology_.links[LinkId(l)].kind;
      if (reach_[l] == Reach::inside) inside.insert(kind);
      if (reach_[l] == Reach::leaves) leaves.insert(kind);
    }
    const std::set<std::string_view>& shown = inside.empty() ? leaves : inside;
    std::vector<std::string> words;
    for (const std::string_view kind : shown) {
      if (words.size() < kMostKinds) words.push_back(quote(kind));
    }
    return fmt::format("{}", fmt::join(words, " and "));
  }

  // Prefixes that one part unites, or that lie in several parts.
  [[nodiscard]] std::optional<BoxDoubt> disagreement(const Division& division) const {
    const Division& named = ids_.by_depth().back();
    std::vector<std::size_t> name_of(division.parts(), kOutside), part_of(named.parts(), kOutside);
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      const std::size_t part = division.part[g], name = named.part[g];
      if (name_of[part] == kOutside) name_of[part] = name;
      if (part_of[name] == kOutside) part_of[name] = part;
      if (name_of[part] == name && part_of[name] == part) continue;
      const std::string id = quote(topology_.nodes[gpus_[g]].id);
      const char* what = name_of[part] != name
                             ? "links of kind {} join {} with GPUs of another prefix"
                             : "no links of kind {} join {} with other GPUs of its prefix";
      return BoxDoubt{gpus_[g], fmt::format(fmt::runtime(what), kinds_in_words(), id)};
    }
    return std::nullopt;
  }

  // --- 2. prefixes

  std::optional<BoxProposal> by_prefixes() const {
    for (std::size_t depth = ids_.by_depth().size(); depth > 0; --depth) {
      const Division& division = ids_.by_depth()[depth - 1];
      if (division.parts() == 1) continue;
      std::vector<std::size_t> part_of = parts_by_prefix(division, depth);
      if (bears_out(division, part_of)) {
        return BoxProposal{division, std::move(part_of), "the ids"};
      }
    }
    return std::nullopt;
  }

  // A switch is of the part that its prefix names, or else of that of all GPUs that it is linked
  // to.
  [[nodiscard]] std::vector<std::size_t> parts_by_prefix(const Division& division,
                                                         std::size_t depth) const {
    std::unordered_map<std::string_view, std::size_t> part_named;
    std::vector<std::size_t> part_of(topology_.nodes.size(), kOutside);
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      part_of[gpus_[g].index()] = division.part[g];
      part_named.try_emplace(prefix_of(topology_.nodes[gpus_[g]].id, depth), division.part[g]);
    }
    const std::vector<std::size_t> linked = part_of_linked_gpus(part_of);
    for (std::size_t i = 0; i < part_of.size(); ++i) {
      const TopologyNode& node = topology_.nodes[NodeId(i)];
      if (is_gpu(node)) continue;
      const auto named = part_named.find(prefix_of(node.id, depth));
      part_of[i] = named == part_named.end() ? linked[i] : named->second;
    }
    return part_of;
  }

  [[nodiscard]] bool bears_out(const Division& division,
                               const std::vector<std::size_t>& part_of) const {
    graph::JoinedItems within(topology_.nodes.size());
    for (const TopologyLink& link : topology_.links) {
      const std::size_t a = link.src.index(), b = link.dst.index();
      if (part_of[a] == kOutside || part_of[b] == kOutside) continue;
      if (part_of[a] == part_of[b]) {
        within.join(a, b);
      } else if (is_gpu(topology_.nodes[link.src]) || is_gpu(topology_.nodes[link.dst])) {
        return false;
      }
    }
    return divide(gpus_, within) == division;
  }

  // For each node, the part of the GPUs that links of no kind that leaves join it to; none where
  // they are of several.
  [[nodiscard]] std::vector<std::size_t> part_of_linked_gpus(
      const std::vector<std::size_t>& part_of) const {
    constexpr std::size_t kSeveral = kOutside - 1;
    std::vector<std::size_t> linked(topology_.nodes.size(), kOutside);
    const auto meet = [&](NodeId node, NodeId other) {
      if (!is_gpu(topology_.nodes[other])) return;
      std::size_t& part = linked[node.index()];
      part = part == kOutside || part == part_of[other.index()] ? part_of[other.index()] : kSeveral;
    };
    for (std::size_t l = 0; l < reach_.size(); ++l) {
      if (reach_[l] == Reach::leaves) continue;
      meet(topology_.links[LinkId(l)].src, topology_.links[LinkId(l)].dst);
      meet(topology_.links[LinkId(l)].dst, topology_.links[LinkId(l)].src);
    }
    std::ranges::replace(linked, kSeveral, kOutside);
    return linked;
  }

  // --- 3. bandwidths

  // The wide links of GPUs to switches are those from `wide` on.
  struct Widths {
    bool has_cables = false;  // from GPU to GPU
    Ratio narrowest_cable;
    std::optional<Ratio> wide;  // none where all are outward
    Ratio narrow;               // the widest of those outward
  };

  [[nodiscard]] std::optional<Widths> widths() const {
    Widths widths;
    std::set<Ratio> to_switches;
    for (const TopologyLink& link : topology_.links) {
      const bool src = is_gpu(topology_.nodes[link.src]), dst = is_gpu(topology_.nodes[link.dst]);
      if (src != dst) to_switches.insert(link.bandwidth);
      if (!src || !dst) continue;
      if (!widths.has_cables || link.bandwidth < widths.narrowest_cable) {
        widths.narrowest_cable = link.bandwidth;
      }
      widths.has_cables = true;
    }
    if (to_switches.empty()) return std::nullopt;
    std::optional<Ratio> widest_gap;
    for (auto at = to_switches.begin(); std::next(at) != to_switches.end(); ++at) {
      const auto gap = checked_div(*std::next(at), *at);
      if (!gap || *gap < kClearlyWider || (widest_gap && *gap < *widest_gap)) continue;
      widest_gap = gap;
      widths.wide = *std::next(at);
      widths.narrow = *at;
    }
    if (!widths.wide) widths.narrow = *to_switches.rbegin();
    const bool is_box =
        widths.has_cables ? widths.narrow < widths.narrowest_cable : widths.wide.has_value();
    return is_box ? std::optional(widths) : std::nullopt;
  }

  std::optional<BoxProposal> by_bandwidths() const {
    const auto width = widths();
    if (!width) return std::nullopt;
    graph::JoinedItems groups = declared();
    std::vector<bool> inward(topology_.nodes.size()), outward(topology_.nodes.size());
    const auto is_wide = [&](const TopologyLink& link) {
      return width->wide && link.bandwidth >= *width->wide;
    };
    for (const TopologyLink& link : topology_.links) {
      const bool src = is_gpu(topology_.nodes[link.src]), dst = is_gpu(topology_.nodes[link.dst]);
      if (!src && !dst) continue;
      const bool joins = (src && dst) || is_wide(link);
      if (joins) groups.join(link.src.index(), link.dst.index());
      for (const NodeId end : {link.src, link.dst}) (joins ? inward : outward)[end.index()] = true;
    }
    // Switches of a box that are joined to one another, as on the two boards of a DGX-2.
    for (const TopologyLink& link : topology_.links) {
      const std::size_t a = link.src.index(), b = link.dst.index();
      const bool switches =
          !is_gpu(topology_.nodes[link.src]) && !is_gpu(topology_.nodes[link.dst]);
      if (switches && inward[a] && inward[b] && is_wide(link)) groups.join(a, b);
    }
    Division division = divide(gpus_, groups);
    std::vector<bool> has_way_out(division.parts());
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      if (outward[gpus_[g].index()]) has_way_out[division.part[g]] = true;
    }
    const bool alike = std::ranges::count(division.size, division.size.front()) ==
                       static_cast<std::ptrdiff_t>(division.parts());
    if (division.parts() == 1 || division.size.front() == 1 || !alike ||
        std::ranges::find(has_way_out, false) != has_way_out.end()) {
      return std::nullopt;
    }
    BoxProposal proposal = of_groups(groups, std::move(division), "the widths of links");
    if (ids_.agree(proposal.gpus)) {
      proposal.evidence += " and the ids";
    } else {
      proposal.doubt = {gpus_.front(), "nothing but the widths of links tells the boxes"};
    }
    return proposal;
  }

  const Topology& topology_;
  std::vector<NodeId> gpus_;
  IdDivisions ids_;
  std::vector<Reach> reach_;  // of each link
};

}  // namespace

std::optional<BoxProposal> propose_boxes(const Topology& topology) {
  return Evidence(topology).propose();
}

std::optional<BoxDoubt> unconfirmed_prefixes(const Topology& topology) {
  const std::vector<NodeId> gpus = gpus_of(topology);
  if (!IdDivisions(topology, gpus).has_prefixes()) return std::nullopt;
  return BoxDoubt{gpus.front(),
                  "the ids have prefixes as of several boxes, and no links show them"};
}

}  // namespace forestcoll::topology
