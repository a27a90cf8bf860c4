#include "common/options/solver_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <system_error>
#include <thread>

#include "common/options/file_option.hpp"
#include "common/options/jobs_option.hpp"
#include "common/options/parse_number.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr double kMostSeconds = 1e9;

Effort parse_effort(const std::string& name) {
  if (name == "fast") return Effort::fast;
  return name == "max" ? Effort::max : Effort::normal;
}

int threads_by_default() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

}  // namespace

void add_effort_options(CLI::App& command, SolverArguments& arguments) {
  command
      .add_option("--effort", arguments.effort,
                  "How long to work on lower trees once a forest stands: no more than\n"
                  "packing takes, a fraction of a second where forests are small, or\n"
                  "minutes")
      ->check(CLI::IsMember({"fast", "default", "max"}))
      ->capture_default_str();
  command
      .add_option("-j,--jobs,--threads", arguments.threads,
                  "Threads (default: all processors); what is written does not depend on it. They\n"
                  "share the tests of a packing, most of the work on fabrics of thousands of GPUs\n"
                  "that are not symmetric; elsewhere they gain little")
      ->type_name("N");
  command
      .add_option("--time-limit", arguments.time_limit,
                  "Stop solving after so many seconds, and take a forest that is made at once, at\n"
                  "a lower rate; the summary says by how much")
      ->type_name("SECONDS");
}

void add_shape_options(CLI::App& command, SolverArguments& arguments) {
  command
      .add_option("--max-height", arguments.max_height,
                  "No tree higher than H hops, at the best rate found for that")
      ->type_name("H");
  command.add_flag("--tradeoff", arguments.tradeoff,
                   "Also say what rate lower trees, and other k, would have; solves several times");
  add_file_option(command, "--warm", arguments.warm,
                  "Forest JSON from before a failure: keep its trees where the failure, given by\n"
                  "--drop and --derate, does not touch them, and pack the rest anew",
                  "FOREST");
}

Expected<SolverRequest> resolve(const SolverArguments& arguments) {
  SolverRequest request;
  request.effort = parse_effort(arguments.effort);
  request.threads = threads_by_default();
  if (!arguments.threads.empty()) {
    const auto threads = parse_number<int>(arguments.threads);
    if (!threads || *threads < 1 || *threads > kMostThreads) {
      return make_error(Code::S03,
                        fmt::format("--jobs: expected a number from 1 to {}, found \"{}\"",
                                    kMostThreads, arguments.threads),
                        "leave it out to use all processors");
    }
    request.threads = *threads;
  }
  if (!arguments.time_limit.empty()) {
    request.seconds = parse_number<double>(arguments.time_limit);
    if (!request.seconds || !(*request.seconds > 0 && *request.seconds <= kMostSeconds)) {
      return make_error(Code::S03,
                        fmt::format("--time-limit: expected a positive number of seconds, found "
                                    "\"{}\"",
                                    arguments.time_limit),
                        "write a number such as 60 or 0.5");
    }
  }
  if (!arguments.max_height.empty()) {
    request.max_height = parse_number<std::int32_t>(arguments.max_height);
    if (!request.max_height || *request.max_height < 1) {
      return make_error(Code::S03,
                        fmt::format("--max-height: expected a positive number of hops, found "
                                    "\"{}\"",
                                    arguments.max_height),
                        "write a number such as 2; --tradeoff lists what heights are to be had");
    }
    if (!arguments.warm.empty()) {
      return make_error(Code::S04, "--warm keeps trees as high as they are, against --max-height",
                        "leave one of the two out");
    }
  }
  return request;
}

}  // namespace forestcoll::cli
