#include "topology/import/build_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/text.hpp"
#include "topology/import/box.hpp"
#include "topology/import/notes.hpp"
#include "topology/import/option_use.hpp"
#include "topology/import/ports.hpp"

namespace forestcoll::importing {
namespace {

struct FabricChoice {
  enum class Type { none, rail, single, odd_even, fat_tree } type = Type::none;
  std::size_t boxes_per_leaf = 0;
  Ratio oversubscription = 1;
};

// "fat-tree:BOXES[:RATIO]"
std::optional<FabricChoice> parse_fat_tree(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto boxes = number_in<std::size_t>(text.substr(0, colon));
  if (!boxes || *boxes == 0 || *boxes > kMaxHosts) return std::nullopt;
  FabricChoice choice{.type = FabricChoice::Type::fat_tree, .boxes_per_leaf = *boxes};
  if (colon == std::string_view::npos) return choice;
  const auto ratio = parse_ratio(std::string(text.substr(colon + 1)));
  if (!ratio || *ratio < Ratio(1, 1000) || *ratio > Ratio(1000)) return std::nullopt;
  choice.oversubscription = *ratio;
  return choice;
}

std::optional<FabricChoice> parse_fabric(const Context& context) {
  using Type = FabricChoice::Type;
  const std::string_view text = context.options.fabric;
  constexpr std::string_view kFatTree = "fat-tree:";
  if (text.empty()) return FabricChoice{};
  if (text == "rail") return FabricChoice{.type = Type::rail};
  if (text == "single") return FabricChoice{.type = Type::single};
  if (text == "odd-even") return FabricChoice{.type = Type::odd_even};
  if (text.starts_with(kFatTree)) {
    if (const auto choice = parse_fat_tree(text.substr(kFatTree.size()))) return choice;
  }
  context.findings.error(Code::I08, "", fmt::format("`fabric`: unknown fabric {}", quote(text)),
                         "Use rail, single, odd-even, or fat-tree:BOXES_PER_LEAF[:RATIO], the "
                         "ratio being the oversubscription.");
  return std::nullopt;
}

bool check_boxes(const Context& context, const Machines& machines) {
  const ImportOptions& options = context.options;
  const auto refuse = [&](std::string message, std::string remedy) {
    context.findings.error(Code::I08, "", std::move(message), std::move(remedy));
    return false;
  };
  if (options.boxes == 0 || options.boxes > kMaxHosts) {
    return refuse(fmt::format("`boxes`: {} is out of range", options.boxes),
                  fmt::format("Give a number from 1 to {}.", kMaxHosts));
  }
  if (options.boxes > 1 && machines.size() > 1) {
    return refuse(fmt::format("`boxes`: the file holds {} hosts already", machines.size()),
                  "Import the dump of a single machine.");
  }
  if (options.split_nvswitch && machines.size() > 1) {
    return refuse(
        fmt::format("`split_nvswitch`: the {} hosts of the file share NVSwitches", machines.size()),
        "Leave it out, or import the dump of a single machine.");
  }
  if (options.boxes > 1 && options.fabric.empty()) {
    return refuse(fmt::format("`boxes={}`: nothing says what joins the boxes", options.boxes),
                  "Add `fabric=rail`, single, odd-even or fat-tree:BOXES_PER_LEAF.");
  }
  const bool no_nics =
      std::ranges::any_of(machines, [](const Machine& machine) { return machine.nics.empty(); });
  if (!options.fabric.empty() && no_nics) {
    return refuse("`fabric`: the file has no NICs to be joined",
                  "Dump the topology with the NICs present, or add them to the result by hand.");
  }
  return true;
}

std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

void add_switch(TopologyDocument& document, std::string ids) {
  document.top.nodes.push_back({.ids = std::move(ids), .type = NodeType::switch_node});
}

// Boxes of one kind, by their names.
struct Group {
  const Box* box;
  std::vector<std::string> names;
};

void link_rails(const std::vector<Group>& groups, TopologyDocument& document) {
  std::size_t rails = 0;
  for (const Group& group : groups) rails = std::max(rails, group.box->ports.size());
  add_switch(document, id_range("rail", rails));
  for (std::size_t rail = 0; rail < rails; ++rail) {
    for (const Group& group : groups) {
      if (rail >= group.box->ports.size()) continue;
      append(group.box->ports,
             {.boxes = group.names, .ports = {rail}, .switch_id = fmt::format("rail{}", rail)},
             document.top.links);
    }
  }
}

// Every NIC to switch 0, or to the switches 0 and 1 by turns.
void link_planes(const std::vector<Group>& groups, std::size_t planes, TopologyDocument& document) {
  std::size_t ports = 0;
  for (const Group& group : groups) ports = std::max(ports, group.box->ports.size());
  planes = std::min(planes, ports);
  add_switch(document, id_range("switch", planes));
  for (std::size_t plane = 0; plane < planes; ++plane) {
    for (const Group& group : groups) {
      PortLink link{.boxes = group.names, .ports = {}, .switch_id = fmt::format("switch{}", plane)};
      for (std::size_t port = plane; port < group.box->ports.size(); port += planes) {
        link.ports.push_back(port);
      }
      append(group.box->ports, link, document.top.links);
    }
  }
}

bool link_fat_tree(const Context& context, const FabricChoice& choice,
                   const std::vector<Group>& groups, TopologyDocument& document) {
  std::size_t leaf = 0, on_leaf = 0;
  std::vector<Ratio> inside(1);  // of each leaf, what its NICs bring
  bool fits = true;
  for (const Group& group : groups) {
    Ratio of_box = 0;
    for (const NicPort& port : group.box->ports) {
      const auto sum = checked_add(of_box, port.bandwidth.value_or(Ratio(0)));
      fits = fits && sum.has_value();
      of_box = sum.value_or(of_box);
    }
    for (std::size_t at = 0; at < group.names.size();) {
      if (on_leaf == choice.boxes_per_leaf) {
        ++leaf;
        on_leaf = 0;
        inside.emplace_back();
      }
      const std::size_t here = std::min(choice.boxes_per_leaf - on_leaf, group.names.size() - at);
      const auto first = group.names.begin() + static_cast<std::ptrdiff_t>(at);
      append(group.box->ports,
             {.boxes = {first, first + static_cast<std::ptrdiff_t>(here)},
              .ports = numbers(group.box->ports.size()),
              .switch_id = fmt::format("leaf{}", leaf)},
             document.top.links);
      const auto more = checked_mul(of_box, Ratio(static_cast<std::int64_t>(here)));
      const auto sum = more ? checked_add(inside.back(), *more) : std::nullopt;
      fits = fits && sum.has_value();
      inside.back() = sum.value_or(inside.back());
      on_leaf += here;
      at += here;
    }
  }
  add_switch(document, id_range("leaf", inside.size()));
  if (inside.size() == 1) return fits;
  add_switch(document, "spine");
  std::vector<FlatLink> uplinks;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const auto bandwidth = checked_div(inside[i], choice.oversubscription);
    fits = fits && bandwidth.has_value();
    uplinks.push_back({.src = fmt::format("leaf{}", i),
                       .dst = "spine",
                       .bandwidth = bandwidth.value_or(Ratio(1)),
                       .kind = "uplink"});
  }
  for (LinkText& entry : compact(uplinks)) document.top.links.push_back(std::move(entry));
  context.report.guesses.push_back(
      "the uplinks of a leaf: what its NICs bring, divided by the oversubscription");
  return fits;
}

bool link_fabric(const Context& context, const FabricChoice& choice,
                 const std::vector<Group>& groups, TopologyDocument& document) {
  bool fits = true;
  switch (choice.type) {
    case FabricChoice::Type::none:
      break;
    case FabricChoice::Type::rail:
      link_rails(groups, document);
      break;
    case FabricChoice::Type::single:
      link_planes(groups, 1, document);
      break;
    case FabricChoice::Type::odd_even:
      link_planes(groups, 2, document);
      break;
    case FabricChoice::Type::fat_tree:
      fits = link_fat_tree(context, choice, groups, document);
      break;
  }
  if (fits) return true;
  context.findings.error(Code::I09, "",
                         "the bandwidths of the NICs are too large, or too fine, to add",
                         "Round them, or give one with `nic_bandwidth`.");
  return false;
}

// The names of the boxes: the host's own where there is one host that has a name.
std::vector<std::string> box_names(const ImportOptions& options, std::size_t count) {
  if (count == 1 && !options.host.empty()) return {options.host};
  const std::string prefix = options.host.empty() ? "box" : options.host;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

void add_boxes(TopologyDocument& document, const std::vector<std::string>& names,
               const std::string& template_name) {
  for (const std::string& ids : compress_ids(names)) {
    document.boxes.push_back({.ids = ids, .template_name = template_name});
  }
}

// Of boxes that are all alike.
void add_rank_order(const Box& box, const std::vector<std::string>& names,
                    TopologyDocument& document) {
  if (!box.ranks_differ) return;
  for (const std::string& name : compress_ids(names)) {
    for (const std::string& gpus : compress_ids(box.gpus)) {
      document.rank_order.push_back(name + "/" + gpus);
    }
  }
}

// Of the hosts of one file: its ranks count over all of them. Where they do not, the hosts stand in
// the order of the file.
void add_rank_order_of_hosts(const Context& context, const Machines& machines,
                             const std::vector<std::string>& names, TopologyDocument& document) {
  std::map<std::int64_t, std::string> by_rank;
  std::vector<std::string> by_place;
  std::size_t ranks = 0;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    for (const Gpu& gpu : machines[i].gpus) {
      by_place.push_back(names[i] + "/" + gpu.id());
      if (!gpu.rank) continue;
      ++ranks;
      by_rank.emplace(*gpu.rank, by_place.back());
    }
  }
  if (by_rank.size() < by_place.size()) {
    if (ranks == 0) return;
    context.report.guesses.push_back(
        fmt::format("the order of the ranks: the hosts' in the file, for it gives {} to {}",
                    counted(by_rank.size(), "rank"), counted(by_place.size(), "GPU")));
    return;
  }
  std::vector<std::string> in_order;
  for (const auto& [rank, id] : by_rank) in_order.push_back(id);
  if (in_order != by_place) document.rank_order = compress_ids(in_order);
}

void add_metadata(const Context& context, const Machines& machines, const std::vector<Box>& boxes,
                  const std::vector<std::string>& names, TopologyDocument& document) {
  auto& metadata = document.metadata;
  metadata.emplace_back("source", machines.front().source);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const std::string host = boxes.size() > 1 ? names[i] + "/" : "";
    for (const auto& [part, text] : boxes[i].metadata) metadata.emplace_back(host + part, text);
  }
  add_notes(context.report, document);
}

