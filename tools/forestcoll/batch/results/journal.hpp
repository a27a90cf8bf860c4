// The journal of a batch: what becomes of every item, told as it happens and kept for the report.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batch/items/item.hpp"
#include "batch/results/results.hpp"
#include "batch/results/store.hpp"
#include "command.hpp"

namespace forestcoll::cli::batch {

/// At a terminal a bar with items, rate and time left, and a line for each failure; elsewhere a
/// line per item, and one after every 30 seconds without any.
class Progress {
 public:
  Progress(std::size_t items, const Console& console);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void done(const ItemResult& result, const std::string& remark = {});
  /// A line that is no item's.
  void say(const std::string& line);
  /// Draws the bar anew, or adds a line to a log, if that is due.
  void tick();

 private:
  using Clock = std::chrono::steady_clock;
  void erase_bar();
  void add_to_log(Clock::time_point now);

  std::size_t items_, done_ = 0, failed_ = 0, made_ = 0;
  const Console& console_;
  Clock::time_point begin_ = Clock::now(), next_;
  Clock::time_point told_;  ///< when the last line was, or the command began
  bool drawn_ = false;
};

/// "ok  a.json allreduce (azure, k auto): 171.429 GB/s, 98.90 %, height 2, 0.013 s"
[[nodiscard]] std::string line_of(const ItemResult& result);

/// What an item took.
struct Effort {
  double seconds = 0;
  std::uint64_t peak_bytes = 0;  ///< 0 where it is not known
};

class Journal {
 public:
  /// Nothing has happened to the items yet, which must outlive this. `program` is its fingerprint.
  Journal(const std::vector<Item>& items, std::string program, const Console& console);

  void failed(std::size_t item, const ItemError& error, const Effort& effort = {});
  void reused(std::size_t item, const Record& record);
  /// `was_damaged`: what was there before was not what its record says.
  void made(std::size_t item, std::vector<OutputFile> outputs, std::optional<Figures> figures,
            const Effort& effort, bool was_damaged);
  [[nodiscard]] Progress& progress() { return *progress_; }

  /// Ends what is told, and returns the results in their order.
  [[nodiscard]] Results close();

 private:
  void note_effort(std::size_t item, const Effort& effort);

  const std::vector<Item>& items_;
  const Console& console_;
  Results results_;
  std::optional<Progress> progress_;
  std::uint64_t peak_bytes_ = 0;
  std::string peak_item_;
};

}  // namespace forestcoll::cli::batch
