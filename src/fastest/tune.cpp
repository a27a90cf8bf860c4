#include "forestcoll/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "choose/settle.hpp"
#include "choose/trees.hpp"
#include "forestcoll/chunks.hpp"
#include "forestcoll/estimate.hpp"
#include "forestcoll/protocol.hpp"

namespace forestcoll {
namespace {

constexpr std::int64_t kMostTrees = 16;
constexpr std::int32_t kMostTunedInstances = 4;
constexpr std::int64_t kElementBytes = 4;

struct Candidate {
  std::size_t forest;
  std::int32_t instances;
  Schedule schedule;
  PairLatencies latencies;
  std::string no_ll128;  // why not
};

struct Choice {
  std::size_t candidate = 0, protocol = 0;
  double seconds = 0;
  bool operator==(const Choice& other) const {
    return candidate == other.candidate && protocol == other.protocol;
  }
};

struct Range {
  std::int64_t first = 0, last = 0;  // bytes, both included
  Choice choice;                     // as estimated at `first`
};

class Tuner {
 public:
  // `options` are settled. `free`: the model chooses the protocol.
  Tuner(const Fabric& fabric, const TuneOptions& options, bool free)
      : fabric_(fabric), options_(options), compile_(options.compile), free_(free) {}

  // The forests that differ, and every way to lower them that fits.
  Expected<void> find_candidates() {
    auto best = choose_forest(fabric_, compile_);
    if (!best) return best.errors();
    forests_.push_back(std::move(best->synthesis.forest));
    for (std::int64_t k = 1; compile_.choose_trees && k <= kMostTrees; k *= 2) {
      SynthesizeOptions fixed = compile_.synthesis;
      fixed.trees_per_root = {TreesPerRoot::Mode::fixed, k};
      auto found = synthesize(fabric_.network, fixed);
      if (!found) return found.errors();
      add(std::move(found->forest));
    }
    if (compile_.choose_trees) {
      for (Synthesis& each : choose::in_powers_of_two(fabric_, compile_)) {
        each.forest.optimum = forests_.front().optimum;  // of equal shares
        add(std::move(each.forest));
      }
    }
    return lower_all();
  }

  [[nodiscard]] std::vector<Range> ranges() const {
    std::vector<Range> result;
    for (const std::int64_t size : options_.sizes) {
      auto choice = choose(size);
      if (!choice) continue;
      if (result.empty()) {
        result.push_back({size, size, *choice});
      } else if (!(result.back().choice == *choice)) {
        const std::int64_t first = first_size_for(*choice, result.back(), size);
        result.back().last = first - 1;
        result.push_back({first, first, *choice});
      }
      result.back().last = size;
    }
    return result;
  }

  // Where no size is served at all.
  [[nodiscard]] Diagnostic nothing_served() const {
    const auto& fewest =
        *std::ranges::min_element(candidates_, {}, [&](const Candidate& c) { return elements(c); });
    return {.code = "S03",
            .message = fmt::format(
                "--tune: at none of these sizes would {} select a schedule: the one with the "
                "fewest chunks has {}, and its buffers are multiples of {} elements",
                target(), fewest.schedule.chunks, elements(fewest)),
            .remedy = fmt::format(
                "name multiples of {} bytes (elements of {} bytes){}",
                kElementBytes * elements(fewest), kElementBytes,
                elements(fewest) == fewest.schedule.chunks
                    ? ""
                    : ", or use RCCL 6.3 and --target rccl-6.3, which take multiples of the "
                      "chunks")};
  }

  // The verified text of one range's file.
  [[nodiscard]] Expected<TunedFile> file(const Range& range) const {
    const Candidate& c = candidates_[range.choice.candidate];
    const CollectiveForest& trees = forests_[c.forest];
    XmlOptions xml = compile_.xml;
    xml.protocol = protocol_models()[range.choice.protocol].name;
    xml.min_bytes = range.first;
    // The research runtime leaves the upper end out.
    xml.max_bytes = find_target(xml.target)->both_placements ? range.last : range.last + 1;
    const std::string count =
        trees.weight.empty() ? fmt::format("k{}", trees.k) : fmt::format("c{}", chunks_of(trees));
    TunedFile result{.name = fmt::format("{}-{}gpus-{:013}-{}-{}x{}.xml",
                                         to_string(trees.collective), fabric_.topology.ranks.size(),
                                         range.first, xml.protocol, count, c.instances),
                     .text = to_msccl_xml(c.schedule, trees, fabric_.topology, xml),
                     .first = range.first,
                     .last = range.last,
                     .seconds = range.choice.seconds,
                     .protocol = xml.protocol,
                     .instances = c.instances,
                     .chunks = c.schedule.chunks,
                     .threadblocks = c.schedule.max_threadblocks(),
                     .channels = c.schedule.channels,
                     .forest = c.forest,
                     .no_ll128 = xml.protocol == "LL128" ? c.no_ll128 : "",
                     .verdict = {}};
    auto verdict = verify(result.text, result.name, &fabric_.topology,
                          {.target = target(), .sms = compile_.sms});
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    result.verdict = *std::move(verdict);
    return result;
  }

  // The sizes that no file serves.
  [[nodiscard]] std::vector<std::int64_t> not_served() const {
    std::vector<std::int64_t> sizes;
    for (const std::int64_t size : options_.sizes) {
      bool is_served = false;
      for (std::size_t c = 0; c < candidates_.size(); ++c) is_served |= serves(c, size);
      if (!is_served) sizes.push_back(size);
    }
    return sizes;
  }

