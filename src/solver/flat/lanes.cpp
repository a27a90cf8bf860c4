#include "solver/flat/lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "solver/flat/colours.hpp"
#include "solver/linear/exact_equations.hpp"
#include "solver/linear/linear_program.hpp"

namespace forestcoll::solver {
namespace {

// Trees in all.
constexpr Int128 kMostLaneTrees = Int128{1} << 46;

constexpr std::int64_t kMostLaneDenominator = std::int64_t{1} << 30;

// Of what goes from box to box: what is nearer is the same.
constexpr double kSameLane = 1e-6;

/// A variable of the program, in three of its rows.
struct GatePair {
  std::size_t from = 0, to = 0;  ///< boxes
  std::size_t out = 0, in = 0;   ///< gates, by their places in the lists of their boxes
};

class LaneProgram {
 public:
  LaneProgram(const Boxes& boxes, const Ratio& rate, BoxShares shares, bool is_one_phase)
      : boxes_(boxes), rate_(rate), shares_(std::move(shares)) {
    for (const std::int64_t own : shares_.trees) all_ += own;
    for (std::size_t g = 0; g < count(); ++g) {
      for (std::size_t h = 0; h < count(); ++h) {
        between_.push_back(shares_.trees[g] + (is_one_phase ? 0 : shares_.trees[h]));
      }
    }
    for (const Relay& relay : shares_.relays) {
      const auto row = [&](std::size_t from, std::size_t to) -> std::int64_t& {
        return between_[relay.is_reduce ? pair_row(to, from) : pair_row(from, to)];
      };
      row(relay.root, relay.to) -= relay.trees;
      row(relay.via, relay.to) += relay.trees;
    }
  }

  std::optional<Lanes> run() {
    if (all_ >= kMostLaneTrees ||
        std::ranges::any_of(between_, [](auto trees) { return trees < 0; }) || !fits() ||
        !find_ways())
      return std::nullopt;
    refine();
    fold();
    if (!solve()) return std::nullopt;
    const auto rows = equations();
    const auto exact = solve_exactly(rows, unknowns_.size(), kMostLaneDenominator);
    return exact ? lanes_of(*exact) : std::nullopt;
  }

 private:
  [[nodiscard]] std::size_t count() const { return boxes_.members.size(); }
  [[nodiscard]] std::size_t pair_row(std::size_t g, std::size_t h) const { return g * count() + h; }
  [[nodiscard]] std::int64_t between(std::size_t g, std::size_t h) const {
    return between_[pair_row(g, h)];
  }

  // Do rows of gates, in whole numbers?
  [[nodiscard]] bool fits() const {
    constexpr Int128 kMostNumber = Int128{1} << 62;
    for (const auto* all : {&boxes_.out, &boxes_.in}) {
      for (const auto& own : *all) {
        for (const Gate& gate : own) {
          if (Int128{gate.capacity} >= kMostNumber / all_ / rate_.den()) return false;
        }
      }
    }
    return true;
  }

  // From each gate to one of the same part, in turn.
  bool find_ways() {
    first_out_.assign(1, count() * count());
    for (const auto& own : boxes_.out) first_out_.push_back(first_out_.back() + own.size());
    first_in_.assign(1, first_out_.back());
    for (const auto& own : boxes_.in) first_in_.push_back(first_in_.back() + own.size());
    ways_of_.assign(count() * count(), 0);
    for (std::size_t g = 0; g < count(); ++g) {
      for (std::size_t h = 0; h < count(); ++h) {
        if (g != h) add_ways(g, h);
        if (g != h && ways_of_[pair_row(g, h)] == 0) return false;
      }
    }
    return true;
  }

  void add_ways(std::size_t g, std::size_t h) {
    const auto &out = boxes_.out[g], &in = boxes_.in[h];
    for (std::size_t a = 0, b = 0; a < out.size() && b < in.size();) {
      const std::size_t part = std::max(out[a].part, in[b].part);
      const auto end = [&](const std::vector<Gate>& gates, std::size_t at) {
        while (at < gates.size() && gates[at].part == part) ++at;
        return at;
      };
      if (out[a].part == in[b].part) {
        const std::size_t outs = end(out, a) - a, ins = end(in, b) - b;
        for (std::size_t i = 0; i < std::max(outs, ins); ++i) {
          ways_.push_back({g, h, a + i % outs, b + i % ins});
          ++ways_of_[pair_row(g, h)];
        }
        a += outs;
        b += ins;
      } else if (out[a].part < part) {
        ++a;
      } else {
        ++b;
      }
    }
  }

