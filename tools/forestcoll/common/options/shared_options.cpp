#include "common/options/shared_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/options/did_you_mean.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

constexpr double kMostSeconds = 1e9;

void add_option(CLI::App& command, CLI::callback_t take, const std::string& meaning) {
  command.add_option("-j,--jobs,--threads", std::move(take), meaning)
      ->check(number_from(1, kMostThreads))
      ->type_name("N");
}

}  // namespace

std::string validator_text(Code code, std::string_view message) {
  return fmt::format("{} [{}]", message, name_of(code));
}

Expected<std::int64_t> read_size(const std::string& option, const std::string& text) {
  if (const auto size = parse_size(text)) return *size;
  return make_error(Code::S03,
                    fmt::format("{}: expected a number of bytes, found \"{}\"", option, text),
                    "write a number, or one with K, M, G or T such as 64M");
}

Expected<std::vector<std::int64_t>> read_sizes(const std::string& option, const std::string& text) {
  auto sizes = parse_sizes(text);
  if (sizes) return sizes;
  const Diagnostic& error = sizes.errors().front();
  return make_error(Code::S03, option + ": " + error.message, error.remedy);
}

Expected<int> read_jobs(const std::string& text, int most) {
  const auto jobs = parse_number<int>(text);
  if (jobs && *jobs >= 1 && *jobs <= most) return *jobs;
  return make_error(Code::S03,
                    fmt::format("--jobs: expected a number from 1 to {}, found \"{}\"", most, text),
                    "leave it out to use all processors");
}

Expected<double> read_time_limit(const std::string& text) {
  const auto seconds = parse_number<double>(text);
  if (seconds && *seconds > 0 && *seconds <= kMostSeconds) return *seconds;
  return make_error(
      Code::S03,
      fmt::format("--time-limit: expected a positive number of seconds, found \"{}\"", text),
      "write a number such as 60 or 0.5");
}

CLI::Validator file_name() {
  const auto refuse_no_name = [](const std::string& text) {
    if (!text.empty()) return std::string();
    return validator_text(Code::S03, "expected the name of a file, found nothing");
  };
  return {refuse_no_name, ""};
}

CLI::Validator one_of(std::vector<std::string> names) {
  const std::string in_help = CLI::IsMember(names).get_description();
  const auto refuse = [names = std::move(names)](const std::string& text) {
    if (std::ranges::find(names, text) != names.end()) return std::string();
    // Of a few, everybody sees which one it is.
    return validator_text(
        Code::S03, fmt::format("expected one of {}, found \"{}\"{}", fmt::join(names, ", "), text,
                               names.size() > 3 ? did_you_mean(text, names) : ""));
  };
  return {refuse, in_help};
}

const char* first_given(std::initializer_list<GivenOption> options) {
  const auto* given = std::ranges::find_if(
      options, [](const GivenOption& each) { return each.given && each.name != nullptr; });
  return given == options.end() ? nullptr : given->name;
}

CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& what, const std::string& type) {
  return command.add_option(name, path, what)->check(file_name())->type_name(type);
}

void add_topology_argument(CLI::App& command, std::string& path) {
  command.add_option("TOPOLOGY", path, "Topology file, or - for standard input")->required();
}

void add_schedule_argument(CLI::App& command, std::string& path) {
  command
      .add_option("SCHEDULE", path,
                  "MSCCL XML, an MSCCL++ plan, forest or flows JSON (told apart by content), or -\n"
                  "for standard input")
      ->required();
}

void add_root_option(CLI::App& command, std::string& root) {
  command
      .add_option("--root", root,
                  "Root of broadcast, reduce, scatter and gather: a GPU's id or its rank")
      ->type_name("GPU");
}

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
      "Maximum number of threads; most of this work uses one");
}

std::optional<int> asked_threads(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--threads");
  if (option == nullptr || option->count() == 0) return std::nullopt;
  const auto threads = parse_number<int>(option->results().front());
  if (!threads || *threads < 1 || *threads > kMostThreads) return std::nullopt;
  return threads;
}

}  // namespace forestcoll::cli
