// Every contender has three proved lower bounds on its time: what its trees put on the busiest
// link, which asks for no program; one of a line, which costs nothing once there is one; and a
// higher one that is made from the program. At a size they are tried in the order of their bounds,
// by few passes at first and then by ever more of those that seem the fastest, until the next bound
// is above the best time found, or next to it: programs that links alone make too slow are never
// made, and most others are simulated for a few passes. Trees that are near the best are then tried
// with their threadblocks given to connections in other ways, which are up to a third apart, and no
// bound says which is the fastest.
#include "fastest/contest.hpp"

#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

#include "choose/settle.hpp"
#include "fastest/paths/alltoall_candidates.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/search_scale.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::fastest {
namespace {

constexpr std::array<const char*, 3> kProtocols = {"Simple", "LL", "LL128"};
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

// What a runtime has itself is what files are compared with, however long that takes.
std::int64_t Contest::most_events(std::size_t contender) const {
  if (!options_.few_variants || has_runtime_own(candidate(contender))) return scale::kMostEvents;
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

std::optional<std::size_t> Contest::variant_of(std::size_t contender) const {
  const std::size_t own = contenders_[contender].candidate;
  const auto base = candidates_[own].variant_of;
  if (!base) return std::nullopt;
  return contender - (own - *base) * contenders_each();
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

std::vector<std::string> Contest::algorithms(const std::function<bool(const std::string&)>& asked) {
  std::vector<std::size_t> candidates;
  for (std::size_t c = 0; c < entrants_; ++c) {
    if (asked(candidates_[c].algorithm)) candidates.push_back(c);
  }
  make(candidates);
  std::vector<std::string> names;
  for (const std::size_t c : candidates) {
    const std::string& name = candidates_[c].algorithm;
    const bool is_new = std::ranges::find(names, name) == names.end();
    if (is_new && !made_[c]->programs.empty()) names.push_back(name);
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
  const Program& asked = program(contender);
  return of_plans() ||
         (!asked.built_in && asked.threadblocks <= compile_.lowering.max_threadblocks);
}

bool Contest::is_divided(std::size_t contender, std::int64_t bytes) const {
  return bytes % (kElementBytes * elements(program(contender))) == 0;
}

bool Contest::serves(std::size_t contender, std::int64_t bytes) const {
  if (!is_made(contenders_[contender].candidate)) return true;
  return serves_around(contender, bytes) &&
         (counts() == ServedCounts::any || is_divided(contender, bytes));
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
