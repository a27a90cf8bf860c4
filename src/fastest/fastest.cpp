#include "forestcoll/fastest.hpp"

#include <fmt/format.h>
#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "choose/artefact.hpp"
#include "choose/settle.hpp"
#include "fastest/paths/alltoall_candidates.hpp"
#include "fastest/selectors.hpp"
#include "fastest/window.hpp"
#include "fastest/write.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/stopwatch.hpp"

namespace forestcoll {
namespace {

using fastest::Contest;
using fastest::Winner;

constexpr double kOfInterest = 1.05;  // times what the fastest takes, in tables
constexpr std::size_t kNamed = 4;     // algorithms after the fastest, in words

// A little more than the fastest of all takes at each size.
std::vector<double> seconds_of_interest(Contest& contest) {
  std::vector<double> seconds;
  for (const auto& best : contest.winners()) {
    seconds.push_back(best ? kOfInterest * best->seconds : std::numeric_limits<double>::infinity());
  }
  return seconds;
}

// What is written for each size.
std::vector<std::optional<Winner>> files_for(Contest& contest, const Fabric& fabric,
                                             const FastestOptions& options) {
  const ServedCounts counts = contest.counts();
  contest.require(*options.as_written);
  const fastest::FileSearch files(contest, fabric);
  std::vector<std::optional<Winner>> winners;
  for (const std::int64_t bytes : options.sizes) winners.push_back(files.at(bytes));
  contest.require(counts);
  return winners;
}

Diagnostic no_simple(const ExchangeInfo& exchange, std::int64_t most) {
  return make_error(Code::T08,
                    fmt::format("beyond {} bytes {} has more operations in flight on a connection "
                                "than Simple has room for",
                                most, exchange.name),
                    "leave the protocol out, choose LL, or a smaller window");
}

// An exchange is made for any fabric. That its ranks are not joined is no fault of a schedule that
// somebody has.
Diagnostics in_words_of(const ExchangeInfo& exchange, const Diagnostics& errors) {
  const auto unjoined = std::ranges::find(errors, Code::V20, &Diagnostic::code);
  if (unjoined == errors.end()) return errors;
  return {make_error(Code::B10,
                     fmt::format("{} has no schedule here: {}: {}", exchange.name, unjoined->where,
                                 unjoined->message),
                     "take an algorithm whose partners are joined by links and switches alone")};
}

}  // namespace

std::string in_words(const FastestChoice& choice) {
  std::string line = fmt::format(
      "{}, {}{}, {} instance{}: {:.1f} us, {:.1f} times the lower bound {:.1f} us ({})",
      choice.name, choice.protocol,
      choice.buffer_bytes == 0 ? "" : fmt::format(" with NCCL_BUFFSIZE={}", choice.buffer_bytes),
      choice.instances, choice.instances == 1 ? "" : "s", choice.seconds * 1e6,
      choice.seconds / choice.least.seconds, choice.least.seconds * 1e6,
      choice.least.by == LeastTime::By::latency ? "latency" : "links");
  std::size_t named = 0;
  for (const ConsideredTime& other : choice.considered) {
    if (other.algorithm == choice.algorithm) continue;
    if (named == kNamed) break;
    line += fmt::format("{} {} {}{:.1f} us", named == 0 ? "; others:" : ",", other.algorithm,
                        other.is_bound ? "at least " : "", other.seconds * 1e6);
    ++named;
  }
  return line;
}

std::string in_words(const TimeCosts& costs) {
  const double all = costs.links + costs.waiting + costs.latencies + costs.threadblocks;
  const auto part = [all](double seconds) { return std::lround(100 * seconds / all); };
  return fmt::format("links {} %, contention {} %, latency {} %, threadblocks {} %",
                     part(costs.links), part(costs.waiting), part(costs.latencies),
                     part(costs.threadblocks));
}

Expected<std::vector<FastestChoice>> fastest_choices(const Fabric& fabric,
                                                     const FastestOptions& options) {
  auto contest = Contest::hold(fabric, options);
  if (!contest) return contest.errors();
  const auto winners = contest->winners();
  std::vector<FastestChoice> choices;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    if (!winners[i]) continue;
    choices.push_back(describe(*contest, *winners[i], options.sizes[i], fabric));
  }
  if (choices.empty()) return nothing_served(*contest, "`size`");
  return choices;
}

