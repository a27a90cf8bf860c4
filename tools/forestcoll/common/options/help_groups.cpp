#include "common/options/help_groups.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

namespace forestcoll::cli {
namespace {

constexpr const char* kOutput = "Output";
constexpr const char* kCollective = "Collective";
constexpr const char* kSchedule = "Schedule";
constexpr const char* kSolving = "Solving";
constexpr const char* kReading = "Reading the topology";

// Options of several commands; what one command alone has gets its title where it is added.
constexpr std::array<std::pair<const char*, const char*>, 39> kTitles = {
    {{"--output", kOutput},
     {"--deploy", kOutput},
     {"--json", kOutput},
     {"--json-version", kOutput},
     {"--csv", kOutput},
     {"--svg", kOutput},
     {"--png", kOutput},
     {"--dot", kOutput},
     {"--html", kOutput},
     {"--top", kOutput},
     {"--write", kOutput},
     {"--front", kOutput},
     {"--detail", kOutput},
     {"--width", kOutput},
     {"--loads", kOutput},
     {"--collective", kCollective},
     {"--demand", kCollective},
     {"--root", kCollective},
     {"--format", kSchedule},
     {"--target", kSchedule},
     {"--sms", kSchedule},
     {"--sizes", kSchedule},
     {"-k", kSolving},
     {"--effort", kSolving},
     {"--jobs", kSolving},
     {"--time-limit", kSolving},
     {"--max-height", kSolving},
     {"--tradeoff", kSolving},
     {"--warm", kSolving},
     {"--check", kSolving},
     {"--alltoall", kSolving},
     {"--topology", kReading},
     {"--latency", kReading},
     {"--max-nodes", kReading},
     {"--strict", kReading},
     {"--quantize", kReading},
     {"--gpu", "Simulation"},
     {"--parameters", "Simulation"},
     {"--every-pass", "Simulation"}}};

}  // namespace

void group_options(CLI::App& command, std::initializer_list<const char*> common) {
  command.get_help_ptr()->group(kCommonOptions);
  if (CLI::Option* all = command.get_option_no_throw("--help-all")) all->group(kCommonOptions);
  for (const char* name : common) command.get_option(name)->group(kCommonOptions);
  for (const auto& [name, title] : kTitles) {
    CLI::Option* option = command.get_option_no_throw(name);
    // "Options" is CLI11's title of those that have none.
    if (option != nullptr && option->get_group() == "Options") option->group(title);
  }
}

}  // namespace forestcoll::cli
