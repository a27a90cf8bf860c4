#include "compare/rows/program_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "compare/rows/alltoall_row.hpp"
#include "compare/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kNvls = "nvls";

const AlgorithmTimes* find_times(const RowsRequest& request, const std::string& name) {
  const auto at = std::ranges::find(request.fastest, name, &AlgorithmTimes::algorithm);
  return at == request.fastest.end() ? nullptr : &*at;
}

// At each size; empty where some size has none.
std::vector<FastestChoice> choices_of(const AlgorithmTimes& times) {
  std::vector<FastestChoice> choices;
  for (const auto& choice : times.by_size) {
    if (!choice) return {};
    choices.push_back(*choice);
  }
  return choices;
}

// At each size the faster of the program and of the plan that are written for it.
std::vector<FastestChoice> best_choices(const RowsRequest& request) {
  std::vector<FastestChoice> best;
  for (std::size_t i = 0; i < request.sizes.size(); ++i) {
    std::optional<FastestChoice> fastest;
    for (const AlgorithmTimes& times : request.fastest) {
      if (times.algorithm != kAsWritten) continue;
      const auto& choice = times.by_size[i];
      if (choice && (!fastest || choice->seconds < fastest->seconds)) fastest = choice;
    }
    if (!fastest) return {};
    best.push_back(*std::move(fastest));
  }
  return best;
}

std::string words_of(const FastestChoice& choice) {
  if (choice.buffer_bytes == 0) return fmt::format("{} in {}", choice.name, choice.protocol);
  return fmt::format("{} in {} with NCCL_BUFFSIZE={}", choice.name, choice.protocol,
                     choice.buffer_bytes);
}

// A selector that takes programs at some sizes has plans at others.
void complete(std::vector<AlgorithmTimes>& times, const AlgorithmTimes& plans) {
  const auto at = std::ranges::find(times, plans.algorithm, &AlgorithmTimes::algorithm);
  if (at == times.end()) return;
  for (std::size_t i = 0; i < plans.by_size.size(); ++i) {
    if (!at->by_size[i]) at->by_size[i] = plans.by_size[i];
  }
}

bool is_asked(const RowsRequest& request, const char* name) {
  return std::ranges::find(request.algorithms, name) != request.algorithms.end();
}

// Among what ours is there is all that others have; MSCCL++'s rule picks among both.
std::vector<std::string> plans_to_time(const RowsRequest& request) {
  if (is_asked(request, kOurs) || is_asked(request, kMscclppPick)) return {kOurs, kNvls};
  if (is_asked(request, kNvls)) return {kNvls};
  return {};
}

// What XML cannot say: plans of MSCCL++, of which NVLS's is a row, too. None where none is asked
// for, or the executor runs none of them.
std::vector<AlgorithmTimes> time_plans(const Fabric& fabric, const RowsRequest& request,
                                       FastestOptions options) {
  std::vector<AlgorithmTimes> times;
  options.compile.format = Format::mscclpp;
  options.algorithms = plans_to_time(request);
  if (options.algorithms.empty()) return times;
  auto plans = fastest_of_each(fabric, options);
  if (!plans) return times;
  for (AlgorithmTimes& each : *plans) {
    if (each.algorithm != kNcclPick) times.push_back(std::move(each));  // that knows no plans
  }
  return times;
}

// "one-shot in LL up to 4 KiB, then forestcoll, k 4, height 1 in LL128 up to …"
std::string note_of(const std::vector<FastestChoice>& choices) {
  std::string note;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool goes_on = i + 1 < choices.size() && words_of(choices[i + 1]) == words_of(choices[i]);
    if (goes_on) continue;
    note += fmt::format("{} to {}{}", words_of(choices[i]),
                        rounded_size_in_words(static_cast<double>(choices[i].bytes)),
                        i + 1 < choices.size() ? "; " : "");
  }
  return note;
}

bool is_of_nccl(const std::string& algorithm) {
  const BaselineInfo* info = find_baseline(algorithm);
  if (info == nullptr) info = find_alltoall_baseline(algorithm);
  return is_selector(algorithm) || (info != nullptr && info->traits.picked_by_nccl);
}