std::optional<std::vector<Box>> make_boxes(const Context& context, const Machines& machines,
                                           const BoxOptions& options) {
  std::vector<Box> boxes;
  for (const Machine& machine : machines) {
    auto box = make_box(context, machine, options);
    if (!box) return std::nullopt;
    if (options.with_nics && !check_bandwidths(context, machine, box->ports)) return std::nullopt;
    if (!options.with_nics) report_left_out(context, machine);
    boxes.push_back(*std::move(box));
  }
  return boxes;
}

std::string text_of(const SectionText& section) {
  return to_topology_json({.top = section});
}

// Hosts of one file: those alike share a template.
void add_hosts(const std::vector<Box>& boxes, const std::vector<std::string>& names,
               TopologyDocument& document, std::vector<Group>& groups) {
  std::map<std::string, std::size_t> group_of;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const std::vector<LinkText> shared = compact(boxes[i].shared);
    const auto [at, is_new] = group_of.emplace(
        text_of(boxes[i].section) + text_of({.nodes = {}, .links = shared}), groups.size());
    const std::string name = fmt::format("host{}", at->second);
    if (is_new) {
      document.templates.push_back({.name = name, .section = boxes[i].section});
      groups.push_back({.box = &boxes[i], .names = {}});
    }
    groups[at->second].names.push_back(names[i]);
    document.boxes.push_back({.ids = names[i], .template_name = name});
  }
  for (const Group& group : groups) {
    for (const std::string& box : compress_ids(group.names)) {
      for (LinkText entry : compact(group.box->shared)) {
        entry.src = box + "/" + entry.src;
        document.top.links.push_back(std::move(entry));
      }
    }
  }
}

