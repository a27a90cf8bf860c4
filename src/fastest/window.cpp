// What takes so long at one size tells what it takes at least at another. Twice the bytes take no
// longer than the same twice, one after the other, so half of them take at least half as long; and
// what links carry more of takes them that much longer. Both hold but for what fair shares make of
// it, so a margin is left. Most contenders are out of the question at the sizes beside that at
// which they lost, without being simulated there.
#include "fastest/window.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fastest/selectors.hpp"

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
// Of what a contender takes at least by what it took at another size.
constexpr double kSurely = 0.98;

// Without a schedule for the size, a runtime of plans takes those that it ships, one of XML what
// NCCL or RCCL picks.
std::optional<Selector> runtime_choice(const Contest& contest, const Fabric& fabric) {
  std::vector<Selector> all = selectors(contest, fabric);
  const std::string_view name = contest.of_plans() ? kMscclppPick : kNcclPick;
  const auto found = std::ranges::find(all, name, &Selector::name);
  if (found != all.end()) return std::move(*found);
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

// Bytes of which a runtime selects the file for multiples.
std::int64_t multiple_of(const Contest& contest, std::size_t contender) {
  return kElementBytes * contest.elements(contest.program(contender));
}

bool has_usable_size(const Contest& contest, std::size_t contender, const SizeWindow& window) {
  const std::int64_t multiple = multiple_of(contest, contender);
  return !window.last ||
         *window.last / multiple * multiple >= std::max(window.first, std::int64_t{1});
}

class WindowFinder {
 public:
  WindowFinder(Contest& contest, const Fabric& fabric, std::size_t contender,
               std::optional<std::int64_t> buffer_bytes)
      : contest_(contest),
        contender_(contender),
        buffer_bytes_(buffer_bytes.value_or(contest.contenders()[contender].buffer_bytes)),
        runtime_(runtime_choice(contest, fabric)) {}

  SizeWindow find(std::int64_t bytes) {
    is_for_sizes_around_ = !contest_.serves(contender_, bytes);
    SizeWindow window{bytes, bytes, {}};
    note_winning(bytes);
    while (window.first > kLeastLooked && is_good(window.first / 2)) window.first /= 2;
    while (*window.last < kMostLooked && is_good(*window.last * 2)) *window.last *= 2;
    if (is_for_sizes_around_ && window.first == window.last) grow_by_parts(window);
    // What gave up early may be faster all the same. The largest sizes first: what is simulated of
    // them tells of the others.
    std::map<std::int64_t, TimeBeside> times;
    const auto at = [&](std::int64_t size) {
      const auto known = times.find(size);
      return known != times.end() ? known->second
                                  : times.emplace(size, time_at(size)).first->second;
    };
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

  [[nodiscard]] TimeBeside time_at(std::int64_t bytes) {
    TimeBeside time{.bytes = bytes, .seconds = contest_.seconds(contender_, bytes).value_or(0)};
    if (!runtime_) return time;
    const auto own = contest_.winner(bytes, runtime_takes(bytes), Contest::Of::all);
    if (!own) return time;
    time.runtime_algorithm = contest_.candidate(own->contender).algorithm;
    time.runtime_seconds = own->seconds;
    return time;
  }

 private:
  // None of those contenders takes less at that size, but for what `kSurely` has room for.
  struct Known {
    std::int64_t bytes = 0;
    double seconds = 0;
    Contest::Takes covers;
  };

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
    if (runtime_) (void)is_runtime_faster(bytes, *seconds);
    (void)has_faster_file(bytes, *seconds);
  }

  [[nodiscard]] bool is_good(std::int64_t bytes) {
    const bool serves = is_for_sizes_around_ ? contest_.serves_around(contender_, bytes)
                                             : contest_.serves(contender_, bytes);
    if (!serves) return false;
    const auto seconds = contest_.seconds(contender_, bytes);
    if (!seconds) return false;
    return !has_faster_file(bytes, *seconds / kMostOfTheBest) &&
           (!runtime_ || !is_runtime_faster(bytes, *seconds / Contest::kWorthwhile));
  }

  [[nodiscard]] bool has_faster_file(std::int64_t bytes, double seconds) {
    return is_any_faster(bytes, seconds, Contest::Of::files,
                         [this, bytes](std::size_t c) { return contest_.serves(c, bytes); });
  }

  [[nodiscard]] bool is_runtime_faster(std::int64_t bytes, double seconds) {
    return is_any_faster(bytes, seconds, Contest::Of::all, runtime_takes(bytes));
  }

  // With the buffers that the file needs, which hold for all that the runtime runs, or its own.
  [[nodiscard]] Contest::Takes runtime_takes(std::int64_t bytes) const {
    return [this, picked = takes(contest_, *runtime_, bytes)](std::size_t c) {
      return picked(c) && runs_with(contest_, c, buffer_bytes_);
    };
  }

  [[nodiscard]] bool is_any_faster(std::int64_t bytes, double seconds, Contest::Of of,
                                   const Contest::Takes& asked) {
    const auto may_be = [&](std::size_t c) {
      return asked(c) && expected_least(c, bytes) < seconds;
    };
    if (contest_.is_below(bytes, seconds, may_be, of)) return true;
    known_.push_back({bytes, seconds, asked});
    return false;
  }

  // By what is known of other sizes.
  [[nodiscard]] double expected_least(std::size_t contender, std::int64_t bytes) const {
    double least = 0;
    for (const Known& known : known_) {
      if (!known.covers(contender)) continue;
      const double expected =
          known.bytes < bytes
              ? known.seconds + contest_.link_seconds(contender, bytes - known.bytes)
              : known.seconds * static_cast<double>(bytes) / static_cast<double>(known.bytes);
      least = std::max(least, expected);
    }
    return kSurely * least;
  }

  Contest& contest_;
  std::size_t contender_;
  std::int64_t buffer_bytes_;
  std::optional<Selector> runtime_;
  bool is_for_sizes_around_ = false;
  std::vector<Known> known_;
};

// Of those that a runtime selects at sizes around this one; none where it does so at no other.
std::optional<Winner> of_sizes_around(Contest& contest, const Fabric& fabric, std::int64_t bytes,
                                      const Contest::Takes& takes,
                                      std::optional<std::int64_t> buffer_bytes) {
  auto other = contest.winner(bytes, takes, Contest::Of::files_around);
  if (!other) return std::nullopt;
  const SizeWindow window = find_window(contest, fabric, other->contender, bytes, buffer_bytes);
  return has_usable_size(contest, other->contender, window) ? std::move(other) : std::nullopt;
}

// No slower at `bytes` than the runtime's own choice, and for a size that calls may have.
bool is_worth_having(Contest& contest, const Fabric& fabric, std::size_t contender,
                     std::int64_t bytes) {
  if (is_behind_runtime(time_beside(contest, fabric, contender, bytes, {}))) return false;
  return contest.serves(contender, bytes) ||
         has_usable_size(contest, contender, find_window(contest, fabric, contender, bytes, {}));
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

bool runs_with(const Contest& contest, std::size_t contender, std::int64_t buffer_bytes) {
  const std::int64_t needed = contest.contenders()[contender].buffer_bytes;
  return needed == 0 || needed == buffer_bytes;
}

SizeWindow find_window(Contest& contest, const Fabric& fabric, std::size_t contender,
                       std::int64_t bytes, std::optional<std::int64_t> buffer_bytes) {
  return WindowFinder(contest, fabric, contender, buffer_bytes).find(bytes);
}

Winner or_for_sizes_around(Contest& contest, const Fabric& fabric, Winner found, std::int64_t bytes,
                           const Contest::Takes& takes, std::optional<std::int64_t> buffer_bytes) {
  const auto runtime = runtime_choice(contest, fabric);
  if (!runtime) return found;
  const auto may_run = [&, picked = fastest::takes(contest, *runtime, bytes)](std::size_t c) {
    return picked(c) && (!buffer_bytes || runs_with(contest, c, *buffer_bytes));
  };
  if (!contest.is_below(bytes, found.seconds / Contest::kWorthwhile, may_run, Contest::Of::all)) {
    return found;
  }
  const auto own = contest.winner(bytes, may_run, Contest::Of::all);
  if (!own) return found;
  auto other = of_sizes_around(contest, fabric, bytes, takes, buffer_bytes);
  if (!other || other->seconds > Contest::kWorthwhile * own->seconds) return found;
  return *std::move(other);
}

std::optional<Winner> file_winner(Contest& contest, const Fabric& fabric, std::int64_t bytes) {
  const Contest::Takes all = [](std::size_t) { return true; };
  const auto around = Contest::Of::files_around;
  const ServedCounts counts = contest.counts();
  auto found = contest.winner(bytes, all);
  if (!found) return counts == ServedCounts::of_size ? found : contest.winner(bytes, all, around);
  const double much_faster = found->seconds / kMuchFaster;
  if (counts == ServedCounts::around && contest.is_below(bytes, much_faster, all, around)) {
    if (auto other = of_sizes_around(contest, fabric, bytes, all, {})) return other;
  }
  return or_for_sizes_around(contest, fabric, *std::move(found), bytes, all, {});
}

std::optional<SizedFile> sized_file(Contest& contest, const Fabric& fabric, std::int64_t bytes,
                                    const XmlOptions& asked) {
  const auto found = file_winner(contest, fabric, bytes);
  const auto is_good = [&](const std::optional<Winner>& winner, std::int64_t size) {
    return winner && is_worth_having(contest, fabric, winner->contender, size);
  };
  if (contest.counts() == ServedCounts::around && !is_good(found, bytes)) {
    for (const std::int64_t size : sizes_near(bytes)) {
      if (size < asked.min_bytes || size > asked.max_bytes.value_or(size)) continue;
      const auto other = file_winner(contest, fabric, size);
      if (is_good(other, size)) return SizedFile{size, *other};
    }
  }
  return found ? std::optional(SizedFile{bytes, *found}) : std::nullopt;
}

std::optional<SizeWindow> window_if_open(Contest& contest, const Fabric& fabric,
                                         std::size_t contender, std::int64_t bytes,
                                         const XmlOptions& asked) {
  if (asked.min_bytes != 0 || asked.max_bytes) return std::nullopt;
  SizeWindow window = find_window(contest, fabric, contender, bytes, {});
  if (!has_usable_size(contest, contender, window)) {
    const std::int64_t multiple = multiple_of(contest, contender);
    window.last = (bytes / multiple + 1) * multiple;
  }
  return window;
}

bool is_behind_runtime(const TimeBeside& time) {
  return time.runtime_seconds > 0 && time.seconds > Contest::kWorthwhile * time.runtime_seconds;
}

TimeBeside time_beside(Contest& contest, const Fabric& fabric, std::size_t contender,
                       std::int64_t bytes, std::optional<std::int64_t> buffer_bytes) {
  return WindowFinder(contest, fabric, contender, buffer_bytes).time_at(bytes);
}

}  // namespace forestcoll::fastest
