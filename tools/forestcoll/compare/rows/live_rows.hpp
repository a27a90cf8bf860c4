// The rows of a comparison as they become known, for a terminal while the rest is still made.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/report/progress_bar.hpp"
#include "compare/comparison.hpp"
#include "compare/rows/row_maker.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll::cli {

/// A small table above a bar: of every algorithm its rate, then what its programs take at three of
/// the sizes. Safe to be called by several threads at once.
class LiveRows {
 public:
  /// Both outlive it.
  LiveRows(const RowsRequest& request, ProgressBar& bar);

  /// Its rate is known; nothing is shown of what has none.
  void add(const ComparedRow& row);
  /// Its times are.
  void add(const AlgorithmTimes& times);

 private:
  struct Cells {
    std::string rate, share;
    std::vector<std::string> times;
  };
  void show();

  const RowsRequest& request_;
  ProgressBar& bar_;
  std::vector<std::size_t> shown_;  // which of the sizes
  std::mutex mutex_;                // of what follows
  std::map<std::string, Cells> known_;
};

}  // namespace forestcoll::cli
