// Every contender has three proved lower bounds on its time: what its trees put on the busiest
// link, which asks for no program; one of a line, which costs nothing once there is one; and a
// higher one that is made from the program. At a size they are simulated in the order of their
// bounds, until the next bound is above the best time found, or next to it: none of those that are
// left can be faster by more than `kWorthwhile`, and programs that links alone make too slow are
// never made. At first comes one that costs little, for a time that ends the simulations of others
// early. Trees that win are then tried with their threadblocks given to connections in other ways,
// which are up to a sixth apart, and no bound says which is the fastest.
#include "fastest/contest.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "choose/as_written.hpp"
#include "choose/settle.hpp"
#include "fastest/paths/alltoall_candidates.hpp"
#include "fastest/time_costs.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/search_scale.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::fastest {
namespace {

constexpr double kBytesOfGigabyte = 1e9;
// Of what links need by exact arithmetic, so that rounding makes no bound too high.
constexpr double kOfExact = 0.999;
constexpr std::array<const char*, 3> kProtocols = {"Simple", "LL", "LL128"};
constexpr double kMostPasses = 64;  // that most simulations need
// Of a connection in Simple: the runtime's own, and small ones, for passes that carry less.
constexpr std::array<std::int64_t, 3> kBuffers = {0, 1 << 21, 1 << 19};
// Of variants: which one is the fastest no figure of a schedule tells.
constexpr std::array<std::int32_t, 4> kOtherWaiting = {4, 16, 1, 0};

// How high trees are is next to nothing of what a large message takes.
Effort effort_of_low(const FastestOptions& options) {
  const Effort asked = options.compile.synthesis.packing.effort;
  const bool are_large =
      std::ranges::all_of(options.sizes, [](std::int64_t bytes) { return bytes >= kLargeMessage; });
  return are_large ? std::min(asked, Effort::fast) : asked;
}

}  // namespace

Expected<Contest> Contest::hold(const Fabric& fabric, const FastestOptions& given) {
  FastestOptions options = given;
  auto settled = choose::settle(fabric, options.compile);
  if (!settled) return settled.errors();
  Contest contest(fabric, options, *std::move(settled));
  contest.free_ =
      options.compile.xml.protocol.empty() && !options.compile.force_simple && !contest.of_plans();
  auto parameters = options.parameters ? Expected<SimulationParameters>(*options.parameters)
                                       : find_simulation_parameters(fabric.gpu.name);
  if (!parameters) return parameters.errors();
  contest.parameters_ = *std::move(parameters);
  auto candidates =
      is_personalized(contest.compile_.synthesis.collective)
          ? find_alltoall_candidates(fabric, contest.compile_, options.algorithms,
                                     options.few_variants)
          : find_candidates(fabric, contest.compile_, options, effort_of_low(options));
  if (!candidates) return candidates.errors();
  contest.candidates_ = *std::move(candidates);
  const Progress& progress = options.compile.synthesis.packing.progress;
  if (progress) progress("writing all that may be fastest", std::nullopt);
  if (const auto done = contest.begin(); !done) return done.errors();
  return contest;
}

Expected<void> Contest::begin() {
  add_variants();
  auto programs = of_plans() ? plans_of(candidates_, *fabric_, compile_)
                             : programs_in_instances(candidates_, *fabric_, compile_,
                                                     options_.instances, options_.few_variants);
  if (!programs) return programs.errors();
  programs_of_ = *std::move(programs);
  add_contenders();
  find_twins();
  note_least_of_links();
  return make_the_likely();
}

std::int64_t Contest::most_events() const {
  if (!options_.few_variants) return scale::kMostEvents;
  return of_plans() ? scale::kMostEventsOfFewPlans : scale::kMostEventsOfFew;
}

bool Contest::simple_hangs() const {
  return !compile_.force_simple &&
         hangs_in_simple(compile_.synthesis.collective, fabric_->topology);
}

std::vector<std::string> Contest::protocols() const {
  if (!free_) return {compile_.xml.protocol};
  std::vector<std::string> names;
  for (const char* name : kProtocols) {
    if (name != std::string("Simple") || !simple_hangs()) names.emplace_back(name);
  }
  return names;
}

std::vector<std::int64_t> Contest::buffers() const {
  std::set<std::int64_t> sizes;
  for (const Contender& each : contenders_) sizes.insert(each.buffer_bytes);
  return {sizes.begin(), sizes.end()};
}

