#include "topology/generate/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/nearest.hpp"
#include "topology/format/units.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {
namespace {

// "3" or "3:1", where the second number divides the first.
std::optional<Ratio> parse_factor(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto over = parse_ratio(text.substr(0, colon));
  if (!over || colon == std::string::npos) return over;
  const auto under = parse_ratio(text.substr(colon + 1));
  return under ? checked_div(*over, *under) : std::nullopt;
}

Diagnostic unknown(const Generator& generator, const std::string& name) {
  std::vector<std::string> known;
  for (const GeneratorParameter& parameter : generator.parameters) {
    known.push_back(fmt::format("`{}`", parameter.name));
  }
  return make_error(Code::G02, fmt::format("{} has no parameter `{}`", generator.name, name),
                    known.empty() ? fmt::format("{} takes no parameters.", generator.name)
                                  : fmt::format("It takes {}.", fmt::join(known, ", ")));
}

}  // namespace

Parameters::Parameters(const Generator& generator, const std::map<std::string, std::string>& values)
    : generator_(generator), values_(values) {
  for (const auto& [name, value] : values) {
    if (std::ranges::find(generator.parameters, name, &GeneratorParameter::name) ==
        generator.parameters.end()) {
      errors_.push_back(unknown(generator, name));
    }
  }
}

const std::string& Parameters::standard(std::string_view name) const {
  const auto at = std::ranges::find(generator_.parameters, name, &GeneratorParameter::name);
  FORESTCOLL_CHECK(at != generator_.parameters.end(), "a generator reads only what it declares");
  return at->standard;
}

const std::string& Parameters::text(std::string_view name) const {
  const std::string& otherwise = standard(name);
  const auto given = values_.find(std::string(name));
  return given == values_.end() ? otherwise : given->second;
}

bool Parameters::given(std::string_view name) const {
  return values_.contains(std::string(name));
}

void Parameters::refuse(std::string_view name, std::string_view problem, std::string_view remedy) {
  if (!refused_.emplace(name).second) return;
  errors_.push_back(
      make_error(Code::G03, fmt::format("`{}`: {}", name, problem), std::string(remedy)));
}

std::int64_t Parameters::integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const auto value = number_in<std::int64_t>(text(name));
  if (value && *value >= least && *value <= most) return *value;
  refuse(name,
         fmt::format("expected a whole number from {} to {}, found {}", least, most,
                     quote(text(name))),
         fmt::format("The standard value is {}.", standard(name)));
  return std::clamp(number_in<std::int64_t>(standard(name)).value_or(least), least, most);
}

NamedBandwidth Parameters::bandwidth(std::string_view name) {
  const std::string written(text(name));
  const auto value = parse_quantity(Quantity::bandwidth, written, 1);
  if (value && *value > 0) return {written, *value};
  refuse(name,
         fmt::format("expected a positive bandwidth such as 25 or \"200 Gb/s\", found {}",
                     quote(written)),
         remedy_of_bandwidth(written));
  return {"1", 1};
}

Ratio Parameters::factor(std::string_view name) {
  const auto value = parse_factor(text(name));
  if (value && *value >= 1) return *value;
  refuse(name, fmt::format("expected a number of at least 1, or 3:1, found {}", quote(text(name))),
         "1 is a fabric without oversubscription, 2 one with half of the uplinks.");
  return 1;
}

std::vector<std::int64_t> Parameters::list(std::string_view name, char separator,
                                           std::int64_t least, std::size_t most_items) {
  std::vector<std::int64_t> items;
  std::string_view rest = text(name);
  bool readable = true;
  for (bool more = true; more && readable;) {
    const std::size_t end = rest.find(separator);
    more = end != std::string_view::npos;
    const auto item = number_in<std::int64_t>(rest.substr(0, end));
    readable = item && *item >= least && *item <= 1'000'000 && items.size() < most_items;
    if (readable) items.push_back(*item);
    if (more) rest.remove_prefix(end + 1);
  }
  if (readable) return items;
  refuse(name,
         fmt::format("expected at most {} whole numbers from {} on with \"{}\" between them, "
                     "found {}",
                     most_items, least, separator, quote(text(name))),
         fmt::format("Write it as in {}.", standard(name)));
  return {1, 2};  // of every kind that is asked for: sides, and offsets without a divisor
}

std::string Parameters::choice(std::string_view name, const std::vector<std::string>& choices) {
  const std::string& given = text(name);
  if (std::ranges::find(choices, given) != choices.end()) return given;
  const std::string meant = nearest_word(given, choices);
  refuse(name, fmt::format("{} is no choice here", quote(given)),
         meant.empty() ? fmt::format("Choose from {}.", fmt::join(choices, ", "))
                       : fmt::format("Did you mean {}?", quote(meant)));
  return choices.front();
}

}  // namespace forestcoll::topology
