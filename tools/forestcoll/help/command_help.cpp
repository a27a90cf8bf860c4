#include "help/command_help.hpp"

#include <CLI/CLI.hpp>
#include <cctype>

namespace forestcoll::cli {
namespace {

// Descriptions are broken into lines for the terminal.
std::string one_paragraph(const std::string& text) {
  std::string joined;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (blank && (joined.empty() || joined.back() == ' ')) continue;
    joined += blank ? ' ' : c;
  }
  return joined;
}

// The parser's "TEXT:{a,b}", "NAME" or "TEXT:NAME".
void take_type(const std::string& type, OptionHelp& option) {
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) {
    option.value = type.starts_with("TEXT:") ? type.substr(5) : type;
    return;
  }
  option.value = "NAME";
  std::string choice;
  for (const char c : type.substr(open + 1, close - open - 1) + ",") {
    if (c == ',') {
      option.choices.push_back(choice);
      choice.clear();
    } else {
      choice += c;
    }
  }
}

OptionHelp option_help(const CLI::Option& option) {
  OptionHelp help;
  for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
  if (!option.nonpositional()) {
    take_type(option.get_type_name(), help);
    help.names = {option.get_name()};  // which says what it is
    help.value.clear();
  } else if (option.get_items_expected_max() > 0) {
    take_type(option.get_type_name(), help);
  }
  help.description = one_paragraph(option.get_description());
  return help;
}

void add_help(const CLI::App& app, const std::vector<std::string>& words,
              std::vector<CommandHelp>& all) {
  CommandHelp help;
  help.words = words;
  help.description = one_paragraph(app.get_description());
  help.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? help.options : help.operands).push_back(option_help(*option));
  }
  const auto commands =
      app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
  for (const CLI::App* command : commands) help.commands.push_back(command->get_name());
  all.push_back(std::move(help));
  for (const CLI::App* command : commands) {
    auto inner = words;
    inner.push_back(command->get_name());
    add_help(*command, inner, all);
  }
}

}  // namespace

std::vector<CommandHelp> help_of(const CLI::App& program) {
  std::vector<CommandHelp> all;
  add_help(program, {}, all);
  return all;
}

}  // namespace forestcoll::cli
