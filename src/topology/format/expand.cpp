// Ranges are expanded and ids are looked up once per template, not once per box: an instance is the
// template's local numbering moved by an offset. Findings are grouped by entry of the file, because
// one wrong range of a thousand ids is one mistake.
#include "topology/format/expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "topology/format/suggest_id.hpp"

namespace forestcoll::topology {
namespace {

// Ids that are compared, in all, to suggest one for a misspelt id.
constexpr std::size_t kMaxCompared = 1'000'000;

using Index = std::unordered_map<std::string_view, std::size_t>;

struct LocalLink {
  std::size_t src, dst, entry;
};

// A template in its own numbering.
struct LocalSection {
  std::vector<std::string> ids;
  std::vector<std::size_t> entry_of;
  std::vector<LocalLink> links;
};

class Expander {
 public:
  Expander(const Document& document, Findings& findings)
      : document_(document), findings_(findings) {}

  Expansion expand() {
    result_.complete = document_.nodes_complete && document_.links_complete;
    result_.topology.name = document_.name;
    result_.topology.description = document_.description;
    std::vector<LocalSection> templates;
    for (const Section& section : document_.templates) templates.push_back(local(section));
    add_boxes(templates);
    add_top_nodes();
    const Index index = index_nodes();
    add_top_links(index);
    set_ranks(index);
    return std::move(result_);
  }

 private:
  LocalSection local(const Section& section) {
    LocalSection result;
    for (std::size_t e = 0; e < section.nodes.size(); ++e) {
      for (std::string& id : section.nodes[e].ids.expand()) {
        result.ids.push_back(std::move(id));
        result.entry_of.push_back(e);
      }
    }
    Index index;
    index.reserve(result.ids.size());
    Repeated repeated;
    for (std::size_t i = 0; i < result.ids.size(); ++i) {
      if (!index.emplace(result.ids[i], i).second) {
        repeated.add(result.entry_of[i], result.ids[i]);
      }
    }
    repeated.report(*this, [&](std::size_t e) { return section.where(section.nodes[e]) + "/id"; });
    const auto id_of = [&](std::size_t i) -> std::string_view { return result.ids[i]; };
    result.links = resolve(section, index, result.ids.size(), id_of);
    return result;
  }

  // Ids that were met before, the first of each entry and how many follow it.
  struct Repeated {
    struct OfEntry {
      std::size_t entry;
      std::string first;
      std::size_t more;
    };
    std::vector<OfEntry> entries;

    void add(std::size_t entry, std::string_view id) {
      if (!entries.empty() && entries.back().entry == entry) {
        ++entries.back().more;
      } else {
        entries.push_back({entry, std::string(id), 0});
      }
    }
    template <class Where>
    void report(Expander& expander, Where where) const {
      for (const OfEntry& repeated : entries) {
        expander.result_.complete = false;
        expander.findings_.error(
            Code::E03, where(repeated.entry),
            fmt::format("the id {} is taken{}", quote(repeated.first), and_more(repeated.more)),
            "Give every node and every box an id of its own.");
      }
    }
  };

  void add_boxes(const std::vector<LocalSection>& templates) {
    std::unordered_map<std::string, std::size_t> taken;
    Repeated repeated;
    for (std::size_t e = 0; e < document_.boxes.size(); ++e) {
      const BoxEntry& entry = document_.boxes[e];
      for (std::string& name : entry.ids.expand()) {
        if (!taken.emplace(name, e).second) {
          repeated.add(e, name);
          continue;
        }
        add_box(std::move(name), e, templates[entry.template_index]);
      }
    }
    repeated.report(*this, [&](std::size_t e) { return document_.boxes[e].where() + "/id"; });
  }

  void add_box(std::string name, std::size_t entry, const LocalSection& local) {
    const std::size_t index = document_.boxes[entry].template_index;
    const Section& section = document_.templates[index];
    const std::size_t offset = result_.topology.nodes.size();
    for (std::size_t i = 0; i < local.ids.size(); ++i) {
      add_node(section.nodes[local.entry_of[i]], name + "/" + local.ids[i], name,
               origin(index, local.entry_of[i]));
    }
    for (const LocalLink& link : local.links) {
      add_link(section.links[link.entry], link.src + offset, link.dst + offset,
               origin(index, link.entry));
    }
    result_.boxes.push_back({std::move(name), entry, index, NodeId(offset), local.ids.size()});
  }

