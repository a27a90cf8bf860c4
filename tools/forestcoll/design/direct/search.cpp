// `forestcoll design search`: a better wiring than one with a name.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/options/solver_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "design/direct/direct_report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/design.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostMoves = 10'000'000;
constexpr double kMostSeconds = 1e6;

struct SearchArguments {
  std::string start, bandwidth = "1", out;
  std::size_t moves = 1'000;
  std::uint64_t seed = 1;
  std::optional<double> seconds;
  bool json = false;
};

// What was there before, and what was found.
struct SearchReport {
  std::string start;
  WiringFigures before, after;
  WiringSearch found;
};

Expected<WiringSearch> searched(const Wiring& start, const SearchArguments& options,
                                const Console& console) {
  ProgressBar bar("searching", console);
  const TimeLimit limit(options.seconds);
  return search_wiring(
      start, {.moves = options.moves,
              .seed = options.seed,
              .stop = limit.token(),
              .progress = [&](std::size_t tried) {
                bar.update(static_cast<double>(tried) / static_cast<double>(options.moves));
              }});
}

std::string search_text(const SearchReport& report, std::uint64_t seed) {
  return fmt::format(
      "{}: {}\nafter {} ({} kept{}), seed {}: {}"
      "Times are in units of M/B: see `forestcoll design direct --help`.\n",
      report.start, in_words(report.before), counted(report.found.tried, "move"),
      report.found.accepted, report.found.stopped ? "; the time was over" : "", seed,
      in_words(report.after));
}

Json search_json(const SearchReport& report, std::uint64_t seed) {
  const Wiring& wiring = report.found.wiring;
  return {{"format", "forestcoll-design-search"},
          {"version", 2},
          {"start", report.start},
          {"compute_nodes", wiring.nodes},
          {"ports", wiring.ports},
          {"seed", seed},
          {"moves", report.found.tried},
          {"kept_moves", report.found.accepted},
          {"stopped", report.found.stopped},
          {"before", to_json(report.before)},
          {"after", to_json(report.after)}};
}

Expected<ExitCode> run_search(const SearchArguments& options, const Console& console) {
  if (!parse_bandwidth(options.bandwidth)) {
    return make_error(Code::S03,
                      fmt::format("--bandwidth: \"{}\" is no bandwidth", options.bandwidth),
                      "give a positive one, such as 25 or \"200 Gb/s\"");
  }
  const auto start = make_wiring(options.start);
  if (!start) return start.errors();
  const auto before = wiring_figures(*start);
  if (!before) return before.errors();
  const auto found = searched(*start, options, console);
  if (!found) return found.errors();
  const auto after = wiring_figures(found->wiring);
  if (!after) return after.errors();
  const SearchReport report{start->name, *before, *after, *found};
  if (!options.out.empty()) {
    const std::string file = to_topology_json(to_document(found->wiring, options.bandwidth));
    if (const auto done = write_output(options.out, file); !done) return done.errors();
    if (options.out == "-") return ExitCode::done;
  }
  const std::string text = options.json ? report_text(search_json(report, options.seed), console)
                                        : search_text(report, options.seed);
  return finish(write_output("-", text));
}

}  // namespace

Command add_design_search(CLI::App& program) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App* command = design_group(program).add_subcommand(
      "search", "Improve a direct-connect topology by exchanging the ends of links");
  command->add_option("START", options->start, "The topology to begin with, such as 'torus(8,8)'")
      ->required();
  const OptionGroup general(*command);
  general.option("--moves", options->moves, "N", "Exchanges to try")
      ->check(number_from(std::size_t{1}, kMostMoves))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the exchanges")->capture_default_str();
  general
      .option("--time-limit", options->seconds, "SECONDS",
              "Stop after so many seconds; then the result depends on the machine")
      ->check(number_from(0.0, kMostSeconds));
  general.option("-o,--output", options->out, "FILE",
                 "Write the result as a topology file, or - for standard output, which then\n"
                 "has no report");
  general.option("--bandwidth", options->bandwidth, "BANDWIDTH", "Of each link in this file")
      ->capture_default_str();
  general.flag("--json", options->json,
               "Report as JSON (format forestcoll-design-search, version 2)");
  add_json_version_option(*command);
  add_jobs_option(*command);
  command->footer(
      "A move stays where it makes nothing worse: first the exact time of allgather, then the\n"
      "steps, then the sum of all distances. The same for the same seed.\n"
      "\n"
      "Examples:\n"
      "  forestcoll design search 'torus(8,8)' --moves 2000\n"
      "  forestcoll design search 'genkautz(4,64)' --seed 7 --time-limit 60 -o direct.json\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot write, 70 "
      "internal\n"
      "error.");
  return {command, [options](const Console& console) { return run_search(*options, console); }};
}

}  // namespace forestcoll::cli
