#include "fastest/candidates.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "choose/as_written.hpp"
#include "choose/branching.hpp"
#include "choose/settle.hpp"
#include "choose/switch_plan.hpp"
#include "choose/trees.hpp"
#include "fastest/paths/alltoall_candidates.hpp"
#include "fastest/programs.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/topology.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "topology/model/link_kind.hpp"

namespace forestcoll::fastest {
namespace {

constexpr std::int64_t kMostTrees = 16;
constexpr std::int64_t kFineChunks = 256;        // of a root, for as many trees at most
constexpr std::size_t kMostRanksSearched = 512;  // by the algorithms that take long
constexpr std::size_t kMostRanksLowered = 64;    // for which lower trees are looked for

// What is fast for large messages on many ranks.
constexpr std::array<std::string_view, 4> kForLarge = {"nccl-ring", "double-tree", "hierarchical",
                                                       "two-level"};

bool is_one(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

using solver::height_of;

// Whether the trees join the same GPUs, whatever paths they take, and carry the same parts of what
// their roots have, of which they cut `of_a` and `of_b` chunks.
bool have_same_edges(const Forest& a, std::int64_t of_a, const Forest& b, std::int64_t of_b) {
  if (a.tree_count() != b.tree_count()) return false;
  for (std::size_t t = 0; t < a.tree_count(); ++t) {
    const auto &tree = a.tree(TreeId(t)), &other = b.tree(TreeId(t));
    if (tree.root != other.root || tree.multiplicity * of_b != other.multiplicity * of_a) {
      return false;
    }
    for (std::size_t v = 0; v < a.rank_count(); ++v) {
      if (a.parent(TreeId(t), Rank(v)) != b.parent(TreeId(t), Rank(v))) return false;
    }
  }
  return true;
}

bool have_same_edges(const CollectiveForest& a, const CollectiveForest& b) {
  const auto are_same = [&](const std::optional<Forest>& x, const std::optional<Forest>& y) {
    return x.has_value() == y.has_value() && (!x || have_same_edges(*x, a.k, *y, b.k));
  };
  return are_same(a.reduce, b.reduce) && are_same(a.broadcast, b.broadcast);
}

class CandidateFinder {
 public:
  CandidateFinder(const Fabric& fabric, const CompileOptions& options, const FastestOptions& asked,
                  Effort of_low)
      : fabric_(fabric), options_(options), silent_(options), asked_(asked), of_low_(of_low) {
    silent_.synthesis.packing.progress = nullptr;
  }

  Expected<std::vector<Candidate>> find() {
    if (const auto done = is_wanted("forestcoll") ? add_ours() : find_optimum(); !done) {
      return done.errors();
    }
    if (options_.tree_count != TreeCount::chosen) return std::move(candidates_);
    if (options_.format == Format::mscclpp) add_switch_plans();
    add_baselines();
    if (options_.format != Format::mscclpp && !asked_.few_variants) add_exchanges();
    if (!candidates_.empty()) return std::move(candidates_);
    return make_error(Code::B09, "none of the algorithms that are asked for has a schedule here",
                      "`make_baseline()` says why, for each of them");
  }

 private:
  using Search = std::function<std::vector<Synthesis>()>;

  [[nodiscard]] bool is_wanted(std::string_view name) const {
    const std::vector<std::string>& wanted = asked_.algorithms;
    return wanted.empty() || is_one(wanted, name);
  }

  Expected<void> add_ours() {
    if (asked_.few_variants && add_for_bounds()) return {};
    auto best = choose_forest(fabric_, options_);
    if (!best) return best.errors();
    optimum_ = best->synthesis.forest.optimum;
    candidates_.push_back({"forestcoll", *std::move(best), {}});
    if (options_.tree_count == TreeCount::chosen && !asked_.few_variants) add_all();
    return {};
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

  // Of forestcoll; one that is there already is not taken again, nor, of many ranks, whose programs
  // are large as they are, one that has the same trees in more chunks.
  void add(Synthesis synthesis) {
    const bool are_many = fabric_.network.ranks.size() > kMostRanksLowered;
    const auto is_same = [&](const Candidate& candidate) {
      const CollectiveForest& other = candidate.forest();
      if (other.weight != synthesis.forest.weight) return false;
      if (!are_many && other.k != synthesis.forest.k) return false;
      if (!have_same_edges(other, synthesis.forest)) return false;
      return are_many ||
             link_loads(other, fabric_.links()) == link_loads(synthesis.forest, fabric_.links());
    };
    if (std::ranges::any_of(candidates_, is_same)) return;
    synthesis.forest.optimum = optimum_;
    candidates_.push_back({"forestcoll", {std::move(synthesis), ""}, {}});
  }

  void add_all() {
    std::vector<Search> numbers;
    for (std::int64_t k = 1; k <= kMostTrees; k *= 2) {
      numbers.emplace_back([this, k] { return of_number(k); });
    }
    const std::vector<Synthesis> found = found_by(numbers);
    for (const Synthesis& each : found) add(each);
    const Synthesis equal = of_equal_shares(found);
    std::vector<Search> further = {[&] { return in_powers_of_two(equal); },
                                   [this] { return optimal(); },
                                   [&] { return lower_trees(found); }};
    const std::vector<Network> narrower = narrower_between_boxes();
    for (const Network& network : narrower) {
      for (std::int64_t k = 1; k <= kMostTrees; k *= 2) {
        further.emplace_back([&, k] { return of_narrower(network, k); });
      }
    }
    for (Synthesis& each : found_by(further)) add(std::move(each));
  }

  // What knows nothing of each other is searched at the same time.
  [[nodiscard]] std::vector<Synthesis> found_by(const std::vector<Search>& searches) const {
    std::vector<std::vector<Synthesis>> found(searches.size());
    tbb::parallel_for(std::size_t{0}, searches.size(), [&](std::size_t s) {
      if (!is_stopped()) found[s] = searches[s]();
    });
    std::vector<Synthesis> all;
    for (auto& forests : found) std::ranges::move(forests, std::back_inserter(all));
    return all;
  }

  // Ours; or where its shares are unequal, the fastest of `numbers`, whose trees can be as wide as
  // any shares make them.
  [[nodiscard]] Synthesis of_equal_shares(const std::vector<Synthesis>& numbers) const {
    const Synthesis& ours = candidates_.front().chosen.synthesis;
    if (ours.forest.weight.empty() || numbers.empty()) return ours;
    return *std::ranges::max_element(numbers, {},
                                     [](const Synthesis& each) { return each.forest.algbw; });
  }

  [[nodiscard]] std::vector<Synthesis> in_powers_of_two(const Synthesis& equal) const {
    return choose::in_powers_of_two(equal, fabric_, silent_);
  }

  [[nodiscard]] std::vector<Synthesis> of_number(std::int64_t k) const {
    std::vector<Synthesis> result;
    if (auto found = choose::synthesize_at(fabric_.network, silent_.synthesis, k)) {
      result.push_back(*std::move(found));
    }
    return result;
  }

  // The highest rate of all, of as many trees as that takes.
  [[nodiscard]] std::vector<Synthesis> optimal() const {
    std::vector<Synthesis> result;
    SynthesizeOptions asked = silent_.synthesis;
    asked.beside_less = false;
    asked.packing.effort = of_low_;
    asked.trees_per_root = {};
    auto found = choose::synthesize_as_written(fabric_.network, asked, silent_.format);
    if (!found) return result;
    for (Synthesis& each : *found) {
      if (!each.stopped) result.push_back(std::move(each));
    }
    return result;
  }

  // Lower trees at lower rates: of one tree per root, for small sizes.
  [[nodiscard]] std::vector<Synthesis> lower_trees(const std::vector<Synthesis>& numbers) const {
    std::vector<Synthesis> result;
    if (fabric_.network.ranks.size() > kMostRanksLowered) return result;
    if (numbers.empty() || numbers.front().forest.k != 1) return result;
    std::int32_t height = height_of(numbers.front().forest);
    const std::int32_t least = numbers.front().least_height;
    SynthesizeOptions asked = silent_.synthesis;
    asked.beside_less = false;
    asked.packing.effort = of_low_;
    asked.trees_per_root = {TreesPerRoot::Mode::fixed, 1};
    while (height > least && !is_stopped()) {
      asked.max_height = height - 1;
      auto lower = synthesize(fabric_.network, asked);
      if (!lower || lower->stopped) break;
      height = height_of(lower->forest);
      result.push_back(*std::move(lower));
    }
    return result;
  }

  // The fabric as if links that leave a box carried a half and a quarter: its trees send less
  // between boxes, in fewer and larger messages, which is faster for sizes at which latency counts.
  [[nodiscard]] std::vector<Network> narrower_between_boxes() const {
    std::vector<Network> found;
    if (fabric_.network.ranks.size() > kMostRanksLowered) return found;
    Topology topology = fabric_.topology;
    for (int i = 0; i < 2; ++i) {
      for (TopologyLink& link : topology.links) {
        if (topology::reach_of(link.kind) == topology::Reach::leaves) {
          link.bandwidth = link.bandwidth * Ratio(1, 2);
        }
      }
      auto network = to_digraph(topology);
      if (!network) break;
      found.push_back(*std::move(network));
    }
    return found;
  }

  [[nodiscard]] std::vector<Synthesis> of_narrower(const Network& narrower, std::int64_t k) const {
    std::vector<Synthesis> result;
    auto found = choose::synthesize_at(narrower, silent_.synthesis, k);
    if (!found) return result;
    const auto algbw = congestion_algbw(found->forest, fabric_.links());
    if (!algbw) return result;
    found->forest.algbw = found->allowed = *algbw;
    result.push_back(*std::move(found));
    return result;
  }

  // None where it is not wanted, or the fabric has none.
  [[nodiscard]] std::optional<BaselineResult> make(std::string_view name) const {
    const bool is_slow = name == "bfb" || name == "multitree" || name == "greedy";
    const bool is_large = fabric_.network.ranks.size() > kMostRanksSearched;
    const bool is_left_out = asked_.few_variants && !is_one(kForLarge, name);
    if (!is_wanted(name) || is_left_out || is_stopped() || (is_large && is_slow)) {
      return std::nullopt;
    }
    auto made =
        make_baseline(name, fabric_.topology, fabric_.links(), options_.synthesis.collective,
                      options_.synthesis.root, asked_.baseline);
    return made ? std::optional(*std::move(made)) : std::nullopt;
  }

  void add_baselines() {
    const std::span<const BaselineInfo> all = baselines();
    std::vector<std::optional<BaselineResult>> all_made(all.size());
    tbb::parallel_for(std::size_t{0}, all.size(),
                      [&](std::size_t b) { all_made[b] = make(all[b].name); });
    for (std::size_t b = 0; b < all.size(); ++b) {
      const BaselineInfo& info = all[b];
      auto& made = all_made[b];
      if (made && made->branching) add_nvls(info.name, *std::move(made->branching));
      if (!made || !made->forest) continue;
      std::vector<CollectiveForest> even = in_powers_of_two(*made->forest);
      add_baseline(info.name, *std::move(made->forest), made->algbw);
      for (CollectiveForest& each : even) {
        const Ratio algbw = each.algbw;
        add_baseline(info.name, std::move(each), algbw);
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
  [[nodiscard]] std::vector<CollectiveForest> in_powers_of_two(
      const CollectiveForest& forest) const {
    std::vector<CollectiveForest> found;
    if (std::has_single_bit(static_cast<std::uint64_t>(forest.k))) return found;
    if (forest.k > kMostTrees || !forest.weight.empty()) return found;
    for (const std::int64_t chunks : {kMostTrees, kFineChunks}) {
      CollectiveForest even = forest;
      even.k = chunks;
      for (auto* phase : {&even.reduce, &even.broadcast}) {
        if (*phase) {
          *phase =
              (*phase)->spread_over(IdVector<Rank, std::int64_t>((*phase)->rank_count(), chunks));
        }
      }
      const auto algbw = congestion_algbw(even, fabric_.links());
      if (!algbw || (!found.empty() && !gains(*algbw, found.back().algbw))) continue;
      even.algbw = *algbw;
      found.push_back(std::move(even));
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
    const auto boxes = boxes_of_ranks(fabric_.topology);
    const bool several =
        std::ranges::any_of(boxes, [&](auto box) { return box != boxes[Rank(0)]; });
    if (!plan_options.switch_stores || !several) return;
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
  CompileOptions silent_;  // the same, but no progress is told, by several threads at once
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

bool have_same_programs(const Candidate& a, const Candidate& b) {
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
