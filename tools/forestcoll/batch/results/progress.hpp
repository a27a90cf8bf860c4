// What is told while a batch runs, and at its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "batch/items/item.hpp"
#include "command.hpp"

namespace forestcoll::cli::batch {

/// At a terminal a bar with items, rate and time left, and a line for each failure; elsewhere a
/// line per item.
class Progress {
 public:
  Progress(std::size_t items, const Console& console);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void done(const ItemResult& result, const std::string& remark = {});
  /// A line that is no item's.
  void say(const std::string& line);
  /// Draws the bar anew, if that is due.
  void tick();

 private:
  using Clock = std::chrono::steady_clock;
  void erase_bar();

  std::size_t items_, done_ = 0, failed_ = 0, made_ = 0;
  const Console& console_;
  Clock::time_point begin_ = Clock::now(), next_;
  bool drawn_ = false;
};

/// "ok  a.json allreduce (azure, k auto): 171.429 GB/s, 98.90 %, height 2, 0.013 s"
[[nodiscard]] std::string line_of(const ItemResult& result);

}  // namespace forestcoll::cli::batch
