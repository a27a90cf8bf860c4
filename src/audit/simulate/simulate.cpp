// A list of sizes through the model.
#include "forestcoll/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "audit/simulate/event_run.hpp"
#include "audit/simulate/model.hpp"

namespace forestcoll {

double Simulator::Model::full_pass(const SimulationParameters& parameters) const {
  return std::visit([&](const auto& source) { return source.full_pass(parameters); }, source_);
}

audit::EventGraph Simulator::Model::make(const SimulationParameters& parameters,
                                         double bytes) const {
  return std::visit([&](const auto& source) { return source.make(fabric_, parameters, bytes); },
                    source_);
}

namespace {

constexpr double kAllPasses = 16;  // so many are simulated without more ado
constexpr double kFirstRung = 4;   // passes
// Relative change of what a pass adds. Some schedules never come to take the same time for each
// pass; they are content with less after many.
constexpr double kSteady = 3e-3;
constexpr double kManyPasses = 64, kSteadyEnough = 1e-2;
constexpr double kLadder = 28;  // passes of the three rungs that usually are enough

Diagnostic model_error(std::string code, std::string message, std::string remedy) {
  Diagnostic error;
  error.code = std::move(code);
  error.message = std::move(message);
  error.remedy = std::move(remedy);
  return error;
}

class Sweep {
 public:
  Sweep(const Simulator::Model& model, const SimulationParameters& parameters,
        const SimulationOptions& options)
      : model_(model),
        parameters_(parameters),
        options_(options),
        full_pass_(model.full_pass(parameters)),
        link_bytes_(model.fabric().capacity().size(), 0) {}

  Expected<Simulation> run(const std::vector<std::int64_t>& sizes) {
    for (const std::int64_t size : sizes) {
      if (size > 0) continue;
      return model_error("M01", fmt::format("expected sizes from 1 byte on, found {}", size), "");
    }
    plan_progress(sizes);
    Simulation simulation = describe();
    for (const std::int64_t size : sizes) {
      const auto seconds = time_of(static_cast<double>(size));
      if (!seconds) return *error_;
      const double bytes = static_cast<double>(size);
      const double algbw = bytes / *seconds / 1e9;
      simulation.times.push_back(
          {bytes, *seconds, algbw, algbw * model_.description().busbw_factor});
    }
    simulation.events = events_;
    if (!sizes.empty()) add_links(simulation);
    return simulation;
  }

 private:
  // The time for as much as this many passes carry.
  struct Rung {
    double bytes, seconds;
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
    return options_.every_pass || bytes <= kAllPasses * full_pass_;
  }

  std::optional<double> time_of(double bytes) {
    if (is_short(bytes)) return simulate(bytes);
    while (!slope()) {
      const double passes = ladder_.empty() ? kFirstRung : 2 * ladder_.back().bytes / full_pass_;
      if (passes * full_pass_ > bytes) return simulate(bytes);
      const auto seconds = simulate(passes * full_pass_);
      if (!seconds) return std::nullopt;
      ladder_.push_back({passes * full_pass_, *seconds});
    }
    return ladder_.back().seconds + (bytes - ladder_.back().bytes) * *slope();
  }

  // Seconds that another byte takes, once that no longer changes.
  [[nodiscard]] std::optional<double> slope() const {
    if (ladder_.size() < 3) return std::nullopt;
    const auto between = [](const Rung& a, const Rung& b) {
      return (b.seconds - a.seconds) / (b.bytes - a.bytes);
    };
    const Rung* last = &ladder_.back();
    const double before = between(last[-2], last[-1]), now = between(last[-1], last[0]);
    const double change = last->bytes < kManyPasses * full_pass_ ? kSteady : kSteadyEnough;
    if (std::abs(now - before) > change * now) return std::nullopt;
    return between(last[-2], last[0]);
  }

  std::optional<double> simulate(double bytes) {
    const audit::EventGraph graph = model_.make(parameters_, bytes);
    if (graph.total_repeats() + static_cast<double>(events_) >
        static_cast<double>(options_.max_events)) {
      return fail_too_many(bytes);
    }
    note_loads(graph, bytes);
    const double share = progress_of(bytes);
    const double activities = graph.total_repeats();
    audit::EventRunOptions run;
    run.tolerance = options_.tolerance;
    run.stop = options_.stop;
    run.progress = [&](std::int64_t ended) {
      report(done_ + share * static_cast<double>(ended) / activities);
    };
    const auto result = audit::run_events(graph, model_.fabric().capacity(), run);
    events_ += result.ended;
    done_ += share;
    report(done_);
    if (result.complete) return result.seconds;
    if (result.stuck >= 0) return fail_stuck();
    error_ = model_error("R01", "stopped before the end", "give it more time");
    return std::nullopt;
  }

  std::optional<double> fail_too_many(double bytes) {
    error_ = model_error("M06",
                         fmt::format("simulating {:.0f} bytes takes more than {} operations", bytes,
                                     options_.max_events),
                         "simulate fewer or smaller sizes, or larger passes");
    error_->kind = ErrorKind::limit;
    return std::nullopt;
  }

  std::optional<double> fail_stuck() {
    error_ = model_error("M05",
                         "the schedule gets stuck: too few operations may be in flight on a "
                         "connection",
                         "give the protocol more slots");
    return std::nullopt;
  }

  void note_loads(const audit::EventGraph& graph, double bytes) {
    std::fill(link_bytes_.begin(), link_bytes_.end(), 0);
    for (const audit::Activity& activity : graph.activities) {
      if (activity.kind < 0) continue;
      const double all =
          activity.bytes * activity.weight * static_cast<double>(activity.repeats) / bytes;
      for (const auto& part : graph.kinds[static_cast<std::size_t>(activity.kind)].route) {
        link_bytes_[static_cast<std::size_t>(part.link)] += all * part.part;
      }
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
      simulation.links.push_back({model_.name(graph.tail(ArcId(a))),
                                  model_.name(graph.head(ArcId(a))),
                                  bytes / model_.fabric().capacity()[a] / largest->seconds});
    }
    std::sort(simulation.links.begin(), simulation.links.end(), [](const auto& a, const auto& b) {
      return std::tie(a.src, a.dst) < std::tie(b.src, b.dst);
    });
  }

  // Work is counted in passes.
  void plan_progress(const std::vector<std::int64_t>& sizes) {
    bool is_long = false;
    for (const std::int64_t size : sizes) {
      const auto bytes = static_cast<double>(size);
      is_short(bytes) ? total_ += passes(bytes) : is_long = true;
    }
    if (is_long) total_ += kLadder;
  }
  [[nodiscard]] double passes(double bytes) const {
    return std::max(1.0, std::ceil(bytes / full_pass_));
  }
  [[nodiscard]] double progress_of(double bytes) const { return passes(bytes) / total_; }
  void report(double done) const {
    if (options_.progress) options_.progress(std::min(done, 1.0));
  }

  const Simulator::Model& model_;
  const SimulationParameters& parameters_;
  const SimulationOptions& options_;
  double full_pass_;
  std::vector<double> link_bytes_;  // for each byte of the buffer
  std::vector<Rung> ladder_;
  std::int64_t events_ = 0;
  double total_ = 0, done_ = 0;
  std::optional<Diagnostic> error_;
};

}  // namespace

Simulator::Simulator(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

Expected<Simulation> Simulator::run(const std::vector<std::int64_t>& sizes,
                                    const SimulationParameters& parameters,
                                    const SimulationOptions& options) const {
  return Sweep(*model_, parameters, options).run(sizes);
}

}  // namespace forestcoll
