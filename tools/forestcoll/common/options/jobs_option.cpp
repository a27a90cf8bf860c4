#include "common/options/jobs_option.hpp"

#include <CLI/CLI.hpp>

#include "common/options/parse_number.hpp"

namespace forestcoll::cli {
namespace {

void add_option(CLI::App& command, CLI::callback_t take, const std::string& meaning) {
  command.add_option("-j,--jobs,--threads", std::move(take), meaning)
      ->check(CLI::Range(1, kMostThreads).description(""))
      ->type_name("N");
}

}  // namespace

void add_jobs_option(CLI::App& command, int& threads, const std::string& meaning) {
  add_option(
      command,
      [&threads](const CLI::results_t& values) {
        return CLI::detail::lexical_cast(values.front(), threads);
      },
      meaning);
}

void add_jobs_option(CLI::App& command) {
  add_option(
      command, [](const CLI::results_t&) { return true; },
      "The most threads to use; most of this work is not divided");
}

std::optional<int> asked_threads(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--threads");
  if (option == nullptr || option->count() == 0) return std::nullopt;
  const auto threads = parse_number<int>(option->results().front());
  if (!threads || *threads < 1 || *threads > kMostThreads) return std::nullopt;
  return threads;
}

}  // namespace forestcoll::cli
