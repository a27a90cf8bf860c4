// Failures as people name them, put into effect on a topology.
#include "forestcoll/failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/text.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/change/drop.hpp"
#include "topology/change/failure_warnings.hpp"
#include "topology/check/validate.hpp"
#include "topology/format/select.hpp"
#include "topology/format/units.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

using topology::NameLookup;
using topology::quote;
using topology::SelectedLink;
using topology::selection_error;

bool is_relay(const TopologyNode& node) {
  return node.enabled && node.type == NodeType::relay;
}

class Degrader {
 public:
  explicit Degrader(const Topology& topology) : before_(topology), lookup_(topology) {
    result_.topology = topology;
  }

  Expected<DegradedTopology> run(const Failures& failures) {
    const auto dropped = topology::drop(failures.drop, before_, topology(), result_.changes);
    if (!dropped) return dropped.errors();
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
    topology::warn_of_switches(before_, topology(), findings);
    if (failures.ranks.empty() && failures.members.empty()) {
      topology::warn_of_limits(before_, topology(), findings);
    }
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

  Topology& topology() { return result_.topology; }

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
                             "The factor is what is left of the bandwidth, such as 1/2 or 0.9; "
                             "`drop` leaves nothing.");
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
