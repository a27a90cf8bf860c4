// Figures of a comparison as people read them.
#pragma once

#include <string>

#include "compare/comparison.hpp"

namespace forestcoll::cli {

/// Stands beside every figure that comes out of a model.
constexpr const char* model_not_measurement = "model, not measurement";

/// "64 KiB", "1.5 GiB".
[[nodiscard]] std::string bytes_in_words(double bytes);
/// "12.3 us", "1.05 ms"; with `micro` in place of the u.
[[nodiscard]] std::string duration_in_words(double seconds, const char* micro = "u");
/// Of the optimum: "100 %" only where it is reached, rounded down below it.
[[nodiscard]] std::string fraction_in_words(const ComparedRow& row, const Comparison& comparison);
/// "12.3", "346.7": three digits at least.
[[nodiscard]] std::string short_number(double value);
/// Control characters, such as the ends of lines, become spaces.
[[nodiscard]] std::string one_line(std::string text);
/// Of an error, with its code.
[[nodiscard]] std::string why(const Diagnostic& error);

}  // namespace forestcoll::cli