template <typename Predicate>
std::vector<std::string> sizes_where(const std::vector<FastestChoice>& choices, Predicate holds) {
  std::vector<std::string> sizes;
  for (const FastestChoice& choice : choices) {
    if (holds(choice)) sizes.push_back(rounded_size_in_words(static_cast<double>(choice.bytes)));
  }
  return sizes;
}

// Where it is so slow that nobody simulated it.
std::string bounds_of(const std::vector<FastestChoice>& choices) {
  const auto sizes = sizes_where(choices, [](const auto& each) { return each.is_bound; });
  if (sizes.empty()) return "";
  return fmt::format("a lower bound at {}: far behind the fastest, and not simulated",
                     fmt::join(sizes, ", "));
}

// Where a runtime would pass over the files, whose chunks do not divide the size. What NCCL has
// itself needs none.
std::string unselected_of(const std::string& algorithm, const std::vector<FastestChoice>& choices) {
  constexpr std::size_t kMostSizes = 3;
  if (is_of_nccl(algorithm)) return "";
  const auto sizes =
      sizes_where(choices, [](const auto& each) { return !each.is_selected && !each.is_bound; });
  if (sizes.empty()) return "";
  const std::string named = sizes.size() > kMostSizes
                                ? fmt::format("{} of the sizes, such as {}", sizes.size(), sizes[0])
                                : fmt::format("{}", fmt::join(sizes, ", "));
  return fmt::format("no runtime selects its file at {}: its chunks do not divide such a call",
                     named);
}

void add_note(ComparedRow& row, const std::string& note) {
  if (note.empty()) return;
  if (!row.note.empty()) row.note += "; ";
  row.note += note;
}

SimulatedTime time_of(const FastestChoice& choice, const Ratio& busbw_factor) {
  const double algbw = static_cast<double>(choice.bytes) / choice.seconds / 1e9;
  return {static_cast<double>(choice.bytes), choice.seconds, algbw,
          algbw * busbw_factor.to_double()};
}

void set_choices(ComparedRow& row, const RowsRequest& request, std::int64_t ranks,
                 std::vector<FastestChoice> choices) {
  const Ratio factor = busbw_factor(request.collective, ranks);
  for (const FastestChoice& choice : choices) row.program_times.push_back(time_of(choice, factor));
  row.choices = std::move(choices);
}

// Ours is the fastest of all of them, and selectors pick among some; nothing names all.
std::vector<std::string> algorithms_to_time(const RowsRequest& request) {
  std::vector<std::string> names = request.algorithms;
  if (std::ranges::find(names, kOurs) != names.end()) return {};
  if (std::ranges::any_of(names, is_selector)) {
    for (const BaselineInfo& info : baselines()) {
      const BaselineTraits& traits = info.traits;
      if (traits.picked_by_nccl || traits.picked_by_mscclpp) names.emplace_back(info.name);
    }
    for (const ExchangeInfo& info : exchanges()) {
      if (info.picked_by_mscclpp) names.emplace_back(info.name);
    }
  }
  return names;
}

Diagnostic no_programs(const std::string& name) {
  if (is_selector(name)) {
    return make_error(Code::N06,
                      "the selector has nothing that could be written for this collective on this "
                      "fabric",
                      "");
  }
  return make_error(Code::N06,
                    "no program of it fits: its partners are not joined by links and switches "
                    "alone, or it needs too many threadblocks or steps",
                    "");
}

}  // namespace

bool is_selector(const std::string& name) {
  return name == kNcclPick || name == kMscclppPick;
}

