#include "topology/format/select.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "topology/format/host_list.hpp"
#include "topology/format/suggest_id.hpp"
#include "topology/model/findings.hpp"
#include "topology/model/pcie_direction.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::string_view kKind = "kind=";

/// "gpu[0-3]" of "gpu0-3", where it is what the range was meant to be; else empty.
std::string in_brackets(std::string_view text) {
  const std::size_t dash = text.rfind('-');
  if (dash == std::string_view::npos || !number_in<std::size_t>(text.substr(dash + 1))) return "";
  std::size_t first = dash;
  while (first > 0 && is_digit(text[first - 1])) --first;
  if (first == dash) return "";
  return fmt::format("{}[{}]", text.substr(0, first), text.substr(first));
}

/// The two sides of a link's text.
struct Ends {
  std::string_view a, b;
  bool both_ways = false;
};

// Every way to take the text for a link, the usual one first: ids may hold the separators, too.
std::vector<Ends> splits_of(std::string_view text) {
  std::vector<Ends> splits;
  for (auto at = text.find("->"); at != std::string_view::npos; at = text.find("->", at + 1)) {
    splits.push_back({text.substr(0, at), text.substr(at + 2), false});
  }
  for (auto at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) {
    splits.push_back({text.substr(0, at), text.substr(at + 1), true});
  }
  return splits;
}

// "4" and "4-7".
std::optional<std::pair<std::size_t, std::size_t>> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = number_in<std::size_t>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : number_in<std::size_t>(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

Diagnostic selection_error(Code code, std::string_view where, std::string message,
                           std::string remedy) {
  return make_error(code, std::move(message), std::move(remedy), {.where = std::string(where)});
}

NameLookup::NameLookup(const Topology& topology) : topology_(topology) {
  node_of_.reserve(topology.nodes.size());
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const TopologyNode& node = topology.nodes[NodeId(i)];
    node_of_.emplace(node.id, NodeId(i));
    if (!node.box.empty()) box_of_[node.box].push_back(NodeId(i));
    if (node.id.find(',') != std::string::npos) {
      longest_list_ = std::max(longest_list_, node.id.size());
    }
  }
}

bool NameLookup::is_link(std::string_view text) {
  return text.starts_with(kKind) || !splits_of(text).empty();
}

bool NameLookup::is_id(std::string_view text) const {
  return node_of_.contains(text);
}

Diagnostic NameLookup::unknown(std::string_view id, std::string_view where) const {
  if (const std::string range = in_brackets(id); !range.empty()) {
    const auto ids = parse_host_list(range);
    if (ids && ids->count() <= topology_.nodes.size() &&
        std::ranges::all_of(ids->expand(), [&](const auto& each) { return is_id(each); })) {
      return selection_error(Code::D01, where,
                             fmt::format("no node and no box is called {}", quote(id)),
                             fmt::format("Write a range of ids as {}.", quote(range)));
    }
  }
  for (auto dash = id.find('-'); dash != std::string_view::npos; dash = id.find('-', dash + 1)) {
    const std::string_view from = id.substr(0, dash), to = id.substr(dash + 1);
    if (!is_id(from) || !is_id(to)) continue;
    return selection_error(
        Code::D01, where, fmt::format("no node and no box is called {}", quote(id)),
        fmt::format("Write a link as {0}~{1}, or one direction of it as {0}->{1}.", from, to));
  }
  std::string remedy = suggest(id);
  if (remedy.empty()) {
    remedy = fmt::format("Name a node by its id in the topology file, such as {}.",
                         quote(topology_.nodes[NodeId(std::size_t{0})].id));
  }
  return selection_error(Code::D01, where,
                         fmt::format("no node and no box is called {}", quote(id)),
                         std::move(remedy));
}

