#include "common/options/solver_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <thread>

#include "common/host.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

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
                  "How long to search for lower trees after packing; fast: no longer than packing\n"
                  "took. default: a fraction of a second for small forests. max: minutes")
      ->check(one_of({"fast", "default", "max"}))
      ->capture_default_str();
  const OptionGroup general(command);
  general.option("-j,--jobs,--threads", arguments.threads, "N",
                 "Threads (default: all processors); the output does not depend on it. They share\n"
                 "the tests of a packing, most of the work on asymmetric fabrics of thousands of\n"
                 "GPUs. Elsewhere they gain little");
  general.option("--time-limit", arguments.time_limit, "SECONDS",
                 "Stop solving after this many seconds and write a quick forest of a lower rate;\n"
                 "the summary says how much lower");
}

void add_shape_options(CLI::App& command, SolverArguments& arguments) {
  const OptionGroup general(command);
  general.option("--max-height", arguments.max_height, "H",
                 "Limit the height of trees to H hops, at the best rate found for that");
  general.flag("--tradeoff", arguments.tradeoff,
               "Also report the rates of lower trees and of other k; solves several times");
  add_file_option(command, "--warm", arguments.warm,
                  "Forest JSON from before a failure; keeps the trees that --drop and --derate do\n"
                  "not affect, and packs the others anew",
                  "FOREST");
}

Expected<SolverRequest> resolve(const SolverArguments& arguments) {
  SolverRequest request;
  request.effort = parse_effort(arguments.effort);
  request.threads = threads_by_default();
  if (!arguments.threads.empty()) {
    const auto threads = read_jobs(arguments.threads, kMostThreads);
    if (!threads) return threads.errors();
    request.threads = *threads;
  }
  if (!arguments.time_limit.empty()) {
    const auto seconds = read_time_limit(arguments.time_limit);
    if (!seconds) return seconds.errors();
    request.seconds = *seconds;
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

TimeLimit::TimeLimit(std::optional<double> seconds)
    : host_(stop_of_host(), [this] { source_.request_stop(); }) {
  if (!seconds) return;
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(*seconds));
  if (std::chrono::steady_clock::now() >= end) {
    source_.request_stop();
    return;
  }
  watcher_ = std::jthread([this, end](const std::stop_token& ended) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, ended, end, [] { return false; });
    if (!ended.stop_requested()) source_.request_stop();
  });
}

}  // namespace forestcoll::cli
