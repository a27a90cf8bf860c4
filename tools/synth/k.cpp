// Runtimes take a file only for element counts that its chunks divide, so k is a power of two. On
// many fabrics the optimum needs uneven trees, say three per root; cut into 32 chunks, they are 11,
// 11 and 10 chunks wide, and lose less than any forest of 16 equal ones. There is no better way to
// spread 2^m chunks over trees than to solve at k = 2^m: the solver finds the least scale at which
// the links carry that many trees, and what any rounding of another forest's widths reaches is such
// a scale as well.
//
// More chunks take more steps, which threadblocks must take one after the other: a schedule with a
// higher rate on the links can be slower. So the model has the last word.
#include "synth/k.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "forestcoll/schedule.hpp"
#include "progress_bar.hpp"
#include "report.hpp"
#include "synth/large_message.hpp"
#include "synth/trees_per_root.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int64_t finest = 128;
constexpr std::int64_t first_fine = 32;
constexpr double gain_of_more_chunks = 1.05;  // by the model, which is no finer

// At least half a percent more.
bool is_worth(const Ratio& rate, const Ratio& than) {
  const auto needed = checked_mul(than, Ratio(201, 200));
  return needed && rate >= *needed;
}

std::string name_of(const CollectiveForest& forest) {
  if (forest.weight.empty()) return fmt::format("k = {}", forest.k);
  return fmt::format("{} chunks", chunks_of(forest));
}

// The fastest of those that fit; none where none does. `candidates` have more and more chunks.
std::optional<ChosenForest> choose_by_model(std::vector<Synthesis> candidates, const Fabric& fabric,
                                            const SynthRequest& request, const Console& console) {
  const LargeMessageTimes times = at_work("choosing k by the model", console, [&] {
    return large_message_times(candidates, fabric, request);
  });
  std::optional<std::size_t> best;
  double least = 0;
  std::string said;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::optional<double>& seconds = times.seconds[i];
    if (!seconds) continue;
    said += fmt::format("{}{} {:.2f} ms", said.empty() ? "" : ", ", name_of(candidates[i].forest),
                        *seconds * 1e3);
    if (best && *seconds * gain_of_more_chunks > least) continue;
    best = i;
    least = *seconds;
  }
  if (!best) return std::nullopt;
  const std::string why = candidates.size() > 1
                              ? fmt::format("fastest for 1 GiB ({}, not measurement): {}",
                                            times.simulated ? "model" : "coarse model", said)
                              : std::string();
  return ChosenForest{std::move(candidates[*best]), why};
}

class Search {
 public:
  Search(const Fabric& fabric, const SynthesizeOptions& asked, const SolverRequest& solver,
         const TimeLimit& limit, const Console& console)
      : fabric_(fabric), asked_(asked), solver_(solver), limit_(limit), console_(console) {}

  // With `best`, the best by rate up to 16: as XML, all that have a higher rate than fewer trees.
  // Where it does not fit the target, it stays alone.
  [[nodiscard]] std::vector<Synthesis> by_rate(Synthesis best, const SynthRequest& request) const {
    const bool is_schedule = request.format == Format::msccl;
    if (is_schedule && !lower(best.forest, request.lowering)) return one(std::move(best));
    std::vector<RateAtK> rows = best.tradeoff;
    const Ratio optimum = best.forest.optimum;
    std::vector<Synthesis> found;
    std::optional<Ratio> rate;
    for (const RateAtK& row : rows) {
      if (!is_schedule || (rate && row.algbw <= *rate) || row.k >= best.forest.k) continue;
      rate = row.algbw;
      auto fewer = at(fabric_, row.k);
      if (fewer) found.push_back(*std::move(fewer));
    }
    found.push_back(std::move(best));
    for (std::int64_t k = first_fine; k <= finest; k *= 2) {
      if (!is_worth(optimum, found.back().forest.algbw)) break;
      auto finer = at(fabric_, k);
      if (!finer) break;
      rows.push_back({k, finer->forest.algbw});
      if (is_worth(finer->forest.algbw, found.back().forest.algbw)) {
        found.push_back(*std::move(finer));
      }
    }
    for (Synthesis& each : found) each.tradeoff = rows;
    return found;
  }

