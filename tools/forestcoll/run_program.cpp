// Global options, the choice of a subcommand, and the last resort for exceptions.
#include "run_program.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/version.hpp"
#include "help/help_formatter.hpp"
#include "help/texts.hpp"
#include "usage.hpp"

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

ExitCode print_on_stdout(const std::string& text, const Console& console) {
  return exit_code(finish(write_output("-", text)), console);
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

using HasOption = std::function<bool(const std::string& option)>;

Diagnostic out_of_memory(const HasOption& has_option) {
  std::string remedy = "use ";
  if (has_option("-k")) remedy += "a smaller -k, ";
  if (has_option("--ranks")) remedy += "fewer --ranks, ";
  return make_error(Code::R03, "out of memory; no file is left half-written",
                    remedy + "a smaller fabric, or a machine with more memory");
}

Diagnostic out_of_threads(const std::exception& error, const HasOption& has_option) {
  const char* fewer = has_option("--in-process") ? "leave --in-process out, or "
                      : has_option("-j")         ? "use -j 1, or "
                                                 : "";
  return make_error(
      Code::R03,
      fmt::format("the system gives no more threads ({}); no file is left half-written",
                  error.what()),
      fmt::format("{}raise the limits on processes and memory (ulimit -u, ulimit -v)", fewer));
}

// The last resort for exceptions: says what ended the command and what helps. Memory or threads
// that the machine does not give are `does_not_fit`, anything else is a bug of ours. A remedy names
// an option only where the command has it.
ExitCode report_exception(const std::exception& error, const HasOption& has_option,
                          const Console& console) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return fail({out_of_memory(has_option)}, console);
  }
  if (is_about_threads(error)) return fail({out_of_threads(error, has_option)}, console);
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
  if (Host::current() != nullptr) return exit_code(chosen.run(console), console);
  // Until the process ends: to take it back would make the threads that it forbids.
  [[maybe_unused]] static const auto* kept = limit.release();
  try {
    return exit_code(chosen.run(console), console);
  } catch (const std::exception& error) {
    const auto has_option = [&chosen](const std::string& option) {
      return chosen.parser->get_option_no_throw(option) != nullptr;
    };
    return report_exception(error, has_option, console);
  }
}

// `words` without the program's name, the last one first, as CLI11 wants them.
ExitCode run_words(std::vector<std::string> words, Console console) {
  CLI::App program(kDescription, "forestcoll");
  program.require_subcommand(1);
  program.fallthrough();
  program.formatter(std::make_shared<HelpFormatter>());  // commands inherit it

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
    const std::string brief = short_help(innermost_command(program));
    return print_on_stdout(brief.empty() ? program.help() : brief, console);
  } catch (const CLI::CallForAllHelp&) {
    return print_on_stdout(program.help(), console);
  } catch (const CLI::CallForVersion& version) {
    return print_on_stdout(version.what() + std::string("\n"), console);
  } catch (const CLI::ParseError& error) {
    return fail({usage_error(program, error, commands)}, console);
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
  Told told;
  Console console;
  if (std::find(argv, argv + argc, std::string_view("--json")) != argv + argc) console.told = &told;
  auto code = ExitCode::internal;
  try {
    prepare_process();
    console.terminal = isatty(STDERR_FILENO) == 1;
    console.log = !console.terminal;
    code =
        run_words({std::reverse_iterator(argv + argc), std::reverse_iterator(argv + 1)}, console);
  } catch (const std::exception& error) {
    code = report_exception(
        error, [](const std::string&) { return false; }, console);
  }
  if (console.told != nullptr && code != ExitCode::done && !told.has_report) {
    // Where standard output cannot be written, the exit code says what there is to say.
    [[maybe_unused]] const auto written = write_output("-", to_text(error_report(told, code)));
  }
  return static_cast<int>(code);
}

int call_program(const std::vector<std::string>& words, Diagnostics& findings) {
  Console console;
  console.findings = &findings;
  return static_cast<int>(run_words({words.rbegin(), words.rend()}, console));
}

}  // namespace forestcoll::cli