  // The rows of a way: its pair of boxes, and its gates.
  [[nodiscard]] std::array<std::size_t, 3> rows_of(const GatePair& way) const {
    return {pair_row(way.from, way.to), first_out_[way.from] + way.out, first_in_[way.to] + way.in};
  }

  // What is alike gets one number: rows by their bounds and by how many ways of each colour they
  // have, ways by the colours of their rows, until nothing more is told apart.
  void refine() {
    std::vector<std::vector<std::size_t>> of_row(first_in_.back());
    for (std::size_t w = 0; w < ways_.size(); ++w) {
      for (const std::size_t row : rows_of(ways_[w])) of_row[row].push_back(w);
    }
    colour_of_row_ = numbered(of_row.size(), [&](std::size_t row) {
      return std::vector<std::size_t>{bound_of(row), row < count() * count() ? ways_of_[row] : 0};
    });
    for (std::size_t before = 0;;) {
      colour_ = numbered(ways_.size(), [&](std::size_t w) {
        std::vector<std::size_t> key;
        for (const std::size_t row : rows_of(ways_[w])) key.push_back(colour_of_row_[row]);
        return key;
      });
      colour_of_row_ = numbered(of_row.size(), [&](std::size_t row) {
        std::vector<std::size_t> key;
        for (const std::size_t w : of_row[row]) key.push_back(colour_[w]);
        std::ranges::sort(key);
        key.push_back(colour_of_row_[row]);
        return key;
      });
      const std::size_t colours = *std::ranges::max_element(colour_of_row_) + 1;
      if (colours == before) return;
      before = colours;
    }
  }

  // What tells rows apart at first.
  [[nodiscard]] std::size_t bound_of(std::size_t row) const {
    if (row < count() * count()) {
      return static_cast<std::size_t>(between(row / count(), row % count()));
    }
    return static_cast<std::size_t>(gate_of(row).capacity);
  }

  [[nodiscard]] const Gate& gate_of(std::size_t row) const {
    const bool is_out = row < first_in_.front();
    const auto& first = is_out ? first_out_ : first_in_;
    const auto box =
        static_cast<std::size_t>(std::ranges::upper_bound(first, row) - first.begin() - 1);
    return (is_out ? boxes_.out : boxes_.in)[box][row - first[box]];
  }

  // One row of each colour, by colours of ways.
  void fold() {
    const std::size_t colours = *std::ranges::max_element(colour_of_row_) + 1;
    std::vector<std::map<std::size_t, std::int64_t>> terms(colours);
    representative_.assign(colours, kNone);
    for (std::size_t row = 0; row < colour_of_row_.size(); ++row) {
      std::size_t& first = representative_[colour_of_row_[row]];
      if (first == kNone) first = row;
    }
    ways_of_colour_.assign(*std::ranges::max_element(colour_) + 1, 0);
    even_.assign(ways_of_colour_.size(), Ratio(0));
    for (std::size_t w = 0; w < ways_.size(); ++w) {
      ++ways_of_colour_[colour_[w]];
      const std::size_t pair = pair_row(ways_[w].from, ways_[w].to);
      even_[colour_[w]] =
          Ratio(between(ways_[w].from, ways_[w].to), static_cast<std::int64_t>(ways_of_[pair]));
      for (const std::size_t row : rows_of(ways_[w])) {
        if (representative_[colour_of_row_[row]] == row) ++terms[colour_of_row_[row]][colour_[w]];
      }
    }
    for (const auto& row : terms) {
      rows_.emplace_back();
      for (const auto& [colour, ways] : row) rows_.back().push_back({colour, ways});
    }
  }

