#include "compare/measured/run_origin.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/options/parse_number.hpp"

namespace forestcoll::cli {

std::optional<RunOrigin> origin_in(std::string_view line) {
  constexpr std::string_view kOrigin = "# origin: ", kSlower = " times slower";
  if (!line.starts_with(kOrigin)) return std::nullopt;
  line.remove_prefix(kOrigin.size());
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  const RunOrigin as_it_is{std::string(line), 1};
  const std::size_t comma = line.rfind(", ");
  if (!line.ends_with(kSlower) || comma == std::string_view::npos) return as_it_is;
  const std::size_t begin = comma + 2;
  const auto slowdown =
      parse_number<double>(line.substr(begin, line.size() - kSlower.size() - begin));
  if (!slowdown || !std::isfinite(*slowdown) || *slowdown <= 0) return as_it_is;
  return RunOrigin{std::string(line.substr(0, comma)), *slowdown};
}

std::string in_words(const RunOrigin& origin) {
  if (origin.text.empty()) return "Measured";
  if (origin.slowdown == 1) return origin.text;
  return fmt::format("Measured on {} (its times divided by {:g})", origin.text, origin.slowdown);
}

}  // namespace forestcoll::cli