Expected<std::vector<AlgorithmTimes>> time_programs(const Fabric& fabric,
                                                    const RowsRequest& request, ProgressBar& bar,
                                                    LiveRows& live) {
  const std::size_t ranks = fabric.network.ranks.size();
  const std::size_t most = request.demand                  ? scale::kMostRanksOfPaths
                           : is_rooted(request.collective) ? scale::kMostRanksOfFewTrees
                                                           : scale::kMostRanksOfRoots;
  if (ranks > most) {
    return make_error(Code::N07,
                      fmt::format("programs of {} GPUs are too many to be simulated here", ranks),
                      fmt::format("up to {} are; compare fewer GPUs with --ranks, or trees with "
                                  "--trees",
                                  most));
  }
  std::optional<ServedCounts> as_written;
  if (is_asked(request, kOurs)) as_written = ServedCounts::or_around;
  FastestOptions options{.compile = {},
                         .sizes = request.sizes,
                         .counts = ServedCounts::any,
                         .as_written = as_written,
                         .parameters = request.parameters,
                         .baseline = request.baseline};
  options.algorithms = algorithms_to_time(request);
  options.rows = request.algorithms;
  std::erase(*options.rows, kOurs);  // as written
  SynthesizeOptions& synthesis = options.compile.synthesis;
  options.compile.lowering.target = request.target;
  synthesis.collective = request.collective;
  synthesis.root = request.root;
  synthesis.packing.stop = request.stop;
  if (request.demand) {
    options.compile.format = program_format(request.collective);
    options.compile.proof = request.alltoall_proof;
    options.compile.lowering.placement = Placement::out_of_place;
    synthesis.packing.threads = request.threads;
  }
  bar.update("timing programs", std::nullopt);
  synthesis.packing.progress = [&bar](std::string_view stage, std::optional<double> done) {
    bar.update(stage, done);
  };
  auto times =
      fastest_of_each(fabric, options, [&live](const AlgorithmTimes& known) { live.add(known); });
  const bool is_allreduce = request.collective == Collective::allreduce;
  if (!is_allreduce || switch_roles(fabric.topology).empty()) return times;
  auto plans = time_plans(fabric, request, options);
  if (!times) return plans.empty() ? std::move(times) : std::move(plans);
  for (AlgorithmTimes& each : plans) {
    if (is_selector(each.algorithm)) {
      complete(*times, each);
    } else {
      times->push_back(std::move(each));
    }
  }
  return times;
}

void add_program_times(ComparedRow& row, const RowsRequest& request, std::int64_t ranks) {
  if (request.fastest_error) {
    row.program_times_error = request.fastest_error;
    return;
  }
  if (row.algorithm == kOurs) {
    row.program_times_error.reset();
    auto choices = best_choices(request);
    if (!choices.empty()) {
      add_note(row, "by size the fastest of all, as synth --size writes it: " + note_of(choices));
      add_note(row, unselected_of(row.algorithm, choices));
    }
    return set_choices(row, request, ranks, std::move(choices));
  }
  if (const AlgorithmTimes* times = find_times(request, row.algorithm)) {
    set_choices(row, request, ranks, choices_of(*times));
    add_note(row, unselected_of(row.algorithm, row.choices));
    add_note(row, bounds_of(row.choices));
    if (row.branching && !row.program_times.empty()) row.program_times_error.reset();
  } else if (row.program_error) {
    row.program_times_error = row.program_error;
  }
}

void make_from_programs(ComparedRow& row, const RowsRequest& request, std::int64_t ranks) {
  if (const ExchangeInfo* info = find_exchange(row.algorithm)) {
    row.title = info->title;
    row.source = info->source;
  } else {
    row.title = row.algorithm == kNcclPick ? "what NCCL would pick" : "what MSCCL++ would pick";
    row.source = row.algorithm == kNcclPick
                     ? "NVIDIA NCCL, src/graph/tuning.cc"
                     : "MSCCL++'s selector for a box with NVLS; elsewhere vLLM, custom all-reduce";
  }
  const AlgorithmTimes* times = find_times(request, row.algorithm);
  auto choices = times == nullptr ? std::vector<FastestChoice>() : choices_of(*times);
  if (choices.empty()) {
    const bool is_other = request.fastest_error && request.fastest_error->code != Code::B10;
    row.error = is_other ? *request.fastest_error : no_programs(row.algorithm);
    return;
  }
  row.simulated = Simulated::program;
  const FastestChoice& largest = choices.back();
  row.algbw = largest.algbw;
  row.program = ProgramSize{largest.chunks, largest.threadblocks, largest.channels, largest.steps};
  row.note = note_of(choices);
  add_note(row, unselected_of(row.algorithm, choices));
  add_note(row, bounds_of(choices));
  set_choices(row, request, ranks, std::move(choices));
  row.times = std::move(row.program_times);
  row.program_times.clear();
}

}  // namespace forestcoll::cli
