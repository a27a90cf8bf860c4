#include "solver/joint/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "solver/linear/exact_equations.hpp"

namespace forestcoll::solver {
namespace {

// What is this near to 0 is 0, beside the largest value.
constexpr double kNoWeight = 1e-9;
constexpr double kFull = 1e-8;

constexpr std::int64_t kMostCommonDenominator = std::int64_t{1} << 50;

constexpr std::size_t kNoUnknown = static_cast<std::size_t>(-1);

std::vector<Capacity> capacity_by_class(const Network& network, const Portions& portions) {
  std::vector<Capacity> capacity(portions.arcs.count, 0);
  for (std::size_t a = 0; a < portions.arcs.of.size(); ++a) {
    capacity[portions.arcs.of[a]] += network.capacity[ArcId(a)];
  }
  return capacity;
}

// What goes by the pieces of every way, and of that what goes by all pieces of it.
Int128 sent_by(const Portion& portion, const std::vector<std::vector<Int128>>& by_piece) {
  Int128 sent = 0;
  for (std::size_t w = 0; w < portion.ways.size(); ++w) sent += std::ranges::min(by_piece[w]);
  return sent;
}

bool is_less(const std::pair<Int128, Int128>& a, const std::pair<Int128, Int128>& b) {
  const auto first = Ratio::reduced(a.first, a.second), second = Ratio::reduced(b.first, b.second);
  if (first && second) return *first < *second;
  return static_cast<double>(a.first) / static_cast<double>(a.second) <
         static_cast<double>(b.first) / static_cast<double>(b.second);
}

// The rows that seem tight, with an unknown for every weight that seems not to be 0.
class TightWeights {
 public:
  TightWeights(const Network& network, const Portions& portions, const LengthsProgram& program)
      : network_(network),
        portions_(portions),
        columns_(program.columns()),
        weights_(program.weights()),
        ways_(program.way_weights()),
        largest_(weights_.empty() ? 0 : std::ranges::max(weights_)) {
    for (const double weight : weights_) number_.push_back(unknown(weight));
    for (const double weight : ways_) way_number_.push_back(unknown(weight));
    rate_ = unknowns_++;
  }

  std::optional<CommonFractions> solve() {
    if (!add_portions()) return std::nullopt;
    add_arcs();
    const auto found = solve_exactly(equations_, unknowns_, kMostCommonDenominator);
    if (!found) return std::nullopt;
    CommonFractions all{{}, found->denominator};
    for (const std::size_t number : number_) {
      all.numerators.push_back(number == kNoUnknown ? 0 : found->numerators[number]);
      if (all.numerators.back() < 0) return std::nullopt;
    }
    return all;
  }

 private:
  // A row with what it comes to in floating point.
  struct Row {
    Equation equation;
    double sum = 0;

    void add(std::size_t number, std::int64_t coefficient, double value) {
      if (number != kNoUnknown) equation.terms.push_back({number, coefficient});
      sum += static_cast<double>(coefficient) * value;
    }
  };

  std::size_t unknown(double weight) {
    return weight > kNoWeight * largest_ ? unknowns_++ : kNoUnknown;
  }

  void add_where_tight(Row row) {
    if (std::abs(row.sum) > kFull * largest_ || row.equation.terms.empty()) return;
    equations_.push_back(std::move(row.equation));
  }

  // Ways have what a portion is to get, and pieces what goes their way, or more.
  bool add_portions() {
    Int128 most = 0;
    for (const Portion& portion : portions_.portions) most = std::max(most, worth_of(portion));
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Row> of_piece;
    std::size_t way = 0;
    for (std::size_t p = 0; p < portions_.portions.size(); ++p) {
      const Portion& portion = portions_.portions[p];
      const auto worth = Ratio::reduced(worth_of(portion), most);
      if (!worth) return false;
      Row all;
      for (std::size_t w = 0; w < portion.ways.size(); ++w, ++way) {
        all.add(way_number_[way], worth->den(), ways_[way]);
        for (std::size_t i = 0; i < portion.ways[w].size(); ++i) {
          of_piece[{p, w, i}].add(way_number_[way], -1, ways_[way]);
        }
      }
      all.equation.terms.push_back({rate_, -worth->num()});
      all.sum = all.sum / static_cast<double>(worth->den()) - worth->to_double();
      add_where_tight(std::move(all));
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      of_piece[{columns_[i].portion, columns_[i].way, columns_[i].piece}].add(number_[i], 1,
                                                                              weights_[i]);
    }
    for (auto& row : of_piece) add_where_tight(std::move(row.second));
    return true;
  }

