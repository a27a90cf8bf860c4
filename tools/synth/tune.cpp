// For each size that is asked for, the α–β model (estimate.hpp) picks among forests of k = 1, 2, 4,
// …, 16 trees per root and what `-k auto` takes, the protocols that the runtime can run there, and
// 1, 2 or 4 instances: those that the runtime selects at the size, as it would pass over the others
// without a word. A size at which it selects none is named as not served. Sizes next to each other
// with the same choice become one file. A file's window goes from its first size up to the next
// file's, which is moved down as far as the model has it ahead and a runtime selects it; the last
// one ends at the last size. So windows are disjoint. Sizes in between are served where a runtime
// selects the file for them.
#include "synth/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/emit.hpp"
#include "forestcoll/estimate.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "io.hpp"
#include "progress_bar.hpp"
#include "report.hpp"
#include "share.hpp"
#include "solve.hpp"
#include "synth/file_set.hpp"
#include "synth/k.hpp"
#include "synth/protocol.hpp"
#include "synth/trees_per_root.hpp"
#include "time_limit.hpp"
#include "warnings.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int64_t most_trees = 16;
constexpr std::int32_t kMostTunedInstances = 4;
constexpr std::int64_t element_bytes = 4;

// The largest unit in which it is a whole number: "64 KiB", "131071 B".
std::string exact_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[unit]);
}

struct Candidate {
  std::size_t synthesis;
  LowerOptions lowering;
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

struct File {
  std::string name, text;
  Range range;
  Verdict verdict;
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
    syntheses_.push_back(std::move(best->synthesis));
    for (std::int64_t k = 1; request_.automatic_k && k <= most_trees; k *= 2) {
      SynthesizeOptions fixed = asked;
      fixed.trees_per_root = {TreesPerRoot::Mode::fixed, k};
      auto found = solve(fabric_, fixed, solver, limit, console);
      if (!found) return found.errors();
      add(*std::move(found));
    }
    if (request_.automatic_k) {
      for (Synthesis& each : in_powers_of_two(fabric_, asked, request_, solver, limit, console)) {
        each.forest.optimum = syntheses_.front().forest.optimum;  // of equal shares
        add(std::move(each));
      }
    }
    return at_work("making the schedules", console, [this] { return lower_all(); });
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
    return bytes % (element_bytes * elements(candidates_[candidate])) == 0;
  }

