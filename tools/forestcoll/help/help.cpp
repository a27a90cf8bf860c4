// `forestcoll completion SHELL` and `forestcoll man`: the help in forms that other programs take.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "help/command_help.hpp"
#include "help/completion.hpp"
#include "help/man_page.hpp"

namespace forestcoll::cli {
namespace {

using Writer = std::string (*)(const std::vector<CommandHelp>&);

ExitCode print(Writer writer, const CLI::App& program, const Console& console) {
  return finish(write_output("-", writer(help_of(program))), console);
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
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(forestcoll completion bash)\n"
      "  forestcoll completion zsh > ~/.zfunc/_forestcoll   # a folder of $fpath\n"
      "  forestcoll completion fish > ~/.config/fish/completions/forestcoll.fish\n"
      "\n"
      "Exit codes: 0 done, 2 usage, 4 cannot write.");
  return {command, [shell, &program](const Console& console) {
            return print(kShells.at(*shell), program, console);
          }};
}

Command add_man(CLI::App& program) {
  CLI::App* command = program.add_subcommand("man", "Print the manual page");
  command->footer(
      "Example:\n"
      "  forestcoll man | man -l -\n"
      "\n"
      "Exit codes: 0 done, 4 cannot write.");
  return {command,
          [&program](const Console& console) { return print(man_page, program, console); }};
}

}  // namespace forestcoll::cli
