#include "compare/rows/live_rows.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "compare/words.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {

LiveRows::LiveRows(const RowsRequest& request, ProgressBar& bar) : request_(request), bar_(bar) {
  if (!request.by_size) return;
  constexpr std::size_t kQuarters = 4;
  std::set<std::size_t> shown;
  for (std::size_t i = 1; i < kQuarters; ++i) shown.insert(i * request.sizes.size() / kQuarters);
  if (!request.sizes.empty()) shown_.assign(shown.begin(), shown.end());
}

void LiveRows::add(const ComparedRow& row) {
  if (row.error || row.algbw == Ratio(0)) return;
  const std::lock_guard lock(mutex_);
  Cells& cells = known_[row.algorithm];
  cells.rate = number(row.algbw);
  cells.share = fmt::format("{:.4g} %", row.optimum_fraction * 100);
  show();
}

void LiveRows::add(const AlgorithmTimes& times) {
  const std::lock_guard lock(mutex_);
  Cells& cells = known_[times.algorithm == kAsWritten ? kOurs : times.algorithm];
  cells.times.clear();
  for (const std::size_t i : shown_) {
    const auto& choice = times.by_size[i];
    cells.times.push_back(choice ? time_in_words(choice->seconds) : "-");
  }
  show();
}

void LiveRows::show() {
  Table table{.head = {"algorithm", "algbw GB/s", "of optimum"}};
  for (const std::size_t i : shown_) {
    table.head.push_back(rounded_size_in_words(static_cast<double>(request_.sizes[i])));
  }
  for (const std::string& name : request_.algorithms) {
    const auto at = known_.find(name);
    if (at == known_.end()) continue;
    TableRow row = {name, at->second.rate, at->second.share};
    row.insert(row.end(), at->second.times.begin(), at->second.times.end());
    row.resize(table.head.size());
    table.rows.push_back(std::move(row));
  }
  bar_.show(lines_of(table, 1, 0));
}

}  // namespace forestcoll::cli
