#include "forestcoll/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "fastest/write.hpp"
#include "forestcoll/chunks.hpp"

namespace forestcoll {
namespace {

using fastest::Contest;
using fastest::Winner;

// Sizes with the same winner, bytes, both included.
struct Range {
  std::int64_t first = 0, last = 0;
  Winner winner;  // at `first`
};

class Tuner {
 public:
  Tuner(const Fabric& fabric, const TuneOptions& options, Contest contest)
      : fabric_(fabric), options_(options), contest_(std::move(contest)) {}

  // Of all files together: each is as good as it is at its sizes.
  void choose_buffers() {
    double least = std::numeric_limits<double>::infinity();
    for (const std::int64_t bytes : contest_.buffers()) {
      auto winners = contest_.winners([&](std::size_t c) { return runs_with(c, bytes); });
      double sum = 0;
      for (const auto& winner : winners) sum += winner ? std::log(winner->seconds) : 0;
      if (sum >= least) continue;
      least = sum;
      buffer_bytes_ = bytes;
      winners_ = std::move(winners);
    }
  }

  [[nodiscard]] std::vector<Range> ranges() {
    const std::vector<std::optional<Winner>>& winners = winners_;
    std::vector<Range> result;
    for (std::size_t i = 0; i < winners.size(); ++i) {
      const std::int64_t size = options_.sizes[i];
      if (!winners[i]) continue;
      if (result.empty()) {
        result.push_back({size, size, *winners[i]});
      } else if (result.back().winner.contender != winners[i]->contender) {
        Range next{size, size, *winners[i]};
        next.first = first_size_for(next.winner, result.back(), size);
        result.back().last = next.first - 1;
        result.push_back(std::move(next));
      }
      result.back().last = size;
    }
    return result;
  }

  // The verified text of one range's file.
  [[nodiscard]] Expected<TunedFile> file(const Range& range, Tuning& tuning) {
    const std::size_t contender = range.winner.contender;
    auto lowered = lower_winner(contest_, contender, fabric_);
    if (!lowered) return lowered.errors();
    const Schedule& schedule = *lowered->chosen.schedule;
    CollectiveForest& trees = lowered->chosen.synthesis.forest;
    XmlOptions xml = lowered->options.xml;
    xml.min_bytes = range.first;
    // The research runtime leaves the upper end out.
    xml.max_bytes = find_target(xml.target)->both_placements ? range.last : range.last + 1;
    const FastestChoice choice = describe(contest_, range.winner, range.first, fabric_);
    TunedFile result{
        .name = file_name(choice, trees, range),
        .text = to_msccl_xml(schedule, trees, fabric_.topology, xml),
        .first = range.first,
        .last = range.last,
        .seconds = range.winner.seconds,
        .algorithm = choice.algorithm,
        .why = in_words(choice),
        .protocol = xml.protocol,
        .instances = choice.instances,
        .chunks = schedule.chunks,
        .threadblocks = schedule.max_threadblocks(),
        .channels = schedule.channels,
        .considered = choice.considered,
        .least = choice.least,
        .costs = contest_.costs(range.winner, range.first),
        .forest = tuning.forests.size(),
        .no_ll128 = xml.protocol == "LL128" ? contest_.program(contender).no_ll128 : "",
        .verdict = {}};
    auto verdict = verify(result.text, result.name, &fabric_.topology,
                          {.target = xml.target, .sms = lowered->options.sms});
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    result.verdict = *std::move(verdict);
    tuning.forests.push_back(std::move(trees));
    return result;
  }

  // The sizes that no file serves.
  [[nodiscard]] std::vector<std::int64_t> not_served() const {
    std::vector<std::int64_t> sizes;
    for (const std::int64_t size : options_.sizes) {
      bool is_served = false;
      for (std::size_t c = 0; c < contest_.contenders().size(); ++c) {
        is_served |= contest_.serves(c, size);
      }
      if (!is_served) sizes.push_back(size);
    }
    return sizes;
  }

  [[nodiscard]] const Contest& contest() const { return contest_; }
  [[nodiscard]] std::int64_t buffer_bytes() const { return buffer_bytes_; }

 private:
  // Buffers matter in Simple alone.
  [[nodiscard]] bool runs_with(std::size_t contender, std::int64_t bytes) const {
    const fastest::Contender& each = contest_.contenders()[contender];
    return each.protocol != "Simple" || each.buffer_bytes == bytes;
  }

  [[nodiscard]] std::string file_name(const FastestChoice& choice, const CollectiveForest& trees,
                                      const Range& range) const {
    std::string way = choice.algorithm;
    if (way == "forestcoll") {
      way =
          trees.weight.empty() ? fmt::format("k{}", trees.k) : fmt::format("c{}", chunks_of(trees));
    }
    return fmt::format("{}-{}gpus-{:013}-{}-{}x{}.xml", to_string(trees.collective),
                       fabric_.topology.ranks.size(), range.first, choice.protocol, way,
                       choice.instances);
  }

  // Halved as long as the next winner is as fast, and above what the one before is chosen for.
  [[nodiscard]] std::int64_t first_size_for(Winner& next, const Range& before, std::int64_t size) {
    while (size / 2 > before.last && contest_.serves(next.contender, size / 2)) {
      const auto seconds = contest_.seconds(next.contender, size / 2);
      const auto former = contest_.seconds(before.winner.contender, size / 2);
      if (!seconds || (former && *seconds > *former)) break;
      size /= 2;
      next.seconds = *seconds;
    }
    return size;
  }

  const Fabric& fabric_;
  const TuneOptions& options_;
  Contest contest_;
  std::int64_t buffer_bytes_ = 0;
  std::vector<std::optional<Winner>> winners_;  // with them, by size
};

}  // namespace

Expected<Tuning> tune(const Fabric& fabric, const TuneOptions& options) {
  const Progress& progress = options.compile.synthesis.packing.progress;
  auto contest = Contest::hold(fabric, {.compile = options.compile,
                                        .sizes = options.sizes,
                                        .instances = options.instances,
                                        .buffer_bytes = options.buffer_bytes,
                                        .parameters = {},
                                        .baseline = {},
                                        .algorithms = {}});
  if (!contest) return contest.errors();
  Tuner tuner(fabric, options, *std::move(contest));
  tuner.choose_buffers();
  const std::vector<Range> ranges = tuner.ranges();
  if (ranges.empty()) return nothing_served(tuner.contest(), "--tune");
  if (progress) progress("checking", std::nullopt);
  Tuning result;
  for (const Range& range : ranges) {
    auto file = tuner.file(range, result);
    if (!file) return file.errors();
    result.files.push_back(*std::move(file));
  }
  result.buffer_bytes = tuner.buffer_bytes();
  result.not_served = tuner.not_served();
  result.left_out = tuner.contest().left_out();
  return result;
}

}  // namespace forestcoll
