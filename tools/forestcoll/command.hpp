// What the subcommands share: exit codes, the console, and how a subcommand presents itself.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// The exit codes of the program; they stand in docs/commands.md and in --help.
enum class ExitCode {
  done = 0,
  answer_is_no = 1,  ///< a check failed
  bad_input = 2,     ///< usage, or an input that is wrong
  does_not_fit = 3,  ///< a target's limits, exact arithmetic, time or memory
  io = 4,            ///< cannot read or write
  internal = 70,     ///< a bug of ours
};

/// What a command that is asked for JSON has told so far: its report, or errors in place of one.
struct Told {
  Diagnostics errors;       ///< as they were printed
  bool has_report = false;  ///< on standard output
};

/// How much is said on standard error, and how.
struct Console {
  bool quiet = false;
  bool verbose = false;
  bool terminal = false;  ///< standard error is a terminal
  bool log = false;       ///< it is a file or a pipe, such as the log of a CI
  bool color = false;
  int json_version = 2;             ///< of reports: see --json-version
  Diagnostics* findings = nullptr;  ///< where findings go instead of being printed
  Told* told = nullptr;             ///< where it is noted what is told; null: nobody asks
  /// When the command began, for what is told only after a while.
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// A subcommand: parsing fills its options, `run` acts on them afterwards.
struct Command {
  CLI::App* parser;
  std::function<Expected<ExitCode>(const Console&)> run;
  /// What is wrong with words that the parser does not know, where the command can tell better than
  /// the parser; else nothing. Asked once the rest is parsed.
  std::function<std::string(const std::vector<std::string>&)> explain = {};
};

// Each adds its own options to `program`, in a file of its own.
[[nodiscard]] Command add_synth(CLI::App& program);
[[nodiscard]] Command add_batch(CLI::App& program);
[[nodiscard]] Command add_batch_worker(CLI::App& program);
[[nodiscard]] Command add_bound(CLI::App& program);
[[nodiscard]] Command add_verify(CLI::App& program);
[[nodiscard]] Command add_simulate(CLI::App& program);
[[nodiscard]] Command add_compare(CLI::App& program);
[[nodiscard]] Command add_explain(CLI::App& program);
[[nodiscard]] Command add_completion(CLI::App& program);
[[nodiscard]] Command add_man(CLI::App& program);
[[nodiscard]] Command add_topo_check(CLI::App& program);
[[nodiscard]] Command add_topo_convert(CLI::App& program);
[[nodiscard]] Command add_topo_gen(CLI::App& program);
[[nodiscard]] Command add_topo_import(CLI::App& program);
[[nodiscard]] Command add_topo_show(CLI::App& program);

[[nodiscard]] Command add_design_direct(CLI::App& program);
[[nodiscard]] Command add_design_search(CLI::App& program);
[[nodiscard]] Command add_design_formulas(CLI::App& program);
[[nodiscard]] Command add_design_cluster(CLI::App& program);

/// `forestcoll topo`, where the commands on topology files are added; made by the first.
[[nodiscard]] CLI::App& topo_group(CLI::App& program);
/// `forestcoll design`, likewise.
[[nodiscard]] CLI::App& design_group(CLI::App& program);

}  // namespace forestcoll::cli