  void add_top_nodes() {
    for (std::size_t e = 0; e < document_.top.nodes.size(); ++e) {
      const NodeEntry& entry = document_.top.nodes[e];
      for (std::string& id : entry.ids.expand()) {
        add_node(entry, std::move(id), entry.box, top_origin(e));
      }
    }
  }

  // REQUIRES: no node is added any more; the index refers to the ids where they stand.
  Index index_nodes() {
    const auto& nodes = result_.topology.nodes;
    Index index;
    index.reserve(nodes.size());
    Repeated repeated;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Origin from = result_.node_origin[NodeId(i)];
      // Ids that repeat within one template were reported there.
      if (!index.emplace(nodes[NodeId(i)].id, i).second && from.section < 0) {
        repeated.add(static_cast<std::size_t>(from.entry), nodes[NodeId(i)].id);
      }
    }
    repeated.report(
        *this, [&](std::size_t e) { return document_.top.where(document_.top.nodes[e]) + "/id"; });
    if (index.size() < nodes.size() && result_.complete) report_box_clash(index);
    return index;
  }

  // Box "a/b" with a node "c" and box "a" with a node "b/c".
  void report_box_clash(const Index& index) {
    const auto& nodes = result_.topology.nodes;
    for (std::size_t b = 0; b < result_.boxes.size(); ++b) {
      const BoxInstance& box = result_.boxes[b];
      for (std::size_t i = 0; i < box.node_count; ++i) {
        const std::size_t node = box.first_node.index() + i;
        if (index.at(nodes[NodeId(node)].id) == node) continue;
        result_.complete = false;
        findings_.error(Code::E03, document_.boxes[box.entry].where() + "/id",
                        fmt::format("box {} makes the id {}, which is taken", quote(box.name),
                                    quote(nodes[NodeId(node)].id)),
                        "Give every node and every box an id of its own.");
        break;
      }
    }
  }

  void add_top_links(const Index& index) {
    const auto& nodes = result_.topology.nodes;
    const auto id_of = [&](std::size_t i) -> std::string_view { return nodes[NodeId(i)].id; };
    for (const LocalLink& link : resolve(document_.top, index, nodes.size(), id_of)) {
      add_link(document_.top.links[link.entry], link.src, link.dst, top_origin(link.entry));
    }
  }

  // All links of a section, by position of their ends. Findings: E04, E06.
  template <class IdOf>
  std::vector<LocalLink> resolve(const Section& section, const Index& index, std::size_t nodes,
                                 IdOf id_of) {
    std::vector<LocalLink> links;
    for (std::size_t e = 0; e < section.links.size(); ++e) {
      const LinkEntry& entry = section.links[e];
      const std::string where = section.where(entry);
      const bool in_template = !section.pointer.empty();
      const auto src = look_up(entry.src, index, nodes, id_of, where + "/src", in_template);
      const auto dst = look_up(entry.dst, index, nodes, id_of, where + "/dst", in_template);
      std::vector<std::size_t> loops;
      const auto join = [&](std::size_t from, std::size_t to) {
        if (from == kUnknown || to == kUnknown) return;
        if (from == to) {
          loops.push_back(from);
        } else {
          links.push_back({from, to, e});
        }
      };
      for (std::size_t s = 0; s < src.size(); ++s) {
        if (entry.zip) {
          join(src[s], dst[s]);
        } else if (entry.is_mesh()) {
          join_to_others(entry, src, s, join);
        } else {
          for (const std::size_t to : dst) join(src[s], to);
        }
      }
      if (loops.empty()) continue;
      result_.complete = false;
      findings_.error(Code::E06, where,
                      fmt::format("links {} with itself{}", quote(id_of(loops.front())),
                                  and_more(loops.size() - 1)),
                      "A link joins two nodes. For a full mesh write the same range at both ends, "
                      "for a ring \"zip\" with shifted ranges.");
    }
    return links;
  }

