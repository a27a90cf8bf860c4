#include "topology/generate/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"
#include "topology/generate/nodes.hpp"
#include "topology/model/typical_latency.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::array<std::pair<const char*, FabricKind>, 6> kNames = {
    {{"none", FabricKind::none},
     {"single", FabricKind::single},
     {"odd-even", FabricKind::odd_even},
     {"rail", FabricKind::rail},
     {"rail-spine", FabricKind::rail_spine},
     {"fat-tree", FabricKind::fat_tree}}};

// "box[4-7]"
std::string boxes_of(const BoxGroup& group, std::size_t first, std::size_t count) {
  if (count == 1) return fmt::format("{}{}", group.prefix, first);
  return fmt::format("{}[{}-{}]", group.prefix, first, first + count - 1);
}

std::string all_boxes_of(const BoxGroup& group) {
  return boxes_of(group, 0, group.count);
}

// "[0,2,4,6]": from `first` on by steps.
std::string every(const BoxGroup& group, std::size_t first, std::size_t step) {
  std::string list;
  std::size_t count = 0;
  for (std::size_t i = first; i < group.ports; i += step, ++count) {
    list += fmt::format("{}{}", list.empty() ? "" : ",", i);
  }
  return count == 1 ? list : "[" + list + "]";
}

// "[0-7]"
std::string all(const BoxGroup& group) {
  return id_range("", group.ports);
}

class FabricMaker {
 public:
  FabricMaker(TopologyDocument& document, const std::vector<BoxGroup>& groups,
              const FabricOptions& options)
      : top_(document.top), groups_(groups), options_(options) {}

  void single() {
    add_switches("ib");
    for (const BoxGroup& group : groups_) {
      add(all_boxes_of(group), all(group), "ib", group, NetworkHop::to_single_switch);
    }
  }

  void odd_even() {
    add_switches("ib[0-1]");
    for (const std::size_t parity : {0U, 1U}) {
      for (const BoxGroup& group : groups_) {
        add(all_boxes_of(group), every(group, parity, 2), fmt::format("ib{}", parity), group,
            NetworkHop::to_single_switch);
      }
    }
  }

  void rail() {
    const std::size_t rails = groups_.front().ports;
    add_switches(id_range("rail", rails));
    for (std::size_t r = 0; r < rails; ++r) {
      for (const BoxGroup& group : groups_) {
        add(all_boxes_of(group), std::to_string(r), fmt::format("rail{}", r), group,
            NetworkHop::to_single_switch);
      }
    }
  }

  void rail_spine() {
    const BoxGroup& group = only_group();
    const std::size_t units = leaf_groups();
    add_switches(fmt::format("{}-{}", id_range("leaf", units), all(group)));
    for (std::size_t unit = 0; unit < units; ++unit) {
      for (std::size_t r = 0; r < group.ports; ++r) {
        add(boxes_of_leaf(unit), std::to_string(r), fmt::format("leaf{}-{}", unit, r), group,
            NetworkHop::to_leaf);
      }
    }
    add_spines("-" + all(group), 1);
  }

  void fat_tree() {
    const BoxGroup& group = only_group();
    const std::size_t count = leaf_groups();
    add_switches(id_range("leaf", count));
    for (std::size_t leaf = 0; leaf < count; ++leaf) {
      add(boxes_of_leaf(leaf), all(group), fmt::format("leaf{}", leaf), group,
          count > 1 ? NetworkHop::to_leaf : NetworkHop::to_single_switch);
    }
    if (count > 1) add_spines("", group.ports);
  }

