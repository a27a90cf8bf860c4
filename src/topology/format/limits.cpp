#include "topology/format/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "topology/format/select.hpp"

namespace forestcoll::topology {
namespace {

using Direction = std::pair<NodeId, NodeId>;

// So that links and nodes are found that are out of use.
Topology all_in_use(Topology topology) {
  for (TopologyNode& node : topology.nodes) node.enabled = true;
  for (TopologyLink& link : topology.links) link.enabled = true;
  return topology;
}

// "gpu0->sw" of a template, as the instance has it: both ends with the box before them.
std::string in_box(std::string_view text, const std::string& box) {
  for (const std::string_view between : {std::string_view("->"), std::string_view("~")}) {
    const std::size_t at = text.find(between);
    if (at == std::string_view::npos) continue;
    return fmt::format("{0}/{1}{2}{0}/{3}", box, text.substr(0, at), between,
                       text.substr(at + between.size()));
  }
  return std::string(text);
}

class LimitAdder {
 public:
  LimitAdder(const Document& document, Expansion& expansion, Findings& findings)
      : document_(document),
        expansion_(expansion),
        findings_(findings),
        topology_(all_in_use(expansion.topology)),
        lookup_(topology_) {}

  void run() {
    for (const Section& section : document_.templates) warn_of_names(section);
    warn_of_names(document_.top);
    for (const BoxInstance& box : expansion_.boxes) {
      const Section& section = document_.templates[box.template_index];
      for (const LimitEntry& entry : section.limits) add(entry, section.where(entry), &box);
    }
    for (const LimitEntry& entry : document_.top.limits) {
      add(entry, document_.top.where(entry), nullptr);
    }
  }

 private:
  // Reports name limits, and could not tell these apart.
  void warn_of_names(const Section& section) {
    std::set<std::string_view> names;
    for (const LimitEntry& entry : section.limits) {
      if (entry.name.empty() || names.insert(entry.name).second) continue;
      findings_.warning(Code::W16, section.where(entry) + "/name",
                        fmt::format("another limit has the name {}, too", quote(entry.name)),
                        "Give each limit a name of its own.");
    }
  }

  void add(const LimitEntry& entry, const std::string& where, const BoxInstance* box) {
    SharedLimit limit{entry.name, entry.bandwidth, {}};
    if (box != nullptr && !entry.name.empty()) limit.name = box->name + "/" + entry.name;
    std::map<Direction, Ratio> uses;
    for (std::size_t i = 0; i < entry.links.size(); ++i) {
      if (!add_links(entry.links[i], fmt::format("{}/links/{}", where, i), box, uses)) return;
    }
    for (const auto& [ends, weight] : uses) limit.uses.push_back({ends.first, ends.second, weight});
    expansion_.topology.limits.push_back(std::move(limit));
  }

  [[nodiscard]] static bool is_in(const BoxInstance& box, NodeId node) {
    return node >= box.first_node && node.index() < box.first_node.index() + box.node_count;
  }

  bool add_links(const LimitEntry::Links& links, const std::string& where, const BoxInstance* box,
                 std::map<Direction, Ratio>& uses) {
    auto found = lookup_.links(box != nullptr ? in_box(links.text, box->name) : links.text, "");
    if (!found) return fail(where, found.errors().front().message, found.errors().front().remedy);
    if (box != nullptr) {
      std::erase_if(*found, [&](const SelectedLink& selected) {
        const TopologyLink& link = topology_.links[selected.link];
        return !is_in(*box, link.src) || !is_in(*box, link.dst);
      });
      if (found->empty()) return fail(where, "no link of the template is called so", kRemedy);
    }
    std::map<Direction, std::size_t> parallel;  // links of each direction that was named
    for (const SelectedLink& selected : *found) {
      const TopologyLink& link = topology_.links[selected.link];
      if (selected.forward) ++parallel[{link.src, link.dst}];
      if (selected.backward) ++parallel[{link.dst, link.src}];
    }
    for (const auto& [ends, count] : parallel) {
      if (count != count_of(ends)) {
        return fail(where,
                    fmt::format("{} are some of the links from {} to {}, and not all",
                                quote(links.text), quote(topology_.nodes[ends.first].id),
                                quote(topology_.nodes[ends.second].id)),
                    "A limit holds for all links from one node to another; give those of another "
                    "kind a node of their own between them.");
      }
      if (uses.emplace(ends, links.weight).second) continue;
      return fail(where,
                  fmt::format("the links from {} to {} are named twice",
                              quote(topology_.nodes[ends.first].id),
                              quote(topology_.nodes[ends.second].id)),
                  "Name every direction of a link once in a limit.");
    }
    return true;
  }

  // Once for all boxes of a template.
  bool fail(const std::string& where, const std::string& message, const std::string& remedy) {
    if (failed_.insert(where).second) findings_.error(Code::E17, where, message, remedy);
    return false;
  }

  // Links in a direction, of all kinds.
  std::size_t count_of(const Direction& ends) {
    if (!counts_) {
      counts_.emplace();
      for (const TopologyLink& link : topology_.links) {
        ++(*counts_)[{link.src, link.dst}];
        if (link.full_duplex) ++(*counts_)[{link.dst, link.src}];
      }
    }
    return counts_->at(ends);
  }

  static constexpr const char* kRemedy =
      "Links are written as `drop` takes them: A->B, A~B for both directions, or kind=K.";

  const Document& document_;
  Expansion& expansion_;
  Findings& findings_;
  const Topology topology_;
  const NameLookup lookup_;
  std::optional<std::map<Direction, std::size_t>> counts_;
  std::set<std::string> failed_;  // places
};

bool has_limits(const Document& document) {
  const auto has_any = [](const Section& section) { return !section.limits.empty(); };
  return has_any(document.top) || std::ranges::any_of(document.templates, has_any);
}

}  // namespace

void add_limits(const Document& document, Expansion& expansion, Findings& findings) {
  if (has_limits(document)) LimitAdder(document, expansion, findings).run();
}

}  // namespace forestcoll::topology
