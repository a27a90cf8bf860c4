// Whether groups' parts of a fabric can be had at once: pair by pair of nodes, in exact arithmetic.
#include <fmt/format.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <string>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using Exact = boost::multiprecision::cpp_rational;
using Pair = std::pair<std::string, std::string>;  // ids, from and to
using Bandwidths = std::map<Pair, Exact>;

Exact exact(const Ratio& value) {
  return {value.num(), value.den()};
}

void add_links(const Topology& topology, Bandwidths& sum) {
  for (const TopologyLink& link : topology.links) {
    const TopologyNode &src = topology.nodes[link.src], &dst = topology.nodes[link.dst];
    if (!link.enabled || !src.enabled || !dst.enabled) continue;
    sum[{src.id, dst.id}] += exact(link.bandwidth);
    if (link.full_duplex) sum[{dst.id, src.id}] += exact(link.bandwidth);
  }
}

Diagnostic finding(std::string message, std::string remedy) {
  return make_error(Code::O09, std::move(message), std::move(remedy));
}

bool has_ranks(const Topology& whole, const PartClaim& claim) {
  const Topology& part = *claim.part;
  if (part.ranks.size() != claim.group.size()) return false;
  for (std::size_t i = 0; i < claim.group.size(); ++i) {
    if (!claim.group[i].valid() || claim.group[i].index() >= whole.ranks.size()) return false;
    const NodeId there = whole.ranks[claim.group[i].index()];
    if (whole.nodes[there].id != part.nodes[part.ranks[i]].id) return false;
  }
  return true;
}

}  // namespace

Diagnostics check_parts(const Topology& whole, std::span<const PartClaim> parts) {
  Diagnostics findings;
  Bandwidths has, taken;
  add_links(whole, has);
  for (const PartClaim& claim : parts) {
    if (!has_ranks(whole, claim)) {
      findings.push_back(
          finding(fmt::format("{}: its GPUs are not those of the group on this fabric", claim.name),
                  "give the topology that the schedules were made for"));
    }
    add_links(*claim.part, taken);
  }
  for (const auto& [pair, bandwidth] : taken) {
    const auto at = has.find(pair);
    const Exact room = at == has.end() ? Exact(0) : at->second;
    if (bandwidth <= room) continue;
    findings.push_back(finding(
        fmt::format("all groups together have {:.6g} GB/s of the links from {} to {}, which carry "
                    "{:.6g}",
                    bandwidth.convert_to<double>(), pair.first, pair.second,
                    room.convert_to<double>()),
        "give the topology that the schedules were made for"));
  }
  for (const SharedLimit& limit : whole.limits) {
    Exact all = 0;
    for (const SharedLimit::Use& use : limit.uses) {
      const auto at = taken.find({whole.nodes[use.src].id, whole.nodes[use.dst].id});
      if (at != taken.end()) all += exact(use.weight) * at->second;
    }
    if (all <= exact(limit.bandwidth)) continue;
    findings.push_back(finding(
        fmt::format("all groups together have {:.6g} GB/s of the links that share the "
                    "limit {} of {:.6g}",
                    all.convert_to<double>(), name_of(limit, whole), limit.bandwidth.to_double()),
        "give the topology that the schedules were made for"));
  }
  return findings;
}

}  // namespace forestcoll
