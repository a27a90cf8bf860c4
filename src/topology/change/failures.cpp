// Failures as people name them, put into effect on a topology.
#include "forestcoll/failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/text.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/check/validate.hpp"
#include "topology/format/select.hpp"
#include "topology/format/units.hpp"
#include "topology/model/arcs.hpp"
#include "topology/model/findings.hpp"
#include "topology/model/pcie_direction.hpp"

namespace forestcoll {
namespace {

using topology::NameLookup;
using topology::quote;
using topology::SelectedLink;
using topology::selection_error;

// What enters a node and what leaves it, GB/s; nothing where that is too fine for exact arithmetic.
struct Sides {
  std::optional<Ratio> enters = Ratio(0), leaves = Ratio(0);
};

// Of a device that is two nodes, a way out and a way in, those of both together.
IdVector<NodeId, Sides> sides_of(const Topology& topology,
                                 const std::vector<std::pair<NodeId, NodeId>>& devices) {
  IdVector<NodeId, Sides> sides(topology.nodes.size());
  const auto add = [](std::optional<Ratio>& sum, const std::optional<Ratio>& more) {
    sum = sum && more ? checked_add(*sum, *more) : std::nullopt;
  };
  for (const topology::DirectedLink& link : topology::enabled_arcs(topology)) {
    const Ratio& bandwidth = topology.links[link.link].bandwidth;
    add(sides[link.arc.tail].leaves, bandwidth);
    add(sides[link.arc.head].enters, bandwidth);
  }
  for (const auto& [out, in] : devices) {
    add(sides[out].enters, sides[in].enters);
    add(sides[out].leaves, sides[in].leaves);
    sides[in] = sides[out];
  }
  return sides;
}

bool is_relay(const TopologyNode& node) {
  return node.enabled && node.type == NodeType::relay;
}

class Degrader {
 public:
  explicit Degrader(const Topology& topology) : before_(topology), lookup_(topology) {
    result_.topology = topology;
  }

  Expected<DegradedTopology> run(const Failures& failures) {
    for (const std::string& item : failures.drop) {
      if (const auto done = drop(item); !done) return done.errors();
    }
    if (const auto done = take_out(); !done) return done.errors();
    for (const std::string& item : failures.derate) {
      if (const auto done = derate(item); !done) return done.errors();
    }
    if (!failures.ranks.empty()) {
      const auto done = choose_ranks(failures.ranks, "`ranks`", {});
      if (!done) return done.errors();
    }
    if (!failures.members.empty()) {
      const bool relay = failures.relays == Failures::Relays::all;
      const auto done = choose_ranks(failures.members, "`members`",
                                     relay ? std::optional(NodeType::relay) : std::nullopt);
      if (!done) return done.errors();
    }
    if (failures.relays == Failures::Relays::none) take_out_relays();
    for (const std::string& item : failures.latency) {
      if (const auto done = set_latency(item); !done) return done.errors();
    }
    std::erase_if(topology().ranks, [&](NodeId rank) { return !topology().nodes[rank].enabled; });
    topology::Findings findings("");
    topology::check_connection(topology(), "after drop and derate", findings);
    if (findings.has_errors()) return errors_of(findings, failures);
    warn_of_switches(findings);
    if (failures.ranks.empty() && failures.members.empty()) warn_of_limits(findings);
    result_.warnings = findings.all();
    return std::move(result_);
  }

 private:
  // GPUs that are left out may be all that joins the others.
  [[nodiscard]] Diagnostics errors_of(const topology::Findings& findings,
                                      const Failures& failures) const {
    Diagnostics errors = findings.all();
    if (!would_relays_join(failures)) return errors;
    const bool are_refused = failures.relays == Failures::Relays::none;
    const std::string remedy =
        failures.members.empty()
            ? "Only GPUs that relay join them: leave `relays=none` out."
            : fmt::format(
                  "Only GPUs outside of the process group join them: with `relays`{}, these "
                  "pass data on.",
                  are_refused ? " in place of `relays=none`" : "");
    for (Diagnostic& error : errors) error.remedy = remedy;
    return errors;
  }

  // Whether there is a fabric with them.
  [[nodiscard]] bool would_relays_join(Failures failures) const {
    const bool is_group = !failures.members.empty();
    const auto most = is_group ? Failures::Relays::all : Failures::Relays::declared;
    if (failures.relays == most) return false;
    if (!is_group && failures.relays == Failures::Relays::all) return false;
    failures.relays = most;
    return Degrader(before_).run(failures).has_value();
  }

