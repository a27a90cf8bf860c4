#include "common/synthesis/made_schedule.hpp"

#include "common/report/alltoall_report.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "common/synthesis/output/tree_picture.hpp"

namespace forestcoll::cli {
namespace {

// The schedule of another algorithm, where --algorithm asks for one.
Expected<std::optional<SolvedBaseline>> find_chosen_baseline(const PreparedSynthesis& prepared,
                                                             const Console& console) {
  const CompileOptions& options = prepared.request.compile;
  const bool has_paths = is_personalized(options.synthesis.collective);  // `compile` finds them
  if (has_paths || !prepared.arguments.baseline.chosen()) return std::optional<SolvedBaseline>();
  auto made = at_work("making the trees", console, [&] {
    return solve_baseline(prepared.fabric, options.synthesis.collective, options.synthesis.root,
                          prepared.arguments.baseline, options.format == Format::msccl);
  });
  if (!made) return made.errors();
  return std::optional(*std::move(made));
}

// Which sizes it is for, and whose choice it was, is told in `made`.
Expected<Compilation> take_choice(Expected<ChosenSchedule> chosen, MadeSchedule& made) {
  if (!chosen) return chosen.errors();
  made.choice = std::move(chosen->choice);
  made.window = std::move(chosen->window);
  made.left_out = std::move(chosen->left_out);
  return std::move(chosen->compiled);
}

Expected<void> compile_into(MadeSchedule& made, PreparedSynthesis& prepared,
                            const Console& console) {
  CompileOptions& options = prepared.request.compile;
  const Fabric& fabric = prepared.fabric;
  const auto& baseline = made.baseline;
  auto compiled = under_bar(options.synthesis, prepared.solver, prepared.limit, console, [&] {
    if (prepared.request.size) {
      return take_choice(prepared.request.size_is_default
                             ? compile_by_default(fabric, prepared.request, prepared.arguments)
                             : compile_for_size(fabric, prepared.request, prepared.arguments),
                         made);
    }
    if (baseline && baseline->exchange != nullptr) {
      return compile_exchange(fabric, *baseline->exchange, options);
    }
    return baseline ? compile_forest(fabric, {baseline->synthesis, ""}, options)
                    : compile(fabric, options);
  });
  if (!compiled) return compiled.errors();
  made.compiled = *std::move(compiled);
  return {};
}

}  // namespace

PackOptions packing_under(ProgressBar& bar, const SolverRequest& request, const TimeLimit& limit) {
  return {.progress = [&bar](std::string_view stage,
                             std::optional<double> done) { bar.update(stage, done); },
          .stop = limit.token(),
          .effort = request.effort,
          .threads = request.threads};
}

Expected<MadeSchedule> make_schedule(PreparedSynthesis& prepared, Laps& laps,
                                     const Console& console) {
  MadeSchedule made;
  auto baseline = find_chosen_baseline(prepared, console);
  if (!baseline) return baseline.errors();
  made.baseline = *std::move(baseline);
  const double making = made.baseline ? laps.lap() : 0;
  if (const auto done = compile_into(made, prepared, console); !done) return done.errors();
  if (prepared.arguments.format == kPictureFormat) {
    made.compiled.text = tree_picture(made.compiled, prepared.fabric.topology);
  }
  laps.seconds.add(made.compiled.seconds, laps.lap());
  laps.seconds.of_paths = made.compiled.paths.has_value();
  if (made.baseline) {
    laps.seconds.rate = made.solved().seconds.rate;
    laps.seconds.pack = making - laps.seconds.rate;
  }
  return made;
}

RateFigures rates_beside(const Compilation& made, const PreparedSynthesis& prepared) {
  if (!made.paths || prepared.fabric.optimum) return rates_of(prepared);
  return paths_figures(made.paths->proof, demand_of(made.options, prepared.fabric.network));
}

}  // namespace forestcoll::cli
