#include "common/report/allreduce_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forestcoll::cli {
namespace {

constexpr const char* kTwoPhases = "reduce_scatter, then allgather";

// Parts of the bound that are no gap: what is reached is the optimum but for rounding.
constexpr double kNoGap = 1e-6;

// GB/s above the two phases; 0 exactly where the optimum is theirs. `value` can be rounded.
double gap(double value, const Ratio& two_phases) {
  return std::max(value - two_phases.to_double(), 0.0);
}

// "31.25 %", and no zero for what is more than that.
std::string gain(double value, double base) {
  constexpr double kPercent = 100, kLeastWithTwoDecimals = 0.01;
  const double more = std::max(value - base, 0.0) / base * kPercent;
  return more < kLeastWithTwoDecimals ? fmt::format("{:.2g} %", more)
                                      : fmt::format("{:.2f} %", more);
}

bool has_gap(const AllreduceOptimum& optimum) {
  return !optimum.value || *optimum.value < optimum.upper.to_double() * (1 - kNoGap);
}

// What is known where the optimum is not. `least` is reached in any case, by `least_by`.
std::string between(const AllreduceOptimum& optimum, const Ratio& least,
                    const std::string& least_by) {
  const bool better = optimum.split && optimum.split->algbw > least;
  return fmt::format("between {} GB/s, which {}, and the upper bound {} GB/s",
                     number(better ? optimum.split->algbw : least),
                     better ? "trees reach" : least_by + " reaches", number(optimum.upper));
}

// Whether the rest of the gap is closed to trees.
std::string best_of_trees(const AllreduceOptimum& optimum) {
  if (!optimum.of_trees || !optimum.split) return "";
  if (*optimum.of_trees == optimum.split->algbw) {
    return "; no trees that branch once at most at each switch are faster";
  }
  return fmt::format("; trees that branch once at most at each switch have no more than {} GB/s",
                     number(*optimum.of_trees));
}

// Where reduce-scatter, then allgather has no rate to compare with.
std::string alone(const AllreduceOptimum& optimum) {
  if (optimum.is_exact()) return fmt::format("{} GB/s", number(optimum.upper));
  if (optimum.split) return between(optimum, Ratio(0), "");
  return fmt::format("no more than {} GB/s", number(optimum.upper));
}

std::string line(const char* subject, const std::string& says) {
  return fmt::format("{}: {}\n", subject, says);
}

// The optimum without able switches, or what it is at least.
Expected<Ratio> known_of_ranks(const Expected<AllreduceOptimum>& of_ranks,
                               const Expected<Ratio>& two_phases) {
  if (!of_ranks || !of_ranks->split) return two_phases;
  return two_phases ? std::max(of_ranks->split->algbw, *two_phases) : of_ranks->split->algbw;
}

}  // namespace

Json to_json(const Expected<AllreduceOptimum>& optimum, const Expected<Ratio>& two_phases) {
  if (!optimum) return {{"not_computed", to_json(optimum.errors().front())}};
  Json json = {{"at_most", exact(optimum->upper)}};
  if (optimum->split) json["at_least"] = exact(optimum->split->algbw);
  if (optimum->is_exact()) json["exact"] = optimum->upper.to_string();
  if (optimum->of_trees) json["trees_at_most"] = exact(*optimum->of_trees);
  if (optimum->value) {
    json["value"] = *optimum->value;
    if (two_phases) json["gap"] = gap(*optimum->value, *two_phases);
  }
  return json;
}

std::string in_words(const Expected<AllreduceOptimum>& optimum, const Expected<Ratio>& in_turn) {
  constexpr const char* kSubject = "optimum of allreduce by trees";
  if (!optimum) return line(kSubject, not_computed(optimum.errors().front()));
  if (!in_turn) return line(kSubject, alone(*optimum));
  const Ratio& two_phases = *in_turn;
  if (has_gap(*optimum)) return line(kSubject, between(*optimum, two_phases, kTwoPhases));
  if (!optimum->is_exact()) {
    return line(kSubject, fmt::format("about {} GB/s ({}: {}); proved upper bound {} GB/s",
                                      number(*optimum->value), kTwoPhases, number(two_phases),
                                      number(optimum->upper)));
  }
  if (optimum->upper == two_phases) {
    return line(kSubject, fmt::format("{} GB/s, equal to {}", number(optimum->upper), kTwoPhases));
  }
  return line(kSubject,
              fmt::format("{} GB/s, {} more than {}, with both phases at the same time",
                          number(optimum->upper),
                          gain(optimum->upper.to_double(), two_phases.to_double()), kTwoPhases));
}

std::string in_network_in_words(const Expected<AllreduceOptimum>& optimum,
                                const Expected<AllreduceOptimum>& of_ranks,
                                const Expected<Ratio>& two_phases) {
  constexpr const char* kSubject = "optimum of allreduce with in-network multicast and reduction";
  if (!optimum) return line(kSubject, not_computed(optimum.errors().front()));
  const auto known = known_of_ranks(of_ranks, two_phases);
  if (!known) return line(kSubject, alone(*optimum));
  const Ratio& without = *known;
  if (has_gap(*optimum)) {
    return line(kSubject,
                between(*optimum, without, "the optimum without it") + best_of_trees(*optimum));
  }
  const std::string more =
      fmt::format("{} more than without it", gain(*optimum->value, without.to_double()));
  if (optimum->is_exact()) {
    return line(kSubject, fmt::format("{} GB/s, {}", number(optimum->upper), more));
  }
  return line(kSubject, fmt::format("about {} GB/s, {}; proved upper bound {} GB/s",
                                    number(*optimum->value), more, number(optimum->upper)));
}

Json to_json(const Expected<PhaseOptimum>& optimum) {
  if (!optimum) return {{"not_computed", to_json(optimum.errors().front())}};
  Json json = {{"at_most", exact(optimum->upper)}};
  const auto reached = optimum->reached();
  if (reached) json["at_least"] = exact(*reached);
  if (reached == optimum->upper) json["exact"] = optimum->upper.to_string();
  if (optimum->of_trees) json["trees_at_most"] = exact(*optimum->of_trees);
  return json;
}

std::string in_network_in_words(Collective collective, const Expected<PhaseOptimum>& optimum,
                                const Ratio& without) {
  const std::string subject =
      fmt::format("{} with in-network {}", to_string(collective),
                  collective == Collective::broadcast ? "multicast" : "reduction");
  if (!optimum) return line(subject.c_str(), not_computed(optimum.errors().front()));
  const Ratio reached = std::max(optimum->reached().value_or(without), without);
  if (reached == optimum->upper) {
    return line(subject.c_str(), fmt::format("{} GB/s, {} more than without it", number(reached),
                                             gain(reached.to_double(), without.to_double())));
  }
  return line(subject.c_str(),
              fmt::format("between {} GB/s, which trees reach, and the upper bound {} GB/s",
                          number(reached), number(optimum->upper)));
}

}  // namespace forestcoll::cli
