#include "help/command_help.hpp"

#include <CLI/CLI.hpp>
#include <cctype>

#include "help/texts.hpp"

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
    if (option.get_expected_max() > 1) help.names.front() += "...";
  } else if (option.get_items_expected_max() > 0) {
    take_type(option.get_type_name(), help);
  }
  help.is_list = help.value.ends_with(",...");
  help.standard = option.get_default_str();
  help.group = option.get_group();
  help.description = one_paragraph(option.get_description());
  return help;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

// Names that the parser does not list: it checks them otherwise, or takes others, too.
void offer_values(const std::vector<std::string>& words, OptionHelp& option) {
  option.offers = option.choices;
  if (!option.offers.empty()) return;
  std::string operand;
  for (const std::string& word : words) operand += word + " ";
  const bool is_operand = !option.names.front().starts_with('-');
  option.offers = offered_values(is_operand ? operand + option.names.front() : option.names.back());
}

void add_help(const CLI::App& app, std::vector<CommandHelp>& all) {
  all.push_back(help_of_command(app));
  for (const CLI::App* command : shown_commands(app)) add_help(*command, all);
}

}  // namespace

CommandHelp help_of_command(const CLI::App& command) {
  CommandHelp help;
  for (const CLI::App* app = &command; app->get_parent() != nullptr; app = app->get_parent()) {
    help.words.insert(help.words.begin(), app->get_name());
  }
  help.description = one_paragraph(command.get_description());
  help.footer = command.get_footer();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    auto& list = option->nonpositional() ? help.options : help.operands;
    list.push_back(option_help(*option));
    offer_values(help.words, list.back());
  }
  for (const CLI::App* inner : shown_commands(command)) help.commands.push_back(inner->get_name());
  return help;
}

std::vector<CommandHelp> help_of(const CLI::App& program) {
  std::vector<CommandHelp> all;
  add_help(program, all);
  return all;
}

}  // namespace forestcoll::cli