  // As evenly as rows allow.
  bool solve() {
    const std::size_t colours = even_.size();
    LinearProgram program(2 * colours);
    std::vector<Term> objective;
    for (std::size_t c = 0; c < colours; ++c) {
      objective.push_back({colours + c, -ways_of_colour_[c]});
      const double even = even_[c].to_double();
      program.add_at_most(std::vector<Term>{{c, 1}, {colours + c, -1}}, even);
      program.add_at_most(std::vector<Term>{{c, -1}, {colours + c, -1}}, -even);
    }
    program.maximise(objective);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].empty()) continue;
      if (is_pair(i)) {
        program.add_equal(rows_[i], static_cast<double>(bound_of(representative_[i])));
      } else {
        program.add_at_most(rows_[i], room_of(i));
      }
    }
    if (!program.solve()) return false;
    values_.clear();
    for (std::size_t c = 0; c < colours; ++c) values_.push_back(program.value(c));
    return true;
  }

  [[nodiscard]] bool is_pair(std::size_t i) const { return representative_[i] < count() * count(); }
  // Of a gate, in trees.
  [[nodiscard]] double room_of(std::size_t i) const {
    return static_cast<double>(gate_of(representative_[i]).capacity) * static_cast<double>(all_) /
           rate_.to_double();
  }

  // What floating point says is 0, even or full.
  std::vector<Equation> equations() {
    std::vector<Equation> equations;
    unknowns_.clear();
    number_.assign(values_.size(), kNone);
    for (std::size_t c = 0; c < values_.size(); ++c) {
      if (values_[c] <= kSameLane * even_[c].to_double()) continue;
      number_[c] = unknowns_.size();
      unknowns_.push_back(c);
      if (std::abs(values_[c] - even_[c].to_double()) > kSameLane * even_[c].to_double()) continue;
      equations.push_back({{{number_[c], even_[c].den()}}, even_[c].num()});
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      double sum = 0;
      Equation equation;
      for (const Term& term : rows_[i]) {
        sum += values_[term.variable] * static_cast<double>(term.coefficient);
        if (number_[term.variable] == kNone) continue;
        equation.terms.push_back({number_[term.variable], term.coefficient});
      }
      if (is_pair(i)) {
        equation.right = static_cast<std::int64_t>(bound_of(representative_[i]));
      } else {
        if (sum < room_of(i) * (1 - kSameLane / 100)) continue;
        for (Term& term : equation.terms) term.coefficient *= rate_.num();
        const Int128 right = Int128{gate_of(representative_[i]).capacity} * rate_.den() * all_;
        equation.right = static_cast<std::int64_t>(right);
      }
      if (!equation.terms.empty()) equations.push_back(std::move(equation));
    }
    return equations;
  }

  [[nodiscard]] std::optional<Lanes> lanes_of(const CommonFractions& exact) const {
    if (all_ * exact.denominator >= kMostLaneTrees || !is_solution(exact)) return std::nullopt;
    Lanes result;
    result.shares = shares_;
    for (std::int64_t& own : result.shares.trees) own *= exact.denominator;
    for (Relay& relay : result.shares.relays) relay.trees *= exact.denominator;
    result.lanes.assign(count(), std::vector<std::vector<Lane>>(count()));
    for (std::size_t w = 0; w < ways_.size(); ++w) {
      const std::size_t number = number_[colour_[w]];
      if (number == kNone) continue;
      const GatePair& way = ways_[w];
      result.lanes[way.from][way.to].push_back({way.out, way.in, exact.numerators[number]});
    }
    return result;
  }

  // All rows, exactly.
  [[nodiscard]] bool is_solution(const CommonFractions& exact) const {
    if (std::ranges::any_of(exact.numerators, [](std::int64_t n) { return n < 0; })) return false;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Int128 sum = 0;
      for (const Term& term : rows_[i]) {
        if (number_[term.variable] == kNone) continue;
        sum += Int128{term.coefficient} * exact.numerators[number_[term.variable]];
      }
      if (rows_[i].empty()) continue;
      const Int128 bound = Int128{static_cast<std::int64_t>(bound_of(representative_[i]))};
      if (is_pair(i)) {
        if (sum != bound * exact.denominator) return false;
      } else if (sum * rate_.num() > bound * rate_.den() * all_ * exact.denominator) {
        return false;
      }
    }
    return true;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Boxes& boxes_;
  const Ratio rate_;
  const BoxShares shares_;
  std::vector<std::int64_t> between_;  ///< by pair of boxes: trees of both phases
  Int128 all_ = 0;
  std::vector<GatePair> ways_;
  std::vector<std::size_t> ways_of_;               ///< by pair of boxes: how many
  std::vector<std::size_t> first_out_, first_in_;  ///< rows of gates, by box
  std::vector<std::size_t> colour_, colour_of_row_;
  std::vector<std::size_t> representative_;  ///< by colour of rows
  std::vector<std::vector<Term>> rows_;      ///< by colour of rows, of colours of ways
  std::vector<std::int64_t> ways_of_colour_;
  std::vector<Ratio> even_;  ///< by colour of ways
  std::vector<double> values_;
  std::vector<std::size_t> unknowns_, number_;
};

}  // namespace

std::optional<Lanes> find_lanes(const Boxes& boxes, const Ratio& rate, const OwedByBox& owed) {
  auto shares = find_shares(boxes, rate, owed);
  if (!shares) return std::nullopt;
  return LaneProgram(boxes, rate, *std::move(shares), owed.has_value()).run();
}

}  // namespace forestcoll::solver