  [[nodiscard]] std::vector<Synthesis> in_powers_of_two() const {
    const auto ranks = static_cast<std::uint64_t>(fabric_.network.ranks.size());
    std::vector<Synthesis> found;
    Ratio before(21, 20);  // the most uneven
    for (auto chunks = static_cast<std::int64_t>(std::bit_ceil(ranks));
         chunks <= finest * static_cast<std::int64_t>(ranks); chunks *= 2) {
      const std::int64_t largest = (chunks - 1) / static_cast<std::int64_t>(ranks) + 1;
      const Ratio uneven(largest * static_cast<std::int64_t>(ranks), chunks);
      if (uneven >= before) continue;
      before = uneven;
      Fabric shared = fabric_;
      shared.network.weight = spread(chunks);
      auto forest = at(shared, 1);
      if (!forest) break;
      found.push_back(*std::move(forest));
    }
    return found;
  }

 private:
  static std::vector<Synthesis> one(Synthesis synthesis) {
    std::vector<Synthesis> result;
    result.push_back(std::move(synthesis));
    return result;
  }

  // Shares that differ by one at most, the larger ones evenly among the ranks.
  [[nodiscard]] IdVector<Rank, std::int64_t> spread(std::int64_t chunks) const {
    const auto ranks = static_cast<std::int64_t>(fabric_.network.ranks.size());
    IdVector<Rank, std::int64_t> shares;
    for (std::int64_t r = 0; r < ranks; ++r) {
      shares.push_back((r + 1) * chunks / ranks - r * chunks / ranks);
    }
    return shares;
  }

  // None where it cannot be solved, or the time is over.
  [[nodiscard]] std::optional<Synthesis> at(const Fabric& fabric, std::int64_t k) const {
    SynthesizeOptions fixed = asked_;
    fixed.trees_per_root = {TreesPerRoot::Mode::fixed, k};
    auto found = solve(fabric, fixed, solver_, limit_, console_);
    if (!found || found->stopped) return std::nullopt;
    return *std::move(found);
  }

  const Fabric& fabric_;
  const SynthesizeOptions& asked_;
  const SolverRequest& solver_;
  const TimeLimit& limit_;
  const Console& console_;
};

}  // namespace

std::vector<Synthesis> in_powers_of_two(const Fabric& fabric, const SynthesizeOptions& asked,
                                        const SynthRequest& request, const SolverRequest& solver,
                                        const TimeLimit& limit, const Console& console) {
  const bool is_power = std::has_single_bit(fabric.network.ranks.size());
  if (request.collective != Collective::allreduce || request.format != Format::msccl || is_power ||
      !fabric.network.weight.empty()) {
    return {};
  }
  return Search(fabric, asked, solver, limit, console).in_powers_of_two();
}

Expected<ChosenForest> solve_with_k(const Fabric& fabric, const SynthesizeOptions& asked,
                                    const SynthRequest& request, const SolverRequest& solver,
                                    const TimeLimit& limit, const Console& console) {
  auto best = solve(fabric, asked, solver, limit, console);
  if (!best) return best.errors();
  if (!request.automatic_k || best->stopped || asked.former != nullptr) {
    return ChosenForest{*std::move(best), ""};
  }
  const Search search(fabric, asked, solver, limit, console);
  auto found = search.by_rate(*std::move(best), request);
  if (request.format != Format::msccl) return ChosenForest{std::move(found.back()), ""};
  auto even = in_powers_of_two(fabric, asked, request, solver, limit, console);
  for (Synthesis& each : even) {
    // Its own bound is one for these shares; what counts is the one for equal shares, which it can
    // be above.
    each.forest.optimum = found.back().forest.optimum;
    each.tradeoff = found.back().tradeoff;
  }
  if (auto chosen = choose_by_model(std::move(even), fabric, request, console))
    return *std::move(chosen);
  const Synthesis by_rate = found.back();
  if (auto chosen = choose_by_model(std::move(found), fabric, request, console))
    return *std::move(chosen);
  return ChosenForest{by_rate, ""};  // whoever lowers it says why nothing fits
}

}  // namespace forestcoll::cli
