// An expression of a wiring, as a tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"

namespace forestcoll::topology {

/// How much an expression may make.
inline constexpr std::int64_t kMostWiringNodes = 100'000;
inline constexpr std::int64_t kMostWiringLinks = 1'000'000;

struct WiringExpression {
  enum class Kind { base, line, degree, power, product };
  Kind kind = Kind::base;
  std::string base = {};                        ///< of a base graph: its construction's name
  std::vector<std::int64_t> arguments = {};     ///< of a base graph
  std::int64_t times = 1;                       ///< of line, degree and power; at least 1
  std::vector<WiringExpression> operands = {};  ///< two of a product, none of a base graph
};

/// Errors: G04. At most 64 levels deep.
[[nodiscard]] Expected<WiringExpression> parse_expression(std::string_view text);

/// The shortest text that gives the expression again: "L2(diamond^2)".
[[nodiscard]] std::string to_string(const WiringExpression& expression);

/// Errors: G05.
[[nodiscard]] Expected<Wiring> build(const WiringExpression& expression);

[[nodiscard]] WiringExpression base_graph(std::string name, std::vector<std::int64_t> arguments);
[[nodiscard]] WiringExpression line_graph(WiringExpression of, std::int64_t times);
[[nodiscard]] WiringExpression degree_expansion(WiringExpression of, std::int64_t times);
[[nodiscard]] WiringExpression power(WiringExpression of, std::int64_t times);
[[nodiscard]] WiringExpression product(WiringExpression a, WiringExpression b);

}  // namespace forestcoll::topology
