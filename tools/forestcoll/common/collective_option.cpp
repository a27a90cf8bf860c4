#include "common/collective_option.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "forestcoll/collective.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::array kAll = {Collective::allreduce, Collective::allgather,
                             Collective::reduce_scatter, Collective::broadcast, Collective::reduce};

// Letters and digits alone, in lower case: what kAll spellings have in common.
std::string bare(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

bool has_marks_only(std::string_view name) {
  return std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

bool means_alltoall(const std::string& letters) {
  return letters == "alltoall" || letters == "all2all" || letters == "alltoallv";
}

std::string known() {
  std::string names;
  for (const Collective collective : kAll) {
    names += (names.empty() ? "" : ", ") + std::string(to_string(collective));
  }
  return names;
}

CLI::Option* understood(CLI::Option* option, const char* type) {
  return option->transform(CLI::Validator(understand_collective, ""))
      ->capture_default_str()
      ->type_name(type);
}

}  // namespace

std::string understand_collective(std::string& name) {
  std::string letters = bare(name);
  if (letters == "bcast") letters = bare(to_string(Collective::broadcast));  // as MPI has it
  for (const Collective collective : kAll) {
    if (!has_marks_only(name) || letters != bare(to_string(collective))) continue;
    name = to_string(collective);
    return {};
  }
  if (means_alltoall(letters)) {
    return fmt::format(
        "this command does not take alltoall (`synth -c alltoall` makes schedules, `bound`, "
        "`verify` and `simulate` take it too); there are {} [S03]",
        known());
  }
  return fmt::format("there is no collective \"{}\"; there are {} [S03]", name.substr(0, 40),
                     known());
}

std::string understand_collective_or_alltoall(std::string& name) {
  if (has_marks_only(name) && means_alltoall(bare(name))) {
    name = bare(name) == "alltoallv" ? "alltoallv" : "alltoall";
    return {};
  }
  std::string error = understand_collective(name);
  constexpr std::string_view code = " [S03]";
  if (error.ends_with(code)) error.insert(error.size() - code.size(), ", alltoall");
  return error;
}

CLI::Option* add_collective_option(CLI::App& command, std::string& collective,
                                   const std::string& meaning) {
  return understood(
      command.add_option("-c,--collective", collective, fmt::format("{}: {}", meaning, known())),
      "NAME");
}

CLI::Option* add_collective_or_alltoall_option(CLI::App& command, std::string& collective,
                                               const std::string& meaning) {
  return command
      .add_option("-c,--collective", collective, fmt::format("{}: {}, alltoall", meaning, known()))
      ->transform(CLI::Validator(understand_collective_or_alltoall, ""))
      ->type_name("NAME");
}

CLI::Option* add_collectives_option(CLI::App& command, std::vector<std::string>& collectives,
                                    const std::string& meaning) {
  return understood(
      command.add_option("-c,--collective", collectives, fmt::format("{}: {}", meaning, known()))
          ->delimiter(',')
          ->allow_extra_args(false),
      "NAME,...");
}

}  // namespace forestcoll::cli
