#include "solver/flat/shares.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "solver/flat/colours.hpp"
#include "solver/linear/exact_equations.hpp"
#include "solver/linear/linear_program.hpp"

namespace forestcoll::solver {
namespace {

// Trees in all, and common denominators.
constexpr Int128 kMostShares = Int128{1} << 40;

// Of all trees: what is less is nothing.
constexpr double kNoShare = 1e-7;

/// The program over boxes and parts, of which one of each colour stands for all.
class ShareProgram {
 public:
  ShareProgram(const Boxes& boxes, const Ratio& rate, const OwedByBox& owed)
      : boxes_(boxes), rate_(rate), owed_(owed) {
    for (std::size_t g = 0; g < count(); ++g) {
      for (const Gate& gate : boxes.out[g]) width_[kOut][{g, part_of(gate)}] += gate.capacity;
      for (const Gate& gate : boxes.in[g]) width_[kIn][{g, part_of(gate)}] += gate.capacity;
    }
  }

  std::optional<BoxShares> run() {
    refine();
    find_variables();
    add_rows();
    if (!solve()) return std::nullopt;
    return shares();
  }

 private:
  enum Side : std::size_t { kOut, kIn };
  using Place = std::pair<std::size_t, std::size_t>;  ///< a box and a part, or their colours

  [[nodiscard]] std::size_t count() const { return boxes_.members.size(); }
  std::size_t part_of(const Gate& gate) {
    return parts_.emplace(gate.part, parts_.size()).first->second;
  }

  void refine() {
    box_colour_ = numbered(count(), [&](std::size_t g) {
      return std::vector<std::size_t>{owed_ ? static_cast<std::size_t>((*owed_)[g]) : 0};
    });
    part_colour_.assign(parts_.size(), 0);
    for (std::size_t before = 0;;) {
      const auto key = [&](std::size_t item, bool is_box) {
        std::vector<std::vector<std::size_t>> seen;
        for (const Side side : {kOut, kIn}) {
          for (const auto& [place, width] : width_[side]) {
            const auto [box, part] = place;
            if ((is_box ? box : part) != item) continue;
            seen.push_back({side, static_cast<std::size_t>(width),
                            is_box ? part_colour_[part] : box_colour_[box]});
          }
        }
        std::ranges::sort(seen);
        std::vector<std::size_t> flat{is_box ? box_colour_[item] : part_colour_[item]};
        for (const auto& each : seen) flat.insert(flat.end(), each.begin(), each.end());
        return flat;
      };
      auto boxes = numbered(count(), [&](std::size_t g) { return key(g, true); });
      auto parts = numbered(parts_.size(), [&](std::size_t p) { return key(p, false); });
      box_colour_ = std::move(boxes);
      part_colour_ = std::move(parts);
      const std::size_t now = colours(box_colour_) + colours(part_colour_);
      if (now == before) return;
      before = now;
    }
  }

  static std::size_t colours(const std::vector<std::size_t>& of) {
    return of.empty() ? 0 : *std::ranges::max_element(of) + 1;
  }

  // By colours of boxes: what they root, and on either side what they pass on of others' and leave
  // to others; by colours of boxes and parts: what gates take.
  [[nodiscard]] std::size_t rooted(std::size_t c) const { return 5 * c; }
  [[nodiscard]] std::size_t passed(std::size_t c, Side side) const { return 5 * c + 1 + side; }
  [[nodiscard]] std::size_t left(std::size_t c, Side side) const { return 5 * c + 3 + side; }

  // What a tree that a box roots adds to what goes through its gates, turned round.
  [[nodiscard]] std::int64_t rooted_in_gates(Side side) const {
    const auto others = static_cast<std::int64_t>(count() - 2);
    if (!owed_) return -others;
    return side == kOut ? -(others + 1) : 1;
  }

  void find_variables() {
    variables_ = 5 * colours(box_colour_);
    boxes_of_.assign(colours(box_colour_), 0);
    for (const std::size_t c : box_colour_) ++boxes_of_[c];
    for (const Side side : {kOut, kIn}) {
      for (const auto& [place, width] : width_[side]) {
        const Place alike{box_colour_[place.first], part_colour_[place.second]};
        if (taken_[side].emplace(std::tuple(alike.first, alike.second, width), variables_).second) {
          ++variables_;
        }
      }
    }
  }

  [[nodiscard]] std::size_t taken(Side side, const Place& place, Capacity width) const {
    return taken_[side].at({box_colour_[place.first], part_colour_[place.second], width});
  }

  struct Row {
    std::map<std::size_t, std::int64_t> terms;
    std::int64_t right = 0;
    bool is_equation = true;
  };

