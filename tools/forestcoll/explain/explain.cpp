// `forestcoll explain`: what a code means.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/flags.hpp"
#include "common/report/report.hpp"
#include "explain/code_help.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

struct ExplainArguments {
  std::string code;
  bool markdown = false;
};

// The exit code is said where it is not that of a wrong input.
std::string_view exit_of(const CodeInfo& info) {
  switch (info.kind) {
    case ErrorKind::input:
      return "";
    case ErrorKind::limit:
    case ErrorKind::threadblocks:
    case ErrorKind::stopped:
      return " (exit code 3)";
    case ErrorKind::io:
      return " (exit code 4)";
  }
  return "";
}

std::string line_of(const CodeInfo& info) {
  return fmt::format("{}: about {}: {}{}\n", info.name, to_string(info.about),
                     with_flags_in_markdown(info.meaning), exit_of(info));
}

// Lines below the first begin below its text.
std::string indented(std::string_view title, std::string_view text) {
  std::string lines = fmt::format("  {:<9} ", title);
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += std::string(12, ' ');
  }
  return lines + "\n";
}

// Cause, example and remedy.
std::string explanation_of(const CodeInfo& info) {
  const CodeHelp& help = help_of_code(info.code);
  std::string text = line_of(info);
  text += indented("example:", help.example);
  return text + indented("remedy:", with_flags_in_markdown(help.remedy));
}

// The tables of docs/diagnostics.md.
std::string tables() {
  std::string text;
  std::optional<About> about;
  for (const CodeInfo& info : codes()) {
    if (info.about != about) {
      text += fmt::format("{}| code | about {} | what to do |\n|---|---|---|\n", about ? "\n" : "",
                          to_string(info.about));
      about = info.about;
    }
    text += fmt::format("| {} | {}{} | {} |\n", info.name, with_flags_in_markdown(info.meaning),
                        exit_of(info), with_flags_in_markdown(help_of_code(info.code).remedy));
  }
  return text;
}

// Of E05, e5 or [E05].
std::optional<Code> code_of(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::string name(text);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.size() == 2 && std::isdigit(static_cast<unsigned char>(name[1])) != 0) {
    name.insert(1, "0");
  }
  return parse_code(name);
}

Expected<ExitCode> run_explain(const ExplainArguments& arguments) {
  std::string text;
  if (arguments.markdown) {
    text = tables();
  } else if (arguments.code.empty()) {
    for (const CodeInfo& info : codes()) text += line_of(info);
  } else {
    const std::optional<Code> code = code_of(arguments.code);
    if (!code) {
      return make_error(Code::S03, fmt::format("there is no code \"{}\"", arguments.code),
                        "codes are such as E05; `forestcoll explain` lists them all");
    }
    text = explanation_of(info_of(*code));
  }
  return finish(write_output("-", text));
}

}  // namespace

Command add_explain(CLI::App& program) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command = program.add_subcommand(
      "explain", "Explain the code of an error or warning, with an example and a remedy");
  command->add_option("CODE", arguments->code,
                      "A code such as E05; without one, all codes are listed");
  const OptionGroup general(*command);
  general.flag("--markdown", arguments->markdown, "List all codes as Markdown tables");
  command->footer(
      "Example:\n"
      "  forestcoll explain W12\n"
      "\n"
      "Exit codes: 0 done, 2 no such code, 4 cannot write.");
  return {command, [arguments](const Console&) { return run_explain(*arguments); }};
}

}  // namespace forestcoll::cli
