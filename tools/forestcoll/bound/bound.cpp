// `forestcoll bound`: the optimal rate of a fabric, and the cut that proves it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "bound/answer.hpp"
#include "bound/arguments.hpp"
#include "bound/report.hpp"
#include "bound/whatif_report.hpp"
#include "command.hpp"
#include "common/bound_alltoall.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/file_option.hpp"
#include "common/options/jobs_option.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/whatif.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostLines = 1'000'000;
constexpr std::size_t kUsualChanges = 10;  ///< lines of --whatif where --top does not say

// Of the first collective that is reported.
Expected<WhatIfOptions> what_if_options(const Fabric& fabric, const BoundArguments& options) {
  WhatIfOptions of_library;
  const auto collective = parse_collective(options.collective);
  if (!collective) return of_library;
  const auto root = find_root(fabric.topology, *collective, options.root);
  if (!root) return root.errors();
  of_library.collective = *collective;
  of_library.root = *root;
  return of_library;
}

Expected<WhatIf> explore(const Fabric& fabric, WhatIfOptions options, const Console& console) {
  ProgressBar bar("what if", console);
  options.progress = [&](std::size_t done, std::size_t all) {
    bar.update(static_cast<double>(done) / static_cast<double>(all));
  };
  return what_if(fabric.topology, options);
}

// Options of all-to-all and of trees do not go together.
Expected<void> misplaced_option(const BoundArguments& options) {
  const bool alltoall = is_alltoall(options.collective);
  if (!alltoall && options.alltoall.given()) {
    return make_error(Code::S04, "--demand, --gap and --time-limit are of -c alltoall",
                      "add -c alltoall, or leave them out");
  }
  if (auto done = refuse_no_demand(options.collective, options.alltoall.demand); !done) return done;
  if (alltoall && !options.root.empty()) {
    return make_error(Code::S02, "an alltoall has no root", "leave out --root");
  }
  if (alltoall && options.whatif) {
    return make_error(Code::S04, "--whatif does not know alltoall",
                      "use --drop and --derate for one failure at a time");
  }
  return {};
}

ExitCode run_bound(const BoundArguments& options, const Console& console) {
  if (const auto done = misplaced_option(options); !done) return fail(done.errors(), console);
  if (const auto done = refuse_clashes({{"topology file", options.topology},
                                        {"--box file", options.reading.dump.box},
                                        {"--demand file", options.alltoall.demand}},
                                       {{"the report", "-"}});
      !done) {
    return fail(done.errors(), console);
  }
  const auto fabric = load_fabric(options.topology, options.reading, options.failures, console);
  if (!fabric) return fail(fabric.errors(), console);
  report_reading(*fabric, options.reading, console);
  if (is_alltoall(options.collective)) {
    return run_bound_alltoall(*fabric, options.alltoall,
                              {.json = options.json,
                               .check = options.check,
                               .quantized = !options.reading.quantize.empty(),
                               .top = options.top,
                               .threads = options.threads},
                              console);
  }
  const auto answer =
      at_work("finding the rate", console, [&] { return solve_bound(*fabric, options); });
  if (!answer) return fail(answer.errors(), console);
  if (options.check) {
    const std::string wrong = disagreement(*answer, fabric->network, console);
    say(fmt::format("{}", wrong));
    if (!wrong.empty()) return ExitCode::internal;
    note(console, "checked: bisection on independent code finds the same rate");
  }
  const auto allreduce = at_work("finding the best allreduce", console,
                                 [&] { return best_allreduce(*answer, *fabric); });
  const auto alltoall = at_work("finding the best all-to-all", console,
                                [&] { return alltoall_beside(options, fabric->network); });
  if (options.check && alltoall) {
    const auto demand = Demand::uniform(fabric->network.ranks.size());
    const ExitCode checked = check_alltoall(alltoall->proof, demand, *fabric, console);
    if (checked != ExitCode::done) return checked;
  }
  Json json = at_work("writing the report", console, [&] {
    return bound_to_json(*answer, allreduce, alltoall, *fabric, options);
  });
  std::string text = at_work("writing the report", console, [&] {
    return bound_in_words(*answer, allreduce, alltoall, *fabric, options);
  });
  if (options.whatif) {
    const auto asked = what_if_options(*fabric, options);
    if (!asked) return fail(asked.errors(), console);
    const auto changes = explore(*fabric, *asked, console);
    if (!changes) return fail(changes.errors(), console);
    const std::size_t lines = options.top == 0 ? kUsualChanges : options.top;
    json["what_if"] = to_json(*changes, fabric->topology, *asked);
    text += in_words(*changes, fabric->topology, *asked, lines);
    if (allreduce && allreduce->in_network) {
      const auto roles = at_work("what if switches could do less", console,
                                 [&] { return role_failures(fabric->topology); });
      if (!roles) return fail(roles.errors(), console);
      json["what_if"]["role_failures"] = to_json(*roles, fabric->topology);
      text += in_words(*roles, fabric->topology, lines);
    }
  }
  const std::string report = options.json ? to_text(json) : text;
  return finish(write_output("-", report), console);
}

}  // namespace