  // The protocols that nobody asked for and no choice is made from, each with the reason.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> left_out() const {
    std::vector<std::pair<std::string, std::string>> result;
    if (!free_) return result;
    if (simple_hangs()) {
      result.emplace_back("Simple", why_it_hangs_in_simple(compile_.synthesis.collective));
    }
    const auto refused =
        std::ranges::find_if(candidates_, [](const Candidate& c) { return !c.no_ll128.empty(); });
    if (refused != candidates_.end()) result.emplace_back("LL128", refused->no_ll128);
    return result;
  }

  [[nodiscard]] std::vector<CollectiveForest> forests() && { return std::move(forests_); }

 private:
  [[nodiscard]] const std::string& target() const { return compile_.xml.target; }

  [[nodiscard]] bool simple_hangs() const {
    return !compile_.force_simple &&
           hangs_in_simple(compile_.synthesis.collective, fabric_.topology);
  }

  // What is fastest at one size, of what a runtime would select there; none where nothing is. Of
  // equals the first: fewer trees, fewer instances, Simple.
  [[nodiscard]] std::optional<Choice> choose(std::int64_t bytes) const {
    std::optional<Choice> best;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      if (!serves(c, bytes)) continue;
      for (std::size_t p = 0; p < protocol_models().size(); ++p) {
        if (!takes(candidates_[c], protocol_models()[p].name)) continue;
        const double seconds = estimate(c, p, bytes);
        if (!best || seconds < best->seconds) best = Choice{c, p, seconds};
      }
    }
    return best;
  }

  // Would a runtime select it?
  [[nodiscard]] bool serves(std::size_t candidate, std::int64_t bytes) const {
    return bytes % (kElementBytes * elements(candidates_[candidate])) == 0;
  }

  [[nodiscard]] double estimate(std::size_t candidate, std::size_t protocol,
                                std::int64_t bytes) const {
    const Candidate& c = candidates_[candidate];
    return estimated_seconds(c.schedule, c.latencies, forests_[c.forest].algbw.to_double(),
                             protocol_models()[protocol], static_cast<double>(bytes));
  }

  // Halved as long as the next choice is as fast, and above what the one before is chosen for.
  [[nodiscard]] std::int64_t first_size_for(Choice& next, const Range& before,
                                            std::int64_t size) const {
    while (size / 2 > before.last && serves(next.candidate, size / 2)) {
      const double seconds = estimate(next.candidate, next.protocol, size / 2);
      if (seconds > estimate(before.choice.candidate, before.choice.protocol, size / 2)) break;
      size /= 2;
      next.seconds = seconds;
    }
    return size;
  }

  [[nodiscard]] bool takes(const Candidate& candidate, std::string_view protocol) const {
    if (!free_) return protocol == compile_.xml.protocol;
    if (protocol == "Simple") return !simple_hangs();
    return protocol != "LL128" || candidate.no_ll128.empty();
  }

  // Of the whole buffer: a runtime selects the candidate for multiples of so many.
  [[nodiscard]] std::int64_t elements(const Candidate& candidate) const {
    return find_target(target())->selected_elements(
        compile_.synthesis.collective, candidate.schedule.chunks,
        static_cast<std::int64_t>(fabric_.topology.ranks.size()));
  }

  // A forest that is not there yet.
  void add(CollectiveForest forest) {
    const auto is_same = [&](const CollectiveForest& other) {
      return other.k == forest.k && other.weight == forest.weight;
    };
    if (std::ranges::none_of(forests_, is_same)) forests_.push_back(std::move(forest));
  }

  Expected<void> lower_all() {
    Expected<void> lowered;
    const std::int32_t fewest = options_.instances.value_or(1);
    const std::int32_t most = options_.instances.value_or(kMostTunedInstances);
    for (std::size_t f = 0; f < forests_.size(); ++f) {
      const CollectiveForest& trees = forests_[f];
      const std::string no_ll128 = why_no_ll128(trees, fabric_.topology, target());
      for (std::int32_t n = fewest; n <= most; n *= 2) {
        LowerOptions lowering = compile_.lowering;
        lowering.instances = n;
        auto schedule = lower(trees, lowering);
        if (schedule) {
          candidates_.push_back(
              {f, n, *std::move(schedule), pair_latencies(trees, fabric_.topology), no_ll128});
        } else if (lowered) {
          lowered = schedule.errors();
        }
      }
    }
    return candidates_.empty() ? lowered : Expected<void>();
  }

  const Fabric& fabric_;
  const TuneOptions& options_;
  const CompileOptions& compile_;
  bool free_;
  std::vector<CollectiveForest> forests_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Expected<Tuning> tune(const Fabric& fabric, const TuneOptions& given) {
  const CompileOptions& asked = given.compile;
  const bool free = asked.xml.protocol.empty() && !asked.force_simple;
  auto settled = choose::settle(fabric, asked);
  if (!settled) return settled.errors();
  TuneOptions options = given;
  options.compile = *std::move(settled);
  const Progress& progress = asked.synthesis.packing.progress;
  const auto tell = [&](std::string_view stage) {
    if (progress) progress(stage, std::nullopt);
  };
  Tuner tuner(fabric, options, free);
  if (const auto done = tuner.find_candidates(); !done) return done.errors();
  tell("choosing by the model");
  const std::vector<Range> ranges = tuner.ranges();
  if (ranges.empty()) return tuner.nothing_served();
  tell("checking");
  Tuning result;
  for (const Range& range : ranges) {
    auto file = tuner.file(range);
    if (!file) return file.errors();
    result.files.push_back(*std::move(file));
  }
  result.not_served = tuner.not_served();
  result.left_out = tuner.left_out();
  result.forests = std::move(tuner).forests();
  return result;
}

}  // namespace forestcoll
