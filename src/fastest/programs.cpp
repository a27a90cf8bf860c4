#include "fastest/programs.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "choose/as_written.hpp"
#include "choose/fit_threadblocks.hpp"
#include "choose/schedule_program.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/search_scale.hpp"
#include "schedule/msccl/class_schedule.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/prepare_program.hpp"

namespace forestcoll::fastest {
namespace {

constexpr std::array<std::int32_t, 4> kInstances = {1, 2, 4, 8};
// Instances, of few variants: of what goes along paths, and of programs of few steps. What a
// runtime has itself is in all of them, as it runs in whichever is the fastest.
constexpr std::int32_t kMostOfPaths = 4, kMostOfSmall = 2;
// Twice the instances have so many times the steps at least: twice, where nothing is merged.
constexpr double kStepsOfTwice = 1.5;
constexpr double kMostTreesOfMessage = 16;
constexpr double kAny = std::numeric_limits<double>::infinity();  // steps
// Of few variants: lowering takes longer than a default should where so many would have to.
constexpr double kMostTreesOfMessageOfFew = 2;

std::size_t step_count(const Schedule& schedule) {
  std::size_t steps = 0;
  for (const RankProgram& program : schedule.programs) {
    for (const Threadblock& block : program.threadblocks) steps += block.steps.size();
  }
  return steps;
}

// With one tree per root every edge is a step of either end; and ranks copy what is their own.
std::size_t most_steps(std::size_t ranks, Collective collective) {
  if (ranks > scale::kMostRanksOfRoots) {
    return std::max(scale::kMostSteps, scale::kMostStepsOfRank * ranks);
  }
  const std::size_t phases = collective == Collective::allreduce ? 2 : 1;
  return std::max(scale::kMostSteps, 2 * phases * ranks * (ranks - 1) + ranks);
}

// Steps at least, but where more than `trees` share their messages.
double least_steps(const CollectiveForest& forest, double trees) {
  std::size_t edges = 0;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase) edges += (*phase)->tree_count() * ((*phase)->rank_count() - 1);
  }
  return static_cast<double>(edges) / trees;
}

class ProgramMaker {
 public:
  ProgramMaker(std::span<Candidate> candidates, const Fabric& fabric, simulate::Fabric links,
               const CompileOptions& options)
      : candidates_(candidates),
        fabric_(fabric),
        links_(std::move(links)),
        options_(options),
        most_steps_(most_steps(fabric.network.ranks.size(), options.synthesis.collective)) {}

  // All numbers of instances of one candidate; the first program of the first one, whatever its
  // steps.
  Expected<std::vector<Program>> make(std::size_t candidate,
                                      std::optional<std::int32_t> asked) const {
    return make_up_to(kInstances.back(), candidate, asked, candidate == 0);
  }

  // In one number of instances, or few.
  Expected<std::vector<Program>> make_few(std::size_t candidate) const {
    if (is_too_large_of_few(candidates_[candidate].forest(), options_.synthesis.collective)) {
      return std::vector<Program>();
    }
    const bool has_first =
        candidate == 0 && fabric_.network.ranks.size() <= scale::kMostRanksOfRoots;
    if (has_runtime_own(candidates_[candidate])) {
      return make_up_to(kInstances.back(), candidate, {}, has_first);
    }
    if (candidates_[candidate].routes) return make_widest(candidate);
    const bool is_small = kMostOfSmall * least_steps(candidates_[candidate].forest(), 1) <=
                          static_cast<double>(scale::kMostStepsOfInstances);
    return make_up_to(is_small ? kMostOfSmall : 1, candidate, {}, has_first);
  }

 private:
  // What is lowered: `built_in` is as in `LowerOptions`.
  struct Asked {
    std::size_t candidate = 0;
    std::int32_t instances = 1;
    bool built_in = false;
  };

  // A runtime's own kernels are not held to the threadblocks that a file may have here.
  [[nodiscard]] LowerOptions lowering_of(const Asked& asked) const {
    const Candidate& candidate = candidates_[asked.candidate];
    LowerOptions lowering = options_.lowering;
    lowering.instances = asked.instances;
    lowering.waiting = candidate.waiting;
    lowering.built_in = lowering.built_in || asked.built_in;
    if (has_runtime_own(candidate)) {
      lowering.max_threadblocks = std::max(lowering.max_threadblocks, default_sms(lowering.target));
    }
    return lowering;
  }

