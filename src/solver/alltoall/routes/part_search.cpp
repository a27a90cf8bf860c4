#include "solver/alltoall/routes/part_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "base/check.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// Exponents, from all links alike to the busiest alone. Loads are in units of what the optimum
// would load a link with.
constexpr double kFirstExponent = 4, kLastExponent = 1024;
constexpr double kNextExponent = 1.6;
constexpr int kPassesPerExponent = 3;
// Later passes look at the parts on links that are that near to the busiest.
constexpr double kNearlyBusiest = 0.02;
// Of a hop, beside what an idle link would cost: of equal paths the one with fewer relays.
constexpr double kHopPrice = 1e-7;
constexpr double kReached = 1 + 1e-9;
// Of e: sums of such powers are finite.
constexpr double kLargestPower = 600, kLargePart = 30;
// Shares of hops looked at, all together: some seconds; on large fabrics, so many times what it
// takes to place every part once.
constexpr std::int64_t kMaxWork = 40'000'000;
constexpr std::int64_t kTimesPlaced = 8;
// Parts times hops: beyond, the first paths of a source are those of one tree.
constexpr std::size_t kMostOneByOne = 40'000'000;
constexpr double kLastTreeExponent = 8;
constexpr std::int64_t kMaxWorkOnTrees = 200'000'000;
// In the end, tries that begin from the best paths so far, with parts in another order and prices a
// little off. So many in a row that did not help are the last.
constexpr int kVainTries = 30;
constexpr double kTryExponents[] = {16, 64, 256, 1024};
constexpr double kPriceNoise = 0.05;

// What a path is to have little of. A path that would go over the busiest load costs more than any
// other.
enum class Aim { low_load, few_legs, few_legs_below };
constexpr double kTooMuch = 1e12;
constexpr double kHopBesideLeg = 1e-4, kLoadBesideLeg = 1e-7;

struct Part {
  std::size_t pair = 0, number = 0;
};

class Searcher {
 public:
  explicit Searcher(const PartSearch& search)
      : s_(search), load_(search.network.graph.arc_count(), 0), price_(load_.size(), 0) {
    for (std::size_t a = 0; a < load_.size(); ++a) {
      const auto capacity = static_cast<double>(s_.network.capacity[ArcId(a)]);
      per_unit_.push_back(s_.at_most / capacity / static_cast<double>(s_.k));
    }
    list_pairs();
    cost_.assign(s_.hops.graph.node_count(), 0);
    by_.assign(cost_.size(), ArcId());
    round_.assign(cost_.size(), 0);
  }

  std::vector<RoutedPair> run() {
    noise_.assign(s_.hops.graph.arc_count(), 1);
    set_exponent(kFirstExponent);
    aim_ = Aim::few_legs;
    const bool one_by_one = parts_.size() * s_.hops.graph.arc_count() <= kMostOneByOne;
    if (one_by_one) {
      for (const Part& part : parts_) put(part);
    } else {
      put_by_source();
      set_exponent(kFirstExponent);
    }
    most_work_ = one_by_one ? std::max(kMaxWork, kTimesPlaced * work_) : kMaxWorkOnTrees;
    keep_if_best();
    aim_ = Aim::low_load;
    if (is_done()) return std::move(best_);
    if (one_by_one) {
      for (const Part& part : parts_) add(path_of(part), -amount_[part.pair]);
      for (const Part& part : parts_) put(part);
      keep_if_best();
    }
    for (double exponent = kFirstExponent; exponent <= kLastExponent && !is_done();
         exponent *= kNextExponent) {
      set_exponent(exponent);
      for (int pass = 0; pass < kPassesPerExponent && !is_done(); ++pass) {
        if (!improve(pass == 0 && exponent < kLastExponent / 64)) break;
        keep_if_best();
      }
    }
    if (s_.halves != nullptr) consider_halves();
    std::mt19937 random(1);  // the same for the same input
    for (int vain = 0; vain < kVainTries && !is_done(); ++vain) {
      const double before = least_;
      try_again(random);
      if (least_ < before) vain = -1;
    }
    shorten();
    return std::move(best_);
  }

 private:
  void try_again(std::mt19937& random) {
    restore_best();
    for (std::size_t i = parts_.size(); i > 1; --i) std::swap(parts_[i - 1], parts_[random() % i]);
    for (double& noise : noise_) {
      noise = 1 + kPriceNoise * static_cast<double>(random() % 1024) / 1024;
    }
    for (const double exponent : kTryExponents) {
      set_exponent(exponent);
      for (int pass = 0; pass < kPassesPerExponent && !is_done(); ++pass) {
        if (!improve(false)) break;
        keep_if_best();
      }
    }
  }

  // Ways with fewer legs that raise no link above the busiest: fewer relays for the same rate.
  void shorten() {
    restore_best();
    aim_ = Aim::few_legs_below;
    const std::int64_t most = work_ + most_work_;
    for (const Part& part : parts_) {
      if (work_ > most || s_.stop.stop_requested()) break;
      const double amount = amount_[part.pair];
      add(path_of(part), -amount);
      put(part);
    }
    best_ = std::move(pairs_);
  }