  // The protocols that nobody asked for and no choice is made from, each with the reason.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> left_out() const {
    std::vector<std::pair<std::string, std::string>> result;
    if (!is_free()) return result;
    if (request_.simple_hangs) result.emplace_back("Simple", why_not_simple(request_.collective));
    const auto refused =
        std::ranges::find_if(candidates_, [](const Candidate& c) { return !c.no_ll128.empty(); });
    if (refused != candidates_.end()) result.emplace_back("LL128", refused->no_ll128);
    return result;
  }

  // Why a file in LL128, which was asked for, may not be safe; empty where it is.
  [[nodiscard]] std::string doubt(const File& file) const {
    if (protocol_models()[file.range.choice.protocol].name != "LL128") return {};
    return candidates_[file.range.choice.candidate].no_ll128;
  }

  // The sizes that no file serves.
  [[nodiscard]] std::vector<std::int64_t> not_served() const {
    std::vector<std::int64_t> sizes;
    for (const std::int64_t size : request_.tune) {
      bool is_served = false;
      for (std::size_t c = 0; c < candidates_.size(); ++c) is_served |= serves(c, size);
      if (!is_served) sizes.push_back(size);
    }
    return sizes;
  }

  // Where no size is served at all.
  [[nodiscard]] Diagnostic nothing_served() const {
    const auto& fewest =
        *std::ranges::min_element(candidates_, {}, [&](const Candidate& c) { return elements(c); });
    return usage_error(
        "S03",
        fmt::format("--tune: at none of these sizes would {} select a schedule: the one with the "
                    "fewest chunks has {}, and its buffers are multiples of {} elements",
                    arguments_.target, fewest.schedule.chunks, elements(fewest)),
        fmt::format("name multiples of {} bytes (elements of {} bytes){}",
                    element_bytes * elements(fewest), element_bytes,
                    elements(fewest) == fewest.schedule.chunks
                        ? ""
                        : ", or use RCCL 6.3 and --target rccl-6.3, which take multiples of the "
                          "chunks"));
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

  // The verified text of one range's file.
  [[nodiscard]] Expected<File> file(const Range& range) const {
    const Candidate& c = candidates_[range.choice.candidate];
    const Synthesis& synthesis = syntheses_[c.synthesis];
    XmlOptions xml = request_.xml;
    xml.protocol = protocol_models()[range.choice.protocol].name;
    xml.min_bytes = range.first;
    // The research runtime leaves the upper end out.
    xml.max_bytes = find_target(xml.target)->both_placements ? range.last : range.last + 1;
    const std::string trees = synthesis.forest.weight.empty()
                                  ? fmt::format("k{}", synthesis.forest.k)
                                  : fmt::format("c{}", chunks_of(synthesis.forest));
    File result{fmt::format("{}-{}gpus-{:013}-{}-{}x{}.xml", to_string(request_.collective),
                            fabric_.topology.ranks.size(), range.first, xml.protocol, trees,
                            c.lowering.instances),
                to_msccl_xml(c.schedule, synthesis.forest, fabric_.topology, xml), range,
                Verdict()};
    auto verdict = verify(result.text, result.name, &fabric_.topology,
                          {.target = arguments_.target, .sms = request_.sms});
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    result.verdict = *std::move(verdict);
    return result;
  }

  [[nodiscard]] const CollectiveForest& forest(const File& file) const {
    return syntheses_[candidates_[file.range.choice.candidate].synthesis].forest;
  }

  [[nodiscard]] std::string text(const File& file) const {
    const Range& range = file.range;
    const Candidate& c = candidates_[range.choice.candidate];
    const CollectiveForest& trees = forest(file);
    const double bytes = static_cast<double>(range.first);
    return fmt::format(
        "  {:>11} to {:>11}  {:<10} {:<7} {} instance{}  {} threadblocks, {} channels  "
        "{:.1f} us, {:.1f} GB/s at the first\n"
        "      {} on the links; usable: {}",
        exact_bytes(range.first), exact_bytes(range.last),
        trees.weight.empty() ? fmt::format("k {}", trees.k)
                             : fmt::format("{} chunks", chunks_of(trees)),
        protocol_models()[range.choice.protocol].name, c.lowering.instances,
        c.lowering.instances == 1 ? " " : "s", c.schedule.max_threadblocks(), c.schedule.channels,
        range.choice.seconds * 1e6, bytes / range.choice.seconds * 1e-9,
        of_optimum(trees.algbw, trees.optimum), file.verdict.usable_counts);
  }

  [[nodiscard]] Json json(const File& file) const {
    const Candidate& c = candidates_[file.range.choice.candidate];
    const CollectiveForest& trees = forest(file);
    return {{"file", file.name},
            {"min_bytes", file.range.first},
            {"max_bytes", file.range.last},
            {"k", trees.k},
            {"trees_per_root", trees_per_root(trees)},
            {"chunks", c.schedule.chunks},
            {"usable_counts", file.verdict.usable_counts},
            {"algbw", exact(trees.algbw)},
            {"optimum", exact(trees.optimum)},
            {"protocol", protocol_models()[file.range.choice.protocol].name},
            {"instances", c.lowering.instances},
            {"threadblocks", c.schedule.max_threadblocks()},
            {"channels", c.schedule.channels},
            {"model_seconds", file.range.choice.seconds}};
  }

 private:
  // The model chooses the protocol.
  [[nodiscard]] bool is_free() const {
    return arguments_.protocol.empty() && !arguments_.force_simple;
  }

  [[nodiscard]] bool takes(const Candidate& candidate, std::string_view protocol) const {
    if (!is_free()) return protocol == request_.xml.protocol;
    if (protocol == "Simple") return !request_.simple_hangs;
    return protocol != "LL128" || candidate.no_ll128.empty();
  }

  // Of the whole buffer: a runtime selects the candidate for multiples of so many.
  [[nodiscard]] std::int64_t elements(const Candidate& candidate) const {
    return find_target(arguments_.target)
        ->selected_elements(request_.collective, candidate.schedule.chunks,
                            static_cast<std::int64_t>(fabric_.topology.ranks.size()));
  }

  // A forest that is not there yet.
  void add(Synthesis synthesis) {
    const auto is_same = [&](const Synthesis& other) {
      return other.forest.k == synthesis.forest.k && other.forest.weight == synthesis.forest.weight;
    };
    if (std::ranges::none_of(syntheses_, is_same)) syntheses_.push_back(std::move(synthesis));
  }

  std::optional<Diagnostics> lower_all() {
    std::optional<Diagnostics> refusal;
    const std::int32_t fewest = arguments_.instances.value_or(1);
    const std::int32_t most = arguments_.instances.value_or(kMostTunedInstances);
    for (std::size_t s = 0; s < syntheses_.size(); ++s) {
      const CollectiveForest& trees = syntheses_[s].forest;
      const std::string no_ll128 = why_no_ll128(trees, fabric_.topology, arguments_.target);
      for (std::int32_t n = fewest; n <= most; n *= 2) {
        LowerOptions lowering = request_.lowering;
        lowering.instances = n;
        auto schedule = lower(trees, lowering);
        if (schedule) {
          candidates_.push_back({s, lowering, *std::move(schedule),
                                 pair_latencies(trees, fabric_.topology), no_ll128});
        } else if (!refusal) {
          refusal = schedule.errors();
        }
      }
    }
    return candidates_.empty() ? refusal : std::nullopt;
  }

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
  const std::vector<Range> ranges =
      at_work("choosing by the model", console, [&] { return tuner.ranges(); });
  if (ranges.empty()) return fail({tuner.nothing_served()}, console);
  std::vector<File> files;
  for (const Range& range : ranges) {
    auto made = at_work("checking", console, [&] { return tuner.file(range); });
    if (!made) return fail(made.errors(), console);
    files.push_back(*std::move(made));
  }
  if (is_rooted(request.collective)) warn_of_root("one root", console);
  for (const File& file : files) warn_of_routes(tuner.forest(file), file.verdict, console);
  if (arguments.force_simple) warn_of_simple(request.collective, console);
  const auto doubted =
      std::ranges::find_if(files, [&](const File& file) { return !tuner.doubt(file).empty(); });
  if (doubted != files.end()) warn_of_ll128(tuner.doubt(*doubted), console);
  if (auto error = write_files(arguments.output, texts(files))) {
    return fail({*std::move(error)}, console);
  }
  note(console,
       fmt::format("{}: {} over {}, {} by size (a model, not a measurement), {} assumed per GPU",
                   fabric.topology.name, to_string(request.collective),
                   counted(fabric.topology.ranks.size(), "GPU"), counted(files.size(), "file"),
                   counted(static_cast<std::size_t>(request.sms), "SM")));
  for (const File& file : files) note(console, tuner.text(file));
  for (const auto& [protocol, why] : tuner.left_out()) {
    note(console, fmt::format("  {} left out: {}", protocol, why));
  }
  const std::vector<std::int64_t> not_served = tuner.not_served();
  if (!not_served.empty()) {
    std::vector<std::string> sizes;
    for (const std::int64_t size : not_served) sizes.push_back(exact_bytes(size));
    note(console, fmt::format("  not served, as {} would not select a file: {}", arguments.target,
                              fmt::join(sizes, ", ")));
  }
  if (!arguments.json) return ExitCode::done;
  Json json = {{"format", "forestcoll-tune"},
               {"version", 1},
               {"topology", fabric.topology.name},
               {"collective", to_string(request.collective)},
               {"compute_nodes", fabric.topology.ranks.size()},
               {"target", arguments.target},
               {"sms", request.sms},
               {"estimate", "model, not measurement"},
               {"not_served", not_served}};
  json["left_out"] = Json::array();
  for (const auto& [protocol, why] : tuner.left_out()) {
    json["left_out"].push_back({{"protocol", protocol}, {"reason", why}});
  }
  json["files"] = Json::array();
  for (const File& file : files) json["files"].push_back(tuner.json(file));
  if (auto error = write_output("-", to_text(json))) return fail({*std::move(error)}, console);
  return ExitCode::done;
}

}  // namespace forestcoll::cli