  // All numbers are parts of all trees, times what is here to make bounds whole.
  void add_rows() {
    std::vector<char> has_row(colours(box_colour_), 0);
    const auto others = static_cast<std::int64_t>(count() - 2);
    const std::int64_t one = rate_.num();
    const std::int64_t sum = owed_ ? std::accumulate(owed_->begin(), owed_->end(), 0LL) : 0;
    Row all{{}, one};
    std::array<Row, 2> relayed;
    for (std::size_t g = 0; g < count(); ++g) {
      const std::size_t c = box_colour_[g];
      all.terms[rooted(c)] += 1;
      for (const Side side : {kOut, kIn}) {
        relayed[side].terms[passed(c, side)] += 1;
        relayed[side].terms[left(c, side)] -= 1;
      }
      if (std::exchange(has_row[c], 1) != 0) continue;
      for (const Side side : {kOut, kIn}) {
        Row row{{{rooted(c), rooted_in_gates(side)}}, owed_ && side == kOut ? 0 : one};
        if (!owed_ || side == kOut) row.terms.insert({{passed(c, side), -1}, {left(c, side), 1}});
        for (const auto& [place, width] : width_[side]) {
          if (place.first == g) row.terms[taken(side, place, width)] += 1;
        }
        rows_.push_back(std::move(row));
        // No box leaves more to others than it would send.
        rows_.push_back({{{left(c, side), 1}, {rooted(c), -others}}, 0, false});
      }
      if (owed_) rows_.push_back({{{rooted(c), sum}}, one * (*owed_)[g]});
    }
    rows_.push_back(std::move(all));
    for (Row& row : relayed) rows_.push_back(std::move(row));
    std::vector<Row> through(colours(part_colour_));
    std::vector<std::size_t> first(through.size(), static_cast<std::size_t>(-1));
    for (const Side side : {kOut, kIn}) {
      for (const auto& [place, width] : width_[side]) {
        std::size_t& part = first[part_colour_[place.second]];
        part = std::min(part, place.second);
      }
    }
    for (const Side side : {kOut, kIn}) {
      for (const auto& [place, width] : width_[side]) {
        const std::size_t colour = part_colour_[place.second];
        if (place.second != first[colour]) continue;
        through[colour].terms[taken(side, place, width)] += side == kOut ? 1 : -1;
      }
      for (const auto& [alike, variable] : taken_[side]) {
        rows_.push_back({{{variable, 1}}, std::get<2>(alike) * rate_.den(), false});
      }
    }
    for (Row& row : through) rows_.push_back(std::move(row));
  }

  // With as little passed on as may be.
  bool solve() {
    LinearProgram program(variables_);
    std::vector<Term> objective;
    for (std::size_t c = 0; c < boxes_of_.size(); ++c) {
      for (const Side side : {kOut, kIn}) {
        objective.push_back({passed(c, side), -boxes_of_[c]});
        objective.push_back({left(c, side), -boxes_of_[c]});
      }
    }
    program.maximise(objective);
    const auto one = static_cast<double>(rate_.num());
    for (const Row& row : rows_) {
      const auto terms = terms_of(row);
      const double right = static_cast<double>(row.right) / one;
      if (row.is_equation) {
        program.add_equal(terms, right);
      } else {
        program.add_at_most(terms, right);
      }
    }
    if (!program.solve()) return false;
    for (std::size_t v = 0; v < variables_; ++v) values_.push_back(program.value(v));
    return true;
  }

  static std::vector<Term> terms_of(const Row& row) {
    std::vector<Term> terms;
    for (const auto& [variable, coefficient] : row.terms) terms.push_back({variable, coefficient});
    return terms;
  }

  std::optional<BoxShares> shares() {
    number_.assign(variables_, kNone);
    std::size_t unknowns = 0;
    for (std::size_t v = 0; v < variables_; ++v) {
      if (values_[v] > kNoShare) number_[v] = unknowns++;
    }
    std::vector<Equation> equations;
    const auto one = static_cast<double>(rate_.num());
    for (const Row& row : rows_) {
      double sum = 0;
      Equation equation{{}, row.right};
      for (const Term& term : terms_of(row)) {
        sum += values_[term.variable] * static_cast<double>(term.coefficient);
        if (number_[term.variable] == kNone) continue;
        equation.terms.push_back({number_[term.variable], term.coefficient});
      }
      const bool is_tight =
          row.is_equation || sum > static_cast<double>(row.right) / one - kNoShare;
      if (is_tight && !equation.terms.empty()) equations.push_back(std::move(equation));
    }
    const auto exact = solve_exactly(equations, unknowns, static_cast<std::int64_t>(kMostShares));
    return exact ? with_relays(exact->numerators) : std::nullopt;
  }

