// What is told: findings and notes on standard error, numbers in text and in JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "command.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

using Json = nlohmann::ordered_json;

/// Writes on standard error, or to the notes of a host; what cannot be written there is lost, as
/// there is nobody to tell.
void say(std::string_view text);

/// Prints findings on standard error, in words of the program: errors always, warnings unless
/// `--quiet`, and `condensed` unless `--verbose`. Where the console has a place for findings, they
/// are all put there instead.
void print(const Diagnostics& of_library, const Console& console);

/// The exit code that the first error asks for. REQUIRES: `findings` holds an error.
[[nodiscard]] ExitCode exit_code(const Diagnostics& findings);

/// Prints the errors and returns their exit code.
[[nodiscard]] ExitCode fail(const Diagnostics& errors, const Console& console);

/// The exit code of a command that ended so; its errors are printed.
[[nodiscard]] ExitCode exit_code(const Expected<ExitCode>& end, const Console& console);

/// What a command that ends with this returns.
[[nodiscard]] Expected<ExitCode> finish(const Expected<void>& last);

/// Prints a line on standard error, unless `--quiet`.
void note(const Console& console, std::string_view line);

/// The `number` of one of so many parallel cables: "25" of 300 GB/s and 12.
[[nodiscard]] std::string cable_bandwidth(const Ratio& bandwidth, std::int64_t cables);
/// "300 GB/s = 12 x 25" of 12 parallel cables, "300 GB/s" of one.
[[nodiscard]] std::string bandwidth_in_words(const Ratio& bandwidth, std::int64_t cables);
/// "98.90 % of the optimum 173.333 (520/3) GB/s". An allreduce can be faster than that, which is of
/// equal shares and one phase after the other: then no percentage, and words that say so.
[[nodiscard]] std::string of_optimum(const Ratio& algbw, const Ratio& optimum);
/// The same, or where only `at_least` is known of the optimum: "95 % of the upper bound 400 GB/s;
/// the optimum is at least 390 GB/s (a gap of 2.5 %)".
[[nodiscard]] std::string of_optimum(const Ratio& algbw, const Ratio& optimum,
                                     const std::optional<Ratio>& at_least);
/// Of a schedule that could deadlock with a single operation in flight on a connection.
[[nodiscard]] std::string deadlock_line();

/// {"exact": "1040/3", "value": 346.6666666666667}
[[nodiscard]] Json exact(const Ratio& value);
/// {"code", "severity", "file", "where", "message", "remedy"}
[[nodiscard]] Json to_json(const Diagnostic& of_library);
/// What stands in the place of a report that could not be made (format forestcoll-error).
[[nodiscard]] Json error_report(const Told& told, ExitCode code);
/// {"count_multiple" or "bytes_multiple", "min_bytes", "max_bytes" (null: any)}
[[nodiscard]] Json to_json(const UsableSizes& usable);
/// One line of JSON, ended; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_text(const Json& json);

/// What to do about errors of one code.
struct Remedy {
  Code code = {};
  std::string_view text = {};
};

/// These remedies in place of the errors' own.
[[nodiscard]] Diagnostics with_remedies(Diagnostics errors, std::span<const Remedy> remedies);
/// These remedies behind the errors' own.
[[nodiscard]] Diagnostics with_more_remedies(Diagnostics errors, std::span<const Remedy> remedies);

}  // namespace forestcoll::cli
