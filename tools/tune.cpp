// For each size that is asked for, the α–β model (estimate.hpp) picks among forests of k = 1, 2, 4,
// …, 16 trees per root and what `-k auto` takes, three protocols, and 1, 2 or 4 instances. Sizes
// next to each other with the same choice become one file. A file's window goes from its first size
// up to the next file's, which is moved down as far as the model has it ahead; the last one ends at
// the last size. So windows are disjoint, and between the first size and the last no size is
// without a file.
#include "tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "file_set.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/estimate.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "io.hpp"
#include "report.hpp"
#include "solve.hpp"
#include "synth_k.hpp"
#include "time_limit.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int64_t most_trees = 16;
constexpr std::int32_t most_instances = 4;

struct Candidate {
  std::size_t synthesis;
  LowerOptions lowering;
  Schedule schedule;
  PairLatencies latencies;
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

struct File {
  std::string name, text;
  Range range;
};

class Tuner {
 public:
  Tuner(const Fabric& fabric, const SynthArguments& arguments, const SynthRequest& request)
      : fabric_(fabric), arguments_(arguments), request_(request) {}

  // The forests that differ, and every way to lower them that fits.
  std::optional<Diagnostics> find_candidates(const SolverRequest& solver, std::optional<Rank> root,
                                             const Console& console) {
    const TimeLimit limit(solver.seconds);
    const SynthesizeOptions asked{
        .collective = request_.collective, .root = root, .trees_per_root = request_.trees};
    auto best = solve_with_k(fabric_, asked, request_, solver, limit, console);
    if (!best) return best.errors();
    syntheses_.push_back(*std::move(best));
    for (std::int64_t k = 1; request_.automatic_k && k <= most_trees; k *= 2) {
      SynthesizeOptions fixed = asked;
      fixed.trees_per_root = {TreesPerRoot::Mode::fixed, k};
      auto found = solve(fabric_, fixed, solver, limit, console);
      if (!found) return found.errors();
      if (k != syntheses_.front().forest.k) syntheses_.push_back(*std::move(found));
    }
    std::optional<Diagnostics> refusal;
    for (std::size_t s = 0; s < syntheses_.size(); ++s) {
      for (std::int32_t n = 1; n <= most_instances; n *= 2) {
        LowerOptions lowering = request_.lowering;
        lowering.instances = n;
        auto schedule = lower(syntheses_[s].forest, lowering);
        if (schedule) {
          candidates_.push_back({s, lowering, *std::move(schedule),
                                 pair_latencies(syntheses_[s].forest, fabric_.topology)});
        } else if (!refusal) {
          refusal = schedule.errors();
        }
      }
    }
    return candidates_.empty() ? refusal : std::nullopt;
  }

  // What is fastest at one size. Of equals the first: fewer trees, fewer instances, Simple.
  [[nodiscard]] Choice choose(std::int64_t bytes) const {
    std::optional<Choice> best;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      for (std::size_t p = 0; p < protocol_models().size(); ++p) {
        const double seconds = estimate(c, p, bytes);
        if (!best || seconds < best->seconds) best = Choice{c, p, seconds};
      }
    }
    return *best;
  }

  [[nodiscard]] double estimate(std::size_t candidate, std::size_t protocol,
                                std::int64_t bytes) const {
    const Candidate& c = candidates_[candidate];
    return estimated_seconds(c.schedule, c.latencies,
                             syntheses_[c.synthesis].forest.algbw.to_double(),
                             protocol_models()[protocol], static_cast<double>(bytes));
  }

  [[nodiscard]] std::vector<Range> ranges() const {
    std::vector<Range> result;
    for (const std::int64_t size : request_.tune) {
      Choice choice = choose(size);
      if (result.empty()) {
        result.push_back({size, size, choice});
      } else if (!(result.back().choice == choice)) {
        const std::int64_t first = first_size_for(choice, result.back(), size);
        result.back().last = first - 1;
        result.push_back({first, first, choice});
      }
      result.back().last = size;
    }
    return result;
  }

  // Halved as long as the next choice is as fast, and above what the one before is chosen for.
  [[nodiscard]] std::int64_t first_size_for(Choice& next, const Range& before,
                                            std::int64_t size) const {
    while (size / 2 > before.last) {
      const double seconds = estimate(next.candidate, next.protocol, size / 2);
      if (seconds > estimate(before.choice.candidate, before.choice.protocol, size / 2)) break;
      size /= 2;
      next.seconds = seconds;
    }
    return size;
  }