  void warn_of_switches(topology::Findings& findings) {
    const auto devices = topology::device_halves(before_);
    const auto before = sides_of(before_, devices), after = sides_of(topology(), devices);
    // Both halves of a device are told of as one, of its name.
    IdVector<NodeId, std::string> device(before_.nodes.size());
    for (const auto& [out, in] : devices) {
      device[out] = device[in] = *topology::device_of(before_.nodes[out].id);
    }
    std::set<std::string> told;
    for (std::size_t i = 0; i < topology().nodes.size(); ++i) {
      const TopologyNode& node = topology().nodes[NodeId(i)];
      const Sides &was = before[NodeId(i)], &is = after[NodeId(i)];
      const bool are_known = was.enters && was.leaves && is.enters && is.leaves;
      if (node.type != NodeType::switch_node || !node.enabled || !are_known) continue;
      if (*was.enters != *was.leaves || *is.enters == *is.leaves) continue;
      const std::string& name = device[NodeId(i)].empty() ? node.id : device[NodeId(i)];
      if (!told.insert(name).second) continue;
      findings.warning(Code::W01, "after drop and derate",
                       fmt::format("switch {} takes in {} GB/s and lets out {} GB/s", quote(name),
                                   exact_text(*is.enters), exact_text(*is.leaves)),
                       "The difference cannot be used; drop the other direction too, if that is "
                       "gone as well.");
    }
  }

  // Those that have no effect any more, though their ends are all there: what a dropped node was
  // held to went with it.
  void warn_of_limits(topology::Findings& findings) {
    if (topology().limits.empty()) return;
    const auto before = topology::ineffective_limits(before_);
    auto after = topology::ineffective_limits(topology());
    const auto is_whole = [&](const SharedLimit& limit) {
      return std::ranges::all_of(limit.uses, [&](const SharedLimit::Use& use) {
        return topology().nodes[use.src].enabled && topology().nodes[use.dst].enabled;
      });
    };
    const auto keep_new = [&](std::vector<SharedLimit>& limits,
                              const std::vector<SharedLimit>& known) {
      std::erase_if(limits, [&](const SharedLimit& limit) {
        const auto is_it = [&](const SharedLimit& other) {
          return other.name == limit.name && other.uses == limit.uses;
        };
        return !is_whole(limit) || std::ranges::any_of(known, is_it);
      });
    };
    keep_new(after.never_bind, before.never_bind);
    keep_new(after.unused, before.unused);
    topology::warn_limits(after, topology(), "after drop and derate", findings);
  }

  Topology& topology() { return result_.topology; }

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

  Expected<void> drop_role(const std::string& item, const std::string& switches,
                           bool TopologyNode::*role) {
    const auto nodes = lookup_.nodes(switches, "`drop`");
    if (!nodes) return nodes.errors();
    std::size_t dropped = 0;
    for (const NodeId node : *nodes) {
      dropped += std::exchange(topology().nodes[node].*role, false) ? 1 : 0;
    }
    if (dropped == 0) {
      return selection_error(Code::D02, "`drop`",
                             fmt::format("{} drops nothing: no such switch can", quote(item)),
                             "`summarize()` says how many switches copy and aggregate.");
    }
    result_.changes.push_back(
        fmt::format("dropped {} ({}{})", item, dropped, dropped == 1 ? " switch" : " switches"));
    return {};
  }

  Expected<void> drop_nodes(const std::string& item) {
    const auto nodes = lookup_.nodes(item, "`drop`");
    if (!nodes) return nodes.errors();
    for (const NodeId node : *nodes) topology().nodes[node].enabled = false;
    result_.changes.push_back(
        fmt::format("dropped {}{}", item,
                    nodes->size() == 1 ? one_way(nodes->front())
                                       : fmt::format(" ({})", counted(nodes->size(), "node"))));
    return {};
  }

