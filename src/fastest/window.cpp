// What takes so long at one size tells what it takes at least at another, whether it was simulated
// to its end there or lost: see `Contest::least_by_other_sizes`. A margin is left for fair shares.
// Most contenders are out of the question at the sizes beside that at which they lost, without
// being simulated there.
#include "fastest/window.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace forestcoll::fastest {
namespace {

constexpr double kMostOfTheBest = 1.1;
// What is for sizes around takes the place of a file for the size itself.
constexpr double kMuchFaster = 2;
constexpr std::int64_t kLeastLooked = std::int64_t{1} << 10;
constexpr std::int64_t kMostLooked = std::int64_t{1} << 32;
// Of a size, by which it grows where twice and half of it are out of reach.
constexpr std::array<std::int64_t, 3> kParts = {2, 4, 8};
constexpr std::int64_t kNextSize = 4;  // times or part, where no file is worth having at a size
constexpr double kPassesOfLine = 4;
// Steps of what is no faster than the runtime: where it has more, nothing for other counts is
// looked for in its place, as that is simulated as long.
constexpr double kMostCostOfSearch = 131072;
// Of what a contender takes at least by what it took at another size.
constexpr double kSurely = 0.98;

// Bytes of which a runtime selects the file for multiples.
std::int64_t multiple_of(const Contest& contest, std::size_t contender) {
  return kElementBytes * contest.elements(contest.program(contender));
}

bool has_usable_size(const Contest& contest, std::size_t contender, const SizeWindow& window) {
  const std::int64_t multiple = multiple_of(contest, contender);
  return !window.last ||
         *window.last / multiple * multiple >= std::max(window.first, std::int64_t{1});
}

// The nearest first, and of two as near the smaller.
std::vector<std::int64_t> sizes_near(std::int64_t bytes) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t by = kNextSize; bytes / by >= kLeastLooked; by *= kNextSize) {
    sizes.push_back(bytes / by);
    if (bytes * by <= kMostLooked) sizes.push_back(bytes * by);
  }
  return sizes;
}

}  // namespace

class FileSearch::WindowFinder {
 public:
  WindowFinder(const FileSearch& files, std::size_t contender)
      : files_(files), contest_(*files.contest_), contender_(contender) {}

  SizeWindow find(std::int64_t bytes) {
    is_for_sizes_around_ = !contest_.serves(contender_, bytes);
    SizeWindow window{bytes, bytes, {}};
    note_winning(bytes);
    while (window.first > kLeastLooked && is_good(window.first / 2)) window.first /= 2;
    grow_up(window);
    if (is_for_sizes_around_ && window.first == window.last) grow_by_parts(window);
    // What gave up early may be faster all the same. The largest sizes first: what is simulated of
    // them tells of the others.
    const auto at = [&](std::int64_t size) { return files_.beside(contender_, size); };
    while (*window.last > bytes && is_behind_runtime(at(*window.last))) {
      *window.last = std::max(bytes, *window.last / 2);
    }
    while (window.first < bytes && is_behind_runtime(at(window.first))) {
      window.first = std::min(bytes, window.first * 2);
    }
    const std::int64_t last = std::max(bytes, std::min(*window.last, kMostLooked));
    for (const std::int64_t size : std::set<std::int64_t>{window.first, bytes, last}) {
      window.times.push_back(at(size));
    }
    if (window.first <= kLeastLooked) window.first = 0;
    if (*window.last >= kMostLooked) window.last.reset();
    return window;
  }

 private:
  // None of those contenders takes less at that size, but for what `kSurely` has room for.
  struct Known {
    const Contest* contest = nullptr;
    std::int64_t bytes = 0;
    double seconds = 0;
    Contest::Takes covers;
  };

  void grow_up(SizeWindow& window) {
    std::int64_t& last = *window.last;
    std::int64_t most = kMostLooked;
    while (last < most) {
      const std::int64_t far = kNextSize * last;
      if (far <= most && are_lines(last, far)) {
        if (is_good(far)) {
          last = far;
          continue;
        }
        most = far / 2;
      }
      if (!is_good(2 * last)) return;
      last *= 2;
    }
  }

  // From a few passes on each of them adds as much time as the last one, but for some thousandths:
  // what is good at both ends of such a stretch is good within it, unless the runtime changes its
  // choice there.
  [[nodiscard]] bool are_lines(std::int64_t first, std::int64_t last) const {
    return contest_.passes(contender_, first) >= kPassesOfLine &&
           files_.runtime_.is_same_pick(first, last);
  }

