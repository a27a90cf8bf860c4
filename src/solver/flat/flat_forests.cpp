#include "solver/flat/flat_forests.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "solver/common/boxes.hpp"
#include "solver/common/core.hpp"
#include "solver/common/rounded_shares.hpp"
#include "solver/flat/box_routes.hpp"
#include "solver/flat/box_trees.hpp"
#include "solver/flat/fewer_trees.hpp"
#include "solver/flat/lane_parts.hpp"
#include "solver/flat/lanes.hpp"

namespace forestcoll::solver {
namespace {

// Of what the best of several numbers of trees reaches, what fewer may lose.
constexpr double kNearlyAllOfFlat = 1 - 1.0 / 1024;

// Trees of a rank that are enough to be divided.
constexpr std::int64_t kFineTrees = 64;

std::int64_t sum_of(const std::vector<std::int64_t>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

/// The trees of one division into boxes.
class Flat {
 public:
  Flat(const Core& core, const Boxes& boxes, const Ratio& rate, const FlatOptions& options)
      : core_(core), boxes_(boxes), rate_(rate), options_(options) {
    if (!options.owed) return;
    owed_.emplace();
    for (const auto& members : boxes.members) {
      std::int64_t sum = 0;
      for (const Rank r : members) sum += (*options.owed)[r];
      owed_->push_back(sum);
    }
  }

  std::optional<FlatForests> run() {
    auto lanes = find_lanes(boxes_, rate_, owed_);
    if (!lanes) return std::nullopt;
    if (!options_.numbers.empty()) {
      lanes = rounded(*lanes);
    } else if (!owed_ && options_.inside == InsideBoxes::trees) {
      take_finer(*lanes);
    }
    if (!lanes || options_.stop.stop_requested()) return std::nullopt;
    return forests_of(*lanes);
  }

 private:
  // So many trees that each lane is divided between the phases, and each box's among its ranks,
  // nearly as evenly as they could be: where all of some lanes is for one phase, boxes are entered
  // by few of their ranks.
  void take_finer(Lanes& lanes) const {
    Int128 all = 0;
    for (const std::int64_t own : lanes.shares.trees) all += own;
    std::int64_t times = 1;
    const auto most = static_cast<std::int64_t>(core_.compute.size()) * kFineTrees;
    while (all * times < most) times *= 2;
    for (std::int64_t& own : lanes.shares.trees) own *= times;
    for (Relay& relay : lanes.shares.relays) relay.trees *= times;
    for (auto& row : lanes.lanes) {
      for (auto& pair : row) {
        for (Lane& lane : pair) lane.trees *= times;
      }
    }
  }

  // The fewest trees that lose little, or nothing.
  [[nodiscard]] std::optional<Lanes> rounded(const Lanes& exact) const {
    std::vector<Lanes> found;
    std::vector<double> rates;
    for (const std::int64_t number : options_.numbers) {
      std::vector<std::int64_t> trees;
      if (owed_) {
        for (const std::int64_t own : *owed_) trees.push_back(own * number);
      } else {
        const auto ranks = static_cast<std::int64_t>(core_.compute.size());
        trees = rounded_shares(exact.shares.trees, ranks * number);
      }
      const auto all = static_cast<double>(sum_of(trees));
      auto lanes = fewer_trees(boxes_, exact, std::move(trees), owed_.has_value());
      if (!lanes) continue;
      rates.push_back(all / fullest_gate(boxes_, *lanes));
      found.push_back(*std::move(lanes));
    }
    if (found.empty()) return std::nullopt;
    // Where boxes have no stars, more trees are lower, too.
    const bool are_stars = options_.inside == InsideBoxes::stars;
    const double enough = *std::ranges::max_element(rates) * (are_stars ? kNearlyAllOfFlat : 1.0);
    const auto first = std::ranges::find_if(rates, [&](double rate) { return rate >= enough; });
    return std::move(found[static_cast<std::size_t>(first - rates.begin())]);
  }

  // As they are owed; else as evenly as whole numbers are, or where not all ranks are as near to
  // all gates, as their own gates carry.
  [[nodiscard]] Weights trees_of_roots(const Lanes& lanes) const {
    Weights trees(core_.compute.size(), 0);
    const auto [out, in] = carried(lanes);
    for (std::size_t box = 0; box < boxes_.members.size(); ++box) {
      const auto& members = boxes_.members[box];
      std::vector<std::int64_t> parts;
      for (const Rank r : members) {
        parts.push_back(owed_                                   ? (*options_.owed)[r]
                        : options_.inside == InsideBoxes::stars ? 1
                                                                : out[r.index()] + in[r.index()]);
      }
      if (lanes.shares.trees[box] == 0) continue;
      const auto own = rounded_shares(parts, lanes.shares.trees[box]);
      for (std::size_t i = 0; i < members.size(); ++i) trees[members[i]] = own[i];
    }
    return trees;
  }

  // By rank: what gates carry out and in.
  [[nodiscard]] std::array<std::vector<std::int64_t>, 2> carried(const Lanes& lanes) const {
    std::vector<std::int64_t> out(core_.compute.size(), 0), in = out;
    for (std::size_t g = 0; g < lanes.lanes.size(); ++g) {
      for (std::size_t h = 0; h < lanes.lanes.size(); ++h) {
        for (const Lane& lane : lanes.lanes[g][h]) {
          out[boxes_.out[g][lane.out].rank.index()] += lane.trees;
          in[boxes_.in[h][lane.in].rank.index()] += lane.trees;
        }
      }
    }
    return {std::move(out), std::move(in)};
  }

  // In the direction in which that is less.
  [[nodiscard]] std::vector<std::int64_t> rooms(const Lanes& lanes) const {
    auto [out, in] = carried(lanes);
    for (std::size_t r = 0; r < in.size(); ++r) in[r] = std::min(in[r], out[r]);
    return std::move(in);
  }

  std::optional<FlatForests> forests_of(const Lanes& lanes) {
    WantedEntries wanted;
    auto found = forests_of(lanes, wanted);
    if (std::ranges::none_of(wanted, [](std::int64_t trees) { return trees >= 0; })) return found;
    auto lower = forests_of(lanes, wanted);
    const bool is_lower = lower && (!found || height_of(*lower) < height_of(*found));
    return is_lower ? std::move(lower) : std::move(found);
  }

  static std::int32_t height_of(const FlatForests& forests) {
    return std::max(forests.broadcast.max_height(), forests.reduce.max_height());
  }

  // Trees enter boxes where they are `wanted`. Where nothing is, it is said where they should.
  std::optional<FlatForests> forests_of(const Lanes& lanes, WantedEntries& wanted) {
    LaneParts parts(boxes_, lanes, wanted);
    if (!parts.divide()) return std::nullopt;
    BoxWays ways(core_, boxes_);
    const Weights trees = trees_of_roots(lanes);
    BoxTrees out(core_, boxes_, lanes, parts, trees, ways, false);
    BoxTrees in(core_, boxes_, lanes, parts, trees, ways, true);
    return options_.inside == InsideBoxes::stars ? with_stars(trees, out, in)
                                                 : with_trees(lanes, trees, out, in, wanted);
  }

  [[nodiscard]] std::optional<FlatForests> with_stars(const Weights& trees, BoxTrees& out,
                                                      BoxTrees& in) const {
    auto broadcast = out.with_stars();
    if (!broadcast) return std::nullopt;
    if (owed_) return FlatForests{trees, *std::move(broadcast), {}};
    const auto reduce = in.with_stars();
    if (!reduce) return std::nullopt;
    return FlatForests{trees, *std::move(broadcast), reduce->reversed()};
  }

  std::optional<FlatForests> with_trees(const Lanes& lanes, const Weights& trees, BoxTrees& out,
                                        BoxTrees& in, WantedEntries& wanted) {
    const auto per_capacity = checked_div(Ratio(sum_of(lanes.shares.trees)), rate_);
    auto entering = out.count_entering();
    if (!per_capacity || !entering) return std::nullopt;
    InsideNeeds needs{*entering, {}, *per_capacity, false};
    if (owed_) {
      auto broadcast = out.with_trees(needs, known_, options_.stop);
      if (!broadcast) return std::nullopt;
      return FlatForests{trees, *std::move(broadcast), {}};
    }
    auto leaving = in.count_entering();
    if (!leaving) return std::nullopt;
    for (std::size_t r = 0; r < entering->size(); ++r) {
      needs.of_either.push_back(std::max((*entering)[r], (*leaving)[r]));
    }
    if (wanted.empty()) {
      wanted = lower_entries(core_, boxes_, needs, {trees.begin(), trees.end()}, rooms(lanes),
                             sum_of(lanes.shares.trees), known_, options_.stop);
    }
    auto broadcast = out.with_trees(needs, known_, options_.stop);
    if (!broadcast) return std::nullopt;
    needs.entering = *std::move(leaving);
    needs.is_backward = true;
    const auto reduce = in.with_trees(needs, known_, options_.stop);
    if (!reduce) return std::nullopt;
    return FlatForests{trees, *std::move(broadcast), reduce->reversed()};
  }

  const Core& core_;
  const Boxes& boxes_;
  const Ratio rate_;
  const FlatOptions& options_;
  OwedByBox owed_;
  InsideKnown known_;
};

}  // namespace

std::optional<FlatForests> flat_forests(const Network& network, const Ratio& rate,
                                        const FlatOptions& options) {
  const Core core = make_core(network, network.capacity);
  for (const Boxes& boxes : divisions_into_boxes(core)) {
    if (options.stop.stop_requested()) return std::nullopt;
    if (auto found = Flat(core, boxes, rate, options).run()) return found;
  }
  return std::nullopt;
}

}  // namespace forestcoll::solver
