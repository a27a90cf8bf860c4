#include "help/help_formatter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace forestcoll::cli {
namespace {

// "NAME" of "TEXT:NAME", "{a,b}" of ":{a,b}"; nothing of "TEXT", which says nothing.
std::string value_name(std::string type) {
  for (const std::string_view prefix : {"TEXT", ":"}) {
    if (type.starts_with(prefix)) type.erase(0, prefix.size());
  }
  return type;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string text;
  const bool has_value = option->get_type_size() != 0;
  const bool is_operand = !option->nonpositional();
  const std::string value = has_value && !is_operand ? value_name(option->get_type_name()) : "";
  if (!value.empty()) text += " " + value;
  if (has_value && !option->get_default_str().empty()) text += "=" + option->get_default_str();
  if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
  if (option->get_required() && !is_operand) text += " (required)";
  if (!option->get_needs().empty())
    text += fmt::format(" (with {})", names_of(option->get_needs()));
  if (!option->get_excludes().empty()) {
    text += fmt::format(" (without {})", names_of(option->get_excludes()));
  }
  return text;
}

}  // namespace forestcoll::cli