  // Up to half as much again, and down to three quarters.
  void grow_by_parts(SizeWindow& window) {
    const std::int64_t bytes = window.first;
    for (const std::int64_t part : kParts) {
      if (*window.last == bytes && is_good(bytes + bytes / part)) *window.last += bytes / part;
      const std::int64_t less = bytes / (2 * part);
      if (window.first == bytes && is_good(bytes - less)) window.first -= less;
    }
  }

  // All others at the size at which it wins.
  void note_winning(std::int64_t bytes) {
    const auto seconds = contest_.seconds(contender_, bytes);
    if (!seconds) return;
    (void)is_runtime_faster(bytes, *seconds);
    (void)has_faster_file(bytes, *seconds);
  }

  [[nodiscard]] bool is_good(std::int64_t bytes) {
    const bool serves = is_for_sizes_around_ ? contest_.serves_around(contender_, bytes)
                                             : contest_.serves(contender_, bytes);
    if (!serves) return false;
    const auto seconds = contest_.seconds(contender_, bytes);
    if (!seconds) return false;
    return !has_faster_file(bytes, *seconds / kMostOfTheBest) &&
           !is_runtime_faster(bytes, *seconds / Contest::kWorthwhile);
  }

  [[nodiscard]] bool has_faster_file(std::int64_t bytes, double seconds) {
    return is_any_faster(contest_, bytes, seconds, Contest::Of::files,
                         [this, bytes](std::size_t c) { return contest_.serves(c, bytes); });
  }

  [[nodiscard]] bool is_runtime_faster(std::int64_t bytes, double seconds) {
    const RuntimeChoice& runtime = files_.runtime_;
    return is_any_faster(runtime.contest(), bytes, seconds, Contest::Of::all,
                         runtime.takes(bytes, files_.buffers_of(contender_)));
  }

  [[nodiscard]] bool is_any_faster(Contest& contest, std::int64_t bytes, double seconds,
                                   Contest::Of of, const Contest::Takes& asked) {
    const auto may_be = [&](std::size_t c) {
      return asked(c) && expected_least(contest, c, bytes) < seconds;
    };
    if (contest.is_below(bytes, seconds, may_be, of)) return true;
    known_.push_back({&contest, bytes, seconds, asked});
    return false;
  }

  // By what is known of other sizes.
  [[nodiscard]] double expected_least(const Contest& contest, std::size_t contender,
                                      std::int64_t bytes) const {
    double least = contest.least_by_other_sizes(contender, bytes);
    for (const Known& known : known_) {
      if (known.contest != &contest || !known.covers(contender)) continue;
      const double expected =
          known.bytes < bytes
              ? known.seconds + contest.link_seconds(contender, bytes - known.bytes)
              : known.seconds * static_cast<double>(bytes) / static_cast<double>(known.bytes);
      least = std::max(least, expected);
    }
    return kSurely * least;
  }

  const FileSearch& files_;
  Contest& contest_;
  std::size_t contender_;
  bool is_for_sizes_around_ = false;
  std::vector<Known> known_;
};

bool is_behind_runtime(const TimeBeside& time) {
  return time.runtime_seconds > 0 && time.seconds > Contest::kWorthwhile * time.runtime_seconds;
}

FileSearch::FileSearch(Contest& contest, const Fabric& fabric,
                       std::optional<std::int64_t> buffer_bytes)
    : contest_(&contest), runtime_(contest, fabric), buffer_bytes_(buffer_bytes) {}

// Buffers matter in Simple alone.
Contest::Takes FileSearch::takes() const {
  return [contest = contest_, set = buffer_bytes_](std::size_t c) {
    const Contender& each = contest->contenders()[c];
    return !set || each.protocol != "Simple" || each.buffer_bytes == *set;
  };
}

std::optional<Winner> FileSearch::at(std::int64_t bytes) const {
  if (auto file = no_slower_than_runtime(bytes)) return file;
  return at(bytes, contest_->winner(bytes, takes()));
}

// The same file, where there is one that is no slower than the runtime's own choice: how long all
// others take need not be known.
std::optional<Winner> FileSearch::no_slower_than_runtime(std::int64_t bytes) const {
  const auto plain = runtime_.winner(bytes, buffer_bytes_.value_or(0));
  if (!plain) return std::nullopt;
  const double most = Contest::kWorthwhile * plain->seconds;
  auto selected = contest_->winner(bytes, takes(), Contest::Of::files, {.most = most});
  if (selected) return at(bytes, std::move(selected));
  if (contest_->counts() != ServedCounts::around) return std::nullopt;
  const auto own = runtime_.winner(bytes, buffer_bytes_);
  return own ? around(bytes, Contest::kWorthwhile * own->seconds) : std::nullopt;
}

