// A list of sizes through the model.
#include "forestcoll/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "forestcoll/codes.hpp"
#include "simulate/model.hpp"
#include "simulate/run/classes.hpp"
#include "simulate/run/least_time.hpp"
#include "simulate/size_runs.hpp"

namespace forestcoll {
namespace {

constexpr double kManyBytes = 0x1p50;  // so many that rounding them to whole units is nothing

// Each activity and each link is a class.
simulate::ClassGraph by_itself(simulate::EventGraph graph, const simulate::Fabric& fabric) {
  const std::span<const double> links = fabric.capacity();
  simulate::ClassGraph all{std::move(graph), {links.begin(), links.end()}, {}, false};
  all.capacity.insert(all.capacity.end(), all.graph.workers.begin(), all.graph.workers.end());
  all.of_link.resize(links.size());
  std::iota(all.of_link.begin(), all.of_link.end(), 0);
  return all;
}
simulate::ClassGraph by_itself(simulate::ClassGraph classes, const simulate::Fabric& /*fabric*/) {
  return classes;
}

}  // namespace

double Simulator::Model::full_pass(const SimulationParameters& parameters) const {
  return std::visit([&](const auto& source) { return source.full_pass(parameters); }, source_);
}

simulate::ClassGraph Simulator::Model::make(const SimulationParameters& parameters,
                                            double bytes) const {
  const auto make = [&](const auto& source) {
    return by_itself(source.make(fabric_, parameters, bytes), fabric_);
  };
  return std::visit(make, source_);
}

simulate::ClassGraph Simulator::Model::make_each(const SimulationParameters& parameters,
                                                 double bytes) const {
  const auto make = [&](const auto& source) {
    if constexpr (requires { source.make_each(fabric_, parameters, bytes); }) {
      return source.make_each(fabric_, parameters, bytes);
    } else {
      return by_itself(source.make(fabric_, parameters, bytes), fabric_);
    }
  };
  return std::visit(make, source_);
}

double Simulator::Model::activities(const SimulationParameters& parameters, double bytes) const {
  const auto count = [&](const auto& source) -> double {
    if constexpr (requires { source.activities(parameters, bytes); }) {
      return source.activities(parameters, bytes);
    } else {
      return 0;
    }
  };
  return std::visit(count, source_);
}

// All of it in one pass, which has the fewest activities.
double Simulator::Model::link_seconds() const {
  SimulationParameters parameters;
  parameters.simple.pass_bytes = std::numeric_limits<double>::max();
  for (ProtocolParameters* each : {&parameters.ll, &parameters.ll128}) *each = parameters.simple;
  const simulate::ClassGraph classes = make(parameters, kManyBytes);
  const std::vector<double> loads = simulate::link_loads(classes);
  double most = 0;
  for (std::size_t l = 0; l < loads.size(); ++l) {
    most = std::max(most, loads[l] / classes.capacity[l]);
  }
  return most / kManyBytes;
}

double Simulator::Model::least_seconds(const SimulationParameters& parameters, double bytes) const {
  return (1 - SimulationOptions{}.tolerance) * simulate::least_seconds(make(parameters, bytes));
}

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kFirstRung = 1;        // passes
constexpr std::size_t kLeastRungs = 6;  // usually enough
constexpr double kAllPasses = 32;       // the last of them: so many are simulated without more ado
// Passes of the others of these, for each of the first one's: all but those that do not grow.
constexpr double kFurtherPasses = 0.9 * (2 + 4 + 8 + 16 + 32);
// Passes that are few, of all. What less than so many take tells nothing: they still fill the
// pipeline.
constexpr double kFew = 0.25, kToldByFew = 1. / 16;
// How much what a pass adds may change over three doublings, relatively. Some schedules never come
// to take the same time for each pass; they are content with less after many, and with what is less
// than the model's own error after twice as many.
constexpr double kSteady = 3e-3;
// So much less than passes have added, by the rung after these and by further ones, is nothing that
// they will add; nor so little less, once the last two doublings have agreed that well.
constexpr std::size_t kFirstRungs = 3;
constexpr double kClearly = 0.9, kClearlyAtFirst = 0.75;
constexpr double kAgree = 0.01, kClearlyWhereTheyAgree = 0.98;
// Where an estimate is enough: so much of what the passes of the last doubling added, further ones
// add at least, after two rungs, three, four, and more. One in twenty adds less.
constexpr std::array<double, 5> kLeastGrowth = {0.8, 0.88, 0.94, 0.96, 0.97};
constexpr double kManyPasses = 64, kSteadyEnough = 7.5e-3;
constexpr double kSteadyAtLast = 4e-2;  // after twice as many
// Of the time, by which what is extrapolated may be unsteady after `kManyPasses`, where so many
// activities were simulated. Of six programs, five are then told within 0.6 % of what every pass
// takes, and one 1.4 % too short.
constexpr double kManyActivities = 1 << 20, kUnsteadyPart = 0.03;

class Sweep {
 public:
  Sweep(const Simulator::Model& model, const SimulationParameters& parameters,
        const SimulationOptions& options)
      : model_(model),
        parameters_(parameters),
        options_(options),
        runs_(model, parameters, options) {}