  [[nodiscard]] std::int64_t exact_of(const std::vector<std::int64_t>& found,
                                      std::size_t variable) const {
    return number_[variable] == kNone ? 0 : found[number_[variable]];
  }

  // From all that leave something to all that pass it on, to all boxes that do not.
  [[nodiscard]] std::optional<BoxShares> with_relays(const std::vector<std::int64_t>& found) const {
    BoxShares result;
    std::array<Int128, 2> sums{};
    std::array<std::int64_t, 2> vias{};
    for (const std::size_t c : box_colour_) {
      if (exact_of(found, rooted(c)) < 0) return std::nullopt;
      for (const Side side : {kOut, kIn}) {
        sums[side] += exact_of(found, passed(c, side));
        vias[side] += number_[passed(c, side)] == kNone ? 0 : 1;
      }
    }
    // What divides all relays of a side into whole trees.
    std::array<Int128, 2> parts{1, 1};
    for (const Side side : {kOut, kIn}) {
      if (sums[side] == 0) continue;
      const auto targets = static_cast<Int128>(count()) - 1 - vias[side];
      if (targets <= 0) return std::nullopt;
      parts[side] = sums[side] * targets;
    }
    if (parts[0] >= kMostShares || parts[1] >= kMostShares) return std::nullopt;
    const auto common =
        std::lcm(static_cast<std::int64_t>(parts[0]), static_cast<std::int64_t>(parts[1]));
    std::int64_t divisor = 0;
    for (const std::size_t c : box_colour_) {
      const Int128 trees = Int128{exact_of(found, rooted(c))} * common;
      if (trees >= Int128{1} << 62) return std::nullopt;
      result.trees.push_back(static_cast<std::int64_t>(trees));
      divisor = std::gcd(divisor, result.trees.back());
    }
    for (const Side side : {kOut, kIn}) {
      const Int128 times = common / parts[side];
      for (std::size_t g = 0; g < count(); ++g) {
        const std::int64_t lack = exact_of(found, left(box_colour_[g], side));
        for (std::size_t h = 0; lack > 0 && h < count(); ++h) {
          const std::int64_t more = exact_of(found, passed(box_colour_[h], side));
          if (more == 0) continue;
          const Int128 trees = Int128{lack} * more * times;
          if (trees >= Int128{1} << 62) return std::nullopt;
          divisor = std::gcd(divisor, static_cast<std::int64_t>(trees));
          for (std::size_t k = 0; k < count(); ++k) {
            if (k == g || number_[passed(box_colour_[k], side)] != kNone) continue;
            result.relays.push_back({side == kIn, g, h, k, static_cast<std::int64_t>(trees)});
          }
        }
      }
    }
    if (divisor == 0) return std::nullopt;
    for (std::int64_t& own : result.trees) own /= divisor;
    for (Relay& relay : result.relays) relay.trees /= divisor;
    return owed_ && !make_multiples(result) ? std::nullopt : std::optional(std::move(result));
  }

  // So that each box roots a multiple of what it owes: the same in all. False where it does not
  // fit.
  [[nodiscard]] bool make_multiples(BoxShares& shares) const {
    for (std::size_t g = 0; g < count(); ++g) {
      if ((*owed_)[g] == 0) continue;
      const std::int64_t times = (*owed_)[g] / std::gcd((*owed_)[g], shares.trees[g]);
      if (Int128{shares.trees[g]} * times >= kMostShares) return false;
      for (std::int64_t& own : shares.trees) own *= times;
      for (Relay& relay : shares.relays) relay.trees *= times;
      return true;
    }
    return false;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Boxes& boxes_;
  const Ratio rate_;
  const OwedByBox& owed_;
  std::map<std::size_t, std::size_t> parts_;
  std::array<std::map<Place, Capacity>, 2> width_;
  std::vector<std::size_t> box_colour_, part_colour_;
  std::array<std::map<std::tuple<std::size_t, std::size_t, Capacity>, std::size_t>, 2> taken_;
  std::vector<std::int64_t> boxes_of_;  ///< by colour
  std::size_t variables_ = 0;
  std::vector<Row> rows_;
  std::vector<double> values_;
  std::vector<std::size_t> number_;  ///< by variable: of those that are not 0
};

}  // namespace

std::optional<BoxShares> find_shares(const Boxes& boxes, const Ratio& rate, const OwedByBox& owed) {
  return ShareProgram(boxes, rate, owed).run();
}

}  // namespace forestcoll::solver