  // Who drops one half of a NIC may have meant the NIC.
  [[nodiscard]] std::string one_way(NodeId node) const {
    const auto device = topology::device_of(before_.nodes[node].id);
    if (!device) return "";
    for (const auto& [out, in] : topology::device_halves(before_)) {
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
    result_.changes.push_back(
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
      TopologyLink& link = topology().links[id];
      link = forward > 0 ? *there : *back;
      link.full_duplex = before.full_duplex && forward == backward;
      link.enabled = before.enabled && (forward > 0 || backward > 0);
      if (forward == backward || backward == 0) continue;
      TopologyLink other = *back;
      std::swap(other.src, other.dst);
      other.full_duplex = false;
      if (forward > 0) {
        topology().links.push_back(std::move(other));
      } else {
        link = std::move(other);
      }
    }
    return {};
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

  // "LINK=F", on what is left after the drops and the derates before it.
  Expected<void> derate(const std::string& item) {
    const std::size_t equals = item.rfind('=');
    const std::string name = item.substr(0, equals);
    if (equals == std::string::npos || !NameLookup::is_link(name)) {
      return selection_error(Code::D02, "`derate`",
                             fmt::format("{} is no link with a factor", quote(item)),
                             "Write LINK=F, such as \"box0/nic0~ib0=1/2\" or \"kind=ib=0.9\".");
    }
    const std::string written = item.substr(equals + 1);
    const auto factor = parse_ratio(written.starts_with('.') ? "0" + written : written);
    if (!factor || *factor <= Ratio(0) || *factor > Ratio(1)) {
      return selection_error(Code::D03, "`derate`",
                             fmt::format("{}: expected a factor above 0 and at most 1, found {}",
                                         name, quote(written)),
                             "The factor is what is left of the bandwidth; `drop` leaves nothing.");
    }
    const NameLookup lookup(topology());
    const auto links = lookup.links(name, "`derate`");
    if (!links) return links.errors();
    for (const SelectedLink& selected : *links) {
      if (!slow_down(selected, *factor)) {
        return selection_error(
            Code::E14, "`derate`",
            fmt::format("{} makes a bandwidth too fine for exact arithmetic", item),
            "Use a factor with a smaller denominator.");
      }
    }
    result_.changes.push_back(fmt::format("derated {} to {} ({})", name, factor->to_string(),
                                          counted(links->size(), "link")));
    return {};
  }

  bool slow_down(const SelectedLink& selected, const Ratio& factor) {
    TopologyLink& link = topology().links[selected.link];
    const auto slower = checked_mul(link.bandwidth, factor);
    if (!slower) return false;
    if (selected.forward && (selected.backward || !link.full_duplex)) {
      link.bandwidth = *slower;
      return true;
    }
    // One direction of two: they become two links.
    TopologyLink other = link;
    link.full_duplex = other.full_duplex = false;
    std::swap(other.src, other.dst);
    (selected.forward ? link : other).bandwidth = *slower;
    topology().links.push_back(std::move(other));
    return true;
  }

  // "KIND=US"; of links that are not in use, too.
  Expected<void> set_latency(const std::string& item) {
    const std::size_t equals = item.rfind('=');
    if (equals == std::string::npos) {
      return selection_error(Code::D02, "`latency`",
                             fmt::format("{} is no kind of links with a latency", quote(item)),
                             "Write KIND=US, such as ib=2 or nvlink=700ns; =1 is of links without "
                             "a kind.");
    }
    const std::string kind = item.substr(0, equals), written = item.substr(equals + 1);
    const auto latency = topology::parse_quantity(topology::Quantity::latency, written, Ratio(1));
    if (!latency || *latency < Ratio(0)) {
      return selection_error(
          Code::D03, "`latency`",
          fmt::format("{}: expected a latency from 0 on, found {}", quote(kind), quote(written)),
          fmt::format("Write µs, or a unit: {}.",
                      topology::known_units(topology::Quantity::latency)));
    }
    std::size_t links = 0;
    for (TopologyLink& link : topology().links) {
      if (link.kind != kind) continue;
      link.latency = *latency;
      ++links;
    }
    if (links == 0) return lookup_.links("kind=" + kind, "`latency`").errors();
    result_.changes.push_back(fmt::format("links {} take {} us ({})",
                                          kind.empty() ? "without a kind" : "of kind " + kind,
                                          exact_text(*latency), counted(links, "link")));
    return {};
  }

  void take_out_relays() {
    const auto relays = std::ranges::count_if(topology().nodes, is_relay);
    if (relays == 0) return;
    result_.changes.push_back(fmt::format("{} that could relay {} left out",
                                          counted(static_cast<std::size_t>(relays), "GPU"),
                                          relays == 1 ? "is" : "are"));
    topology() = without_relays(std::move(topology()));
  }

  // What is not listed becomes `others`; nothing: it is gone.
  Expected<void> choose_ranks(const std::string& list, std::string_view option,
                              std::optional<NodeType> others) {
    const auto ranks = lookup_.ranks(list, option);
    if (!ranks) return ranks.errors();
    std::vector<bool> chosen(topology().nodes.size());
    for (const NodeId node : *ranks) {
      chosen[node.index()] = true;
      if (topology().nodes[node].enabled) continue;
      return selection_error(Code::D04, option,
                             fmt::format("{} is dropped", quote(topology().nodes[node].id)),
                             "List only compute nodes that are left.");
    }
    for (const NodeId node : topology().ranks) {
      TopologyNode& left_out = topology().nodes[node];
      if (chosen[node.index()] || !left_out.enabled) continue;
      left_out.enabled = others.has_value();
      if (!others) continue;
      left_out.type = *others;
      left_out.weight = 1;  // it owns nothing
    }
    const bool all = ranks->size() == topology().ranks.size();
    result_.changes.push_back(fmt::format("{} of {} compute nodes take part{}", ranks->size(),
                                          topology().ranks.size(),
                                          others && !all ? ", the others relay" : ""));
    topology().ranks = *ranks;
    return {};
  }

  const Topology& before_;
  NameLookup lookup_;
  DegradedTopology result_;
  std::vector<Gone> gone_;  ///< by LinkId; empty where no link is dropped
};

}  // namespace

bool has_relays(const Topology& topology) {
  return std::ranges::any_of(topology.nodes, is_relay);
}

Topology without_relays(Topology topology) {
  for (TopologyNode& node : topology.nodes) {
    if (!is_relay(node)) continue;
    node.type = NodeType::compute;
    node.enabled = false;
  }
  return topology;
}

Expected<DegradedTopology> degrade(const Topology& topology, const Failures& failures) {
  return Degrader(topology).run(failures);
}

}  // namespace forestcoll
