#include "batch/results/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/report/report.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli::batch {
namespace {

constexpr std::chrono::milliseconds kDelay(1000);
constexpr std::chrono::milliseconds kRedrawInterval(100);
constexpr std::chrono::seconds kLogInterval(30);
constexpr std::size_t kWidth = 30;

}  // namespace

Progress::Progress(std::size_t items, const Console& console)
    : items_(items), console_(console), next_(begin_ + kDelay), told_(console.begin) {}

Progress::~Progress() {
  erase_bar();
}

void Progress::done(const ItemResult& result, const std::string& remark) {
  ++done_;
  const bool failed = result.status == Status::failed;
  if (failed) ++failed_;
  if (result.status == Status::ok || failed) ++made_;
  if (console_.terminal && !failed && !console_.verbose) return;
  const auto digits = std::to_string(items_).size();
  say(fmt::format("[{:{}}/{}] {}{}", done_, digits, items_, line_of(result),
                  remark.empty() ? "" : ", " + remark));
}

void Progress::say(const std::string& line) {
  if (console_.quiet) return;
  erase_bar();
  note(console_, line);
  told_ = Clock::now();
}

void Progress::add_to_log(Clock::time_point now) {
  if (now < told_ + kLogInterval || done_ == items_) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - console_.begin);
  say(fmt::format("{}/{} items after {} s", done_, items_, seconds.count()));
}

void Progress::tick() {
  const auto now = Clock::now();
  if (console_.log) add_to_log(now);
  if (!console_.terminal || console_.quiet || now < next_ || items_ == 0) return;
  next_ = now + kRedrawInterval;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const std::size_t filled = done_ * kWidth / items_;
  std::string line = fmt::format("[{}{}] {}/{} items", std::string(filled, '#'),
                                 std::string(kWidth - filled, ' '), done_, items_);
  if (made_ > 0) {
    const double rate = static_cast<double>(made_) / seconds;
    line += fmt::format("  {:.1f} items/s  {:.0f} s left", rate,
                        std::ceil(static_cast<double>(items_ - done_) / rate));
  }
  if (failed_ > 0) line += fmt::format("  {} failed", failed_);
  say(fmt::format("\r{}\033[K", line));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::erase_bar() {
  if (drawn_) say(fmt::format("\r\033[K"));
  drawn_ = false;
}

std::string line_of(const ItemResult& result) {
  std::string line = fmt::format("{:7} {}", to_string(result.status), label(result));
  if (result.error) {
    const ItemError& error = *result.error;
    line += fmt::format(": {}{}{} [{}]", error.where, error.where.empty() ? "" : ": ",
                        error.message, name_of(error.code));
  } else if (result.figures) {
    const auto& fraction = result.figures->optimum_fraction;
    line += fmt::format(": {} GB/s, {}", number(reached_by(*result.figures)),
                        fraction ? percent(*fraction) + " of the optimum" : "above the optimum");
    if (const auto& range = result.figures->optimum_range) {
      line += fmt::format(" at least (the optimum is {} GB/s)", range_text(*range));
    }
    if (const auto& height = result.figures->height) line += fmt::format(", height {}", *height);
  }
  if (result.status == Status::ok) line += fmt::format(", {:.3f} s", result.seconds);
  return line;
}

Journal::Journal(const std::vector<Item>& items, std::string program, const Console& console)
    : items_(items), console_(console) {
  results_.program = std::move(program);
  for (const Item& item : items) results_.items.push_back(untouched(item));
  progress_.emplace(items.size(), console);
}

void Journal::note_effort(std::size_t item, const Effort& effort) {
  ItemResult& result = results_.items[item];
  result.seconds = effort.seconds;
  if (effort.peak_bytes <= peak_bytes_) return;
  peak_bytes_ = effort.peak_bytes;
  peak_item_ = label(result);
}

void Journal::failed(std::size_t item, const ItemError& error, const Effort& effort) {
  note_effort(item, effort);
  ItemResult& result = results_.items[item];
  result.status = Status::failed;
  result.error = {error.code, on_one_line(printable(error.message)),
                  on_one_line(printable(error.where))};
  progress_->done(result);
}

void Journal::reused(std::size_t item, const Record& record) {
  ItemResult& result = results_.items[item];
  result.status = Status::cached;
  result.outputs = record.outputs;
  result.figures = record.figures;
  progress_->done(result);
}

void Journal::made(std::size_t item, std::vector<OutputFile> outputs,
                   std::optional<Figures> figures, const Effort& effort, bool was_damaged) {
  note_effort(item, effort);
  ItemResult& result = results_.items[item];
  result.status = Status::ok;
  result.outputs = std::move(outputs);
  result.figures = std::move(figures);
  std::string remark = was_damaged ? "what was there was damaged" : "";
  if (console_.verbose && effort.peak_bytes > 0) {
    remark += fmt::format("{}{} MiB, estimated {}", remark.empty() ? "" : ", ",
                          effort.peak_bytes >> 20, items_[item].footprint >> 20);
  }
  progress_->done(result, remark);
}

Results Journal::close() {
  progress_.reset();
  std::ranges::sort(results_.items, is_before);
  if (peak_bytes_ > 0) {
    note(console_, fmt::format("most memory: {} MiB, for {}", peak_bytes_ >> 20, peak_item_));
  }
  return std::move(results_);
}

}  // namespace forestcoll::cli::batch
