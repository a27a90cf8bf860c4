// Sinks on their way to the threads that test them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>

namespace forestcoll::solver {

/// The sinks of one test by their place in its order, handed out from the first to the last, a few
/// at a time, to whichever thread asks. For any number of threads.
class SinkQueue {
 public:
  struct Range {
    std::size_t begin, end;
  };
  struct Violation {
    std::size_t sink, finder;
  };

  SinkQueue(std::size_t begin, std::size_t end) : begin_(begin), end_(end), next_(begin) {}

  /// The next sinks; nothing where none are left, or only such as come after a reported one.
  std::optional<Range> take() {
    const std::scoped_lock lock(mutex_);
    if (next_ == end_ || first_) return std::nullopt;
    const std::size_t first = next_;
    next_ = std::min(end_, first + std::max(kLeastTaken, (first - begin_) / kTakenPart));
    return Range{first, next_};
  }

  /// Thread `finder` found that `sink`, which it took, lacks something.
  void report(std::size_t sink, std::size_t finder) {
    const std::scoped_lock lock(mutex_);
    if (!first_ || sink < first_->sink) first_ = Violation{sink, finder};
  }

  /// The first sink that was reported, whenever that was.
  [[nodiscard]] std::optional<Violation> first() const {
    const std::scoped_lock lock(mutex_);
    return first_;
  }

 private:
  // At least so many at a time, as neighbours share most of their flow; later a part of those
  // before, as nearly all the work is on the first hundred or two: where many are merged, the next
  // one is fed from next door.
  static constexpr std::size_t kLeastTaken = 4;
  static constexpr std::size_t kTakenPart = 8;

  const std::size_t begin_, end_;
  mutable std::mutex mutex_;
  std::size_t next_;
  std::optional<Violation> first_;
};

}  // namespace forestcoll::solver
