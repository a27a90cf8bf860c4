// Global options, the choice of a subcommand, and the last resort for exceptions.
#include "run_program.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/host.hpp"
#include "common/options/nearest_word.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/version.hpp"
#include "help/texts.hpp"

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
    "  70  internal error\n"
    "  130, 143  interrupted (Ctrl-C), terminated; no file is left half-written\n"
    "\n"
    "`forestcoll COMMAND --help` explains a command, `--help-all` all of its options.";

// The command whose words come last: `topo show` of `forestcoll topo show`.
const CLI::App& innermost(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

// "--output" of all options of the command, and of those before the command.
std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// The first long option among the words that CLI11 did not expect, which stand in its message
// alone.
std::string unknown_option(const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return "";
  const std::string message = error.what();
  const std::size_t begin = message.find(" --");
  if (begin == std::string::npos) return "";
  const std::size_t end = message.find_first_of(" =", begin + 1);
  return message.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
}

// CLI11 speaks of arguments and subcommands; people know commands.
std::string usage_in_words(const CLI::App& program, const CLI::ParseError& error,
                           const std::vector<Command>& commands) {
  const CLI::App& last = innermost(program);
  const std::vector<std::string> rest = program.remaining(true);
  const bool is_missing = rest.empty() && error.get_name() == "RequiredError";
  const auto chosen = std::ranges::find(commands, &last, &Command::parser);
  if (chosen != commands.end() && chosen->explain && !rest.empty()) {
    std::string explained = chosen->explain(rest);
    if (!explained.empty()) return explained;
  }
  const std::string option = unknown_option(error);
  const std::string nearest = option.empty() ? option : nearest_word(option, long_options(last));
  if (!nearest.empty()) {
    return fmt::format("there is no option {}; did you mean {}?", option, nearest);
  }
  if (last.get_require_subcommand_min() == 0 || (rest.empty() && !is_missing)) return error.what();
  std::string known;
  std::vector<std::string> names;
  for (const CLI::App* command :
       last.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); })) {
    known += (known.empty() ? "" : ", ") + command->get_name();
    names.push_back(command->get_name());
  }
  if (is_missing) return fmt::format("a command is missing: one of {}", known);
  if (rest.front().starts_with('-')) {
    return fmt::format("there is no option {} before the command", rest.front());
  }
  const std::string meant = nearest_word(rest.front(), names);
  if (!meant.empty()) {
    return fmt::format("there is no command \"{}\"; did you mean \"{}\"?", rest.front(), meant);
  }
  return fmt::format("there is no command \"{}\"; there are {}", rest.front(), known);
}

// Where the message ends as a finding does, as of `validator_text`, it has a code.
Diagnostic as_finding(const std::string& message, std::string remedy) {
  Diagnostic finding{.message = message, .remedy = std::move(remedy)};
  const std::size_t end = message.rfind(" [");
  if (end == std::string::npos || message.back() != ']') return finding;
  finding.code = parse_code(message.substr(end + 2, message.size() - end - 3));
  if (finding.code) finding.message.resize(end);
  return finding;
}

ExitCode report_usage(const CLI::App& program, const CLI::ParseError& error,
                      const std::vector<Command>& commands, const Console& console) {
  std::string command = "forestcoll";
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    command += " " + app->get_name();
  }
  const std::string message = usage_in_words(program, error, commands);
  const std::string remedy = fmt::format("see `{} --help`", command);
  if (console.findings != nullptr) {
    console.findings->push_back(as_finding(message, remedy));
  } else {
    say(fmt::format("forestcoll: {}\n  {}\n", message, remedy));
  }
  return ExitCode::bad_input;
}

ExitCode print_on_stdout(const std::string& text, const Console& console) {
  return finish(write_output("-", text), console);
}

// A limit on the threads of the process, for as long as it lives.
using ThreadLimit = std::unique_ptr<oneapi::tbb::global_control>;
ThreadLimit limit_threads(std::optional<int> threads) {
  if (!threads) return nullptr;
  return std::make_unique<oneapi::tbb::global_control>(
      oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(*threads));
}

// The standard library says so by a code; oneTBB, which has none, in words alone.
bool is_about_threads(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr) return system->code() == std::errc::resource_unavailable_try_again;
  return std::string_view(error.what()).starts_with("pthread_create has failed");
}

