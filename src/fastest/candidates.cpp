#include "fastest/candidates.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>

#include "choose/as_written.hpp"
#include "choose/branching.hpp"
#include "choose/settle.hpp"
#include "choose/switch_plan.hpp"
#include "choose/trees.hpp"
#include "fastest/our_trees.hpp"
#include "fastest/paths/alltoall_candidates.hpp"
#include "fastest/programs.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/topology.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "solver/portfolio/best_forest.hpp"

namespace forestcoll::fastest {
namespace {

constexpr std::int64_t kFineChunks = 256;  // of a root, for as many trees at most

using solver::height_of;

class CandidateFinder {
 public:
  CandidateFinder(const Fabric& fabric, const CompileOptions& options, const FastestOptions& asked,
                  Effort of_low)
      : fabric_(fabric), options_(options), asked_(asked), of_low_(of_low) {}

  Expected<std::vector<Candidate>> find() {
    if (const auto done = is_wanted("forestcoll") ? add_ours() : find_optimum(); !done) {
      return done.errors();
    }
    if (options_.tree_count != TreeCount::chosen) return std::move(candidates_);
    if (options_.format == Format::mscclpp) add_switch_plans();
    add_baselines();
    if (options_.format != Format::mscclpp && !asked_.few_variants) add_exchanges();
    if (!candidates_.empty()) return std::move(candidates_);
    return make_error(Code::B10, "none of the algorithms that are asked for has a schedule here",
                      "`make_baseline()` says why, for each of them");
  }

 private:
  [[nodiscard]] bool is_wanted(std::string_view name) const {
    const std::vector<std::string>& wanted = asked_.algorithms;
    return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
  }

  Expected<void> add_ours() {
    if (asked_.few_variants && add_for_bounds()) return {};
    auto best = best_of_ours();
    if (!best) return best.errors();
    optimum_ = best->front().synthesis.forest.optimum;
    const Synthesis highest = best->front().synthesis;
    for (ChosenForest& each : *best) candidates_.push_back({"forestcoll", std::move(each), {}});
    const bool are_few = asked_.few_variants;
    if (options_.tree_count != TreeCount::chosen) return {};
    if (are_few && !is_optimum_of_few()) return {};
    add_in_powers_of_two(highest);
    for (Synthesis& each : find_our_trees(fabric_, highest, options_, {are_few, of_low_})) {
      add_in_powers_of_two(each);
      candidates_.push_back({"forestcoll", {std::move(each), ""}, {}});
    }
    return {};
  }

  // Both phases of an allreduce at once and one after the other are two candidates as plans, which
  // take long to be timed.
  [[nodiscard]] Expected<std::vector<ChosenForest>> best_of_ours() const {
    if (options_.format == Format::mscclpp) return choose::choose_both_ways(fabric_, options_);
    auto best = choose_forest(fabric_, options_);
    if (!best) return best.errors();
    return std::vector<ChosenForest>{*std::move(best)};
  }

  // A tree is one transfer, however many chunks wide: cut finely, three trees per root serve powers
  // of two.
  void add_in_powers_of_two(const Synthesis& synthesis) {
    for (CollectiveForest& even : cut_in_powers_of_two(synthesis.forest)) {
      Synthesis each = synthesis;
      each.allowed = even.algbw;
      each.forest = std::move(even);
      candidates_.push_back({"forestcoll", {std::move(each), ""}, {}});
    }
  }

  // Threadblocks of a plan are shared by all trees: fewer of a higher rate are often faster.
  [[nodiscard]] bool is_optimum_of_few() const {
    return options_.format == Format::mscclpp &&
           fabric_.network.ranks.size() <= scale::kMostRanksOfOptimum;
  }

  // Ours as trees alone, where no program would be made of them; false where one would.
  bool add_for_bounds() {
    if (options_.tree_count != TreeCount::chosen) return false;
    auto best = synthesize(fabric_.network, options_.synthesis);
    if (!best || best->stopped) return false;
    if (!is_too_large_of_few(best->forest, options_.synthesis.collective)) return false;
    optimum_ = best->forest.optimum;
    candidates_.push_back({"forestcoll", {*std::move(best), ""}, {}});
    return true;
  }

  Expected<void> find_optimum() {
    const SynthesizeOptions& asked = options_.synthesis;
    const auto best = bound(fabric_.network, asked.collective, asked.root);
    if (!best) return best.errors();
    optimum_ = best->algbw;
    return {};
  }

  [[nodiscard]] bool is_stopped() const { return options_.synthesis.packing.stop.stop_requested(); }

  // What plans are compared with in a box, and where a switch beside others sums; and what is fast
  // on many ranks.
  [[nodiscard]] bool is_one_of_few(const BaselineTraits& traits) const {
    const std::size_t ranks = fabric_.network.ranks.size();
    const bool are_plans = options_.format == Format::mscclpp;
    if (traits.for_many) return !are_plans || ranks >= scale::kLeastRanksOfMany;
    if (traits.for_one_box) return !are_plans && !has_several_boxes(fabric_.topology);
    return traits.for_large ||
           (are_plans && traits.picked_by_mscclpp && ranks <= scale::kMostRanksOfShots);
  }