  // By taller trees with fewer peers.
  [[nodiscard]] bool may_be_fitted(const Asked& asked) const {
    const Candidate& candidate = candidates_[asked.candidate];
    return asked.instances == 1 && candidate.algorithm == "forestcoll" && !candidate.routes;
  }

  [[nodiscard]] bool is_known(const Asked& asked) const {
    return candidates_[asked.candidate].chosen.schedule &&
           asked.instances == options_.lowering.instances;
  }
  [[nodiscard]] const Schedule& known(std::size_t candidate) const {
    return *candidates_[candidate].chosen.schedule;
  }

  Expected<std::vector<Program>> make_up_to(std::int32_t most, std::size_t candidate,
                                            std::optional<std::int32_t> asked = {},
                                            bool has_first = false) const {
    std::vector<Program> made;
    const CollectiveForest& forest = candidates_[candidate].forest();
    const bool is_own = has_runtime_own(candidates_[candidate]) && !candidates_[candidate].routes &&
                        least_steps(forest, 1) <= static_cast<double>(scale::kMostEdgesOfOwn);
    const auto most_steps = static_cast<double>(most_steps_);
    double limit = has_first || is_own ? kAny : most_steps;
    double steps = least_steps(forest, kMostTreesOfMessage);  // of the next
    for (const std::int32_t instances : kInstances) {
      if (instances > most || steps > limit) break;
      const std::int32_t n = asked.value_or(instances);
      auto next = make_one({candidate, n}, limit);
      if (!next && made.empty() && is_own) next = make_one({candidate, n, true}, limit);
      if (!next && made.empty()) return next.errors();
      if (!next || next->is_too_long) break;
      steps = kStepsOfTwice * next->steps;
      if (next->program) made.push_back(*std::move(next->program));
      limit = most_steps;
      if (asked || options_.synthesis.packing.stop.stop_requested()) break;
    }
    return made;
  }

  // The most of these that fit, and are not too long.
  Expected<std::vector<Program>> make_widest(std::size_t candidate) const {
    for (std::int32_t instances = kMostOfPaths;; instances /= 2) {
      auto widest = make(candidate, instances);
      if ((widest && !widest->empty()) || instances == 1) return widest;
    }
  }

  // None where the candidate has it.
  Expected<std::optional<Schedule>> lower(const Asked& asked) const {
    const std::optional<Schedule> none;
    Candidate& candidate = candidates_[asked.candidate];
    if (is_known(asked)) return none;
    auto schedule = lower_candidate(candidate, fabric_, lowering_of(asked));
    if (schedule) return std::optional(*std::move(schedule));
    if (!may_be_fitted(asked)) return schedule.errors();
    auto fitted = choose::fit_threadblocks(candidate.chosen.synthesis, fabric_, options_);
    if (!fitted.fits) return schedule.errors();
    candidate.chosen = std::move(fitted.chosen);
    return none;
  }

  struct MadeOne {
    double steps = 0;  // of all ranks
    bool is_too_long = false;
    std::optional<Program> program = {};  // none where it is wrong, or too long
  };

  // Up to `most` steps.
  Expected<MadeOne> make_one(const Asked& asked, double most) const {
    auto program = of_classes(asked);
    if (!program && !may_be_fitted(asked)) return program.errors();
    if (program && *program) {
      if ((*program)->steps > most) return MadeOne{(*program)->steps, true};
      return **std::move(program);
    }
    auto lowered = lower(asked);
    if (!lowered) return lowered.errors();
    const Schedule& schedule = *lowered ? **lowered : known(asked.candidate);
    const auto steps = static_cast<double>(step_count(schedule));
    if (steps > most) return MadeOne{steps, true};
    return MadeOne{steps, false, prepared(asked, schedule, {})};
  }

