// What contenders take at a size, and what they take at least.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "choose/as_written.hpp"
#include "fastest/contest.hpp"
#include "fastest/time_costs.hpp"

namespace forestcoll::fastest {
namespace {

constexpr double kBytesOfGigabyte = 1e9;
// Of what links need by exact arithmetic, so that rounding makes no bound too high.
constexpr double kOfExact = 0.999;
constexpr double kMostPasses = 64;  // that most simulations need
constexpr double kPassesOfFew = 4;  // of all, for each of few
constexpr double kMostFew = 16;

}  // namespace

// Of few variants of programs all are made; and what there are many trees of takes longer to be
// added up. Plans take long to make.
void Contest::note_least_of_links() {
  if (options_.few_variants && !of_plans()) return;
  double efficiency = 0;
  for (const std::string& protocol : of_plans() ? std::vector<std::string>{""} : protocols()) {
    efficiency = std::max(efficiency, parameters_.of_protocol(protocol).efficiency);
  }
  tbb::parallel_for(std::size_t{0}, entrants_, [&](std::size_t c) {
    if (const auto most = rate_of_links(candidates_[c])) {
      made_[c]->each_byte = kOfExact / (most->to_double() * kBytesOfGigabyte * efficiency);
    }
  });
  for (std::size_t c = entrants_; c < candidates_.size(); ++c) {
    made_[c]->each_byte = made_[*candidates_[c].variant_of]->each_byte;
  }
}

// GB/s at most, as a runtime routes it. Trees that do not fit are replaced by taller ones: that is
// not looked into where they themselves would be too slow. (Plans of trees have no packets.)
std::optional<Ratio> Contest::rate_of_links(const Candidate& candidate) const {
  if (candidate.exchange && candidate.algbw() > Ratio(0)) return candidate.algbw();
  if (candidate.exchange) return std::nullopt;
  if (candidate.routes || candidate.switched) return std::nullopt;
  return choose::algbw_by_peers(candidate.forest(), fabric_->links());
}

std::size_t Contest::representative(std::size_t contender, std::int64_t bytes) const {
  const Contender& each = contenders_[contender];
  const double chunk = static_cast<double>(bytes) / static_cast<double>(program(contender).chunks);
  return chunk <= parameters_for(each).simple.pass_bytes ? each.plain : contender;
}

double Contest::simulation_cost(std::size_t contender, std::int64_t bytes) const {
  const Program& simulated = program(contender);
  return static_cast<double>(simulated.simulated_steps) *
         std::clamp(passes(contender, bytes), 1.0, kMostPasses);
}

double Contest::passes(std::size_t contender, std::int64_t bytes) const {
  const double pass = parameters_for(contenders_[contender]).simple.pass_bytes;
  return static_cast<double>(bytes) / static_cast<double>(program(contender).chunks) / pass;
}

// A program says in what protocol it runs; here one text stands for all of them.
SimulationParameters Contest::parameters_for(const Contender& contender) const {
  SimulationParameters parameters = with_buffers(parameters_, contender.buffer_bytes);
  parameters.simple = parameters.of_protocol(contender.protocol);
  return parameters;
}

double Contest::least_seconds(std::size_t contender, std::int64_t bytes) {
  Times& times = times_of(contender);
  {
    const std::lock_guard lock(times.mutex);
    const auto known = times.least.find(bytes);
    if (known != times.least.end()) return known->second;
  }
  const Simulator& simulator = program(contender).simulator;
  const SimulationParameters parameters = parameters_for(contenders_[contender]);
  const double operations = simulator.operations(bytes, parameters);
  // What is never simulated need not be known better.
  const bool is_too_long = operations > static_cast<double>(most_events(contender));
  const double least =
      is_too_long ? quick_bound(contender, bytes) : simulator.least_seconds(bytes, parameters);
  const std::lock_guard lock(times.mutex);
  times.least.emplace(bytes, least);
  return least;
}

// Links are the same in all protocols, and a byte is in all buffers.
void Contest::find_lines(std::size_t candidate) {
  const std::vector<Program>& programs = made_[candidate]->programs;
  std::vector<double> of_links;  // seconds for a byte
  for (const Program& each : programs) of_links.push_back(kOfExact * each.simulator.link_seconds());
  const std::size_t count = contenders_each();
  for (std::size_t c = candidate * count; c < (candidate + 1) * count; ++c) {
    const Contender& contender = contenders_[c];
    if (contender.number >= programs.size()) continue;
    const Program& program = programs[contender.number];
    if (free_ && contender.protocol == "LL128" && !program.no_ll128.empty()) continue;
    const SimulationParameters parameters = parameters_for(contender);
    auto times = std::make_shared<Times>();
    times->first_byte = contender.plain == c ? program.simulator.least_seconds(1, parameters)
                                             : times_of(contender.plain).first_byte;
    times->each_byte =
        of_links[contender.number] / parameters.of_protocol(contender.protocol).efficiency;
    const std::tuple run(program.fingerprint, contender.protocol, contender.buffer_bytes);
    const std::lock_guard lock(shared_->mutex);
    times_[c] = shared_->by_run.emplace(run, std::move(times)).first->second;
  }
}

double Contest::link_seconds(std::size_t contender, std::int64_t bytes) const {
  const std::size_t candidate = contenders_[contender].candidate;
  if (!is_made(candidate)) return least_of_links(candidate, bytes);
  return is_there(contender) ? times_of(contender).each_byte * static_cast<double>(bytes) : 0;
}

double Contest::quick_bound(std::size_t contender, std::int64_t bytes) const {
  return std::max(times_of(contender).first_byte, link_seconds(contender, bytes));
}

std::optional<double> Contest::seconds(std::size_t contender, std::int64_t bytes, double most) {
  const auto told = tell(contender, bytes, most);
  return told ? std::optional(told->seconds) : std::nullopt;
}

// Whether it is worth to tell the time by so many: many are extrapolated from few more.
bool Contest::are_few_passes(double count, std::size_t contender, std::int64_t bytes) const {
  const double all = passes(contender, bytes);
  return count > 0 && count <= kMostFew && all <= kMostFew * kMostFew &&
         kPassesOfFew * count <= all;
}

std::optional<Contest::Told> Contest::estimate(std::size_t contender, std::int64_t bytes,
                                               double most, double few_passes) {
  if (!are_few_passes(few_passes, contender, bytes)) few_passes = 0;
  auto told = tell(contender, bytes, most, few_passes);
  if (told && told->is_estimate) {
    told->seconds = std::max(told->seconds, least_seconds(contender, bytes));
  }
  return told;
}

// Nobody waits for a run of another size: what was known when it began serves it. Of an estimate
// only that, so that it is the same whatever was simulated before.
std::optional<Contest::Told> Contest::tell(std::size_t contender, std::int64_t bytes, double most,
                                           double few_passes) {
  constexpr double kForever = std::numeric_limits<double>::infinity();
  Times& times = times_of(contender);
  KnownRuns runs;
  {
    const std::lock_guard lock(times.mutex);
    const auto known = times.by_size.find(bytes);
    if (few_passes == 0 && known != times.by_size.end()) {
      const Time& time = known->second;
      if (!time.seconds) return std::nullopt;
      if (time.seconds != kForever || time.most >= most) return Told{*time.seconds};
    }
    runs = times.runs;
  }
  const SimulationParameters parameters = parameters_for(contenders_[contender]);
  const auto run = program(contender).simulator.run({bytes}, parameters,
                                                    {.stop = compile_.synthesis.packing.stop,
                                                     .few_passes = few_passes,
                                                     .most_seconds = most,
                                                     .max_events = most_events(contender),
                                                     .threads = 1,
                                                     .known = &runs});
  const bool is_estimate = run && run->times.front().is_estimate;
  Time time{std::nullopt, most};
  if (run) time.seconds = run->times.front().seconds;
  const std::lock_guard lock(times.mutex);
  times.runs.by_bytes.merge(runs.by_bytes);
  if (few_passes == 0) {
    const auto [at, is_new] = times.by_size.emplace(bytes, time);
    if (!is_new && at->second.seconds == kForever) at->second = time;
  }
  return time.seconds ? std::optional(Told{*time.seconds, is_estimate}) : std::nullopt;
}

double Contest::least_by_other_sizes(std::size_t contender, std::int64_t bytes) const {
  if (!is_there(contender)) return 0;
  Times& times = times_of(contender);
  const std::lock_guard lock(times.mutex);
  double least = 0;
  for (const auto& [size, time] : times.by_size) {
    if (!time.seconds || *time.seconds == std::numeric_limits<double>::infinity()) continue;
    const double there = *time.seconds;
    least = std::max(least, size < bytes
                                ? there + link_seconds(contender, bytes - size)
                                : there * static_cast<double>(bytes) / static_cast<double>(size));
  }
  return least;
}

TimeCosts Contest::costs(const Winner& winner, std::int64_t bytes) const {
  return time_costs(program(winner.contender).simulator, bytes, winner.seconds,
                    parameters_for(contenders_[winner.contender]));
}

}  // namespace forestcoll::fastest