  // None where it is not wanted, or the fabric has none.
  [[nodiscard]] std::optional<BaselineResult> make(const BaselineInfo& info) const {
    const bool is_large = fabric_.network.ranks.size() > scale::kMostRanksOfSearches;
    if (!is_wanted(info.name) || (asked_.few_variants && !is_one_of_few(info.traits)) ||
        is_stopped() || (is_large && info.traits.takes_long)) {
      return std::nullopt;
    }
    BaselineOptions options = asked_.baseline;
    options.with_trees = true;
    auto made = make_baseline(info.name, fabric_.topology, fabric_.links(),
                              options_.synthesis.collective, options_.synthesis.root, options);
    return made ? std::optional(*std::move(made)) : std::nullopt;
  }

  void add_baselines() {
    const std::span<const BaselineInfo> all = baselines();
    std::vector<std::optional<BaselineResult>> all_made(all.size());
    tbb::parallel_for(std::size_t{0}, all.size(),
                      [&](std::size_t b) { all_made[b] = make(all[b]); });
    for (std::size_t b = 0; b < all.size(); ++b) {
      const BaselineInfo& info = all[b];
      auto& made = all_made[b];
      if (made && made->branching) add_nvls(info.name, *std::move(made->branching));
      if (!made || !made->forest) continue;
      std::vector<CollectiveForest> even = cut_in_powers_of_two(*made->forest);
      add_baseline(info.name, *std::move(made->forest), made->algbw);
      for (CollectiveForest& each : even) {
        const Ratio algbw = each.algbw;
        add_baseline(info.name, std::move(each), algbw);
        candidates_.back().is_cut = true;
      }
      if (info.name == "one-shot") add_direct();
    }
  }

  void add_baseline(std::string_view name, CollectiveForest forest, const Ratio& algbw) {
    Synthesis synthesis;
    synthesis.forest = std::move(forest);
    synthesis.forest.optimum = optimum_;
    synthesis.allowed = algbw;
    if (!candidates_.empty()) {
      synthesis.least_height = candidates_.front().chosen.synthesis.least_height;
    }
    candidates_.push_back({std::string(name), {std::move(synthesis), ""}, {}});
  }

  // Five rings per root, say, as 16 chunks: 4, 3, 3, 3 and 3; or as many more, for what the links
  // carry more evenly. A runtime that has rings of its own runs them at all sizes, but takes files
  // for multiples of their chunks only.
  [[nodiscard]] std::vector<CollectiveForest> cut_in_powers_of_two(
      const CollectiveForest& forest) const {
    std::vector<CollectiveForest> found;
    if (std::has_single_bit(static_cast<std::uint64_t>(forest.k))) return found;
    if (forest.k > scale::kMostTrees || !forest.weight.empty()) return found;
    for (const std::int64_t chunks : {scale::kMostTrees, kFineChunks}) {
      const IdVector<Rank, std::int64_t> shares(fabric_.network.ranks.size(), chunks);
      auto even = choose::cut_into(forest, shares, fabric_.links());
      if (!even || (!found.empty() && !gains(even->algbw, found.back().algbw))) continue;
      found.push_back(*std::move(even));
    }
    return found;
  }

  // The same trees; where threadblocks serve both directions, no one waits for who sends first.
  void add_direct() {
    if (options_.format == Format::mscclpp) return;
    if (options_.synthesis.collective != Collective::allgather) return;
    if (!candidates_.back().forest().weight.empty()) return;  // owners of unequal shares
    Candidate direct = candidates_.back();
    direct.is_direct = true;
    candidates_.push_back(std::move(direct));
  }

  // What XML cannot say. Of several boxes it has no plan: there it combines for one GPU alone.
  void add_nvls(std::string_view name, BranchingForest trees) {
    if (options_.format != Format::mscclpp) return;
    const auto plan_options = choose::plan_options(options_);
    auto plan = lower_to_switch_plan(trees, boxes_of_ranks(fabric_.topology), plan_options);
    if (!plan) return;
    trees.optimum = std::max(optimum_, trees.algbw);
    add_switched(name, std::move(trees), {*std::move(plan), std::string(name)});
  }

  void add_switch_plans() {
    if (candidates_.empty() || options_.synthesis.collective != Collective::allreduce) return;
    const auto trees =
        choose::branching_forest(fabric_, options_, candidates_.front().forest()).forest;
    if (!trees) return;
    PlanOptions plan_options = choose::plan_options(options_);
    add_sums(*trees, plan_options);
    if (auto packets = choose::packet_plan(fabric_, plan_options)) {
      add_switched("forestcoll", *trees, *std::move(packets));
    }
    // What joins two boxes without stores has fewer operations.
    if (!plan_options.switch_stores || !has_several_boxes(fabric_.topology)) return;
    plan_options.switch_stores = false;
    add_sums(*trees, plan_options);
  }