std::string NameLookup::suggest(std::string_view id) const {
  std::vector<std::string> devices;  // the two halves of a NIC have its name, too
  for (const auto& [out, in] : device_halves(topology_)) {
    devices.push_back(*device_of(topology_.nodes[out].id));
  }
  std::vector<std::string_view> names;
  for (const TopologyNode& node : topology_.nodes) names.push_back(node.id);
  names.insert(names.end(), devices.begin(), devices.end());
  std::set<std::string_view> boxes;
  for (const TopologyNode& node : topology_.nodes) {
    if (!node.box.empty() && boxes.insert(node.box).second) names.push_back(node.box);
  }
  return suggest_id(id, names);
}

Expected<std::vector<NodeId>> NameLookup::nodes(std::string_view text,
                                                std::string_view where) const {
  const auto list = parse_host_list(text);
  if (!list) {
    Diagnostic error = list.errors().front();
    return selection_error(Code::D02, where, error.message, error.remedy);
  }
  if (list->count() > topology_.nodes.size()) {
    return selection_error(Code::D02, where,
                           fmt::format("{} stands for {} ids, and there are {} nodes", quote(text),
                                       list->count(), topology_.nodes.size()),
                           "Write a smaller range.");
  }
  std::vector<NodeId> found;
  for (const std::string& id : list->expand()) {
    if (const auto node = node_of_.find(id); node != node_of_.end()) {
      found.push_back(node->second);
    } else if (const auto box = box_of_.find(id); box != box_of_.end()) {
      found.insert(found.end(), box->second.begin(), box->second.end());
    } else if (const auto halves = both_halves(id)) {
      found.insert(found.end(), halves->begin(), halves->end());
    } else {
      return unknown(id, where);
    }
  }
  return found;
}

std::optional<std::array<NodeId, 2>> NameLookup::both_halves(std::string_view device) const {
  const DeviceHalves names = halves_of(device);
  const auto out = node_of_.find(names.out), in = node_of_.find(names.in);
  if (out == node_of_.end() || in == node_of_.end()) return std::nullopt;
  return std::array{out->second, in->second};
}

bool NameLookup::is_in_use(const TopologyLink& link) const {
  return link.enabled && topology_.nodes[link.src].enabled && topology_.nodes[link.dst].enabled;
}

Expected<std::vector<SelectedLink>> NameLookup::links_of_kind(std::string_view kind,
                                                              std::string_view where) const {
  std::vector<SelectedLink> found;
  std::set<std::string> kinds;
  for (std::size_t i = 0; i < topology_.links.size(); ++i) {
    const TopologyLink& link = topology_.links[LinkId(i)];
    if (!is_in_use(link)) continue;
    if (!link.kind.empty()) kinds.insert(link.kind);
    if (link.kind == kind) found.push_back({LinkId(i), true, link.full_duplex});
  }
  if (!found.empty()) return found;
  return selection_error(
      Code::D01, where, fmt::format("no link is of kind {}", quote(kind)),
      kinds.empty() ? "The links of this topology have no kind; name them by their ends, A~B."
                    : fmt::format("The kinds are {}.", fmt::join(kinds, ", ")));
}

CableText NameLookup::cables(std::string_view text) const {
  const std::size_t star = text.rfind('*');
  if (star == std::string_view::npos) return {text, std::nullopt};
  const auto count = number_in<std::int64_t>(text.substr(star + 1));
  if (!count || *count < 0) return {text, std::nullopt};
  if (text.starts_with(kKind)) {
    const std::string_view kind = text.substr(kKind.size());
    const bool whole = std::ranges::any_of(topology_.links, [&](const TopologyLink& link) {
      return link.kind == kind && is_in_use(link);
    });
    if (whole) return {text, std::nullopt};
  }
  return {text.substr(0, star), count};
}