  void consider_halves() {
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      for (std::size_t i = 0; i < pairs_[p].parts.size(); ++i) {
        pairs_[p].parts[i] = (*s_.halves)[p].parts[i / 2];
      }
    }
    add_up();
    keep_if_best();
  }

  void restore_best() {
    pairs_ = best_;
    add_up();
  }

  // Anew: what rounding adds in many moves is gone.
  void add_up() {
    std::ranges::fill(load_, 0);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      for (const HopPath& path : pairs_[p].parts) add(path, amount_[p]);
    }
  }

  // By distance in rank order, so that no rank is everybody's first.
  void list_pairs() {
    const std::size_t n = s_.network.ranks.size();
    std::vector<std::size_t> place(n * n, 0);
    for (std::size_t s = 0; s < n; ++s) {
      for (std::size_t t = 0; t < n; ++t) {
        const std::int64_t amount = s_.demand(Rank(s), Rank(t));
        if (amount == 0) continue;
        place[s * n + t] = pairs_.size();
        pairs_.push_back({Rank(s), Rank(t), std::vector<HopPath>(static_cast<std::size_t>(s_.k))});
        amount_.push_back(static_cast<double>(amount));
      }
    }
    for (std::size_t number = 0; number < static_cast<std::size_t>(s_.k); ++number) {
      for (std::size_t apart = 1; apart < n; ++apart) {
        for (std::size_t s = 0; s < n; ++s) {
          const std::size_t t = (s + apart) % n;
          if (s_.demand(Rank(s), Rank(t)) > 0) parts_.push_back({place[s * n + t], number});
        }
      }
    }
    // What is large has to be placed first; equal amounts stay as they are.
    std::stable_sort(parts_.begin(), parts_.end(), [&](const Part& a, const Part& b) {
      return amount_[a.pair] > amount_[b.pair];
    });
  }

  [[nodiscard]] bool is_done() const {
    return least_ <= kReached || work_ > most_work_ || s_.stop.stop_requested();
  }

  HopPath& path_of(const Part& part) { return pairs_[part.pair].parts[part.number]; }

  void set_exponent(double exponent) {
    exponent_ = exponent;
    reference_ = busiest();
    for (std::size_t a = 0; a < load_.size(); ++a) reprice(a);
  }
  [[nodiscard]] double busiest() const { return *std::max_element(load_.begin(), load_.end()); }
  void reprice(std::size_t link) { price_[link] = power(exponent_ * (load_[link] - reference_)); }

  [[nodiscard]] static double power(double exponent) {
    return std::exp(std::min(exponent, kLargestPower));
  }

  void add(const HopPath& path, double amount) {
    for (const ArcId hop : path) {
      for (const LinkShare& on : s_.hops.of(hop)) {
        load_[on.link.index()] += amount * on.share * per_unit_[on.link.index()];
        reprice(on.link.index());
      }
    }
  }

  void put(const Part& part) {
    const double amount = amount_[part.pair];
    path_of(part) = cheapest(part, amount);
    add(path_of(part), amount);
  }

  // Where there is no time for a search for each part: all that a source has goes over one tree of
  // cheapest paths, source by source, again and again for ever larger exponents.
  void put_by_source() {
    aim_ = Aim::low_load;
    std::vector<std::vector<Part>> of(s_.network.ranks.size());
    for (const Part& part : parts_) of[pairs_[part.pair].src.index()].push_back(part);
    for (double exponent = kFirstExponent; exponent <= kLastTreeExponent;
         exponent *= kNextExponent) {
      set_exponent(exponent);
      for (int pass = 0; pass < kPassesPerExponent && !is_done(); ++pass) {
        for (const std::vector<Part>& own : of) put_tree(own);
        keep_if_best();
      }
    }
    restore_best();
  }

  void put_tree(const std::vector<Part>& own) {
    if (own.empty()) return;
    for (const Part& part : own) add(path_of(part), -amount_[part.pair]);
    const NodeId from = s_.network.ranks[pairs_[own.front().pair].src.index()];
    search_from(from, NodeId(), amount_[own.front().pair]);
    for (const Part& part : own) {
      path_of(part) = path_back(s_.network.ranks[pairs_[part.pair].dst.index()], from);
      add(path_of(part), amount_[part.pair]);
    }
  }

  // Whether anything moved.
  bool improve(bool all) {
    const double near = busiest() * (1 - kNearlyBusiest);
    bool moved = false;
    for (const Part& part : parts_) {
      if (is_done()) break;
      HopPath& path = path_of(part);
      if (!all && !crosses(path, near)) continue;
      const double amount = amount_[part.pair];
      add(path, -amount);
      HopPath better = cheapest(part, amount);
      moved = moved || better != path;
      path = std::move(better);
      add(path, amount);
    }
    return moved;
  }

  [[nodiscard]] bool crosses(const HopPath& path, double at_least) const {
    return std::ranges::any_of(path, [&](ArcId hop) {
      return std::ranges::any_of(
          s_.hops.of(hop), [&](const LinkShare& on) { return load_[on.link.index()] >= at_least; });
    });
  }

  // For every share of every hop, what the potential of its link grows by, relative to its price;
  // of parts so large that this would leave the range of a double, the exponent alone.
  void prepare_growth(double amount) {
    if (amount == growth_amount_ && exponent_ == growth_exponent_) return;
    growth_amount_ = amount;
    growth_exponent_ = exponent_;
    growth_.clear();
    for (const LinkShare& on : s_.hops.shares) {
      const double more = exponent_ * amount * on.share * per_unit_[on.link.index()];
      growth_.push_back(more > kLargePart ? -more : std::expm1(more));
    }
  }

  // What the potential grows by where the hop carries so much more; where few legs are the aim,
  // that only tells between as many.
  [[nodiscard]] double cost_of(ArcId hop, double amount) {
    double cost = kHopPrice;
    const std::size_t last = s_.hops.begin[hop.index() + 1];
    for (std::size_t i = s_.hops.begin[hop.index()]; i < last; ++i) {
      const LinkShare& on = s_.hops.shares[i];
      const double growth = growth_[i], load = load_[on.link.index()];
      cost += growth >= 0 ? price_[on.link.index()] * growth
                          : power(exponent_ * (load - reference_) - growth);
      if (aim_ != Aim::few_legs_below) continue;
      const double more = amount * on.share * per_unit_[on.link.index()];
      if (load + more > least_ * kReached) return kTooMuch;
    }
    work_ += static_cast<std::int64_t>(last - s_.hops.begin[hop.index()]);
    cost *= noise_[hop.index()];
    if (aim_ == Aim::low_load) return cost;
    const bool ends_leg = s_.network.is_compute(s_.hops.graph.head(hop));
    return (ends_leg ? 1 : 0) + kHopBesideLeg + kLoadBesideLeg * cost;
  }

  // Of equal ones the path of lower numbers.
  HopPath cheapest(const Part& part, double amount) {
    const NodeId from = s_.network.ranks[pairs_[part.pair].src.index()];
    const NodeId to = s_.network.ranks[pairs_[part.pair].dst.index()];
    search_from(from, to, amount);
    return path_back(to, from);
  }

  // Dijkstra's, up to the destination, or to all where there is none.
  void search_from(NodeId from, NodeId to, double amount) {
    const Digraph& graph = s_.hops.graph;
    prepare_growth(amount);
    ++now_;
    queue_.clear();
    visit(from, 0, ArcId());
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
      const auto [cost, v] = queue_.back();
      queue_.pop_back();
      if (v == to) break;
      if (cost > cost_[v.index()]) continue;
      for (ArcId hop = graph.first_out(v); hop != graph.last_out(v); ++hop.value) {
        visit(graph.head(hop), cost + cost_of(hop, amount), hop);
      }
    }
  }

  [[nodiscard]] HopPath path_back(NodeId to, NodeId from) const {
    HopPath path;
    for (NodeId v = to; v != from; v = s_.hops.graph.tail(path.back())) {
      FORESTCOLL_CHECK(by_[v.index()].valid() && round_[v.index()] == now_, "all reach all");
      path.push_back(by_[v.index()]);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  void visit(NodeId v, double cost, ArcId by) {
    if (round_[v.index()] == now_ && cost_[v.index()] <= cost) return;
    round_[v.index()] = now_;
    cost_[v.index()] = cost;
    by_[v.index()] = by;
    queue_.emplace_back(cost, v);
    std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  }

  void keep_if_best() {
    const double most = busiest();
    if (most >= least_) return;
    least_ = most;
    best_ = pairs_;
  }

  const PartSearch& s_;
  std::vector<double> load_, price_, per_unit_;  // by link
  std::vector<RoutedPair> pairs_, best_;
  std::vector<double> amount_;  // by pair
  std::vector<Part> parts_;
  std::vector<double> growth_;  // by share of a hop, for one amount and exponent
  double growth_amount_ = 0, growth_exponent_ = 0;
  std::vector<double> noise_;  // by hop: prices are multiplied by it
  Aim aim_ = Aim::low_load;
  double exponent_ = 0, reference_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  std::int64_t work_ = 0, most_work_ = kMaxWork;
  // Of the search for one path; what is of another round does not count.
  std::vector<double> cost_;
  std::vector<ArcId> by_;
  std::vector<std::int64_t> round_;
  std::int64_t now_ = 0;
  std::vector<std::pair<double, NodeId>> queue_;
};

}  // namespace

std::vector<RoutedPair> search_paths(const PartSearch& search) {
  return Searcher(search).run();
}

}  // namespace forestcoll::solver::alltoall