Expected<FastestSchedule> fastest_schedule(const Fabric& fabric, const FastestOptions& given) {
  FastestOptions options = given;
  options.sizes.resize(1);
  Stopwatch stopwatch;
  const bool has_paths = is_personalized(options.compile.synthesis.collective);
  const auto settled = choose::settle(fabric, options.compile);
  if (!settled) return settled.errors();
  auto proof = has_paths ? fastest::alltoall_proof(fabric, *settled) : AlltoallProof();
  if (!proof) return proof.errors();
  if (has_paths) {
    options.compile.demand = settled->demand;
    options.compile.proof = &*proof;
  }
  const double proving = stopwatch.restart();
  auto contest = Contest::hold(fabric, options);
  if (!contest) return contest.errors();
  const fastest::FileSearch files(*contest, fabric);
  const auto file = files.at_or_near(options.sizes.front());
  if (!file) return nothing_served(*contest, "`size`");
  const std::int64_t bytes = file->bytes;
  const Winner* winner = &file->winner;
  FastestChoice choice = describe(*contest, *winner, bytes, fabric);
  // Nothing runs an all-to-all by itself where plans of one are run.
  const XmlOptions& asked = options.compile.xml;
  const bool has_window =
      (!has_paths || !contest->of_plans()) && asked.min_bytes == 0 && !asked.max_bytes;
  std::optional<SizeWindow> window;
  tbb::parallel_invoke(
      [&] {
        const bool is_large = fabric.topology.ranks.size() > scale::kMostRanksOfCosts;
        if (!options.few_variants || !is_large) choice.costs = contest->costs(*winner, bytes);
      },
      [&] {
        if (has_window) window = files.window(winner->contender, bytes);
      });
  const double choosing = stopwatch.restart();
  choose::tell(options.compile, "checking");
  auto compilation = compile_winner(*contest, winner->contender, fabric, window);
  if (!compilation) return compilation.errors();
  compilation->seconds.rate += proving;
  compilation->seconds.choose += choosing;
  compilation->chosen.why = fmt::format("fastest for this size, simulated: {}", in_words(choice));
  if (choice.costs) {
    compilation->chosen.why += fmt::format("; time by cause: {}", in_words(*choice.costs));
  }
  if (compilation->paths) {
    compilation->paths->proof = *std::move(proof);
    compilation->paths->seconds_at_bytes = choice.seconds;
    compilation->options.proof = nullptr;
  }
  return FastestSchedule{std::move(choice), *std::move(compilation), std::move(window)};
}

Expected<std::vector<AlgorithmTimes>> fastest_of_each(
    const Fabric& fabric, const FastestOptions& options,
    const std::function<void(const AlgorithmTimes&)>& found) {
  auto contest = Contest::hold(fabric, options);
  if (!contest) return contest.errors();
  const auto times_of = [&](const std::string& name, const auto& winners) {
    AlgorithmTimes times{name, {}};
    for (std::size_t i = 0; i < winners.size(); ++i) {
      times.by_size.emplace_back();
      if (!winners[i]) continue;
      times.by_size.back() = describe(*contest, *winners[i], options.sizes[i], fabric);
    }
    return times;
  };
  const auto has_row = [&](const std::string& name) {
    return !options.rows || std::ranges::find(*options.rows, name) != options.rows->end();
  };
  const std::vector<double> of_interest = seconds_of_interest(*contest);
  std::optional<AlgorithmTimes> written;
  if (options.as_written) written = times_of(kAsWritten, files_for(*contest, fabric, options));
  if (written && found) found(*written);
  const std::vector<std::string> algorithms = contest->algorithms(has_row);
  std::vector<Contest::Takes> takes;
  for (const std::string& algorithm : algorithms) {
    takes.emplace_back([&](std::size_t c) { return contest->candidate(c).algorithm == algorithm; });
  }
  const auto tell = [&](std::size_t a, const std::vector<std::optional<Winner>>& winners) {
    if (found) found(times_of(algorithms[a], winners));
  };
  const auto winners = contest->winners_of_each(takes, of_interest, tell);
  std::vector<AlgorithmTimes> all;
  for (std::size_t a = 0; a < algorithms.size(); ++a) {
    all.push_back(times_of(algorithms[a], winners[a]));
  }
  for (const fastest::Selector& selector : fastest::selectors(*contest, fabric)) {
    if (!has_row(selector.name)) continue;
    all.push_back(
        times_of(selector.name, fastest::picks(*contest, selector, options.sizes, of_interest)));
  }
  if (written) all.push_back(*std::move(written));
  return all;
}

Expected<Compilation> compile_exchange(const Fabric& fabric, const ExchangeInfo& exchange,
                                       const CompileOptions& given) {
  CompileOptions options = given;
  fastest::Candidate candidate{std::string(exchange.name), {}, exchange.exchange};
  const std::int64_t most = candidate.most_in_simple(
      fabric.network.ranks.size(), options.lowering.instances, options.xml.buffer_bytes);
  const bool is_bounded = most < std::numeric_limits<std::int64_t>::max();
  if (is_bounded && options.xml.protocol.empty()) options.xml.protocol = "LL";
  if (options.xml.protocol == "Simple") {
    if (options.xml.min_bytes > most) return no_simple(exchange, most);
    fastest::keep_below(most, options);
  }
  auto settled = choose::settle(fabric, options);
  if (!settled) return settled.errors();
  const auto best = bound(fabric.network, Collective::allreduce, std::nullopt);
  if (!best) return best.errors();
  candidate = fastest::exchange_candidate(exchange, fabric, settled->lowering, best->algbw);
  auto lowered = lower_as_written(candidate, fabric, *std::move(settled));
  if (!lowered) return in_words_of(exchange, lowered.errors());
  return compile_forest(fabric, std::move(lowered->chosen), lowered->options);
}

}  // namespace forestcoll
