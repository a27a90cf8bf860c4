#include "fastest/window.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fastest/selectors.hpp"

namespace forestcoll::fastest {
namespace {

constexpr double kMostOfTheBest = 1.1;
constexpr std::int64_t kLeastLooked = std::int64_t{1} << 10;
constexpr std::int64_t kMostLooked = std::int64_t{1} << 32;

// Without a schedule for the size, a runtime of plans takes those that it ships, one of XML what
// NCCL or RCCL picks.
std::optional<Selector> runtime_choice(const Contest& contest, const Fabric& fabric) {
  std::vector<Selector> all = selectors(contest, fabric);
  const std::string_view name = contest.of_plans() ? "mscclpp-pick" : "nccl-pick";
  const auto found = std::ranges::find(all, name, &Selector::name);
  if (found != all.end()) return std::move(*found);
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

class WindowFinder {
 public:
  WindowFinder(Contest& contest, const Fabric& fabric, std::size_t contender)
      : contest_(contest), contender_(contender), runtime_(runtime_choice(contest, fabric)) {}

  SizeWindow find(std::int64_t bytes) {
    is_for_sizes_around_ = !contest_.serves(contender_, bytes);
    SizeWindow window{bytes, bytes, {}};
    while (window.first > kLeastLooked && is_good(window.first / 2)) window.first /= 2;
    while (*window.last < kMostLooked && is_good(*window.last * 2)) *window.last *= 2;
    const std::int64_t last = std::max(bytes, std::min(*window.last, kMostLooked));
    const std::set<std::int64_t> told = {window.first, bytes, last};
    for (const std::int64_t size : told) window.times.push_back(time_at(size));
    if (window.first <= kLeastLooked) window.first = 0;
    if (*window.last >= kMostLooked) window.last.reset();
    return window;
  }

  [[nodiscard]] TimeBeside time_at(std::int64_t bytes) {
    TimeBeside time{.bytes = bytes, .seconds = contest_.seconds(contender_, bytes).value_or(0)};
    if (!runtime_) return time;
    const auto own = contest_.winner(bytes, takes(contest_, *runtime_, bytes), Contest::Of::all);
    if (!own) return time;
    time.runtime_algorithm = contest_.candidate(own->contender).algorithm;
    time.runtime_seconds = own->seconds;
    return time;
  }

 private:
  [[nodiscard]] bool is_good(std::int64_t bytes) {
    const bool serves = is_for_sizes_around_ ? contest_.serves_around(contender_, bytes)
                                             : contest_.serves(contender_, bytes);
    if (!serves) return false;
    const auto seconds = contest_.seconds(contender_, bytes);
    if (!seconds) return false;
    if (contest_.is_below(bytes, *seconds / kMostOfTheBest, [](std::size_t) { return true; })) {
      return false;
    }
    return !runtime_ ||
           !contest_.is_below(bytes, *seconds, takes(contest_, *runtime_, bytes), Contest::Of::all);
  }

  Contest& contest_;
  std::size_t contender_;
  std::optional<Selector> runtime_;
  bool is_for_sizes_around_ = false;
};

}  // namespace

SizeWindow find_window(Contest& contest, const Fabric& fabric, std::size_t contender,
                       std::int64_t bytes) {
  return WindowFinder(contest, fabric, contender).find(bytes);
}

Winner or_for_sizes_around(Contest& contest, const Fabric& fabric, Winner found, std::int64_t bytes,
                           const Contest::Takes& takes) {
  const TimeBeside time = time_beside(contest, fabric, found.contender, bytes);
  if (time.runtime_algorithm.empty() || time.seconds <= time.runtime_seconds) return found;
  auto other = contest.winner(bytes, takes, Contest::Of::files_around);
  if (!other || other->seconds > time.runtime_seconds) return found;
  const SizeWindow window = find_window(contest, fabric, other->contender, bytes);
  return window.first == bytes && window.last == bytes ? std::move(found) : *std::move(other);
}

std::optional<Winner> file_winner(Contest& contest, const Fabric& fabric, std::int64_t bytes) {
  auto found = contest.winners().front();
  if (!found) return found;
  return or_for_sizes_around(contest, fabric, *std::move(found), bytes,
                             [](std::size_t) { return true; });
}

std::optional<SizeWindow> window_if_open(Contest& contest, const Fabric& fabric,
                                         std::size_t contender, std::int64_t bytes,
                                         const XmlOptions& asked) {
  if (asked.min_bytes != 0 || asked.max_bytes) return std::nullopt;
  return find_window(contest, fabric, contender, bytes);
}

TimeBeside time_beside(Contest& contest, const Fabric& fabric, std::size_t contender,
                       std::int64_t bytes) {
  return WindowFinder(contest, fabric, contender).time_at(bytes);
}

}  // namespace forestcoll::fastest
