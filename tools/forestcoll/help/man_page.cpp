#include "help/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "forestcoll/version.hpp"

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

std::string item(const OptionHelp& option) {
  std::string heading =
      fmt::format("\\fB{}\\fR", roff(fmt::format("{}", fmt::join(option.names, ", "))));
  if (!option.choices.empty()) {
    heading += roff(fmt::format(" {}", fmt::join(option.choices, "|")));
  } else if (!option.value.empty()) {
    heading += fmt::format(" \\fI{}\\fR", roff(option.value));
  }
  return fmt::format(".TP\n{}\n{}\n", heading, roff(option.description));
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
    if (option.names.front() != "-h") text += item(option);
  }
  if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
  return text;
}

}  // namespace

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

}  // namespace forestcoll::cli