  // The verified text of one range's file.
  [[nodiscard]] Expected<File> file(const Range& range) const {
    const Candidate& c = candidates_[range.choice.candidate];
    const Synthesis& synthesis = syntheses_[c.synthesis];
    XmlOptions xml = request_.xml;
    xml.protocol = protocol_models()[range.choice.protocol].name;
    xml.min_bytes = range.first;
    // The research runtime leaves the upper end out.
    xml.max_bytes = find_target(xml.target)->both_placements ? range.last : range.last + 1;
    File result{fmt::format("{}-{}gpus-{:013}-{}-k{}x{}.xml", to_string(request_.collective),
                            fabric_.topology.ranks.size(), range.first, xml.protocol,
                            synthesis.forest.k, c.lowering.instances),
                to_msccl_xml(c.schedule, synthesis.forest, fabric_.topology, xml), range};
    const auto verdict = verify(result.text, result.name, &fabric_.topology,
                                {.target = arguments_.target, .sms = arguments_.sms});
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    return result;
  }

  [[nodiscard]] std::string text(const Range& range) const {
    const Candidate& c = candidates_[range.choice.candidate];
    const CollectiveForest& forest = syntheses_[c.synthesis].forest;
    const double bytes = static_cast<double>(range.first);
    return fmt::format(
        "  {:>15} to {:>15} bytes  k {:<4} {:<7} {} instance{}  {} threadblocks, {} channels  "
        "{:.1f} "
        "us, {:.1f} GB/s at the first",
        range.first, range.last, forest.k, protocol_models()[range.choice.protocol].name,
        c.lowering.instances, c.lowering.instances == 1 ? " " : "s", c.schedule.max_threadblocks(),
        c.schedule.channels, range.choice.seconds * 1e6, bytes / range.choice.seconds * 1e-9);
  }

  [[nodiscard]] Json json(const File& file) const {
    const Candidate& c = candidates_[file.range.choice.candidate];
    const CollectiveForest& forest = syntheses_[c.synthesis].forest;
    return {{"file", file.name},
            {"min_bytes", file.range.first},
            {"max_bytes", file.range.last},
            {"k", forest.k},
            {"algbw", exact(forest.algbw)},
            {"protocol", protocol_models()[file.range.choice.protocol].name},
            {"instances", c.lowering.instances},
            {"threadblocks", c.schedule.max_threadblocks()},
            {"channels", c.schedule.channels},
            {"model_seconds", file.range.choice.seconds}};
  }

 private:
  const Fabric& fabric_;
  const SynthArguments& arguments_;
  const SynthRequest& request_;
  std::vector<Synthesis> syntheses_;
  std::vector<Candidate> candidates_;
};

std::vector<NamedText> texts(const std::vector<File>& files) {
  std::vector<NamedText> result;
  for (const File& file : files) result.push_back({file.name, file.text});
  return result;
}

}  // namespace

ExitCode tune(const Fabric& fabric, const SynthArguments& arguments, const SynthRequest& request,
              const SolverRequest& solver, std::optional<Rank> root, const Console& console) {
  if (auto error = refuse_directory(arguments.output, "-o"))
    return fail({*std::move(error)}, console);
  Tuner tuner(fabric, arguments, request);
  if (const auto errors = tuner.find_candidates(solver, root, console)) {
    return fail(*errors, console);
  }
  std::vector<File> files;
  for (const Range& range : tuner.ranges()) {
    auto made = tuner.file(range);
    if (!made) return fail(made.errors(), console);
    files.push_back(*std::move(made));
  }
  if (auto error = write_files(arguments.output, texts(files))) {
    return fail({*std::move(error)}, console);
  }
  note(console,
       fmt::format("{}: {} over {}, {} by size (a model, not a measurement)", fabric.topology.name,
                   to_string(request.collective), counted(fabric.topology.ranks.size(), "GPU"),
                   counted(files.size(), "file")));
  for (const File& file : files) note(console, tuner.text(file.range));
  if (!arguments.json) return ExitCode::done;
  Json json = {{"format", "forestcoll-tune"},
               {"version", 1},
               {"topology", fabric.topology.name},
               {"collective", to_string(request.collective)},
               {"compute_nodes", fabric.topology.ranks.size()},
               {"target", arguments.target},
               {"estimate", "model, not measurement"}};
  json["files"] = Json::array();
  for (const File& file : files) json["files"].push_back(tuner.json(file));
  if (auto error = write_output("-", to_text(json))) return fail({*std::move(error)}, console);
  return ExitCode::done;
}

}  // namespace forestcoll::cli