  Expected<Simulation> run(const std::vector<std::int64_t>& sizes) {
    for (const std::int64_t size : sizes) {
      if (size > 0) continue;
      return make_error(Code::M01, fmt::format("expected sizes from 1 byte on, found {}", size),
                        "");
    }
    runs_.prepare(first_runs(sizes));
    Simulation simulation = describe();
    for (const std::int64_t size : sizes) {
      const auto bytes = static_cast<double>(size);
      const bool is_estimate = is_estimated(bytes);
      const auto seconds = is_estimate ? estimate(bytes) : time_of(bytes);
      if (!seconds) return seconds.errors();
      const double algbw = bytes / *seconds / 1e9;
      simulation.times.push_back(
          {bytes, *seconds, algbw, algbw * model_.description().busbw_factor, is_estimate});
    }
    simulation.events = runs_.events();
    if (!sizes.empty()) add_links(simulation);
    return simulation;
  }

 private:
  // The time for as much as this many passes carry.
  struct Rung {
    double bytes, seconds;
    double activities;  // of this one and those before
  };

  [[nodiscard]] Simulation describe() const {
    const auto& description = model_.description();
    Simulation simulation;
    simulation.schedule = description.format;
    simulation.collective = description.collective;
    simulation.protocol = description.protocol;
    simulation.ranks = description.ranks;
    return simulation;
  }

  [[nodiscard]] bool is_short(double bytes) const {
    return options_.every_pass || bytes <= kAllPasses * runs_.full_pass();
  }

  // Those that are needed whatever comes out.
  [[nodiscard]] std::vector<double> first_runs(const std::vector<std::int64_t>& sizes) const {
    std::set<double> runs;
    for (const std::int64_t size : sizes) {
      const auto bytes = static_cast<double>(size);
      if (is_short(bytes)) {
        if (!is_known(bytes) && !is_estimated(bytes)) runs.insert(bytes);
      } else if (options_.known == nullptr && !may_give_up()) {
        for (std::size_t i = 0; i < kLeastRungs; ++i) runs.insert(rung(i));
      }
    }
    return {runs.begin(), runs.end()};
  }

  // Bytes.
  [[nodiscard]] double rung(std::size_t i) const {
    return std::ldexp(kFirstRung * runs_.full_pass(), static_cast<int>(i));
  }

  // As if no other size had been asked for, however far the ladder goes.
  Expected<double> time_of(double bytes) {
    if (is_short(bytes)) return known_seconds(bytes);
    for (std::size_t i = 0; rung(i) <= bytes; ++i) {
      const auto taken = climb(i, bytes, i == 0 ? kFurtherPasses : 0);
      if (!taken || *taken == kForever) return taken;
      const auto slope = this->slope(i, bytes);
      if (!slope) continue;
      const double told = ladder_[i].seconds + (bytes - ladder_[i].bytes) * *slope;
      return std::max(told, model_.least_seconds(parameters_, bytes));
    }
    return known_seconds(bytes);
  }

  // Whatever is known: what is told does not depend on it.
  [[nodiscard]] bool is_estimated(double bytes) const {
    const double passes = options_.few_passes;
    return passes > 0 && std::max(passes, 2.0) * rung(0) <= kFew * bytes;
  }

