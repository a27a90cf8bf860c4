// A recursive-descent parser. The grammar:
//   product = factor { "x" factor }
//   factor  = primary { "^" number | "*" number }
//   primary = "(" product ")" | "L" [number] "(" product ")" | name [ "(" number { "," number } ")"
//   ]
#include "topology/wiring/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/nearest.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {
namespace {

using Kind = WiringExpression::Kind;

constexpr int kMostLevels = 64;
constexpr std::int64_t kLargestNumber = 1'000'000'000;
constexpr std::size_t kMostArguments = 64;
constexpr std::int64_t kMostLineGraphs = 64;  // of a ring they never grow

bool is_in_name(char c) {
  return is_letter(c) || c == '-';
}

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Expected<WiringExpression> parse() {
    WiringExpression expression = product();
    if (!error_ && !at_end()) fail("the end of the expression, or x, ^ or *");
    if (error_) return *std::move(error_);
    return expression;
  }

 private:
  // After the first error nothing is read any more.
  WiringExpression product() {
    if (++level_ > kMostLevels) fail("fewer parentheses one within another");
    WiringExpression left = factor();
    while (!error_ && accept('x')) left = topology::product(std::move(left), factor());
    --level_;
    return left;
  }

  WiringExpression factor() {
    WiringExpression of = primary();
    while (!error_) {
      if (accept('^')) {
        of = power(std::move(of), number(1, "a power"));
      } else if (accept('*')) {
        of = degree_expansion(std::move(of), number(1, "how many times every node"));
      } else {
        break;
      }
    }
    return of;
  }

  WiringExpression primary() {
    if (error_) return {};
    if (accept('(')) return closed(product());
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (name == "L") {
      const std::int64_t times =
          at_ < text_.size() && is_digit(text_[at_]) ? number(1, "a number", kMostLineGraphs) : 1;
      if (!accept('(')) fail("( after L");
      return line_graph(closed(product()), times);
    }
    const auto known = constructions();
    if (std::ranges::find(known, name, &Construction::name) == known.end()) {
      at_ = begin;
      fail("a direct-connect topology", suggestion(name));
    }
    return base_graph(name, arguments());
  }

  std::vector<std::int64_t> arguments() {
    std::vector<std::int64_t> list;
    if (error_ || !accept('(')) return list;
    do {
      list.push_back(number(0, "a whole number"));
      if (list.size() > kMostArguments) fail("fewer arguments");
    } while (!error_ && accept(','));
    if (!error_ && !accept(')')) fail(", or )");
    return list;
  }

  WiringExpression closed(WiringExpression inner) {
    if (!error_ && !accept(')')) fail(")");
    return inner;
  }

  std::int64_t number(std::int64_t least, const char* what, std::int64_t most = kLargestNumber) {
    skip_space();
    std::int64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && is_digit(text_[at_]) && value <= kLargestNumber; ++at_) {
      value = 10 * value + (text_[at_] - '0');
    }
    if (at_ > begin && value >= least && value <= most) return value;
    at_ = begin;
    fail(fmt::format("{} from {} to {}", what, least, most));
    return least;
  }

  [[nodiscard]] static std::string suggestion(const std::string& name) {
    const std::string meant = nearest_word(name, constructions(), &Construction::name);
    if (!meant.empty()) return fmt::format("Did you mean {}?", quote(meant));
    std::vector<std::string_view> names;
    for (const Construction& known : constructions()) names.push_back(known.name);
    return fmt::format("There are {}; L(g), g*n, g^n and g x h make larger ones.",
                       fmt::join(names, ", "));
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  bool accept(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void fail(std::string_view expected, std::string remedy = "") {
    if (error_) return;
    const std::string found = at_ < text_.size() ? quote(text_.substr(at_)) : "the end";
    if (remedy.empty()) remedy = "Write it as in L2(diamond^2) or torus(4,4) x ring(8).";
    error_ = make_error(Code::G04,
                        fmt::format("{}: expected {}, found {}", quote(text_), expected, found),
                        std::move(remedy), {.where = fmt::format("column {}", at_ + 1)});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int level_ = 0;
  std::optional<Diagnostic> error_;
};

std::string in_parentheses(const WiringExpression& expression) {
  const std::string text = to_string(expression);
  return expression.kind == Kind::product ? "(" + text + ")" : text;
}

}  // namespace

Expected<WiringExpression> parse_expression(std::string_view text) {
  return ExpressionParser(text).parse();
}

std::string to_string(const WiringExpression& e) {
  switch (e.kind) {
    case Kind::base:
      if (e.arguments.empty()) return e.base;
      return fmt::format("{}({})", e.base, fmt::join(e.arguments, ","));
    case Kind::line:
      if (e.times == 1) return fmt::format("L({})", to_string(e.operands[0]));
      return fmt::format("L{}({})", e.times, to_string(e.operands[0]));
    case Kind::degree:
      return fmt::format("{}*{}", in_parentheses(e.operands[0]), e.times);
    case Kind::power:
      return fmt::format("{}^{}", in_parentheses(e.operands[0]), e.times);
    case Kind::product:
      // "a x b x c" is "(a x b) x c".
      return fmt::format("{} x {}", to_string(e.operands[0]), in_parentheses(e.operands[1]));
  }
  return {};
}

WiringExpression base_graph(std::string name, std::vector<std::int64_t> arguments) {
  return {.kind = Kind::base, .base = std::move(name), .arguments = std::move(arguments)};
}

WiringExpression line_graph(WiringExpression of, std::int64_t times) {
  return {.kind = Kind::line, .times = times, .operands = {std::move(of)}};
}

WiringExpression degree_expansion(WiringExpression of, std::int64_t times) {
  return {.kind = Kind::degree, .times = times, .operands = {std::move(of)}};
}

WiringExpression power(WiringExpression of, std::int64_t times) {
  return {.kind = Kind::power, .times = times, .operands = {std::move(of)}};
}

WiringExpression product(WiringExpression a, WiringExpression b) {
  return {.kind = Kind::product, .operands = {std::move(a), std::move(b)}};
}

}  // namespace forestcoll::topology
