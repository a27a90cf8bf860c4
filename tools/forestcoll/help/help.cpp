// `forestcoll completion SHELL` and `forestcoll man`: the help in forms that other programs take.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/version.hpp"
#include "help/command_help.hpp"
#include "help/texts.hpp"

namespace forestcoll::cli {
namespace {

// Text that roff prints as it is.
std::string roff(const std::string& text) {
  std::string result;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    at_begin = c == '\n';
  }
  return result;
}

// What the option does, and its value where it is not given, unless the former tells.
std::string description_of(const OptionHelp& option) {
  const bool is_told = option.description.find("default") != std::string::npos;
  if (option.standard.empty() || is_told) return option.description;
  return fmt::format("{} (default {})", option.description, option.standard);
}

std::string item(const OptionHelp& option) {
  std::string heading =
      fmt::format("\\fB{}\\fR", roff(fmt::format("{}", fmt::join(option.names, ", "))));
  if (!option.choices.empty()) {
    heading += roff(fmt::format(" {}", fmt::join(option.choices, "|")));
  } else if (!option.value.empty()) {
    heading += fmt::format(" \\fI{}\\fR", roff(option.value));
  }
  return fmt::format(".TP\n{}\n{}\n", heading, roff(description_of(option)));
}

std::string synopsis(const CommandHelp& command) {
  std::string text = fmt::format(".B forestcoll {}\n", fmt::join(command.words, " "));
  if (!command.options.empty()) text += "[\\fIOPTIONS\\fR]\n";
  for (const OptionHelp& operand : command.operands) {
    text += fmt::format("\\fI{}\\fR\n", roff(operand.names.front()));
  }
  return text;
}

std::string section(const CommandHelp& command) {
  std::string text =
      fmt::format(".SS \"forestcoll {}\"\n{}.PP\n{}\n", fmt::join(command.words, " "),
                  synopsis(command), roff(command.description));
  for (const OptionHelp& operand : command.operands) text += item(operand);
  for (const OptionHelp& option : command.options) {
    const bool is_help = option.names.front() == "-h" || option.names.front() == "--help-all";
    if (!is_help) text += item(option);
  }
  if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
  return text;
}

std::string man_page(const std::vector<CommandHelp>& commands) {
  const CommandHelp& program = commands.front();
  std::string text = fmt::format(
      ".TH FORESTCOLL 1 \"\" \"forestcoll {}\" \"User Commands\"\n"
      ".SH NAME\nforestcoll \\- throughput\\-optimal collective schedules for any fabric\n"
      ".SH SYNOPSIS\n.B forestcoll\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      kVersion, roff(program.description));
  for (const OptionHelp& option : program.options) text += item(option);
  text += ".SH COMMANDS\n";
  for (const CommandHelp& command : commands) {
    const bool does_something = command.commands.empty() || !command.operands.empty();
    if (!command.words.empty() && does_something) text += section(command);
  }
  return text + fmt::format(".SH EXAMPLES AND EXIT CODES\n.nf\n{}\n.fi\n", roff(program.footer));
}

using Writer = std::string (*)(const std::vector<CommandHelp>&);

Expected<ExitCode> print(Writer writer, const CLI::App& program) {
  return finish(write_output("-", writer(help_of(program))));
}

}  // namespace

Command add_completion(CLI::App& program) {
  static const std::map<std::string, Writer> kShells = {
      {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
  auto shell = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand(
      "completion", "Print a script that completes words at a shell's prompt");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(forestcoll completion bash)\n"
      "  forestcoll completion zsh > ~/.zfunc/_forestcoll   # a folder of $fpath\n"
      "  forestcoll completion fish > ~/.config/fish/completions/forestcoll.fish\n"
      "\n"
      "Exit codes: 0 done, 2 usage, 4 cannot write.");
  return {command,
          [shell, &program](const Console&) { return print(kShells.at(*shell), program); }};
}

Command add_man(CLI::App& program) {
  CLI::App* command = program.add_subcommand("man", "Print the manual page");
  command->footer(
      "Example:\n"
      "  forestcoll man | man -l -\n"
      "\n"
      "Exit codes: 0 done, 4 cannot write.");
  return {command, [&program](const Console&) { return print(man_page, program); }};
}

}  // namespace forestcoll::cli
