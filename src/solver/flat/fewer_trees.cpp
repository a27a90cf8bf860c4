#include "solver/flat/fewer_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {
namespace {

constexpr int kMostRoundingPasses = 6;

class LaneRounding {
 public:
  LaneRounding(const Boxes& boxes, const Lanes& exact, std::vector<std::int64_t> trees,
               bool is_one_phase)
      : boxes_(boxes), exact_(exact), is_one_phase_(is_one_phase) {
    result_.shares.trees = std::move(trees);
    for (const std::int64_t own : exact.shares.trees) exact_all_ += own;
    for (const std::int64_t own : result_.shares.trees) all_ += own;
  }

  std::optional<Lanes> run() {
    round_relays();
    if (!find_pairs()) return std::nullopt;
    round_down();
    // In turn, so that no gate is the last one of all.
    const std::size_t count = between_.size();
    for (std::size_t by = 1; by < count; ++by) {
      for (std::size_t g = 0; g < count; ++g) add_rest(g, (g + by) % count);
    }
    for (int pass = 0; pass < kMostRoundingPasses && improve(); ++pass) {
    }
    return std::move(result_);
  }

 private:
  // By what all of them come to so far.
  void round_relays() {
    Int128 sum = 0, done = 0;
    for (const Relay& relay : exact_.shares.relays) {
      sum += Int128{relay.trees} * all_;
      const Int128 now = sum / exact_all_;
      if (now == done) continue;
      result_.shares.relays.push_back(relay);
      result_.shares.relays.back().trees = static_cast<std::int64_t>(now - done);
      done = now;
    }
  }

  bool find_pairs() {
    const std::size_t count = boxes_.members.size();
    const auto& trees = result_.shares.trees;
    between_.assign(count, std::vector<std::int64_t>(count, 0));
    for (std::size_t g = 0; g < count; ++g) {
      for (std::size_t h = 0; h < count; ++h) {
        if (g != h) between_[g][h] = trees[g] + (is_one_phase_ ? 0 : trees[h]);
      }
    }
    for (const Relay& relay : result_.shares.relays) {
      const auto pair = [&](std::size_t from, std::size_t to) -> std::int64_t& {
        return relay.is_reduce ? between_[to][from] : between_[from][to];
      };
      pair(relay.root, relay.to) -= relay.trees;
      pair(relay.via, relay.to) += relay.trees;
    }
    return std::ranges::none_of(between_, [](const auto& row) {
      return std::ranges::any_of(row, [](std::int64_t left) { return left < 0; });
    });
  }

  void round_down() {
    const std::size_t count = between_.size();
    result_.lanes.assign(count, std::vector<std::vector<Lane>>(count));
    for (std::size_t g = 0; g < count; ++g) {
      out_.emplace_back(boxes_.out[g].size(), 0);
      in_.emplace_back(boxes_.in[g].size(), 0);
    }
    for (std::size_t g = 0; g < count; ++g) {
      for (std::size_t h = 0; h < count; ++h) {
        Int128 sum = 0;
        for (const Lane& lane : exact_.lanes[g][h]) sum += lane.trees;
        for (Lane lane : exact_.lanes[g][h]) {
          const Int128 part = sum == 0 ? 0 : Int128{lane.trees} * between_[g][h] / sum;
          lane.trees = 0;
          result_.lanes[g][h].push_back(lane);
          move(g, h, result_.lanes[g][h].back(), static_cast<std::int64_t>(part));
        }
      }
    }
  }

  void move(std::size_t g, std::size_t h, Lane& lane, std::int64_t trees) {
    lane.trees += trees;
    between_[g][h] -= trees;
    out_[g][lane.out] += trees;
    in_[h][lane.in] += trees;
  }

  // Of the fuller of its gates, with so many trees more.
  [[nodiscard]] double fullness(std::size_t g, std::size_t h, const Lane& lane,
                                std::int64_t more) const {
    const auto of = [&](std::int64_t load, const Gate& gate) {
      return static_cast<double>(load + more) / static_cast<double>(gate.capacity);
    };
    return std::max(of(out_[g][lane.out], boxes_.out[g][lane.out]),
                    of(in_[h][lane.in], boxes_.in[h][lane.in]));
  }

  Lane& emptiest(std::size_t g, std::size_t h) {
    return *std::ranges::min_element(result_.lanes[g][h], {},
                                     [&](const Lane& lane) { return fullness(g, h, lane, 1); });
  }

  void add_rest(std::size_t g, std::size_t h) {
    if (result_.lanes[g][h].empty()) return;
    while (between_[g][h] > 0) move(g, h, emptiest(g, h), 1);
  }

  // One tree of each lane at most. False where none moves.
  bool improve() {
    bool any = false;
    for (std::size_t g = 0; g < between_.size(); ++g) {
      for (std::size_t h = 0; h < between_.size(); ++h) {
        for (Lane& lane : result_.lanes[g][h]) {
          if (lane.trees == 0) continue;
          const double before = fullness(g, h, lane, 0);
          Lane& other = emptiest(g, h);
          if (&other == &lane || fullness(g, h, other, 1) >= before) continue;
          move(g, h, lane, -1);
          move(g, h, other, 1);
          any = true;
        }
      }
    }
    return any;
  }

  const Boxes& boxes_;
  const Lanes& exact_;
  const bool is_one_phase_;
  Int128 exact_all_ = 0, all_ = 0;
  Lanes result_;
  std::vector<std::vector<std::int64_t>> between_;   ///< what is to be placed yet
  std::vector<std::vector<std::int64_t>> out_, in_;  ///< by box and gate
};

}  // namespace

std::optional<Lanes> fewer_trees(const Boxes& boxes, const Lanes& exact,
                                 std::vector<std::int64_t> trees, bool is_one_phase) {
  return LaneRounding(boxes, exact, std::move(trees), is_one_phase).run();
}

double fullest_gate(const Boxes& boxes, const Lanes& lanes) {
  double most = 0;
  std::vector<std::vector<std::int64_t>> in;
  for (const auto& gates : boxes.in) in.emplace_back(gates.size(), 0);
  const auto look = [&](const std::vector<Gate>& gates, const std::vector<std::int64_t>& loads) {
    for (std::size_t i = 0; i < gates.size(); ++i) {
      most = std::max(most, static_cast<double>(loads[i]) / static_cast<double>(gates[i].capacity));
    }
  };
  for (std::size_t g = 0; g < lanes.lanes.size(); ++g) {
    std::vector<std::int64_t> out(boxes.out[g].size(), 0);
    for (std::size_t h = 0; h < lanes.lanes.size(); ++h) {
      for (const Lane& lane : lanes.lanes[g][h]) {
        out[lane.out] += lane.trees;
        in[h][lane.in] += lane.trees;
      }
    }
    look(boxes.out[g], out);
  }
  for (std::size_t h = 0; h < in.size(); ++h) look(boxes.in[h], in[h]);
  return most;
}

}  // namespace forestcoll::solver