  // Of a mesh: both ways work over one link of full duplex, so that a pair has one.
  template <class Join>
  static void join_to_others(const LinkEntry& entry, const std::vector<std::size_t>& nodes,
                             std::size_t s, const Join& join) {
    for (std::size_t t = entry.full_duplex ? s + 1 : 0; t < nodes.size(); ++t) {
      if (t != s) join(nodes[s], nodes[t]);
    }
  }

  static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

  template <class IdOf>
  std::vector<std::size_t> look_up(const HostList& list, const Index& index, std::size_t nodes,
                                   IdOf id_of, const std::string& where, bool in_template) {
    std::vector<std::size_t> found;
    std::string first_unknown;
    std::size_t unknown = 0;
    for (std::string& id : list.expand()) {
      const auto at = index.find(id);
      if (at != index.end()) {
        found.push_back(at->second);
        continue;
      }
      found.push_back(kUnknown);
      if (unknown++ == 0) first_unknown = std::move(id);
    }
    if (unknown == 0) return found;
    result_.complete = false;
    // Where not every node could be read, it may be one of those.
    if (!document_.nodes_complete) return found;
    const bool shows = findings_.shows(Code::E04);
    findings_.error(
        Code::E04, where,
        fmt::format("no node has the id {}{}", quote(first_unknown), and_more(unknown - 1)),
        shows ? suggest(first_unknown, nodes, id_of, in_template) : "");
    return found;
  }

  // "gpu0" of "gpu0-3", which is a range where the former is a node.
  static std::string_view first_of_range(std::string_view id) {
    const std::size_t dash = id.rfind('-');
    const bool has_end = dash != std::string_view::npos && dash + 1 < id.size() &&
                         id.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
    return has_end ? id.substr(0, dash) : std::string_view();
  }

  template <class IdOf>
  std::string suggest(std::string_view wanted, std::size_t nodes, IdOf id_of, bool in_template) {
    constexpr const char* kRange = "Write several nodes as a range, such as \"gpu[0-7]\".";
    if (wanted.find_first_of("*{}") != std::string_view::npos) return kRange;
    std::vector<std::string_view> ids;
    for (std::size_t i = 0; i < nodes && compared_ < kMaxCompared; ++i, ++compared_) {
      ids.push_back(id_of(i));
    }
    const auto in_box = std::ranges::find_if(ids, [&](std::string_view id) {
      return id.ends_with(wanted) && id.substr(0, id.size() - wanted.size()).ends_with('/');
    });
    if (in_box != ids.end()) {
      return fmt::format("Did you mean {}? Nodes of a box are named BOX/ID.", quote(*in_box));
    }
    const std::string_view first = first_of_range(wanted);
    if (!first.empty() && std::ranges::find(ids, first) != ids.end()) return kRange;
    const std::string suggestion = suggest_id(wanted, ids);
    if (!suggestion.empty()) return suggestion;
    return in_template ? "The links of a template join its own nodes; link boxes at the top level."
                       : "Declare it in \"nodes\", or correct the link.";
  }

  void set_ranks(const Index& index) {
    const auto& nodes = result_.topology.nodes;
    const auto is_rank = [&](std::size_t i) {
      const TopologyNode& node = nodes[NodeId(i)];
      return node.enabled && node.type == NodeType::compute;
    };
    auto& ranks = result_.topology.ranks;
    if (!document_.has_rank_order) {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (is_rank(i)) ranks.push_back(NodeId(i));
      }
      return;
    }
    // Judged only where all of it could be read.
    if (!document_.nodes_complete || !document_.rank_order_complete) return;
    std::vector<bool> listed(nodes.size());
    for (const RankEntry& entry : document_.rank_order) {
      const std::string where = "/rank_order/" + std::to_string(entry.position);
      std::size_t wrong = 0;
      std::string first_wrong;
      for (const std::string& id : entry.ids.expand()) {
        const auto at = index.find(id);
        const char* why = at == index.end() ? "is unknown" : why_no_rank(nodes[NodeId(at->second)]);
        if (why == nullptr && listed[at->second]) why = "is listed twice";
        if (why != nullptr) {
          if (wrong++ == 0) first_wrong = fmt::format("{} {}", quote(id), why);
          continue;
        }
        listed[at->second] = true;
        if (is_rank(at->second)) ranks.push_back(NodeId(at->second));
      }
      if (wrong > 0) report_order(where, first_wrong + and_more(wrong - 1));
    }
    report_unlisted(listed, is_rank);
  }