  // By few passes. Infinite as in `climb`.
  Expected<double> estimate(double bytes) {
    const double most = std::max(options_.few_passes * rung(0), kToldByFew * bytes);
    std::size_t count = 0;
    for (; count < 2 || rung(count) <= most; ++count) {
      const auto taken = climb(count, bytes, count == 0 ? bytes / rung(0) : 0);
      if (!taken || *taken == kForever) return taken;
    }
    const Rung* const last = &ladder_[count - 1];
    return last->seconds + slope_between(last[-1], last[0]) * (bytes - last->bytes);
  }

  // Rung `i`, the next one or an earlier one: what it takes; infinite where so many bytes then take
  // too long.
  Expected<double> climb(std::size_t i, double bytes, double followed) {
    if (i == ladder_.size()) {
      const auto taken = known_seconds(rung(i), followed);
      if (!taken) return taken;
      const double before = ladder_.empty() ? 0 : ladder_.back().activities;
      ladder_.push_back({rung(i), *taken, before + activities(rung(i))});
    }
    const bool is_late = ladder_[i].seconds > options_.most_seconds || is_too_long(i, bytes);
    return is_late ? kForever : ladder_[i].seconds;
  }

  [[nodiscard]] bool is_known(double bytes) const {
    return options_.known != nullptr && options_.known->by_bytes.contains(bytes);
  }

  [[nodiscard]] bool may_give_up() const { return options_.most_seconds < kForever; }

  // By the rungs up to `i`, even if further passes add less; but once passes add what their links
  // need, no others add less.
  [[nodiscard]] bool is_too_long(std::size_t i, double bytes) const {
    const bool is_guess = options_.few_passes > 0;
    if (i < (is_guess ? 1 : kFirstRungs) || (is_guess && rung(i) < kToldByFew * bytes))
      return false;
    const Rung* last = &ladder_[i];
    double added = slope_between(last[-1], last[0]);
    double part = is_guess ? kLeastGrowth[std::min(i, kLeastGrowth.size()) - 1] : kClearlyAtFirst;
    double least = 0;
    if (i > (is_guess ? 1 : kFirstRungs)) {
      const double before = slope_between(last[-2], last[-1]);
      const bool agree = std::abs(before - added) <= kAgree * before;
      if (agree || !is_guess) part = agree ? kClearlyWhereTheyAgree : kClearly;
      const double needed = link_seconds_ * (1 - kSteady);
      if (std::min(before, added) >= needed) least = needed;
      if (!is_guess) added = std::min(before, added);
    }
    return last->seconds + std::max(part * added, least) * (bytes - last->bytes) >
           options_.most_seconds;
  }

  static double slope_between(const Rung& a, const Rung& b) {
    return (b.seconds - a.seconds) / (b.bytes - a.bytes);
  }

  // Of a run, which may have been made for another size.
  Expected<double> known_seconds(double bytes, double followed = 0) {
    if (options_.known == nullptr) return seconds(bytes, followed);
    auto& known = options_.known->by_bytes;
    if (const auto found = known.find(bytes); found != known.end()) {
      if (bytes > largest_) note_links(bytes, found->second.link_bytes);
      return found->second.seconds;
    }
    auto taken = seconds(bytes, followed);
    if (taken && *taken < std::numeric_limits<double>::infinity()) {
      known.emplace(bytes,
                    KnownRuns::Run{*taken, runs_.at(bytes).activities, runs_.at(bytes).link_bytes});
    }
    return taken;
  }

  // Of a run that was made.
  [[nodiscard]] double activities(double bytes) {
    return is_known(bytes) ? options_.known->by_bytes.at(bytes).activities
                           : runs_.at(bytes).activities;
  }

  // Seconds that another byte takes beyond rung `i`, up to so many in all, once that no longer
  // changes. While passes still fill gaps that the first ones left, they add less than their links
  // need, and do so steadily.
  [[nodiscard]] std::optional<double> slope(std::size_t i, double bytes) const {
    if (i + 1 < kLeastRungs) return std::nullopt;
    const Rung* last = &ladder_[i];
    const std::array<double, 3> slopes = {slope_between(last[-3], last[-2]),
                                          slope_between(last[-2], last[-1]),
                                          slope_between(last[-1], last[0])};
    const auto [least, most] = std::minmax_element(slopes.begin(), slopes.end());
    const double passes = last->bytes / runs_.full_pass();
    const double enough = passes < kManyPasses       ? kSteady
                          : passes < 2 * kManyPasses ? kSteadyEnough
                                                     : kSteadyAtLast;
    const double unsteady = (*most - *least) / *most;
    if (unsteady > enough && !is_settled_enough(i, unsteady * (1 - last->bytes / bytes))) {
      return std::nullopt;
    }
    const double rounding = 2 * options_.tolerance;  // of the times at both ends
    if (slopes.back() < link_seconds_ * (1 - kSteady - rounding)) return std::nullopt;
    return std::max(slope_between(last[-2], last[0]), link_seconds_);
  }

