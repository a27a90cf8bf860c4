// Options that several commands have in common, and values: numbers, sizes, names of files.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The number that is the whole text; nothing where it is none, or does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "expected sizes such as 64K:1G, found nothing [S03]": what is wrong with a word of the command
/// line, for CLI11, as findings end.
[[nodiscard]] std::string validator_text(Code code, std::string_view message);

/// What --help says of every option that takes several sizes.
constexpr const char* kSizesInWords =
    "a comma-separated list of sizes and\n"
    "ranges: 1K:4G doubles, 1K:4G:4 multiplies by 4; K, M, G and T (or KB,\n"
    "KiB, ...) are powers of 1024";

/// One size. Error S03, which begins with the option's name.
[[nodiscard]] Expected<std::int64_t> read_size(const std::string& option, const std::string& text);

/// Several, by the grammar of `parse_sizes`. Error S03, likewise.
[[nodiscard]] Expected<std::vector<std::int64_t>> read_sizes(const std::string& option,
                                                             const std::string& text);

/// What --jobs says, a number from 1 to `most`. Error S03.
[[nodiscard]] Expected<int> read_jobs(const std::string& text, int most);

/// Seconds of --time-limit. Error S03.
[[nodiscard]] Expected<double> read_time_limit(const std::string& text);

/// Refuses the empty name (S03), which a variable of a shell that is not set leaves: it would read
/// as no option at all.
[[nodiscard]] CLI::Validator file_name();

/// Refuses what is no number from `least` to `most` (S03).
template <class Number>
[[nodiscard]] CLI::Validator number_from(Number least, Number most) {
  const auto refuse = [least, most](const std::string& text) {
    const auto value = parse_number<Number>(text);
    if (value && *value >= least && *value <= most) return std::string();
    return validator_text(
        Code::S03, fmt::format("expected a number from {} to {}, found \"{}\"", least, most, text));
  };
  return {refuse, ""};
}

/// Refuses what is none of the names (S03), which --help lists.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> names);

/// Options of a command that stand under one title in its help, or without one first.
class OptionGroup {
 public:
  explicit OptionGroup(CLI::App& command, std::string title = "")
      : command_(command), title_(std::move(title)) {}

  /// `type` stands for the value in the help.
  template <class Value>
  CLI::Option* option(const std::string& names, Value& value, const std::string& type,
                      const std::string& meaning) const {
    return place(command_.add_option(names, value, meaning)->type_name(type));
  }
  /// May be given several times, with one value each.
  template <class Value>
  CLI::Option* list(const std::string& names, Value& values, const std::string& type,
                    const std::string& meaning) const {
    return option(names, values, type, meaning)->allow_extra_args(false);
  }
  CLI::Option* flag(const std::string& names, bool& value, const std::string& meaning) const {
    return place(command_.add_flag(names, value, meaning));
  }
  /// Names a file, which `file_name` checks.
  CLI::Option* file(const std::string& names, std::string& path, const std::string& meaning,
                    const std::string& type = "FILE") const {
    return option(names, path, type, meaning)->check(file_name());
  }
  /// Of an option of the same command that was added otherwise.
  CLI::Option* place(CLI::Option* option) const {
    return title_.empty() ? option : option->group(title_);
  }

 private:
  CLI::App& command_;
  std::string title_;
};

/// An option that may not go with what else was asked for, and whether it was given; or of several
/// the first that was, null where none was.
struct GivenOption {
  const char* name;
  bool given = true;
};
/// The name of the first that was given, or null.
[[nodiscard]] const char* first_given(std::initializer_list<GivenOption> options);

/// An option that names a file, which `file_name` checks.
CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& what, const std::string& type = "FILE");
/// TOPOLOGY, a file.
void add_topology_argument(CLI::App& command, std::string& path);
/// SCHEDULE, a file of any kind.
void add_schedule_argument(CLI::App& command, std::string& path);
/// --root, of the collectives that have one.
void add_root_option(CLI::App& command, std::string& root);

inline constexpr int kMostThreads = 1024;

/// Adds `-j,--jobs,--threads`, a number from 1 to `kMostThreads`. `meaning` is for --help.
void add_jobs_option(CLI::App& command, int& threads, const std::string& meaning);

/// The same for a command whose work is not divided, so that -j may stand in every command line.
void add_jobs_option(CLI::App& command);

/// What -j says, of a command that has been parsed; none where it does not stand, is no such
/// number, or counts something else, as it does for batch.
[[nodiscard]] std::optional<int> asked_threads(const CLI::App& command);

}  // namespace forestcoll::cli
