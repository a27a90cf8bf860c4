#include "topology/change/drop.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "forestcoll/text.hpp"
#include "topology/model/findings.hpp"
#include "topology/model/pcie_direction.hpp"

namespace forestcoll::topology {
namespace {

class Dropper {
 public:
  Dropper(const Topology& before, Topology& after, std::vector<std::string>& changes)
      : before_(before), after_(after), changes_(changes), lookup_(before) {}

  Expected<void> drop(const std::string& item) {
    if (lookup_.is_id(item)) return drop_nodes(item);
    for (const auto& [name, role] : {std::pair("multicast", &TopologyNode::multicast),
                                     std::pair("reduce", &TopologyNode::reduce)}) {
      const std::string ending = fmt::format(":{}", name);
      if (item.ends_with(ending)) {
        return drop_role(item, item.substr(0, item.size() - ending.size()), role);
      }
    }
    return NameLookup::is_link(item) ? drop_links(item) : drop_nodes(item);
  }

  // Puts what was dropped of links into effect.
  Expected<void> take_out() {
    for (std::size_t i = 0; i < gone_.size(); ++i) {
      const LinkId id(i);
      const TopologyLink& before = before_.links[id];
      const Gone& gone = gone_[i];
      if (gone.forward == 0 && gone.backward == 0) continue;
      const std::int64_t forward = before.count - gone.forward;
      const std::int64_t backward = before.full_duplex ? before.count - gone.backward : 0;
      const auto there = with_cables(before, forward), back = with_cables(before, backward);
      if (!there || !back) {
        return selection_error(
            Code::E14, "`drop`",
            fmt::format("the bandwidth of the cables left between {} and {} is too fine for "
                        "exact arithmetic",
                        quote(before_.nodes[before.src].id), quote(before_.nodes[before.dst].id)),
            "Drop the whole link, or write its bandwidth with fewer digits.");
      }
      TopologyLink& link = after_.links[id];
      link = forward > 0 ? *there : *back;
      link.full_duplex = before.full_duplex && forward == backward;
      link.enabled = before.enabled && (forward > 0 || backward > 0);
      if (forward == backward || backward == 0) continue;
      TopologyLink other = *back;
      std::swap(other.src, other.dst);
      other.full_duplex = false;
      if (forward > 0) {
        after_.links.push_back(std::move(other));
      } else {
        link = std::move(other);
      }
    }
    return {};
  }

 private:
  Expected<void> drop_role(const std::string& item, const std::string& switches,
                           bool TopologyNode::*role) {
    const auto nodes = lookup_.nodes(switches, "`drop`");
    if (!nodes) return nodes.errors();
    std::size_t dropped = 0;
    for (const NodeId node : *nodes) {
      dropped += std::exchange(after_.nodes[node].*role, false) ? 1 : 0;
    }
    if (dropped == 0) {
      return selection_error(Code::D02, "`drop`",
                             fmt::format("{} drops nothing: no such switch can", quote(item)),
                             "`summarize()` says how many switches copy and aggregate.");
    }
    changes_.push_back(
        fmt::format("dropped {} ({}{})", item, dropped, dropped == 1 ? " switch" : " switches"));
    return {};
  }

  Expected<void> drop_nodes(const std::string& item) {
    const auto nodes = lookup_.nodes(item, "`drop`");
    if (!nodes) return nodes.errors();
    for (const NodeId node : *nodes) after_.nodes[node].enabled = false;
    changes_.push_back(fmt::format("dropped {}{}", item,
                                   nodes->size() == 1
                                       ? one_way(nodes->front())
                                       : fmt::format(" ({})", counted(nodes->size(), "node"))));
    return {};
  }

  // Who drops one half of a NIC may have meant the NIC.
  [[nodiscard]] std::string one_way(NodeId node) const {
    const auto device = device_of(before_.nodes[node].id);
    if (!device) return "";
    for (const auto& [out, in] : device_halves(before_)) {
      if (node == out || node == in) return fmt::format(" (one direction of {})", *device);
    }
    return "";
  }

  // Cables of a link that are gone, by direction.
  struct Gone {
    std::int64_t forward = 0, backward = 0;
  };

  Expected<void> drop_links(const std::string& item) {
    const auto [name, cables] = lookup_.cables(item);
    const auto links = lookup_.links(name, "`drop`");
    if (!links) return links.errors();
    if (cables == 0) {
      return selection_error(Code::D02, "`drop`", fmt::format("{} drops nothing", quote(item)),
                             "Write how many of its cables each link loses, such as A~B*1.");
    }
    gone_.resize(before_.links.size());
    for (const SelectedLink& selected : *links) {
      const std::int64_t count = before_.links[selected.link].count;
      Gone& gone = gone_[selected.link.index()];
      for (const auto& [chosen, number] : {std::pair(selected.forward, &gone.forward),
                                           std::pair(selected.backward, &gone.backward)}) {
        if (!chosen) continue;
        if (cables && *cables > count - *number)
          return too_few_cables(item, selected.link, *number);
        *number = cables ? *number + *cables : count;
      }
    }
    changes_.push_back(
        cables ? fmt::format(
                     "dropped {}{} of {} ({})", counted(static_cast<std::size_t>(*cables), "cable"),
                     links->size() == 1 ? "" : " each", name, counted(links->size(), "link"))
               : fmt::format("dropped {} ({})", item, counted(links->size(), "link")));
    return {};
  }

  [[nodiscard]] Diagnostic too_few_cables(const std::string& item, LinkId id,
                                          std::int64_t gone) const {
    const TopologyLink& link = before_.links[id];
    return selection_error(
        Code::D03, "`drop`",
        fmt::format("{}: the link of {} and {} has {} left", item,
                    quote(before_.nodes[link.src].id), quote(before_.nodes[link.dst].id),
                    counted(static_cast<std::size_t>(link.count - gone), "cable")),
        "Drop fewer, or the whole link without a number after it.");
  }

  // The link with so many of its cables; as it was with none, which is for the caller to disable.
  static std::optional<TopologyLink> with_cables(TopologyLink link, std::int64_t cables) {
    if (cables == 0 || cables == link.count) return link;
    const auto left = checked_mul(link.bandwidth, Ratio(cables, link.count));
    if (!left) return std::nullopt;
    link.bandwidth = *left;
    link.count = cables;
    return link;
  }

  const Topology& before_;
  Topology& after_;
  std::vector<std::string>& changes_;
  NameLookup lookup_;
  std::vector<Gone> gone_;  // by LinkId; empty where no link is dropped
};

}  // namespace

Expected<void> drop(const std::vector<std::string>& items, const Topology& before, Topology& after,
                    std::vector<std::string>& changes) {
  Dropper dropper(before, after, changes);
  for (const std::string& item : items) {
    if (auto done = dropper.drop(item); !done) return done;
  }
  return dropper.take_out();
}

}  // namespace forestcoll::topology
