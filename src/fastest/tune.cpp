#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "choose/artefact.hpp"
#include "fastest/tuned_file.hpp"
#include "fastest/window.hpp"
#include "fastest/write.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll {
namespace {

using fastest::Contest;
using fastest::FileSearch;
using fastest::SizeRange;
using fastest::Winner;

using Winners = std::vector<std::optional<Winner>>;  // by size

class Tuner {
 public:
  Tuner(const FastestOptions& options, const Fabric& fabric, Contest contest)
      : options_(options), fabric_(fabric), contest_(std::move(contest)) {}

  // Of all files together: each is as good as it is at its sizes.
  void choose_buffers() {
    const std::vector<std::int64_t> buffers = contest_.buffers();
    std::vector<FileSearch> searches;
    std::vector<Contest::Takes> takes;
    for (const std::int64_t bytes : buffers) {
      searches.emplace_back(contest_, fabric_, bytes);
      takes.push_back(searches.back().takes());
    }
    std::vector<Winners> sets = contest_.winners(takes);
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      take_those_for_sizes_around(searches[b], sets[b]);
    }
    std::size_t chosen = 0;
    for (std::size_t b = 1; b < buffers.size(); ++b) {
      if (cost(sets[b], sets.front()) < cost(sets[chosen], sets.front())) chosen = b;
    }
    buffer_bytes_ = buffers[chosen];
    files_ = std::move(searches[chosen]);
    winners_ = std::move(sets[chosen]);
    leave_to_the_runtime();
  }

  [[nodiscard]] std::vector<SizeRange> ranges() {
    const Winners& winners = winners_;
    std::vector<SizeRange> result;
    bool begins = true;  // no file is for the size before
    for (std::size_t i = 0; i < winners.size(); ++i) {
      const std::int64_t size = options_.sizes[i];
      begins = begins || is_left_[i];
      if (!winners[i]) continue;
      if (std::exchange(begins, false)) {
        result.push_back({size, size, *winners[i]});
      } else if (result.back().winner.contender != winners[i]->contender) {
        SizeRange next{size, size, *winners[i]};
        next.first = first_size_for(next.winner, result.back(), size);
        const std::size_t before = result.back().winner.contender;
        result.back().last = std::min(next.first - 1, contest_.max_bytes(before));
        result.push_back(std::move(next));
      }
      result.back().last = size;
    }
    return result;
  }

