#include "batch/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "batch/workers/process.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli::batch {
namespace {

constexpr int kMostJobs = 4096;
constexpr int kMostShards = 1'000'000;
constexpr double kShareOfMemory = 0.8;

// "512M", "64G": with a unit, as a few bytes are what nobody means.
std::optional<std::uint64_t> parse_memory(std::string_view text) {
  const auto size = parse_size(text);
  if (!size || *size == 0 || text.find_first_of("KMGTkmgt") == std::string_view::npos) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*size);
}

// Options that are lists: with commas, or several times.
CLI::Option* add_list(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                      const std::string& meaning) {
  return command.add_option(names, values, meaning)->delimiter(',')->allow_extra_args(false);
}

void add_selection_options(CLI::App& command, Arguments& arguments) {
  const OptionGroup group(command, "Which topologies");
  group.flag("--all", arguments.all,
             "All files of a known format, not only *.json: dumps and graphs too");
  group.list("--include", arguments.include, "PATTERN",
             "Take only files that match one of these; * and ? also match /, and a pattern\n"
             "without / is for the file's name");
  group.list("--exclude", arguments.exclude, "PATTERN",
             "Skip files and directories that match one of these");
  group
      .option("--manifest", arguments.manifest, "FILE",
              "Take only the topologies that this JSON file lists, with options for each")
      ->check(file_name());
}

void add_running_options(CLI::App& command, Arguments& arguments) {
  const OptionGroup group(command, "Running");
  group.option("-j,--jobs", arguments.jobs, "N",
               "Items at once (default: the number of processors); the outputs do not depend on\n"
               "it");
  group.option("--memory", arguments.memory, "SIZE",
               "Memory for items that run at once, such as 64G; an item that takes more is\n"
               "ended. Default: 80 % of the machine, and no item is ended");
  group.option("--time-limit", arguments.time_limit, "SECONDS",
               "End an item after this many seconds");
  group.flag("--force", arguments.force, "Make all outputs again");
  group.flag("--fail-fast", arguments.fail_fast, "Stop when an item fails");
  group.flag("--in-process", arguments.in_process,
             "Use threads instead of a child process per item; a crash then ends the whole\n"
             "batch");
  group.option("--shard", arguments.shard, "I/N",
               "Make the I-th of N parts of equal cost; `batch merge` joins them");
  group.flag("--mpi", arguments.mpi,
             "Share the work among the processes of mpirun (if built with FORESTCOLL_MPI)");
}

Expected<Shard> parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string_view view = text;
  if (slash != std::string::npos) {
    const auto index = parse_number<int>(view.substr(0, slash));
    const auto count = parse_number<int>(view.substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count && *count <= kMostShards) {
      return Shard{*index, *count};
    }
  }
  return make_error(Code::S03,
                    fmt::format("--shard: expected I/N with 1 <= I <= N, found \"{}\"", text),
                    "the second of four parts is --shard 2/4");
}

Expected<void> read_limits(const Arguments& arguments, RunnerLimits& limits) {
  limits.jobs = processors();
  if (!arguments.jobs.empty()) {
    const auto jobs = read_jobs(arguments.jobs, kMostJobs);
    if (!jobs) return jobs.errors();
    limits.jobs = *jobs;
  }
  limits.memory = static_cast<std::uint64_t>(static_cast<double>(memory()) * kShareOfMemory);
  if (!arguments.memory.empty()) {
    const auto memory = parse_memory(arguments.memory);
    if (!memory) {
      return make_error(Code::S03,
                        fmt::format("--memory: expected a size, found \"{}\"", arguments.memory),
                        "write a number with K, M, G or T, such as 64G");
    }
    limits.memory = *memory;
    limits.memory_is_strict = true;
  }
  if (!arguments.time_limit.empty()) {
    const auto seconds = read_time_limit(arguments.time_limit);
    if (!seconds) return seconds.errors();
    limits.seconds = *seconds;
  }
  return {};
}

Expected<void> refuse_combination(const Arguments& arguments) {
  if (arguments.directory.empty() || arguments.output.empty()) {
    return make_error(
        Code::S05,
        arguments.directory.empty() ? "a directory of topologies is missing" : "-o is missing",
        "write `forestcoll batch DIR -o OUT`");
  }
  if (!arguments.manifest.empty() &&
      (arguments.all || !arguments.include.empty() || !arguments.exclude.empty())) {
    return make_error(Code::S04, "--manifest lists the topologies",
                      "leave --all, --include and --exclude out");
  }
  if (arguments.in_process && !arguments.time_limit.empty()) {
    return make_error(Code::S04, "--time-limit ends the process of an item; --in-process has none",
                      "leave one of the two out");
  }
  if (arguments.in_process && !arguments.memory.empty()) {
    return make_error(Code::S04, "--memory ends the process of an item; --in-process has none",
                      "leave one of the two out");
  }
  if (arguments.mpi && (arguments.in_process || !arguments.shard.empty())) {
    return make_error(Code::S04, "--mpi shares the work out by itself, in child processes",
                      "leave --shard and --in-process out");
  }
  return {};
}

}  // namespace

void add_batch_arguments(CLI::App& command, Arguments& arguments) {
  // These first: what a batch has of the same name is its own.
  arguments.synth = std::make_unique<SynthOptions>(command);
  command.add_option("DIR", arguments.directory,
                     "Directory of topologies, with its subdirectories");
  const OptionGroup general(command);
  general.option("-o,--output", arguments.output, "OUT", "Directory of outputs; created if absent");
  add_collectives_option(command, arguments.collectives, "The collectives")
      ->each([&arguments](const std::string&) { arguments.collectives_given = true; });
  add_list(command, "--target", arguments.targets,
           fmt::format(
               "The runtimes: {};\nthe last two, and {} for the newer one, are --format mscclpp; "
               "default {}",
               names_of_targets(), kPlanTarget, SynthArguments().target))
      ->check(CLI::Validator(refuse_unknown_target, ""))
      ->type_name("NAME,...");
  add_list(command, "-k", arguments.trees,
           "Trees per root, as for `synth`: optimal, auto, N, max:N; default by --format")
      ->type_name("K,...");
  add_selection_options(command, arguments);
  add_running_options(command, arguments);
  add_outcome_options(command, arguments.outcome);
}

Expected<Request> resolve(const Arguments& arguments) {
  Request request;
  if (const auto done = refuse_combination(arguments); !done) return done.errors();
  if (const auto done = read_limits(arguments, request.limits); !done) return done.errors();
  request.threads = std::max(1, processors() / request.limits.jobs);
  if (!arguments.shard.empty()) {
    const auto shard = parse_shard(arguments.shard);
    if (!shard) return shard.errors();
    request.shard = *shard;
  }
  auto outcome = resolve(arguments.outcome);
  if (!outcome) return outcome.errors();
  request.outcome = *std::move(outcome);
  request.standard = {.input = {},
                      .collectives = arguments.collectives_given ? arguments.collectives
                                                                 : std::vector<std::string>(),
                      .targets = arguments.targets,
                      .trees = arguments.trees,
                      .words = arguments.synth->words()};
  return request;
}

}  // namespace forestcoll::cli::batch
