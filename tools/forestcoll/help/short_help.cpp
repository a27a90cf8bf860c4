#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>
#include <vector>

#include "common/options/help_groups.hpp"
#include "help/command_help.hpp"
#include "help/texts.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kColumns = 98;
constexpr std::size_t kIndent = 26;
constexpr std::size_t kExamples = 5;

// Words behind a title of at most `kIndent` columns, or below a longer one.
std::string paragraph(const std::string& title, const std::string& text) {
  std::string lines = title;
  std::size_t column = title.size();
  if (column + 2 > kIndent) {
    lines += "\n";
    column = 0;
  }
  bool is_first = true;
  std::istringstream words(text);
  for (std::string word; words >> word; is_first = false) {
    const bool breaks = !is_first && column + 1 + word.size() > kColumns;
    if (is_first || breaks) {
      if (breaks) lines += "\n";
      lines += std::string(breaks ? kIndent : kIndent - column, ' ');
      column = kIndent;
    } else {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines + "\n";
}

// What the option does, with the names that it takes and without the particulars.
std::string in_brief(const OptionHelp& option) {
  const char* end = option.offers.empty() ? ";(:" : ";(";
  std::string text = option.description.substr(0, option.description.find_first_of(end));
  text.erase(text.find_last_not_of(' ') + 1);
  if (!option.choices.empty()) text += fmt::format(": {}", fmt::join(option.choices, ", "));
  if (!option.standard.empty()) text += fmt::format(" (default {})", option.standard);
  return text;
}

bool is_of_help(const OptionHelp& option) {
  return option.names.front() == "-h" || option.names.front() == "--help-all";
}

// "--jobs" of "-j", "--jobs" and "--threads".
std::string usual_name(const OptionHelp& option) {
  const auto name = std::ranges::find_if(
      option.names, [](const std::string& each) { return each.starts_with("--"); });
  return name == option.names.end() ? option.names.front() : *name;
}

std::string help_line_of(const OptionHelp& option) {
  const std::string value = option.value.empty() ? "" : " " + option.value;
  return paragraph(fmt::format("  {}{}", fmt::join(option.names, ","), value), in_brief(option));
}

// The names of all options that are not common, by their titles.
std::string other_options(const CommandHelp& command) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const OptionHelp& option : command.options) {
    if (option.group == kCommonOptions) continue;
    const std::string& title = option.group == "Options" ? "Other" : option.group;
    auto group = std::ranges::find(groups, title, [](const auto& each) { return each.first; });
    if (group == groups.end()) group = groups.insert(group, {title, {}});
    group->second.push_back(usual_name(option));
  }
  std::string text;
  for (const auto& [title, names] : groups) {
    text += paragraph("  " + title, fmt::format("{}", fmt::join(names, " ")));
  }
  return text.empty() ? text : "\nMore options, which --help-all explains:\n" + text;
}

// The first examples of the footer; a line that is indented further goes on with the one before.
std::string examples(const std::string& footer) {
  const std::size_t begin = footer.find("Example");
  if (begin == std::string::npos) return "";
  std::istringstream lines(footer.substr(begin));
  std::string text = "\n", line;
  std::getline(lines, line);
  text += line + "\n";
  for (std::size_t count = 0; std::getline(lines, line) && !line.empty();) {
    if (!line.starts_with("    ") && ++count > kExamples) break;
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string short_help(const CLI::App& command) {
  const CommandHelp help = help_of_command(command);
  std::string common;
  for (const OptionHelp& option : help.options) {
    if (option.group == kCommonOptions && !is_of_help(option)) common += help_line_of(option);
  }
  if (common.empty()) return {};
  const std::string path = fmt::format("{}", fmt::join(help.words, " "));
  std::string text = fmt::format("{}\nUsage: forestcoll {} [OPTIONS]", help.description, path);
  for (const OptionHelp& operand : help.operands) text += " " + operand.names.front();
  text += "\n\n";
  for (const OptionHelp& operand : help.operands) text += help_line_of(operand);
  text += fmt::format("\n{}:\n{}{}{}", kCommonOptions, common, other_options(help),
                      examples(help.footer));
  const std::size_t codes = help.footer.rfind("Exit codes:");
  if (codes != std::string::npos) text += "\n" + help.footer.substr(codes) + "\n";
  return text;
}

}  // namespace forestcoll::cli
