#include "solver/joint/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "solver/linear/exact_equations.hpp"

namespace forestcoll::solver {
namespace {

// What is this near to 0 is 0, beside the largest value.
constexpr double kNoWeight = 1e-9;
constexpr double kFull = 1e-8;

constexpr std::size_t kNoUnknown = static_cast<std::size_t>(-1);

using BigWhole = boost::multiprecision::cpp_int;

struct BigFraction {
  BigWhole num, den;
  bool operator<(const BigFraction& other) const { return num * other.den < other.num * den; }
};

// The value, or a little less where that does not fit 64 bits.
std::optional<Ratio> no_more_than(const BigFraction& value) {
  const BigWhole common = gcd(value.num, value.den);
  BigWhole num = value.num / common, den = value.den / common;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMostRounded = std::int64_t{1} << 50;  // leaves room for a unit
  if (num > kMost || den > kMost) {
    while (num > kMostRounded || den > kMostRounded) {
      num /= 2;
      den = den / 2 + 1;
    }
  }
  if (num == 0) return std::nullopt;
  return Ratio(static_cast<std::int64_t>(num), static_cast<std::int64_t>(den));
}

// By portion, way and piece.
using Sent = std::vector<std::vector<std::vector<BigWhole>>>;

// What goes by all pieces of a way goes that way.
BigWhole sent_of(const std::vector<std::vector<BigWhole>>& ways) {
  BigWhole sent = 0;
  for (const auto& by_piece : ways) sent += *std::ranges::min_element(by_piece);
  return sent;
}

// The rows that seem tight, with an unknown for every weight that seems not to be 0.
class TightWeights {
 public:
  TightWeights(const Network& network, const Portions& portions, const LengthsProgram& program)
      : network_(network),
        portions_(portions),
        columns_(program.columns()),
        weights_(program.weights()),
        ways_(program.way_weights()) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      largest_ = std::max(largest_, weights_[i] * parts_of(columns_[i].portion));
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      number_.push_back(unknown(weights_[i], columns_[i].portion));
    }
    for (std::size_t p = 0; p < portions_.portions.size(); ++p) {
      for (std::size_t w = 0; w < portions_.portions[p].ways.size(); ++w) {
        way_number_.push_back(unknown(ways_[way_number_.size()], p));
      }
    }
    rate_ = unknowns_++;
  }

