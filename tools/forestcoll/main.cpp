// The program: global options, the choice of a subcommand, and the last resort for exceptions.
#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/options/jobs_option.hpp"
#include "common/report/findings/exceptions.hpp"
#include "common/report/report.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kDescription =
    "forestcoll finds the fastest way to move the data of a collective over a GPU fabric, proves\n"
    "that nothing is faster, and writes the schedule in the form that real runtimes load.";

constexpr const char* kFooter =
    "Examples:\n"
    "  forestcoll synth topologies/dgx-a100-x2.json -o allreduce.xml\n"
    "  forestcoll verify allreduce.xml --topology topologies/dgx-a100-x2.json\n"
    "  forestcoll bound topologies/dgx-a100-x2.json\n"
    "\n"
    "Exit codes:\n"
    "  0   done\n"
    "  1   the answer is no: a check or an item of a batch failed\n"
    "  2   usage, or a wrong input\n"
    "  3   does not fit: a target's limits, exact arithmetic, time, memory or threads\n"
    "  4   cannot read or write a file\n"
    "  70  a bug of ours\n"
    "  130, 143  interrupted (Ctrl-C), terminated; no file is left half-written\n"
    "\n"
    "`forestcoll COMMAND --help` explains a command.";

// The command whose words come last: `topo show` of `forestcoll topo show`.
const CLI::App& innermost(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

// CLI11 speaks of arguments and subcommands; people know commands.
std::string in_words(const CLI::App& program, const CLI::ParseError& error,
                     const std::vector<Command>& commands) {
  const CLI::App& last = innermost(program);
  const std::vector<std::string> rest = program.remaining(true);
  const bool is_missing = rest.empty() && error.get_name() == "RequiredError";
  const auto chosen = std::ranges::find(commands, &last, &Command::parser);
  if (chosen != commands.end() && chosen->explain && !rest.empty()) {
    std::string explained = chosen->explain(rest);
    if (!explained.empty()) return explained;
  }
  if (last.get_require_subcommand_min() == 0 || (rest.empty() && !is_missing)) return error.what();
  std::string known;
  for (const CLI::App* command :
       last.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); })) {
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  if (is_missing) return fmt::format("a command is missing: one of {}", known);
  if (rest.front().starts_with('-')) {
    return fmt::format("there is no option {} before the command", rest.front());
  }
  return fmt::format("there is no command \"{}\"; there are {}", rest.front(), known);
}

void print_usage_error(const CLI::App& program, const CLI::ParseError& error,
                       const std::vector<Command>& commands) {
  std::string command = "forestcoll";
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    command += " " + app->get_name();
  }
  say(fmt::format("forestcoll: {}\n  see `{} --help`\n", in_words(program, error, commands),
                  command));
}

ExitCode print_on_stdout(const std::string& text, const Console& console) {
  return finish(write_output("-", text), console);
}

// Until the process ends: to take the limit back would make the threads that it forbids.
void limit_threads(int threads) {
  using Control = oneapi::tbb::global_control;
  [[maybe_unused]] static const auto* limit =
      new Control(Control::max_allowed_parallelism, static_cast<std::size_t>(threads));
}

ExitCode run(int argc, char** argv) {
  CLI::App program(kDescription, "forestcoll");
  program.require_subcommand(1);
  program.fallthrough();

  Console console;
  bool no_color = false;
  program.set_version_flag("--version", "forestcoll " + std::string(kVersion));
  auto* quiet = program.add_flag("-q,--quiet", console.quiet, "Say nothing but errors");
  program.add_flag("-v,--verbose", console.verbose, "Say more")->excludes(quiet);
  program.add_flag("--no-color", no_color, "No colour on standard error (also: NO_COLOR)");

  const std::vector<Command> commands = {add_synth(program),
                                         add_batch(program),
                                         add_batch_worker(program),
                                         add_bound(program),
                                         add_verify(program),
                                         add_simulate(program),
                                         add_compare(program),
                                         add_explain(program),
                                         add_topo_check(program),
                                         add_topo_gen(program),
                                         add_topo_show(program),
                                         add_topo_convert(program),
                                         add_topo_import(program),
                                         add_design_direct(program),
                                         add_design_search(program),
                                         add_design_formulas(program),
                                         add_design_cluster(program),
                                         add_completion(program),
                                         add_man(program)};
  program.footer(kFooter);  // only now: commands inherit what is set before them
  console.terminal = isatty(STDERR_FILENO) == 1;
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_on_stdout(program.help(), console);
  } catch (const CLI::CallForVersion& version) {
    return print_on_stdout(version.what() + std::string("\n"), console);
  } catch (const CLI::ParseError& error) {
    print_usage_error(program, error, commands);
    return ExitCode::bad_input;
  }
  const char* no_color_set = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): one thread
  const bool color_unwanted = no_color || (no_color_set != nullptr && *no_color_set != '\0');
  console.color = console.terminal && !color_unwanted;

  const auto chosen = std::ranges::find_if(
      commands, [](const Command& command) { return command.parser->parsed(); });
  try {
    if (const auto threads = asked_threads(*chosen->parser)) limit_threads(*threads);
    return chosen->run(console);
  } catch (const std::exception& error) {
    return report_exception(error, [chosen](const std::string& option) {
      return chosen->parser->get_option_no_throw(option) != nullptr;
    });
  }
}

}  // namespace
}  // namespace forestcoll::cli

int main(int argc, char** argv) {
  using forestcoll::cli::ExitCode;
  auto code = ExitCode::internal;
  try {
    forestcoll::cli::prepare_process();
    code = forestcoll::cli::run(argc, argv);
  } catch (const std::exception& error) {
    code = forestcoll::cli::report_exception(error, [](const std::string&) { return false; });
  }
  return static_cast<int>(code);
}
