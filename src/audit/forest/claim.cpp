// A rank of weight w roots w·k trees, so the buffer has W·k equal shares, W the sum of all weights
// (1 where there is one root). A tree of multiplicity m carries m of them over each of its edges,
// and an edge loads every arc of its path. So a phase whose most loaded arc takes load ℓ, in
// multiplicities, at bandwidth b moves the buffer at W·k·b/ℓ. The two phases of an allreduce run at
// the same time, so the trees reach what the arc allows that both together load most. A file may
// claim that, or what is promised even of one phase after the other. All of it is exact.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "audit/common/fabric_load.hpp"
#include "audit/forest/check.hpp"

namespace forestcoll::audit {
namespace {

class Claim {
 public:
  Claim(const ForestFacts& facts, Findings& findings, Verdict& verdict)
      : facts_(facts), findings_(findings), verdict_(verdict) {}

  void check(const Topology& topology, const std::vector<std::vector<std::int64_t>>& loads) {
    has_limits_ = !topology.limits.empty();
    const Ratio shares(verdict_.chunks);
    std::optional<Ratio> time = Ratio(0);  // s per GB of buffer, one phase after the other
    IdVector<ArcId, Ratio> sum(facts_.network->graph.arc_count(), Ratio(0));
    bool fits = true;
    for (const std::vector<std::int64_t>& load : loads) {
      std::size_t worst = 0;
      for (std::size_t a = 1; a < load.size(); ++a) {
        if (Int128{load[a]} * capacity(worst) > Int128{load[worst]} * capacity(a)) worst = a;
      }
      // Divided before anything is multiplied: loads grow with k, and what they share cancels.
      const auto bandwidth = checked_mul(Ratio(capacity(worst)), facts_.network->unit);
      const Ratio part = Ratio(load[worst]) / shares;
      const auto phase = bandwidth ? checked_div(part, *bandwidth) : std::nullopt;
      time = time && phase ? checked_add(*time, *phase) : std::nullopt;
      for (std::size_t a = 0; a < load.size(); ++a) {
        const auto both = checked_add(sum[ArcId(a)], Ratio(load[a]) / shares);
        fits = fits && both;
        if (both) sum[ArcId(a)] = *both;
      }
    }
    if (fits) report_loads(topology, *facts_.network, sum, verdict_);
    if (!verdict_.algbw) {
      findings_.add(Rule::too_large, std::string("/algbw"),
                    "the rate that the forest reaches does not fit exact arithmetic");
      return;
    }
    // A rate that does not fit is none that a file can claim.
    const auto in_turn = time ? checked_div(Ratio(1), *time) : std::nullopt;
    compare_claim(*verdict_.algbw, in_turn);
  }

 private:
  [[nodiscard]] Capacity capacity(std::size_t arc) const {
    return facts_.network->capacity[ArcId(arc)];
  }

  void compare_claim(const Ratio& reached, const std::optional<Ratio>& in_turn) {
    // Made within parts of limits, trees may carry more of the limits than they claim.
    const bool is_so = has_limits_ ? facts_.claimed <= reached
                                   : facts_.claimed == reached || facts_.claimed == in_turn;
    if (is_so) return;
    findings_.add(
        Rule::claim, std::string("/algbw"),
        fmt::format("the file claims {} GB/s; its trees reach {} GB/s{}",
                    facts_.claimed.to_string(), reached.to_string(), what_holds_up(verdict_)));
  }

  const ForestFacts& facts_;
  Findings& findings_;
  Verdict& verdict_;
  bool has_limits_ = false;
};

}  // namespace

void check_claim(const ForestFacts& facts, const Topology& topology,
                 const std::vector<std::vector<std::int64_t>>& loads, Findings& findings,
                 Verdict& verdict) {
  Claim(facts, findings, verdict).check(topology, loads);
}

void compare_with_optimum(const ForestFacts& facts, bool may_be_of_both, Findings& findings) {
  const auto half = checked_div(facts.claimed, Ratio(2));
  const Ratio least = may_be_of_both && half ? *half : facts.claimed;
  if (!facts.optimum || least <= *facts.optimum) return;
  findings.add(
      Rule::claim, std::string("/algbw"),
      fmt::format("the file claims {} GB/s, above {}the {} GB/s that it names as the optimum",
                  facts.claimed.to_string(), may_be_of_both ? "twice " : "",
                  facts.optimum->to_string()));
}

}  // namespace forestcoll::audit