  // The sizes that no file serves.
  [[nodiscard]] std::vector<std::int64_t> not_served() const {
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < winners_.size(); ++i) {
      const bool is_served =
          winners_[i] && contest_.serves(winners_[i]->contender, options_.sizes[i]);
      if (!is_served && !is_left_[i]) sizes.push_back(options_.sizes[i]);
    }
    return sizes;
  }

  // At both ends of a range, of the sizes that were asked for.
  [[nodiscard]] std::vector<TimeBeside> times(const SizeRange& range) {
    const std::size_t contender = range.winner.contender;
    std::vector<TimeBeside> result = {beside(contender, range.first)};
    const auto after = std::ranges::upper_bound(options_.sizes, range.last);
    if (after == options_.sizes.begin() || *std::prev(after) <= range.first) return result;
    result.push_back(beside(contender, *std::prev(after)));
    return result;
  }

  [[nodiscard]] Contest& contest() { return contest_; }
  [[nodiscard]] std::int64_t buffer_bytes() const { return buffer_bytes_; }

 private:
  [[nodiscard]] TimeBeside beside(std::size_t contender, std::int64_t bytes) {
    return files_->beside(contender, bytes);
  }

  // Only where two sizes that follow one another have the same: a file for one size alone is never
  // selected where its chunks do not divide it.
  void take_those_for_sizes_around(const FileSearch& files, Winners& winners) const {
    Winners around = winners;
    for (std::size_t i = 0; i < around.size(); ++i) {
      if (around[i]) around[i] = files.at(options_.sizes[i], std::move(around[i]));
    }
    const auto are_same = [&](std::size_t a, std::size_t b) {
      return b < around.size() && around[a] && around[b] &&
             around[a]->contender == around[b]->contender;
    };
    for (std::size_t i = 0; i < around.size(); ++i) {
      if (are_same(i, i + 1) || (i > 0 && are_same(i - 1, i))) winners[i] = around[i];
    }
  }

  // Sizes at which its own choice is faster than any file, but where that would leave no file.
  void leave_to_the_runtime() {
    is_left_.assign(winners_.size(), false);
    for (std::size_t i = 0; i < winners_.size(); ++i) {
      if (!winners_[i]) continue;
      is_left_[i] = fastest::is_behind_runtime(beside(winners_[i]->contender, options_.sizes[i]));
    }
    Winners rest = winners_;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (is_left_[i]) rest[i].reset();
    }
    const auto is_there = [](const std::optional<Winner>& each) { return each.has_value(); };
    if (std::ranges::any_of(rest, is_there)) {
      winners_ = std::move(rest);
    } else {
      is_left_.assign(winners_.size(), false);
    }
  }

  // Of a set: by what part it is slower at all sizes together than the first one, which has the
  // buffers of the runtime itself if they are among those that are chosen among. What is slower at
  // a size than without the set counts more than what is faster at another.
  [[nodiscard]] static double cost(const Winners& those, const Winners& first) {
    constexpr double kLoss = 16;
    double sum = 0;
    for (std::size_t i = 0; i < those.size(); ++i) {
      if (!first[i]) continue;
      if (!those[i]) return std::numeric_limits<double>::infinity();
      const double part = std::log(those[i]->seconds / first[i]->seconds);
      sum += part > 0 ? kLoss * part : part;
    }
    return sum;
  }

  // Halved as long as the next winner is as fast, and above what the one before is chosen for.
  [[nodiscard]] std::int64_t first_size_for(Winner& next, const SizeRange& before,
                                            std::int64_t size) {
    const bool serves = contest_.serves(next.contender, size);
    const auto may_be = [&](std::int64_t bytes) {
      return bytes > before.last && (!serves || contest_.serves(next.contender, bytes));
    };
    while (may_be(size / 2)) {
      const auto seconds = contest_.seconds(next.contender, size / 2);
      const auto previous = contest_.seconds(before.winner.contender, size / 2);
      if (!seconds || (previous && *seconds > *previous)) break;
      size /= 2;
      next.seconds = *seconds;
    }
    return size;
  }

  const FastestOptions& options_;
  const Fabric& fabric_;
  Contest contest_;
  std::int64_t buffer_bytes_ = 0;
  std::optional<FileSearch> files_;  // with them
  Winners winners_;
  std::vector<bool> is_left_;  // to the runtime's own choice
};

}  // namespace

Expected<Tuning> tune(const Fabric& fabric, const FastestOptions& options) {
  auto contest = Contest::hold(fabric, options);
  if (!contest) return contest.errors();
  Tuner tuner(options, fabric, *std::move(contest));
  tuner.choose_buffers();
  const std::vector<SizeRange> ranges = tuner.ranges();
  if (ranges.empty()) return nothing_served(tuner.contest(), "`tune`");
  choose::tell(options.compile, "checking");
  Tuning result;
  result.forests.resize(ranges.size());
  std::vector<std::optional<Expected<TunedFile>>> files(ranges.size());
  tbb::parallel_for(std::size_t{0}, ranges.size(), [&](std::size_t r) {
    files[r] = fastest::tuned_file(tuner.contest(), ranges[r], fabric, result.forests[r]);
  });
  for (std::size_t r = 0; r < files.size(); ++r) {
    auto& file = *files[r];
    if (!file) return file.errors();
    result.files.push_back(*std::move(file));
    result.files.back().forest = r;
    result.files.back().times = tuner.times(ranges[r]);
  }
  result.buffer_bytes = tuner.buffer_bytes();
  result.not_served = tuner.not_served();
  result.left_out = tuner.contest().left_out();
  return result;
}

std::string_view to_string(SwitchUse use) {
  switch (use) {
    case SwitchUse::none:
      break;
    case SwitchUse::sums:
      return "sums";
    case SwitchUse::packets:
      return "packets";
  }
  return "none";
}

}  // namespace forestcoll