  static Int128 worth_of(const Portion& portion) {
    return static_cast<Int128>(portion.amount) * portion.copies;
  }

  // The arcs that are as full as the fullest are full.
  void add_arcs() {
    std::vector<Row> rows(portions_.arcs.count);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      for (const auto& [k, times] : columns_[i].load) rows[k].add(number_[i], times, weights_[i]);
    }
    const auto capacity = capacity_by_class(network_, portions_);
    double fullest = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      fullest = std::max(fullest, rows[k].sum / static_cast<double>(capacity[k]));
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (rows[k].sum < (1 - kFull) * fullest * static_cast<double>(capacity[k])) continue;
      rows[k].equation.right = capacity[k];
      equations_.push_back(std::move(rows[k].equation));
    }
  }

  const Network& network_;
  const Portions& portions_;
  const std::vector<Column>& columns_;
  std::vector<double> weights_, ways_;
  double largest_;
  std::vector<std::size_t> number_, way_number_;  // unknowns, of columns and of ways
  std::size_t unknowns_ = 0, rate_ = 0;           // the rate of the largest portion
  std::vector<Equation> equations_;
};

}  // namespace

std::optional<Mixture> add_up(const Network& network, const Portions& portions, std::int64_t whole,
                              std::span<const Column> columns, std::vector<std::int64_t> weights) {
  std::vector<std::vector<std::vector<Int128>>> by_piece;
  for (const Portion& portion : portions.portions) {
    auto& of_portion = by_piece.emplace_back();
    for (const auto& way : portion.ways) of_portion.emplace_back(way.size(), 0);
  }
  std::vector<Int128> load(portions.arcs.count, 0);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    by_piece[columns[i].portion][columns[i].way][columns[i].piece] += weights[i];
    for (const auto& [k, times] : columns[i].load) {
      load[k] += static_cast<Int128>(times) * weights[i];
    }
  }
  std::optional<std::pair<Int128, Int128>> rate;  // per unit of amount
  for (std::size_t p = 0; p < by_piece.size(); ++p) {
    const Portion& portion = portions.portions[p];
    const std::pair of_portion(sent_by(portion, by_piece[p]),
                               static_cast<Int128>(portion.amount) * portion.copies);
    if (!rate || is_less(of_portion, *rate)) rate = of_portion;
  }
  const auto capacity = capacity_by_class(network, portions);
  std::optional<Ratio> scale;
  for (std::size_t k = 0; k < load.size(); ++k) {
    if (load[k] == 0) continue;
    const auto room = Ratio::reduced(capacity[k], load[k]);
    if (!room) return std::nullopt;
    if (!scale || *room < *scale) scale = *room;
  }
  if (!scale || !rate || rate->first == 0) return std::nullopt;
  const auto of_unit = Ratio::reduced(rate->first, rate->second);
  const auto of_whole = of_unit ? checked_mul(*of_unit, Ratio(whole)) : std::nullopt;
  const auto reached = of_whole ? checked_mul(*of_whole, *scale) : std::nullopt;
  if (!reached) return std::nullopt;
  return Mixture{*reached, std::move(weights), *scale};
}

std::optional<CommonFractions> exact_weights(const Network& network, const Portions& portions,
                                             const LengthsProgram& program) {
  return TightWeights(network, portions, program).solve();
}

}  // namespace forestcoll::solver