  void add_sums(const BranchingForest& trees, const PlanOptions& plan_options) {
    auto sums = choose::switch_plan(trees, fabric_, plan_options);
    if (sums) add_switched("forestcoll", trees, *std::move(sums));
  }

  void add_switched(std::string_view name, BranchingForest trees, choose::NamedPlan plan) {
    Candidate candidate{std::string(name), over_gpus(), {}};
    candidate.switched = SwitchedPlan{std::move(trees), std::move(plan.plan), std::move(plan.name)};
    candidates_.push_back(std::move(candidate));
  }

  // What plans that copy in switches are compared with: where our trees are not wanted, their rate.
  [[nodiscard]] ChosenForest over_gpus() const {
    if (!candidates_.empty()) return candidates_.front().chosen;
    Synthesis synthesis;
    synthesis.forest.collective = Collective::allreduce;
    synthesis.forest.algbw = synthesis.forest.optimum = synthesis.allowed = optimum_;
    return {std::move(synthesis), ""};
  }

  void add_exchanges() {
    if (options_.synthesis.collective != Collective::allreduce) return;
    for (const ExchangeInfo& info : exchanges()) {
      if (is_wanted(info.name)) {
        candidates_.push_back(exchange_candidate(info, fabric_, options_.lowering, optimum_));
      }
    }
  }

  const Fabric& fabric_;
  const CompileOptions& options_;
  const FastestOptions& asked_;
  const Effort of_low_;
  std::vector<Candidate> candidates_;
  Ratio optimum_;
};

}  // namespace

Candidate exchange_candidate(const ExchangeInfo& info, const Fabric& fabric,
                             const LowerOptions& lowering, const Ratio& optimum) {
  Candidate candidate{std::string(info.name), {}, info.exchange};
  Synthesis& synthesis = candidate.chosen.synthesis;
  synthesis.forest.collective = Collective::allreduce;
  synthesis.forest.optimum = optimum;
  const auto schedule = lower_candidate(candidate, fabric, lowering);
  const auto algbw = schedule ? choose::algbw_by_peers(*schedule, fabric.links()) : std::nullopt;
  if (algbw) synthesis.forest.algbw = synthesis.allowed = *algbw;
  return candidate;
}

std::int64_t Candidate::most_in_simple(std::size_t ranks, std::int32_t instances,
                                       std::int64_t buffer_bytes) const {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  if (!exchange) return kAny;
  // What the checker goes by is what the runtime has by itself.
  const std::int64_t buffer =
      buffer_bytes == 0 ? kDefaultBufferBytes : std::min(buffer_bytes, kDefaultBufferBytes);
  return most_bytes_in_simple(*exchange, ranks, instances, buffer).value_or(kAny);
}

std::string Candidate::in_words() const {
  if (routes) return fmt::format("{}, k {}", algorithm, routes->k);
  if (is_direct) return algorithm + ", sending before receiving";
  if (algorithm != "forestcoll") return algorithm;
  if (switched) {
    const PlanGpu& gpu = switched->plan.gpus[Rank(0)];
    return fmt::format("{}, {}", algorithm,
                       !switched->plan.packets     ? "sums in switches"
                       : gpu.switch_groups.empty() ? "packets put at every GPU"
                                                   : "packets copied in switches");
  }
  const std::string trees = forest().weight.empty() ? fmt::format("k {}", forest().k)
                                                    : fmt::format("{} chunks", chunks_of(forest()));
  return fmt::format("{}, {}, height {}", algorithm, trees, height_of(forest()));
}

Expected<std::vector<Candidate>> find_candidates(const Fabric& fabric,
                                                 const CompileOptions& settled,
                                                 const FastestOptions& asked, Effort of_low) {
  return CandidateFinder(fabric, settled, asked, of_low).find();
}

bool have_same_plans(const Candidate& a, const Candidate& b) {
  const auto has_trees = [](const Candidate& each) {
    return !each.exchange && !each.routes && !each.is_direct && !each.switched;
  };
  return has_trees(a) && has_trees(b) && a.forest().k == b.forest().k &&
         a.forest().weight == b.forest().weight && have_same_edges(a.forest(), b.forest());
}

Expected<Schedule> lower_candidate(const Candidate& candidate, const Fabric& fabric,
                                   const LowerOptions& lowering) {
  if (candidate.exchange) {
    return lower_exchange(*candidate.exchange, fabric.network.ranks.size(), lowering);
  }
  if (candidate.is_direct) return lower_direct_allgather(fabric.network.ranks.size(), lowering);
  if (candidate.routes) return lower_alltoall(*candidate.routes, fabric.network.rank_of, lowering);
  return lower(candidate.forest(), lowering);
}

}  // namespace forestcoll::fastest