Expected<std::vector<SelectedLink>> NameLookup::links(std::string_view text,
                                                      std::string_view where) const {
  if (text.starts_with(kKind)) return links_of_kind(text.substr(kKind.size()), where);
  const auto splits = splits_of(text);
  if (splits.empty()) {
    return selection_error(Code::D02, where, fmt::format("{} is no link", quote(text)),
                           "Write A~B, A->B for one direction, or kind=K.");
  }
  const auto named = std::ranges::find_if(splits, [&](const Ends& split) {
    return nodes(split.a, where).has_value() && nodes(split.b, where).has_value();
  });
  const Ends* ends = named == splits.end() ? &splits.front() : &*named;
  const auto a = nodes(ends->a, where);
  if (!a) return a.errors();
  const auto b = nodes(ends->b, where);
  if (!b) return b.errors();
  std::vector<bool> in_a(topology_.nodes.size()), in_b(topology_.nodes.size());
  for (const NodeId node : *a) in_a[node.index()] = true;
  for (const NodeId node : *b) in_b[node.index()] = true;
  std::vector<SelectedLink> found;
  for (std::size_t i = 0; i < topology_.links.size(); ++i) {
    const TopologyLink& link = topology_.links[LinkId(i)];
    if (!is_in_use(link)) continue;
    const bool along = in_a[link.src.index()] && in_b[link.dst.index()];
    const bool against = in_a[link.dst.index()] && in_b[link.src.index()];
    const bool forward = along || (ends->both_ways && against);
    const bool backward = link.full_duplex && (against || (ends->both_ways && along));
    if (forward || backward) found.push_back({LinkId(i), forward, backward});
  }
  if (!found.empty()) return found;
  return selection_error(
      Code::D01, where,
      fmt::format("no link in use leads from {} to {}", quote(ends->a), quote(ends->b)),
      "`summarize()` counts the links; a link is written A~B.");
}

Expected<std::vector<NodeId>> NameLookup::ranks_of_item(std::string_view item,
                                                        std::string_view where) const {
  const auto named = nodes(item, where);
  if (named) {
    std::vector<NodeId> compute;
    for (const NodeId node : *named) {
      const TopologyNode& found = topology_.nodes[node];
      if (found.type == NodeType::compute && found.enabled) compute.push_back(node);
    }
    if (!compute.empty()) return compute;
    return selection_error(Code::D04, where,
                           fmt::format("{} names no compute node in use", quote(item)),
                           "Name compute nodes that are in use, or boxes that hold some.");
  }
  const auto range = parse_range(item);
  if (!range) return named.errors();
  if (range->first > range->second || range->second >= topology_.ranks.size()) {
    return selection_error(Code::D01, where,
                           fmt::format("there is no rank or range of ranks {}", item),
                           fmt::format("Ranks are 0 to {}.", topology_.ranks.size() - 1));
  }
  return std::vector<NodeId>(
      topology_.ranks.begin() + static_cast<std::ptrdiff_t>(range->first),
      topology_.ranks.begin() + static_cast<std::ptrdiff_t>(range->second) + 1);
}

// The items of a list; what an id that holds commas takes up is one of them.
std::vector<std::string_view> NameLookup::items_of(std::string_view list) const {
  const std::vector<std::string_view> parts = split_list(list);
  std::vector<std::string_view> items;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto begin = static_cast<std::size_t>(parts[i].data() - list.data());
    items.push_back(parts[i]);
    std::size_t last = i;
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      const std::size_t end =
          static_cast<std::size_t>(parts[j].data() - list.data()) + parts[j].size();
      if (end - begin > longest_list_) break;
      const std::string_view whole = list.substr(begin, end - begin);
      if (!is_id(whole)) continue;
      items.back() = whole;
      last = j;
    }
    i = last;
  }
  return items;
}

Expected<std::vector<NodeId>> NameLookup::ranks(std::string_view list,
                                                std::string_view where) const {
  std::vector<NodeId> found;
  std::vector<bool> listed(topology_.nodes.size());
  for (const std::string_view item : items_of(list)) {
    const auto of_item = ranks_of_item(item, where);
    if (!of_item) return of_item.errors();
    for (const NodeId node : *of_item) {
      if (listed[node.index()]) {
        return selection_error(Code::D04, where,
                               fmt::format("{} is listed twice", quote(topology_.nodes[node].id)),
                               "List every compute node once, in rank order.");
      }
      listed[node.index()] = true;
      found.push_back(node);
    }
  }
  return found;
}

}  // namespace forestcoll::topology