  // Where simulations of further passes would take long.
  [[nodiscard]] bool is_settled_enough(std::size_t i, double unsteady_part) const {
    if (ladder_[i].bytes < kManyPasses * runs_.full_pass()) return false;
    return ladder_[i].activities >= kManyActivities && unsteady_part <= kUnsteadyPart;
  }

  // No transfer is faster than its links, whatever the tolerance.
  Expected<double> seconds(double bytes, double followed = 0) {
    const simulate::SizeRun& run = runs_.at(bytes, followed);
    switch (run.end) {
      case simulate::SizeRun::End::complete:
        if (bytes > largest_) note_links(bytes, run.link_bytes);
        return std::max(run.seconds, link_seconds_ * bytes);
      case simulate::SizeRun::End::late:
        return kForever;
      case simulate::SizeRun::End::stuck:
        return make_error(Code::M05,
                          "the schedule gets stuck: too few operations may be in flight on a "
                          "connection",
                          "give the protocol more slots");
      case simulate::SizeRun::End::stopped:
        return make_error(Code::R01, "stopped before the end", "give it more time");
      case simulate::SizeRun::End::too_many:
        break;
    }
    return make_error(Code::M06,
                      fmt::format("these sizes take more than {} operations", options_.max_events),
                      "simulate fewer or smaller sizes, or larger passes");
  }

  void note_links(double bytes, const std::vector<double>& link_bytes) {
    largest_ = bytes;
    link_bytes_ = link_bytes;
    link_seconds_ = 0;
    for (std::size_t a = 0; a < link_bytes.size(); ++a) {
      link_seconds_ = std::max(link_seconds_, link_bytes[a] / model_.fabric().capacity()[a]);
    }
  }

  void add_links(Simulation& simulation) const {
    const auto largest =
        std::max_element(simulation.times.begin(), simulation.times.end(),
                         [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    const Digraph& graph = model_.fabric().network().graph;
    for (std::size_t a = 0; a < link_bytes_.size(); ++a) {
      if (link_bytes_[a] == 0) continue;
      const double bytes = link_bytes_[a] * largest->bytes;
      const double busy = std::min(1.0, bytes / model_.fabric().capacity()[a] / largest->seconds);
      if (a >= graph.arc_count()) {
        simulation.limits.push_back({a - graph.arc_count(), busy});
        continue;
      }
      simulation.links.push_back(
          {model_.name(graph.tail(ArcId(a))), model_.name(graph.head(ArcId(a))), busy});
    }
    std::sort(simulation.links.begin(), simulation.links.end(), [](const auto& a, const auto& b) {
      return std::tie(a.src, a.dst) < std::tie(b.src, b.dst);
    });
  }

  const Simulator::Model& model_;
  const SimulationParameters& parameters_;
  const SimulationOptions& options_;
  simulate::SizeRuns runs_;
  std::vector<Rung> ladder_;
  double largest_ = 0;  // bytes of the run that link_bytes_ is from
  std::vector<double> link_bytes_;
  double link_seconds_ = 0;  // of the busiest link, for each byte of the buffer
};

}  // namespace

Simulator::Simulator(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

std::optional<std::int64_t> Simulator::own_bytes() const {
  const std::int64_t bytes = model_->description().bytes;
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

Expected<Simulation> Simulator::run(const std::vector<std::int64_t>& sizes,
                                    const SimulationParameters& parameters,
                                    const SimulationOptions& options) const {
  return Sweep(*model_, parameters, options).run(sizes);
}

double Simulator::link_seconds() const {
  return model_->link_seconds();
}

double Simulator::operations(std::int64_t bytes, const SimulationParameters& parameters) const {
  return model_->activities(parameters, static_cast<double>(bytes));
}

double Simulator::least_seconds(std::int64_t bytes, const SimulationParameters& parameters) const {
  return model_->least_seconds(parameters, static_cast<double>(bytes));
}

}  // namespace forestcoll