Command add_bound(CLI::App& program) {
  auto options = std::make_shared<BoundArguments>();
  CLI::App* command = program.add_subcommand(
      "bound", "The optimal rate of a fabric, and the bottleneck that proves it");
  command->add_option("TOPOLOGY", options->topology, "Topology file, or - for standard input")
      ->required();
  add_collective_option(
      *command, options->collective,
      "Only this collective (default: allgather, reduce_scatter and allreduce, and alltoall where\n"
      "that is quick)");
  add_root_option(*command, options->root);
  command->add_flag("--json", options->json, "Report as JSON (format forestcoll-bound, version 1)");
  command->add_flag("--check", options->check,
                    "Compute the rate again by bisection, in independent code; they must agree");
  command->add_flag(
      "--whatif", options->whatif,
      "Rank the links, their single cables, nodes, boxes and what switches can do by what their "
      "failure costs, and the upgrades that pay, each solved exactly");
  command
      ->add_option("--top", options->top,
                   "List the N largest links of the bottleneck, and N lines of --whatif (the "
                   "report in text)")
      ->check(CLI::Range(std::size_t{1}, kMostLines).description(""))
      ->type_name("N");
  add_alltoall_options(*command, options->alltoall);
  add_jobs_option(*command, options->threads,
                  "The most threads to use, of a large irregular alltoall (default: all\n"
                  "processors); other work takes one");
  add_failure_options(*command, options->failures);
  add_reading_options(*command, options->reading);
  command->footer(
      "algbw is the size of the whole buffer divided by the time, busbw what nccl-tests makes of\n"
      "it. The bottleneck is the set of nodes whose data needs longest to leave it (for a\n"
      "reduce_scatter: to enter it). No schedule in shares as given is faster (an allreduce: none\n"
      "of two phases, see below), and `synth -k optimal` reaches it. Where more enters a switch "
      "than\n"
      "leaves it, or less, the rate is that of the best part of the fabric that trees can use.\n"
      "Where nodes have weights, the buffer is what all of them own together, and the rate per "
      "root\n"
      "is that of a root of weight 1 once all weights are in lowest integers.\n"
      "\n"
      "allreduce is a reduce_scatter and then an allgather. The best allreduce by trees reduces\n"
      "and broadcasts at the same time, and may root more data at some GPUs than at others:\n"
      "`synth` makes it where it is better. Where the\n"
      "file says that switches copy (\"multicast\") or combine (\"reduce\"), a second line has "
      "the\n"
      "best with trees that branch there.\n"
      "\n"
      "alltoall is the best concurrent flow of equal blocks between all GPUs, whatever their\n"
      "weights, along any paths, or with --demand of any amounts. It is exact on fabrics that are\n"
      "small or regular; else it is an interval: what flows reach, and a bound that lengths of "
      "the\n"
      "links prove.\n"
      "\n"
      "Examples:\n"
      "  forestcoll bound topologies/dgx-a100-x2.json\n"
      "  forestcoll bound topologies/dragonfly-72.json -c alltoall --check\n"
      "  forestcoll bound topologies/dgx-a100-x2.json --json --check\n"
      "  forestcoll bound topologies/dgx-1-v100.json -c broadcast --root 0\n"
      "  forestcoll bound topologies/dgx-a100-x4.json --whatif --top 5\n"
      "  forestcoll bound topologies/dgx-a100-x2.json --drop box0/nic3~ib1 --derate kind=pcie=1/2\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot read or\n"
      "write, 70 a bug of ours (with --check: the two rates differ).");
  return {command, [options](const Console& console) { return run_bound(*options, console); }};
}

}  // namespace forestcoll::cli