// The last resort for exceptions: says what ended the command and what helps. Memory or threads
// that the machine does not give are `does_not_fit`, anything else is a bug of ours. A remedy names
// an option only where the command has it. Needs next to no memory.
ExitCode report_exception(const std::exception& error,
                          const std::function<bool(const std::string& option)>& has_option) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    std::fputs("forestcoll: out of memory; no file is left half-written\n  use ", stderr);
    constexpr std::array<std::pair<const char*, const char*>, 2> kSmaller = {
        {{"-k", "a smaller -k, "}, {"--ranks", "fewer --ranks, "}}};
    for (const auto& [option, words] : kSmaller) {
      if (has_option(option)) std::fputs(words, stderr);
    }
    std::fputs("a smaller fabric, or a machine with more memory\n", stderr);
    return ExitCode::does_not_fit;
  }
  if (is_about_threads(error)) {
    const char* fewer = has_option("--in-process") ? "leave --in-process out, or "
                        : has_option("-j")         ? "use -j 1, or "
                                                   : "";
    say(fmt::format(
        "forestcoll: the system gives no more threads ({}); no file is left half-written\n"
        "  {}raise the limits on processes and memory (ulimit -u, ulimit -v)\n",
        error.what(), fewer));
    return ExitCode::does_not_fit;
  }
  say(fmt::format("forestcoll: internal error: {}; please report it\n", error.what()));
  return ExitCode::internal;
}

// A command that has commands; made by the first.
CLI::App& group_of(CLI::App& program, const std::string& name, const char* meaning,
                   const char* footer) {
  const auto present =
      program.get_subcommands([&](const CLI::App* app) { return app->get_name() == name; });
  if (!present.empty()) return *present.front();
  CLI::App* group = program.add_subcommand(name, meaning);
  group->require_subcommand(1);
  group->footer(footer);
  return *group;
}

ExitCode run_chosen(const Command& chosen, Console console) {
  console.json_version = asked_json_version(*chosen.parser);
  ThreadLimit limit = limit_threads(asked_threads(*chosen.parser));
  if (Host::current() != nullptr) return chosen.run(console);
  // Until the process ends: to take it back would make the threads that it forbids.
  [[maybe_unused]] static const auto* kept = limit.release();
  try {
    return chosen.run(console);
  } catch (const std::exception& error) {
    return report_exception(error, [&chosen](const std::string& option) {
      return chosen.parser->get_option_no_throw(option) != nullptr;
    });
  }
}

// `words` without the program's name, the last one first, as CLI11 wants them.
ExitCode run_words(std::vector<std::string> words, Console console) {
  CLI::App program(kDescription, "forestcoll");
  program.require_subcommand(1);
  program.fallthrough();

  program.set_help_flag("-h,--help", "Explain the common options, and exit");
  program.set_help_all_flag("--help-all", "Explain all options, and exit");
  bool no_color = false;
  program.set_version_flag("--version", "forestcoll " + std::string(kVersion));
  auto* quiet = program.add_flag("-q,--quiet", console.quiet, "Print only errors");
  program.add_flag("-v,--verbose", console.verbose, "Print more")->excludes(quiet);
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
  try {
    program.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const std::string brief = short_help(innermost(program));
    return print_on_stdout(brief.empty() ? program.help() : brief, console);
  } catch (const CLI::CallForAllHelp&) {
    return print_on_stdout(program.help(), console);
  } catch (const CLI::CallForVersion& version) {
    return print_on_stdout(version.what() + std::string("\n"), console);
  } catch (const CLI::ParseError& error) {
    return report_usage(program, error, commands, console);
  }
  const char* no_color_set = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): one thread
  const bool color_unwanted = no_color || (no_color_set != nullptr && *no_color_set != '\0');
  console.color = console.terminal && !color_unwanted;

  const auto chosen = std::ranges::find_if(
      commands, [](const Command& command) { return command.parser->parsed(); });
  return run_chosen(*chosen, console);
}

}  // namespace

CLI::App& topo_group(CLI::App& program) {
  return group_of(program, "topo", "Work on topology files",
                  "Examples:\n"
                  "  forestcoll topo gen dgx-a100 --boxes 2 --fabric odd-even -o a100.json\n"
                  "  forestcoll topo show a100.json --svg a100.svg\n"
                  "  forestcoll topo check topologies/*.json\n"
                  "  forestcoll topo convert a100.json -o a100.graphml\n"
                  "\n"
                  "`forestcoll topo COMMAND --help` explains a command.");
}

CLI::App& design_group(CLI::App& program) {
  return group_of(program, "design", "Find the best direct-connect topology, or the best cluster",
                  "Examples:\n"
                  "  forestcoll design direct --nodes 64 --ports 4\n"
                  "  forestcoll design search 'torus(8,8)' --moves 2000\n"
                  "  forestcoll design cluster --gpus 1024 --costs docs/costs-example.json\n"
                  "\n"
                  "`forestcoll design COMMAND --help` explains a command.");
}

int run_program(int argc, char** argv) {
  auto code = ExitCode::internal;
  try {
    prepare_process();
    Console console;
    console.terminal = isatty(STDERR_FILENO) == 1;
    code =
        run_words({std::reverse_iterator(argv + argc), std::reverse_iterator(argv + 1)}, console);
  } catch (const std::exception& error) {
    code = report_exception(error, [](const std::string&) { return false; });
  }
  return static_cast<int>(code);
}

int call_program(const std::vector<std::string>& words, Diagnostics& findings) {
  Console console;
  console.findings = &findings;
  return static_cast<int>(run_words({words.rbegin(), words.rend()}, console));
}

}  // namespace forestcoll::cli