  std::optional<ColumnWeights> solve() {
    if (!add_portions()) return std::nullopt;
    add_arcs();
    const auto found = solve_widely(equations_, unknowns_);
    if (!found) return std::nullopt;
    ColumnWeights all;
    for (const std::size_t number : number_) {
      all.push_back(number == kNoUnknown ? BigWhole(0) : found->numerators[number]);
      if (all.back() < 0) return std::nullopt;
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

  [[nodiscard]] double parts_of(std::size_t portion) const {
    return static_cast<double>(portions_.portions[portion].parts);
  }

  // What is carried counts, not how large the parts are that it is carried in.
  std::size_t unknown(double weight, std::size_t portion) {
    return weight * parts_of(portion) > kNoWeight * largest_ ? unknowns_++ : kNoUnknown;
  }

  void add_where_tight(Row row, std::size_t portion) {
    const double carried = std::abs(row.sum) * parts_of(portion);
    if (carried > kFull * largest_ || row.equation.terms.empty()) return;
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
      add_where_tight(std::move(all), p);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      of_piece[{columns_[i].portion, columns_[i].way, columns_[i].piece}].add(number_[i], 1,
                                                                              weights_[i]);
    }
    for (auto& [piece, row] : of_piece) add_where_tight(std::move(row), std::get<0>(piece));
    return true;
  }

  static Int128 worth_of(const Portion& portion) {
    return static_cast<Int128>(portion.amount) * portion.copies;
  }

  // The arcs and limits that are as full as the fullest are full.
  void add_arcs() {
    std::vector<Row> rows(portions_.class_count());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      for (const auto& [k, times] : columns_[i].crossing.load)
        rows[k].add(number_[i], times, weights_[i]);
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
  double largest_ = 0;                            // what a column carries, of all its parts
  std::vector<std::size_t> number_, way_number_;  // unknowns, of columns and of ways
  std::size_t unknowns_ = 0, rate_ = 0;           // the rate of the largest portion
  std::vector<Equation> equations_;
};

}  // namespace

void level(const Portions& portions, std::span<const Column> columns, ColumnWeights& weights) {
  Sent sent;
  std::vector<std::vector<std::size_t>> first;  // by portion, a column of each piece of a way
  for (const Portion& portion : portions.portions) {
    auto& of_portion = sent.emplace_back();
    for (const auto& way : portion.ways) of_portion.emplace_back(way.size(), BigWhole(0));
    first.emplace_back(portion.ways.front().size(), columns.size());
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    sent[column.portion][column.way][column.piece] += weights[i];
    if (column.way == 0) {
      std::size_t& known = first[column.portion][column.piece];
      known = std::min(known, i);
    }
  }
  const auto amount_of = [&](std::size_t p) {
    return BigWhole(portions.portions[p].amount) * portions.portions[p].copies;
  };
  std::size_t largest = 0;
  for (std::size_t p = 1; p < sent.size(); ++p) {
    if (amount_of(p) > amount_of(largest)) largest = p;
  }
  const BigWhole most = sent_of(sent[largest]);
  for (std::size_t p = 0; p < sent.size(); ++p) {
    const BigWhole lacks = most * amount_of(p) / amount_of(largest) + 1 - sent_of(sent[p]);
    if (lacks <= 0) continue;
    for (const std::size_t i : first[p]) {
      if (i < columns.size()) weights[i] += lacks;
    }
  }
}

std::optional<Mixture> add_up(const Network& network, const Portions& portions, std::int64_t whole,
                              std::span<const Column> columns, const ColumnWeights& weights) {
  Sent sent;
  std::size_t operations = 0;
  for (const Portion& portion : portions.portions) {
    operations = std::max(operations, portion.operation + 1);
    auto& of_portion = sent.emplace_back();
    for (const auto& way : portion.ways) of_portion.emplace_back(way.size(), BigWhole(0));
  }
  Mixture mixture;
  mixture.loads.assign(operations, std::vector<BigWhole>(portions.class_count(), 0));
  std::vector<BigWhole> load(portions.class_count(), 0);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (weights[i] == 0) continue;
    sent[columns[i].portion][columns[i].way][columns[i].piece] += weights[i];
    auto& of_operation = mixture.loads[portions.portions[columns[i].portion].operation];
    for (const auto& [k, times] : columns[i].crossing.load) {
      load[k] += times * weights[i];
      of_operation[k] += times * weights[i];
    }
  }
  std::optional<BigFraction> rate, scale;  // per unit of amount; of a weight to capacity
  for (std::size_t p = 0; p < sent.size(); ++p) {
    const Portion& portion = portions.portions[p];
    const BigFraction of_portion{sent_of(sent[p]), BigWhole(portion.amount) * portion.copies};
    if (!rate || of_portion < *rate) rate = of_portion;
  }
  const auto capacity = capacity_by_class(network, portions);
  for (std::size_t k = 0; k < load.size(); ++k) {
    if (load[k] == 0) continue;
    const BigFraction room{capacity[k], load[k]};
    if (!scale || room < *scale) scale = room;
  }
  if (!scale || !rate || rate->num == 0) return std::nullopt;
  const auto reached = no_more_than({rate->num * scale->num * whole, rate->den * scale->den});
  if (!reached) return std::nullopt;
  mixture.reached = *reached;
  mixture.parts = scale->den;
  for (auto& of_operation : mixture.loads) {
    for (BigWhole& of_class : of_operation) of_class *= scale->num;
  }
  for (const BigWhole& weight : weights) mixture.weights.push_back(weight * scale->num);
  return mixture;
}

std::optional<ColumnWeights> exact_weights(const Network& network, const Portions& portions,
                                           const LengthsProgram& program) {
  return TightWeights(network, portions, program).solve();
}

}  // namespace forestcoll::solver
