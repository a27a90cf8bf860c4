#include "common/options/jobs_option.hpp"

#include <CLI/CLI.hpp>

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
      "The most threads to use; this work is not divided, and takes one whatever N is");
}

}  // namespace forestcoll::cli
