// A comparison as text: for the terminal, for programs, for documents; and who wins, in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "compare/comparison.hpp"

namespace forestcoll::cli {

/// {"format": "forestcoll-compare", "version": 2, …}; `seconds` with the time that each schedule
/// took to make, which differs from run to run.
[[nodiscard]] Json to_json(const Comparison& comparison, bool seconds);

/// Two tables and the sentences about who wins, for a terminal.
[[nodiscard]] std::string to_terminal(const Comparison& comparison);

/// In Markdown: the first column to the left, the others to the right.
[[nodiscard]] std::string markdown(const Table& table);

/// In LaTeX (with the package booktabs), with a line below the figures. Cells and line are text.
[[nodiscard]] std::string latex_of_text(Table table, const std::string& said);

/// The same in Markdown, and in LaTeX (with the package booktabs).
[[nodiscard]] std::string to_markdown(const Comparison& comparison);
[[nodiscard]] std::string to_latex(const Comparison& comparison);

/// One line per algorithm and size, one line for an algorithm without times.
[[nodiscard]] std::string to_csv(const Comparison& comparison);

/// Sentences, the first of which compares our rate with NCCL's algorithms: an allreduce with the
/// best of ring, tree and NVLS, anything else with the rings. Further ones are about the other
/// rows, and about who is fastest at which sizes: trees against trees, programs against programs.
/// They say so where we are not ahead. Empty where we are not among the rows.
[[nodiscard]] std::vector<std::string> who_wins(const Comparison& comparison);

/// Who is fastest at consecutive sizes, as the sentences say it.
struct Win {
  Simulated kind = Simulated::trees;  ///< what is compared
  std::vector<std::string> against;   ///< the algorithms that ours is compared with
  std::int64_t min_bytes = 0, max_bytes = 0;
  std::string algorithm;  ///< the fastest; empty: ours and the best of the others are equal
  double gain = 0;        ///< how many times as fast it is at most, less 1
};
/// By kind, first beside NCCL's algorithms, then beside all others; sizes ascend. Empty where we
/// are not among the rows.
[[nodiscard]] std::vector<Win> wins(const Comparison& comparison);

}  // namespace forestcoll::cli
