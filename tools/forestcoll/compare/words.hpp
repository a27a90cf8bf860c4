// Figures of a comparison as people read them.
#pragma once

#include <string>

#include "compare/comparison.hpp"

namespace forestcoll::cli {

/// What "simulated" means, once in the head of a report.
constexpr const char* kModelNotMeasurement = "model, not measurement";

/// The lines of a table that have what `synth` reaches, the optimum by trees, and the optimum of an
/// allreduce in two phases.
constexpr const char* kReachedName = "reached by synth, for its default target";
/// Where another target is asked for.
[[nodiscard]] std::string reached_name(const std::string& target);
constexpr const char* kByTreesName = "optimum by trees (proved)";
constexpr const char* kTwoPhasesName = "reduce-scatter, then allgather (proved)";

/// What is simulated: "trees without threadblocks", "flows …", "programs of threadblocks".
[[nodiscard]] std::string in_words(Simulated kind);
/// What times are of: "trees", "flows", "program".
[[nodiscard]] std::string simulated(Simulated kind);
/// What `optimum` is, for its line of a table: "optimum of allreduce (proved)".
[[nodiscard]] std::string optimum_name(const Comparison& comparison);
/// What parts are of, for the head of a column: "of optimum", or where that is not known "of two
/// phases" of an allreduce, and "of trees".
[[nodiscard]] std::string fraction_title(const Comparison& comparison);
/// Of an allreduce: how its optimum and that of two phases compare, in a line; of others why the
/// optimum is not known, if it is not; else empty.
[[nodiscard]] std::string optimum_in_words(const Comparison& comparison);
/// The cut, or the loaded links, that limit the collective, in a line.
[[nodiscard]] std::string bottleneck_in_words(const Comparison& comparison);
/// k of a forest, or the parts of an all-to-all's pairs; empty where the row has neither.
[[nodiscard]] std::string parts_in_words(const ComparedRow& row);
/// In the largest unit of which it is one or more, to one decimal: "64 KiB", "1.5 GiB". Unlike
/// size_in_words it need not be exact: 131071 is "128 KiB".
[[nodiscard]] std::string rounded_size_in_words(double bytes);
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