// NCCL writes several hosts into one file where NVLink joins them.
void join_by_nvswitch(const Context& context, const Machines& machines,
                      TopologyDocument& document) {
  const bool in_network = std::ranges::all_of(machines, &Machine::in_network);
  document.top.nodes.push_back({.ids = "nvsw",
                                .type = NodeType::switch_node,
                                .multicast = in_network,
                                .reduce = in_network});
  context.report.guesses.push_back(
      fmt::format("the NVLinks of the {} hosts lead to one common NVSwitch: the file shows no "
                  "way between hosts",
                  machines.size()));
}

}  // namespace

std::optional<TopologyDocument> build_cluster(const Context& context, const Machines& machines) {
  const auto fabric = parse_fabric(context);
  if (!fabric || !check_boxes(context, machines)) return std::nullopt;
  const bool several = machines.size() > 1;
  const bool shared = several && std::ranges::any_of(machines, [](const Machine& machine) {
                        return !machine.nvswitches.empty();
                      });
  const BoxOptions options{.with_nics = fabric->type != FabricChoice::Type::none,
                           .shared_nvswitch = shared};
  const auto boxes = make_boxes(context, machines, options);
  if (!boxes || !check_nic_bandwidth(context, *boxes)) return std::nullopt;

  TopologyDocument document;
  std::vector<Group> groups;
  const auto names = box_names(context.options, several ? machines.size() : context.options.boxes);
  if (several) {
    if (shared) join_by_nvswitch(context, machines, document);
    add_hosts(*boxes, names, document, groups);
  } else {
    document.templates.push_back({.name = "machine", .section = boxes->front().section});
    add_boxes(document, names, "machine");
    groups.push_back({.box = &boxes->front(), .names = names});
  }
  if (!link_fabric(context, *fabric, groups, document)) return std::nullopt;
  if (several) {
    add_rank_order_of_hosts(context, machines, names, document);
  } else {
    add_rank_order(boxes->front(), names, document);
  }
  add_metadata(context, machines, *boxes, names, document);
  return document;
}

}  // namespace forestcoll::importing
