#include "solver/rate/choose_scale.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/check.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::solver {
namespace {

Diagnostic too_large() {
  return inexact("the exact rate of this fabric does not fit 64-bit fractions");
}

// One after the other, each over all the data: 1 / (1/a + 1/b).
Expected<Ratio> in_sequence(const Ratio& a, const Ratio& b) {
  const auto result = Ratio::reduced(Int128{a.num()} * b.num(),
                                     Int128{a.num()} * b.den() + Int128{b.num()} * a.den());
  if (!result) return too_large();
  return *result;
}

Expected<Ratio> algbw_alone(const PhaseProblem& phase, const ScaleAndK& at) {
  const auto& weights = phase.weights;
  const std::int64_t data = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  auto result = checked_div(Ratio(data), at.scale);
  if (result) result = checked_mul(*result, Ratio(at.k));
  if (result) result = checked_mul(*result, phase.network.unit);
  if (!result) return too_large();
  return *result;
}

Expected<Ratio> algbw_at(const std::vector<PhaseProblem>& phases,
                         const std::vector<Scaling>& scalings) {
  std::vector<ScaleAndK> at;
  for (const Scaling& scaling : scalings) at.push_back({scaling.scale, scaling.k});
  return algbw_of(phases, at);
}

Expected<std::vector<Scaling>> scalings_at(const std::vector<PhaseProblem>& phases, std::int64_t k,
                                           const std::stop_token& stop) {
  std::vector<Scaling> scalings;
  for (const PhaseProblem& phase : phases) {
    auto scaling = scale_to_k(phase.network, phase.weights, phase.rate, k, stop);
    if (!scaling) return scaling.errors();
    scalings.push_back(*std::move(scaling));
  }
  return scalings;
}

std::vector<std::int64_t> candidates(const TreesPerRoot& asked) {
  using Mode = TreesPerRoot::Mode;
  std::vector<std::int64_t> all;
  if (asked.mode == Mode::fixed) {
    all = {asked.value};
  } else if (asked.mode == Mode::power_of_two) {
    for (std::int64_t k = 1; k <= asked.value && k > 0; k *= 2) all.push_back(k);
  } else {
    all.resize(static_cast<std::size_t>(asked.value));
    std::iota(all.begin(), all.end(), std::int64_t{1});
  }
  return all;
}

Expected<ChosenScale> choose_optimum(const std::vector<PhaseProblem>& phases) {
  ChosenScale result;
  for (const PhaseProblem& phase : phases) {
    result.scalings.push_back(scale_to_optimum(phase.network, phase.rate));
  }
  auto algbw = algbw_at(phases, result.scalings);
  if (!algbw) return algbw.errors();
  result.algbw = *algbw;
  return result;
}

}  // namespace

Expected<Ratio> algbw_of(const std::vector<PhaseProblem>& phases,
                         const std::vector<ScaleAndK>& at) {
  std::optional<Ratio> algbw;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    auto alone = algbw_alone(phases[i], at[i]);
    if (!alone) return alone;
    if (phases[i].at_once) {
      algbw = std::min(algbw.value_or(*alone), *alone);
      continue;
    }
    for (int times = 0; times < phases[i].times; ++times) {
      auto both = algbw ? in_sequence(*algbw, *alone) : alone;
      if (!both) return both;
      algbw = *both;
    }
  }
  return *algbw;
}

bool is_faster(const ScaleAndK& a, const ScaleAndK& b) {
  const auto ours = checked_mul(b.scale, Ratio(a.k)), theirs = checked_mul(a.scale, Ratio(b.k));
  return ours && theirs && *theirs < *ours;
}

Expected<std::int64_t> common_k(std::int64_t a, std::int64_t b) {
  const Int128 k = Int128{a} / std::gcd(a, b) * b;
  if (k >= Int128{1} << 62) return too_large();
  return static_cast<std::int64_t>(k);
}

Expected<ChosenScale> choose_scale(const std::vector<PhaseProblem>& phases,
                                   const TreesPerRoot& asked, const std::stop_token& stop) {
  if (asked.mode == TreesPerRoot::Mode::optimal) return choose_optimum(phases);
  FORESTCOLL_CHECK(asked.value >= 1, "k must be positive");
  ChosenScale result;
  for (const std::int64_t k : candidates(asked)) {
    if (stop.stop_requested()) {
      result.stopped = true;
      break;
    }
    auto scalings = scalings_at(phases, k, stop);
    if (!scalings && was_stopped(scalings.errors())) {
      result.stopped = true;
      break;
    }
    if (!scalings) return scalings.errors();
    auto algbw = algbw_at(phases, *scalings);
    if (!algbw) return algbw.errors();
    if (result.scalings.empty() || result.algbw < *algbw) {
      result.algbw = *algbw;
      result.scalings = *std::move(scalings);
    }
    result.rows.push_back({k, *algbw});
  }
  if (asked.mode == TreesPerRoot::Mode::fixed) result.rows.clear();
  return result;
}

}  // namespace forestcoll::solver
