#include "audit/flows/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "audit/common/fabric_load.hpp"

namespace forestcoll::audit {
namespace {

using Rational = boost::multiprecision::cpp_rational;

constexpr std::size_t kMostBits = 4096;  // of a denominator; files may have any rounds

Rational exactly(const Ratio& ratio) {
  return Rational(ratio.num(), ratio.den());
}

class FlowRates {
 public:
  FlowRates(const std::vector<CheckedPath>& paths, const FlowsClaims& claims,
            const Topology& topology, const Network& network)
      : paths_(paths), claims_(claims), topology_(topology), network_(network) {}

  // The load of every arc, in buffers; nothing where that does not fit.
  [[nodiscard]] std::optional<IdVector<ArcId, Ratio>> loads() const {
    IdVector<ArcId, Ratio> loads(network_.graph.arc_count(), Ratio(0));
    for (const CheckedPath& path : paths_) {
      const auto share = checked_div(path.amount, claims_.buffer);
      for (const ArcId a : path.arcs) {
        const auto sum = share ? checked_add(loads[a], *share) : std::nullopt;
        if (!sum) return std::nullopt;
        loads[a] = *sum;
      }
    }
    return loads;
  }

  // GB/s where rounds wait for one another; nothing where nothing is sent, or that does not fit.
  [[nodiscard]] std::optional<Rational> in_rounds() const {
    std::map<std::pair<std::int64_t, ArcId>, Ratio> loads;
    for (const CheckedPath& path : paths_) {
      for (std::size_t i = 0; i < path.arcs.size(); ++i) {
        Ratio& load = loads[{path.rounds[i], path.arcs[i]}];
        const auto sum = checked_add(load, path.amount);
        if (!sum) return std::nullopt;
        load = *sum;
      }
    }
    std::map<std::int64_t, Rational> longest = time_of_limits(loads);  // by round: over bandwidth
    for (const auto& [at, load] : loads) {
      const Rational time = exactly(load) / (network_.capacity[at.second] * exactly(network_.unit));
      Rational& most = longest[at.first];
      if (time > most) most = time;
    }
    Rational total = 0;
    for (const auto& [round, time] : longest) {
      total += time;
      if (msb(denominator(total)) > kMostBits) return std::nullopt;
    }
    return total > 0 ? std::optional<Rational>(exactly(claims_.buffer) / total) : std::nullopt;
  }

 private:
  // By round, what the slowest limit that links share takes.
  [[nodiscard]] std::map<std::int64_t, Rational> time_of_limits(
      const std::map<std::pair<std::int64_t, ArcId>, Ratio>& loads) const {
    std::map<std::int64_t, Rational> longest;
    for (const SharedLimit& limit : topology_.limits) {
      std::map<ArcId, Ratio> weights;
      for (const SharedLimit::Use& use : limit.uses) {
        const ArcId arc = network_.graph.find(use.src, use.dst);
        if (arc.valid()) weights[arc] = use.weight;
      }
      std::map<std::int64_t, Rational> sums;
      for (const auto& [at, load] : loads) {
        const auto weight = weights.find(at.second);
        if (weight != weights.end()) sums[at.first] += exactly(load) * exactly(weight->second);
      }
      for (const auto& [round, sum] : sums) {
        const Rational time = sum / exactly(limit.bandwidth);
        if (time > longest[round]) longest[round] = time;
      }
    }
    return longest;
  }

  const std::vector<CheckedPath>& paths_;
  const FlowsClaims& claims_;
  const Topology& topology_;
  const Network& network_;
};

void claim_is_wrong(const char* key, const Ratio& claimed, const std::string& why,
                    Findings& findings) {
  findings.add(Rule::claim, std::string("/") + key,
               fmt::format("the file claims {} GB/s; {}", claimed.to_string(), why));
}

// algbw that a rank's links allow; nothing where it moves nothing, or where that does not fit.
std::optional<Ratio> allowed_by(std::span<const ArcId> arcs, std::int64_t moved,
                                const Network& network, const Ratio& buffer) {
  Capacity capacity = 0;
  for (const ArcId a : arcs) capacity += network.capacity[a];
  const auto bandwidth = checked_mul(Ratio(capacity), network.unit);
  const auto all = bandwidth ? checked_mul(*bandwidth, buffer) : std::nullopt;
  return all && moved > 0 ? checked_div(*all, Ratio(moved)) : std::nullopt;
}

void check_optimum(const FlowsClaims& claims, const Topology& topology, const Network& network,
                   Findings& findings) {
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    const NodeId node = network.ranks[r];
    std::vector<ArcId> out;
    for (ArcId a = network.graph.first_out(node); a != network.graph.last_out(node); ++a.value) {
      out.push_back(a);
    }
    for (const auto& [most, does] :
         {std::pair(allowed_by(out, claims.sent[Rank(r)], network, claims.buffer), "send"),
          std::pair(
              allowed_by(network.graph.in(node), claims.received[Rank(r)], network, claims.buffer),
              "receive")}) {
      if (!most || *claims.optimum <= *most) continue;
      claim_is_wrong("optimum", *claims.optimum,
                     fmt::format("what {} can {} allows {} GB/s", topology.nodes[node].id, does,
                                 most->to_string()),
                     findings);
      return;
    }
  }
}

}  // namespace

void check_flow_rates(const std::vector<CheckedPath>& paths, const FlowsClaims& claims,
                      const Topology& topology, const Network& network, Findings& findings,
                      Verdict& verdict) {
  const FlowRates rates(paths, claims, topology, network);
  if (const auto loads = rates.loads()) report_loads(topology, network, *loads, verdict);
  if (!verdict.algbw) {
    findings.add(Rule::too_large, std::string("/algbw"),
                 "the rate that the paths reach does not fit exact arithmetic");
    return;
  }
  // Made within parts of limits, paths may carry more of the limits than they claim.
  const bool is_less = !topology.limits.empty() && claims.algbw < *verdict.algbw;
  if (claims.algbw != *verdict.algbw && !is_less) {
    claim_is_wrong("algbw", claims.algbw,
                   fmt::format("its paths reach {} GB/s{}", verdict.algbw->to_string(),
                               what_holds_up(verdict)),
                   findings);
  }
  if (claims.optimum) check_optimum(claims, topology, network, findings);
  if (!claims.algbw_in_rounds) return;
  const auto in_rounds = rates.in_rounds();
  const Rational claimed = exactly(*claims.algbw_in_rounds);
  if (in_rounds && claimed == *in_rounds) return;
  if (!topology.limits.empty() && in_rounds && claimed < *in_rounds) return;
  claim_is_wrong("algbw_in_rounds", *claims.algbw_in_rounds,
                 in_rounds ? fmt::format("round by round its paths reach {} GB/s",
                                         in_rounds->convert_to<double>())
                           : "what its paths reach round by round does not fit exact arithmetic",
                 findings);
}

}  // namespace forestcoll::audit