std::vector<std::int64_t> Contest::buffers_for(const std::string& protocol) const {
  if (of_plans() || protocol != "Simple") return {0};
  if (options_.buffer_bytes) return {*options_.buffer_bytes};
  return {kBuffers.begin(), kBuffers.end()};
}

std::int64_t Contest::max_bytes(std::size_t contender) const {
  const Contender& each = contenders_[contender];
  if (of_plans() || each.protocol != "Simple") return program(contender).max_bytes;
  return candidate(contender).most_in_simple(fabric_->topology.ranks.size(),
                                             program(contender).instances, each.buffer_bytes);
}

// Of what goes along trees, but for what runtimes have themselves.
void Contest::add_variants() {
  entrants_ = candidates_.size();
  if (of_plans()) return;
  for (std::size_t c = 0; c < entrants_; ++c) {
    const Candidate& base = candidates_[c];
    if (base.exchange || base.routes || base.is_direct || has_runtime_own(base)) continue;
    for (const std::int32_t waiting : kOtherWaiting) {
      Candidate variant{.algorithm = candidates_[c].algorithm, .chosen = {}, .exchange = {}};
      variant.waiting = waiting;
      variant.variant_of = c;
      candidates_.push_back(std::move(variant));
    }
  }
}

void Contest::add_contenders() {
  const std::size_t numbers = of_plans() ? plan_count() : instance_count(options_.instances);
  for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate) {
    made_.push_back(std::make_unique<Made>());
    for (std::size_t number = 0; number < numbers; ++number) {
      for (const std::string& protocol : protocols()) {
        const std::size_t plain = contenders_.size();
        for (const std::int64_t buffer : buffers_for(protocol)) {
          contenders_.push_back({candidate, number, protocol, buffer, plain});
        }
      }
    }
  }
  times_.resize(contenders_.size());
}

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

// The first, those whose links need little more for a byte than those of the best, and what nothing
// is known of; all, where none of these fits.
Expected<void> Contest::make_the_likely() {
  double least = std::numeric_limits<double>::infinity();  // of a byte
  for (const auto& each : made_) {
    if (each->each_byte > 0) least = std::min(least, each->each_byte);
  }
  std::vector<std::size_t> likely = {0}, others;
  for (std::size_t c = 1; c < entrants_; ++c) {
    (made_[c]->each_byte <= kNearTheBest * least ? likely : others).push_back(c);
  }
  make(likely);
  const auto has_one = [this](std::size_t c) { return !made_[c]->programs.empty(); };
  if (std::ranges::none_of(likely, has_one)) make(others);
  for (const auto& each : made_) {
    if (each->programs.empty()) continue;
    no_ll128_ = each->programs.front().no_ll128;
    return {};
  }
  for (const auto& each : made_) {
    if (!each->errors.empty()) return each->errors;
  }
  return make_error(Code::B10, "none of the algorithms has a schedule here that is right",
                    "write the forest with `format=forest`");
}

void Contest::make(const std::vector<std::size_t>& candidates) {
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for_each(candidates, [this](std::size_t c) {
      std::call_once(made_[c]->once, [&] { make_one(c); });
    });
  });
}

// Of plans, which take long to make. Programs of two that are alike are made twice, as trees that
// join the same GPUs may take other NICs, and so other channels; if they are the same, they are
// simulated once.
void Contest::find_twins() {
  if (!of_plans()) return;
  for (std::size_t c = 1; c < entrants_; ++c) {
    if (candidates_[c].algorithm == candidates_.front().algorithm) continue;
    for (std::size_t other = 0; other < c && !made_[c]->twin; ++other) {
      if (have_same_plans(candidates_[other], candidates_[c])) made_[c]->twin = other;
    }
  }
}

// Those of its twin, unless that was replaced by trees that fit.
Expected<std::vector<Program>> Contest::programs_of(std::size_t candidate) {
  const auto twin = made_[candidate]->twin;
  if (const auto base = candidates_[candidate].variant_of) {
    candidates_[candidate].chosen = candidates_[*base].chosen;
    candidates_[candidate].chosen.schedule.reset();
  }
  if (!twin) return programs_of_(candidate);
  make({*twin});
  if (!have_same_plans(candidates_[*twin], candidates_[candidate])) {
    return programs_of_(candidate);
  }
  if (!made_[*twin]->errors.empty()) return made_[*twin]->errors;
  std::vector<Program> programs = made_[*twin]->programs;
  for (Program& each : programs) each.candidate = candidate;
  return programs;
}