std::optional<Winner> FileSearch::at(std::int64_t bytes, std::optional<Winner> selected) const {
  if (!selected) {
    const bool is_asked = contest_->counts() != ServedCounts::of_size;
    return is_asked ? contest_->winner(bytes, takes(), Contest::Of::files_around) : std::nullopt;
  }
  const auto most = most_for_sizes_around(bytes, *selected);
  if (!most) return selected;
  auto around = this->around(bytes, *most);
  return around ? around : selected;
}

// The fastest of all, if it takes no more and is selected at some size of its window.
std::optional<Winner> FileSearch::around(std::int64_t bytes, double most) const {
  auto fastest = contest_->winner(bytes, takes(), Contest::Of::files_around, {.most = most});
  if (!fastest) return std::nullopt;
  const SizeWindow window = WindowFinder(*this, fastest->contender).find(bytes);
  return has_usable_size(*contest_, fastest->contender, window) ? fastest : std::nullopt;
}

// Seconds that what is written in place of the fastest file at the size may take; none where that
// is good enough.
std::optional<double> FileSearch::most_for_sizes_around(std::int64_t bytes,
                                                        const Winner& selected) const {
  const bool may_be_around = contest_->counts() == ServedCounts::around;
  const double much_faster = selected.seconds / kMuchFaster;
  if (may_be_around && contest_->is_below(bytes, much_faster, takes(), Contest::Of::files_around)) {
    return selected.seconds;
  }
  const Contest::Takes own = runtime_.takes(bytes, buffer_bytes_);
  const double no_slower = Contest::kWorthwhile * selected.seconds;
  if (!runtime_.contest().is_below(bytes, no_slower, own, Contest::Of::all)) return std::nullopt;
  const auto winner = runtime_.winner(bytes, buffer_bytes_);
  if (!winner) return std::nullopt;
  if (winner->seconds < selected.seconds / Contest::kWorthwhile) {
    return Contest::kWorthwhile * winner->seconds;
  }
  // Of a file that is as fast as what needs none, only one that is faster takes the place.
  const bool is_cheap = contest_->simulation_cost(selected.contender, bytes) <= kMostCostOfSearch;
  return is_cheap ? std::optional(winner->seconds / Contest::kWorthwhile) : std::nullopt;
}

std::optional<SizedFile> FileSearch::at_or_near(std::int64_t bytes) const {
  const auto found = at(bytes);
  if (contest_->counts() == ServedCounts::around && !is_worth_having(found, bytes)) {
    const XmlOptions& asked = contest_->compile().xml;
    for (const std::int64_t size : sizes_near(bytes)) {
      if (size < asked.min_bytes || size > asked.max_bytes.value_or(size)) continue;
      const auto other = at(size);
      if (is_worth_having(other, size)) return SizedFile{size, *other};
    }
  }
  return found ? std::optional(SizedFile{bytes, *found}) : std::nullopt;
}

// No slower at `bytes` than the runtime's own choice, and for a size that calls may have.
bool FileSearch::is_worth_having(const std::optional<Winner>& file, std::int64_t bytes) const {
  if (!file || is_behind_runtime(beside(file->contender, bytes))) return false;
  return contest_->serves(file->contender, bytes) ||
         has_usable_size(*contest_, file->contender,
                         WindowFinder(*this, file->contender).find(bytes));
}

SizeWindow FileSearch::window(std::size_t contender, std::int64_t bytes) const {
  SizeWindow window = WindowFinder(*this, contender).find(bytes);
  if (!has_usable_size(*contest_, contender, window)) {
    const std::int64_t multiple = multiple_of(*contest_, contender);
    window.last = (bytes / multiple + 1) * multiple;
  }
  return window;
}

TimeBeside FileSearch::beside(std::size_t contender, std::int64_t bytes) const {
  TimeBeside time{.bytes = bytes, .seconds = contest_->seconds(contender, bytes).value_or(0)};
  const auto own = runtime_.winner(bytes, buffers_of(contender));
  if (!own) return time;
  time.runtime_algorithm = runtime_.contest().candidate(own->contender).algorithm;
  time.runtime_seconds = own->seconds;
  return time;
}

std::int64_t FileSearch::buffers_of(std::size_t contender) const {
  return buffer_bytes_.value_or(contest_->contenders()[contender].buffer_bytes);
}

}  // namespace forestcoll::fastest