 private:
  [[nodiscard]] const BoxGroup& only_group() const {
    FORESTCOLL_CHECK(groups_.size() == 1, "leaves and spines are for boxes that are alike");
    return groups_.front();
  }
  [[nodiscard]] std::size_t boxes_per_leaf() const {
    return std::min(options_.boxes_per_leaf, only_group().count);
  }
  [[nodiscard]] std::size_t leaf_groups() const {
    return (only_group().count + boxes_per_leaf() - 1) / boxes_per_leaf();
  }
  [[nodiscard]] std::size_t boxes_on_leaf(std::size_t leaf) const {
    return std::min(boxes_per_leaf(), only_group().count - leaf * boxes_per_leaf());
  }
  [[nodiscard]] std::string boxes_of_leaf(std::size_t leaf) const {
    return boxes_of(only_group(), leaf * boxes_per_leaf(), boxes_on_leaf(leaf));
  }

  void add_switches(std::string ids) {
    NodeText node = switches(std::move(ids));
    node.multicast = node.reduce = options_.in_network;
    node.echo = !options_.in_network;
    top_.nodes.push_back(std::move(node));
  }

  [[nodiscard]] std::string latency(NetworkHop hop, int gpus) const {
    return exact_text(network_latency(medium_of(options_.link_kind), hop, gpus));
  }

  // `ports`: their numbers.
  void add(const std::string& boxes, const std::string& ports, const std::string& node,
           const BoxGroup& group, NetworkHop hop) {
    const bool one_node = group.port.one_node();
    LinkText link{.src = fmt::format("{}/{}{}", boxes, group.port.send, ports),
                  .dst = node,
                  .bandwidth = group.bandwidth.text,
                  .kind = options_.link_kind,
                  .latency = latency(hop, group.port.of_gpus ? 1 : 0),
                  .full_duplex = one_node};
    top_.links.push_back(link);
    if (one_node) return;
    link.src = node;
    link.dst = fmt::format("{}/{}{}", boxes, group.port.receive, ports);
    top_.links.push_back(std::move(link));
  }

  // The uplinks of a leaf are what enters it from below, divided by the oversubscription and spread
  // evenly over the spines. The last leaf may have fewer boxes. `suffix`: of the leaves' ids.
  void add_spines(const std::string& suffix, std::size_t ports_per_box) {
    const std::string spines = id_range("spine", options_.spines);
    add_switches(spines);
    const std::size_t leaves = leaf_groups();
    const std::size_t full = boxes_on_leaf(leaves - 1) == boxes_per_leaf() ? leaves : leaves - 1;
    const auto add_uplinks = [&](const std::string& ids, std::size_t boxes) {
      const Ratio below =
          Ratio(static_cast<std::int64_t>(boxes * ports_per_box)) * only_group().bandwidth.value;
      const Ratio uplink =
          below / (options_.oversubscription * Ratio(std::int64_t(options_.spines)));
      top_.links.push_back({.src = ids + suffix,
                            .dst = spines,
                            .bandwidth = exact_text(uplink),
                            .kind = "uplink",
                            .latency = latency(NetworkHop::between_switches, 0)});
    };
    add_uplinks(id_range("leaf", full), boxes_per_leaf());
    if (full < leaves) add_uplinks(fmt::format("leaf{}", full), boxes_on_leaf(full));
  }

  SectionText& top_;
  const std::vector<BoxGroup>& groups_;
  const FabricOptions& options_;
};

}  // namespace

std::optional<FabricKind> find_fabric(std::string_view name) {
  for (const auto& [known, kind] : kNames) {
    if (name == known) return kind;
  }
  return std::nullopt;
}

std::vector<std::string> fabric_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kNames) names.emplace_back(name);
  return names;
}

void add_fabric(TopologyDocument& document, const std::vector<BoxGroup>& groups,
                const FabricOptions& options) {
  FabricMaker maker(document, groups, options);
  switch (options.kind) {
    case FabricKind::none:
      return;
    case FabricKind::single:
      return maker.single();
    case FabricKind::odd_even:
      return maker.odd_even();
    case FabricKind::rail:
      return maker.rail();
    case FabricKind::rail_spine:
      return maker.rail_spine();
    case FabricKind::fat_tree:
      return maker.fat_tree();
  }
}

}  // namespace forestcoll::topology