// Whoever waits within one takes up no other, for which a thread that waits for this one may wait.
void Contest::make_one(std::size_t candidate) {
  Made& made = *made_[candidate];
  tbb::this_task_arena::isolate([&] {
    auto programs = programs_of(candidate);
    if (programs) {
      made.programs = *std::move(programs);
      find_lines(candidate);
    } else {
      made.errors = programs.errors();
    }
  });
  made.is_done = true;
}

bool Contest::is_there(std::size_t contender) const {
  return times_[contender] != nullptr;
}

std::vector<const Program*> Contest::all_programs() {
  std::vector<std::size_t> all(entrants_);
  std::iota(all.begin(), all.end(), std::size_t{0});
  make(all);
  std::vector<const Program*> programs;
  for (const auto& each : made_) {
    for (const Program& program : each->programs) programs.push_back(&program);
  }
  return programs;
}

std::vector<std::string> Contest::algorithms() {
  std::vector<std::string> names;
  for (const Program* each : all_programs()) {
    const std::string& name = candidates_[each->candidate].algorithm;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::int64_t Contest::elements(const Program& program) const {
  if (of_plans()) return kPlanAlignment / kElementBytes * program.chunks;
  return find_target(compile_.lowering.target)
      ->selected_elements(compile_.synthesis.collective, program.chunks,
                          static_cast<std::int64_t>(fabric_->topology.ranks.size()));
}

bool Contest::serves_around(std::size_t contender, std::int64_t bytes) const {
  if (!is_made(contenders_[contender].candidate)) return true;
  return is_there(contender) && bytes <= max_bytes(contender);
}

bool Contest::fits(std::size_t contender) const {
  return of_plans() || program(contender).threadblocks <= compile_.lowering.max_threadblocks;
}

bool Contest::is_divided(std::size_t contender, std::int64_t bytes) const {
  return bytes % (kElementBytes * elements(program(contender))) == 0;
}

bool Contest::serves(std::size_t contender, std::int64_t bytes) const {
  if (!is_made(contenders_[contender].candidate)) return true;
  return serves_around(contender, bytes) &&
         (counts() == ServedCounts::any || is_divided(contender, bytes));
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
  const bool is_too_long = operations > static_cast<double>(most_events());
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
  const std::size_t count = contenders_.size() / candidates_.size();
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

// Nobody waits for a run of another size: what was known when it began serves it.
std::optional<double> Contest::seconds(std::size_t contender, std::int64_t bytes, double most) {
  constexpr double kForever = std::numeric_limits<double>::infinity();
  Times& times = times_of(contender);
  KnownRuns runs;
  {
    const std::lock_guard lock(times.mutex);
    const auto known = times.by_size.find(bytes);
    if (known != times.by_size.end()) {
      const Time& time = known->second;
      if (time.seconds != kForever || time.most >= most) return time.seconds;
    }
    runs = times.runs;
  }
  const SimulationParameters parameters = parameters_for(contenders_[contender]);
  const auto run = program(contender).simulator.run({bytes}, parameters,
                                                    {.stop = compile_.synthesis.packing.stop,
                                                     .most_seconds = most,
                                                     .max_events = most_events(),
                                                     .threads = 1,
                                                     .known = &runs});
  Time time{std::nullopt, most};
  if (run) time.seconds = run->times.front().seconds;
  const std::lock_guard lock(times.mutex);
  times.runs.by_bytes.merge(runs.by_bytes);
  const auto [at, is_new] = times.by_size.emplace(bytes, time);
  if (!is_new && at->second.seconds == kForever) at->second = time;
  return time.seconds;
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

std::vector<std::pair<std::string, std::string>> Contest::left_out() const {
  std::vector<std::pair<std::string, std::string>> result;
  if (!free_) return result;
  if (simple_hangs()) {
    result.emplace_back("Simple", why_it_hangs_in_simple(compile_.synthesis.collective));
  }
  if (!no_ll128_.empty()) result.emplace_back("LL128", no_ll128_);
  return result;
}

}  // namespace forestcoll::fastest
