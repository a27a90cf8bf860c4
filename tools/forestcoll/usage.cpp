// CLI11 speaks of arguments and subcommands, people know commands; and its errors have no codes.
#include "usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/nearest.hpp"
#include "forestcoll/spelling.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

using Words = std::vector<std::string>;
using Synonym = std::pair<std::string_view, std::string_view>;

// What people call a command, and its name.
constexpr std::array<Synonym, 9> kSynonyms = {{{"validate", "verify"},
                                               {"validate", "check"},
                                               {"verify", "check"},
                                               {"lint", "check"},
                                               {"generate", "gen"},
                                               {"create", "gen"},
                                               {"plot", "show"},
                                               {"draw", "show"},
                                               {"view", "show"}}};

// "forestcoll topo show"
std::string words_of(const CLI::App& command) {
  std::string words = command.get_name();
  for (const CLI::App* app = command.get_parent(); app != nullptr; app = app->get_parent()) {
    words = app->get_name() + " " + words;
  }
  return words;
}

// "--output" of all options of the command, and of those before the command.
Words long_options(const CLI::App& command) {
  Words names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// "--top" of "--top=3".
std::string option_of(const std::string& word) {
  return word.substr(0, word.find('='));
}

std::string unknown_option(const std::string& word, const CLI::App& command) {
  const std::string option = option_of(word);
  const std::string nearest =
      option.starts_with("--") ? nearest_word(option, long_options(command)) : std::string();
  if (!nearest.empty()) {
    return fmt::format("there is no option {}; did you mean {}?", option, nearest);
  }
  const bool is_before = command.get_parent() == nullptr;
  return fmt::format("there is no option {}{}", option, is_before ? " before the command" : "");
}

Words names_of_commands(const CLI::App& group) {
  Words names;
  for (const CLI::App* command :
       group.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

// The command that a word stands for, by another name or by a slip; empty where none is near.
std::string meant_command(std::string_view word, const Words& names) {
  for (const auto& [synonym, name] : kSynonyms) {
    if (synonym == word && std::ranges::find(names, name) != names.end()) return std::string(name);
  }
  return nearest_word(word, names);
}

// "topo show" of "show", whose group was left out.
std::string command_within(const std::string& word, const CLI::App& program) {
  for (const std::string& name : names_of_commands(program)) {
    const CLI::App& group = *program.get_subcommand(name);
    if (group.get_require_subcommand_min() == 0) continue;
    const std::string meant = meant_command(word, names_of_commands(group));
    if (!meant.empty()) return name + " " + meant;
  }
  return "";
}

// "forestcoll-run" of "run": a program of its own. "--version" of "verison".
std::string meant_beside_commands(const std::string& word, const CLI::App& group) {
  if (group.get_parent() == nullptr && word == "run") return "forestcoll-run";
  return nearest_word("--" + word, long_options(group));
}

std::string unknown_command(const std::string& word, const CLI::App& group) {
  const Words names = names_of_commands(group);
  std::string meant = meant_command(word, names);
  if (meant.empty()) meant = command_within(word, group);
  if (meant.empty()) meant = meant_beside_commands(word, group);
  if (!meant.empty()) {
    return fmt::format("there is no command \"{}\"; did you mean \"{}\"?", word, meant);
  }
  return fmt::format("there is no command \"{}\"; there are {}", word, fmt::join(names, ", "));
}

// "--json" of a report that was to go to a file: it is printed.
std::string printed_report(const std::string& word, const CLI::App& command) {
  for (const char* format : {"json", "csv"}) {
    const CLI::Option* flag = command.get_option_no_throw(fmt::format("--{}", format));
    if (flag == nullptr || flag->count() == 0) continue;
    if (!word.ends_with(fmt::format(".{}", format))) continue;
    return fmt::format("; --{} prints to standard output: write > {}", format, word);
  }
  return "";
}

bool takes_sizes(const CLI::App& command) {
  return command.get_option_no_throw("--sizes") != nullptr;
}

// What words stand for whose option was left out, or that spaces divide in place of commas.
std::string meant_as_value(const std::string& word, const CLI::App& command) {
  if (parse_spelling(word) && command.get_option_no_throw("--collective") != nullptr) {
    return fmt::format("; a collective is given as -c {}", word);
  }
  if (takes_sizes(command) && parse_size(word)) {
    return "; several sizes are written with commas, such as 1M,64M";
  }
  return printed_report(word, command);
}

// Words that nothing takes.
std::string unknown_words(const Words& rest, const CLI::App& command) {
  // The value of an option that is unknown is left over, too, and CLI11 has it first.
  const auto option =
      std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with("--"); });
  if (option != rest.end()) return unknown_option(*option, command);
  const std::string& word = rest.front();
  if (word == "help") {
    return fmt::format("there is no command \"help\"; did you mean `{} --help`?",
                       words_of(command));
  }
  if (word.starts_with('-') && word.size() > 1) return unknown_option(word, command);
  if (command.get_require_subcommand_min() > 0) return unknown_command(word, command);
  return fmt::format("\"{}\" is one argument too many{}", word, meant_as_value(word, command));
}

// "Could not convert: --nodes = x"
std::string no_number(std::string_view says) {
  constexpr std::string_view kBegin = "Could not convert: ";
  const std::size_t equals = says.find(" = ");
  if (!says.starts_with(kBegin) || equals == std::string_view::npos) return std::string(says);
  return fmt::format("{}: expected a number, found \"{}\"",
                     says.substr(kBegin.size(), equals - kBegin.size()), says.substr(equals + 3));
}

// "--size: At Most 1 required but received 2", "--size: 1 required SIZE missing"
std::string wrong_count(const std::string& says) {
  const std::string option = says.substr(0, says.find(':'));
  return option + (says.ends_with(" missing") ? " needs a value" : " is given more than once");
}

std::string in_words(const CLI::App& command, const CLI::ParseError& error, const Words& rest) {
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return no_number(error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return wrong_count(error.what());
  }
  const bool is_group = command.get_require_subcommand_min() > 0;
  const bool is_incomplete = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool has_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  // What is required may be missing because its option is misspelt.
  if (!rest.empty() && (has_unknown || is_group || is_incomplete)) {
    return unknown_words(rest, command);
  }
  if (!is_incomplete || !is_group) return error.what();
  return fmt::format("a command is missing: one of {}",
                     fmt::join(names_of_commands(command), ", "));
}

Code code_of(const CLI::ParseError& error) {
  const bool is_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::ConversionError*>(&error) != nullptr;
  if (is_value) return Code::S03;
  return dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr ? Code::S04 : Code::S05;
}

// Where the message ends as a finding does, as of `validator_text`, it has a code of its own.
Diagnostic as_finding(std::string message, Code otherwise, std::string remedy) {
  std::optional<Code> code;
  const std::size_t end = message.rfind(" [");
  if (end != std::string::npos && message.back() == ']') {
    code = parse_code(std::string_view(message).substr(end + 2, message.size() - end - 3));
  }
  if (code) message.resize(end);
  return make_error(code.value_or(otherwise), std::move(message), std::move(remedy));
}

}  // namespace

const CLI::App& innermost_command(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

Diagnostic usage_error(const CLI::App& program, const CLI::ParseError& error,
                       const std::vector<Command>& commands) {
  const CLI::App& last = innermost_command(program);
  const Words rest = program.remaining(true);
  const auto chosen = std::ranges::find(commands, &last, &Command::parser);
  std::string message;
  if (chosen != commands.end() && chosen->explain && !rest.empty()) message = chosen->explain(rest);
  if (message.empty()) message = in_words(last, error, rest);
  return as_finding(std::move(message), code_of(error),
                    fmt::format("see `{} --help`", words_of(last)));
}

}  // namespace forestcoll::cli