  // Where one rank of each class does what all do, no other is lowered or simulated.
  Expected<std::optional<MadeOne>> of_classes(const Asked& asked) const {
    const std::optional<MadeOne> none;
    const Candidate& candidate = candidates_[asked.candidate];
    if (is_known(asked) || candidate.exchange || candidate.routes || candidate.is_direct) {
      return none;
    }
    const auto lowered = schedule::lower_classes(candidate.forest(), lowering_of(asked));
    if (!lowered) return lowered.errors();
    if (!*lowered) return none;
    const schedule::ClassSchedule& classes = **lowered;
    const schedule::Views& views = classes.views;
    const simulate::Images images = {
        views.images(), [&](std::size_t i, Rank rank) { return views.image(i, rank); },
        [&](std::pair<std::int32_t, std::int32_t> ends) {
          const Rank sender(ends.first);
          return std::pair(views.seen(sender, sender).value,
                           views.seen(sender, Rank(ends.second)).value);
        }};
    auto program = prepared(asked, classes.schedule, images);
    if (!program) return none;
    const auto steps = static_cast<double>(step_count(classes.schedule) * views.images());
    return std::optional(MadeOne{steps, false, std::move(program)});
  }

  std::optional<Program> prepared(const Asked& asked, const Schedule& schedule,
                                  const simulate::Images& images) const {
    const Candidate& candidate = candidates_[asked.candidate];
    audit::Program program = choose::program_of(schedule);
    const Fingerprint fingerprint = fingerprint_of(program);
    auto made = simulate::prepare_program(std::move(program), fabric_.topology, links_, images);
    if (!made) return std::nullopt;
    if (candidate.routes) note_rate(candidates_[asked.candidate], schedule);
    return Program{.candidate = asked.candidate,
                   .instances = asked.instances,
                   .simulator = std::move(made->simulator),
                   .chunks = schedule.chunks,
                   .threadblocks = schedule.max_threadblocks(),
                   .channels = schedule.channels,
                   .steps = schedule.max_steps(),
                   .simulated_steps = made->steps,
                   .fingerprint = fingerprint,
                   .no_ll128 = why_not_ll128(candidate),
                   .built_in = asked.built_in};
  }

  // What goes along paths that a program cuts into parts reaches what these put on the links; 0
  // where the search does not know that.
  void note_rate(Candidate& candidate, const Schedule& schedule) const {
    candidate.chosen.synthesis.forest.algbw =
        choose::algbw_by_peers(schedule, fabric_.links()).value_or(Ratio(0));
  }

  // Where there are no trees anybody may send to anybody.
  [[nodiscard]] std::string why_not_ll128(const Candidate& candidate) const {
    if (candidate.exchange || candidate.routes) {
      return why_no_ll128(fabric_.topology, options_.lowering.target);
    }
    return why_no_ll128(candidate.forest(), fabric_.topology, options_.lowering.target);
  }

  std::span<Candidate> candidates_;
  const Fabric& fabric_;
  simulate::Fabric links_;
  const CompileOptions options_;
  std::size_t most_steps_;
};

}  // namespace

bool has_runtime_own(const Candidate& candidate) {
  const std::string& name = candidate.algorithm;
  const BaselineInfo* info = candidate.routes ? find_alltoall_baseline(name) : find_baseline(name);
  return info != nullptr && info->traits.picked_by_nccl;
}

bool is_too_large_of_few(const CollectiveForest& forest, Collective collective) {
  const Forest* phase = forest.broadcast ? &*forest.broadcast
                        : forest.reduce  ? &*forest.reduce
                                         : nullptr;
  if (phase == nullptr || phase->rank_count() <= scale::kMostRanksOfRoots) return false;
  return least_steps(forest, kMostTreesOfMessageOfFew) >
         static_cast<double>(most_steps(phase->rank_count(), collective));
}

Expected<ProgramsOf> programs_in_instances(std::span<Candidate> candidates, const Fabric& fabric,
                                           const CompileOptions& options,
                                           std::optional<std::int32_t> instances,
                                           bool few_variants) {
  auto links = simulate::Fabric::make(without_relays(fabric.topology));
  if (!links) return links.errors();
  const auto maker =
      std::make_shared<const ProgramMaker>(candidates, fabric, *std::move(links), options);
  const bool are_few = few_variants && !instances;
  return ProgramsOf([maker, instances, are_few](std::size_t candidate) {
    return are_few ? maker->make_few(candidate) : maker->make(candidate, instances);
  });
}

std::size_t instance_count(std::optional<std::int32_t> instances) {
  return instances ? 1 : kInstances.size();
}

}  // namespace forestcoll::fastest