  static const char* why_no_rank(const TopologyNode& node) {
    switch (node.type) {
      case NodeType::compute:
        return nullptr;
      case NodeType::switch_node:
        return "is a switch";
      case NodeType::relay:
        return "is a relay";
    }
    return nullptr;
  }

  template <class IsRank>
  void report_unlisted(const std::vector<bool>& listed, IsRank is_rank) {
    std::size_t unlisted = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (!is_rank(i) || listed[i]) continue;
      if (unlisted++ == 0) first = i;
    }
    if (unlisted == 0) return;
    const std::string id = quote(result_.topology.nodes[NodeId(first)].id);
    report_order("/rank_order",
                 unlisted == 1 ? fmt::format("{} is not listed", id)
                               : fmt::format("{} and {} more are not listed", id, unlisted - 1));
  }

  void report_order(std::string where, std::string message) {
    findings_.error(Code::E13, std::move(where),
                    "not a permutation of the compute nodes: " + std::move(message),
                    "List every compute node once, or leave out \"rank_order\" for the order of "
                    "appearance.");
  }

  void add_node(const NodeEntry& entry, std::string id, const std::string& box, Origin from) {
    TopologyNode node;
    node.id = std::move(id);
    node.type = entry.type;
    node.box = box;
    node.multicast = entry.multicast;
    node.reduce = entry.reduce;
    node.echo = entry.echo;
    node.enabled = entry.enabled;
    node.weight = entry.weight;
    result_.topology.nodes.push_back(std::move(node));
    result_.node_origin.push_back(from);
  }

  void add_link(const LinkEntry& entry, std::size_t src, std::size_t dst, Origin from) {
    TopologyLink link;
    link.src = NodeId(src);
    link.dst = NodeId(dst);
    link.bandwidth = entry.bandwidth;
    link.count = entry.cables;
    link.latency = entry.latency;
    link.full_duplex = entry.full_duplex;
    link.enabled = entry.enabled;
    link.kind = entry.kind;
    result_.topology.links.push_back(std::move(link));
    result_.link_origin.push_back(from);
  }

  static Origin origin(std::size_t section, std::size_t entry) {
    return {static_cast<std::int32_t>(section), static_cast<std::int32_t>(entry)};
  }
  static Origin top_origin(std::size_t entry) { return {-1, static_cast<std::int32_t>(entry)}; }

  const Document& document_;
  Findings& findings_;
  Expansion result_;
  std::size_t compared_ = 0;
};

}  // namespace

const Section& section_of(const Document& document, Origin origin) {
  return origin.section < 0 ? document.top
                            : document.templates[static_cast<std::size_t>(origin.section)];
}

std::string where_node(const Document& document, Origin origin) {
  const Section& section = section_of(document, origin);
  return section.where(section.nodes[static_cast<std::size_t>(origin.entry)]);
}

std::string where_link(const Document& document, Origin origin) {
  const Section& section = section_of(document, origin);
  return section.where(section.links[static_cast<std::size_t>(origin.entry)]);
}

std::size_t LinkEntry::count() const {
  if (zip) return src.count();
  if (!is_mesh()) return saturating_product(src.count(), dst.count());
  const std::size_t n = src.count(), even = n % 2 == 0 ? n / 2 : n,
                    odd = n % 2 == 0 ? n - 1 : (n - 1) / 2;
  return saturating_product(saturating_product(even, odd), full_duplex ? 1 : 2);
}

Expansion expand(const Document& document, Findings& findings) {
  return Expander(document, findings).expand();
}

}  // namespace forestcoll::topology
