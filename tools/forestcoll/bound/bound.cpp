// `forestcoll bound`: the optimal rate of a fabric, and the cut that proves it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "bound/answer.hpp"
#include "bound/arguments.hpp"
#include "bound/paths.hpp"
#include "bound/report.hpp"
#include "bound/within_limits.hpp"
#include "command.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/group_rates.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/help_groups.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/whatif.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostLines = 1'000'000;
constexpr std::size_t kUsualChanges = 10;  ///< lines of --whatif where --top does not say

// Of the collective that is asked for, else of an allreduce, as in `synth`.
Expected<WhatIfOptions> what_if_options(const Fabric& fabric, const BoundArguments& options) {
  WhatIfOptions of_library;
  of_library.collective = Collective::allreduce;
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

// Options of what goes along paths and of trees do not go together.
Expected<void> misplaced_option(const BoundArguments& options) {
  const bool of_paths = has_paths(options.collective);
  if (!of_paths && options.alltoall.given() && !options.job.given()) {
    return make_error(Code::S04, "--demand, --gap and --time-limit are of -c alltoall",
                      "add -c alltoall, or leave them out");
  }
  if (!of_paths) return {};
  if (auto done = refuse_misplaced_demand(options.collective, options.alltoall.demand); !done) {
    return done;
  }
  if (!options.whatif) return {};
  return make_error(Code::S04, fmt::format("--whatif does not know {}", options.collective),
                    "use --drop and --derate for one failure at a time");
}

Expected<BoundFindings> find_all(const Fabric& fabric, const BoundArguments& options,
                                 const Console& console) {
  auto answer = at_work("finding the rate", console, [&] { return solve_bound(fabric, options); });
  if (!answer) return answer.errors();
  BoundFindings found{*std::move(answer), {}, {}};
  found.alltoall = at_work("finding the best all-to-all", console,
                           [&] { return alltoall_beside(options, fabric.network); });
  if (!options.target.empty()) {
    add_reached(found.answer, found.alltoall, fabric, options.target, console);
  }
  return found;
}

// Of a row.
ThreeFigures figures_of(const BoundAnswer& answer, Collective collective) {
  const auto row = std::ranges::find(answer.rows, collective, &BoundRow::collective);
  return three_figures(row->rates, row->reached);
}

// The same of the fabric before it failed, beside what is left.
Expected<void> price_failure(BoundFindings& found, const Fabric& fabric,
                             const BoundArguments& options, const Console& console) {
  const auto before = fabric_before(fabric);
  if (!before) return before.errors();
  if (!*before) return {};
  BoundArguments same = options;
  if (!options.root.empty()) {
    const auto root = find_rank(fabric.topology, options.root);
    if (!root) return root.errors();
    same.root = fabric.topology.nodes[fabric.topology.ranks[root->index()]].id;
  }
  auto whole = find_all(**before, same, console);
  if (!whole) return whole.errors();
  for (std::size_t i = 0; i < whole->answer.rows.size(); ++i) {
    const BoundRow &was = whole->answer.rows[i], &is = found.answer.rows[i];
    found.prices.push_back({.collective = std::string(to_string(is.collective)),
                            .before = was.rates,
                            .after = is.rates,
                            .reached_before = was.reached,
                            .reached_after = is.reached});
  }
  if (!whole->alltoall || !found.alltoall) return {};
  found.prices.push_back({.collective = std::string(to_string(Collective::alltoall)),
                          .before = figures_of(whole->alltoall->rates),
                          .after = figures_of(found.alltoall->rates),
                          .reached_before = whole->alltoall->reached,
                          .reached_after = found.alltoall->reached});
  return {};
}

// Of a process group with the other GPUs as relays, or without.
std::optional<GroupRates> other_way(const BoundFindings& found, const Fabric& fabric,
                                    const BoundArguments& options) {
  if (!fabric.beside) return std::nullopt;
  auto made = make_fabric(fabric.beside->topology, fabric.gpu);
  if (!made) return std::nullopt;
  const Fabric other{*std::move(made), {}};
  const auto answer = solve_bound(other, options);
  if (!answer) return std::nullopt;
  GroupRates rates{fabric.beside->relays};
  const auto add = [&](std::string_view name, const Ratio& rate, const Ratio& own) {
    if (rate != own) rates.algbw.emplace_back(name, rate);
  };
  for (const BoundRow& row : answer->rows) {
    const auto own = std::ranges::find(found.answer.rows, row.collective, &BoundRow::collective);
    if (own != found.answer.rows.end()) add(to_string(row.collective), row.algbw, own->algbw);
  }
  if (found.alltoall) {
    const auto alltoall = alltoall_beside(options, other.network);
    if (alltoall)
      add(to_string(Collective::alltoall), alltoall->rates.algbw, found.alltoall->rates.algbw);
  }
  return rates.algbw.empty() ? std::nullopt : std::optional(std::move(rates));
}

Expected<ExitCode> run_bound(const BoundArguments& options, const Console& console) {
  if (const auto done = refuse_misplaced_groups(
          options.job, {options.failures, options.collective, options.root});
      !done) {
    return done.errors();
  }
  if (!options.html.empty() && !options.job.given()) {
    return make_error(Code::S04, "--html is of process groups at once",
                      "add --groups, --at-once or --job");
  }
  if (options.place && !options.job.given()) {
    return make_error(Code::S04, "--place is of the mesh of process groups",
                      "add --mesh, and --groups, --at-once or --job");
  }
  if (!options.hosts.empty() && !options.place) {
    return make_error(Code::S04, "--hosts is of the best placement", "add --place");
  }
  if (const auto done = misplaced_option(options); !done) return done.errors();
  if (const auto done = refuse_clashes(
          {{"topology file", options.topology},
           {"--box file", options.reading.dump.box},
           {"--demand file", options.alltoall.demand},
           {"--job file", options.job.job}},
          {{"--html", options.html}, {"--hosts", options.hosts}, {"the report", "-"}});
      !done) {
    return done.errors();
  }
  const auto fabric = load_fabric(options.topology, options.reading, options.failures, console);
  if (!fabric) return fabric.errors();
  report_reading(*fabric, options.reading, console);
  if (options.job.given()) return run_bound_of_job(*fabric, options, console);
  if (has_paths(options.collective)) return run_bound_of_paths(*fabric, options, console);
  auto found = find_all(*fabric, options, console);
  if (!found) return found.errors();
  if (options.check) {
    const std::string wrong = disagreement(found->answer, fabric->network, console);
    say(fmt::format("{}", wrong));
    if (!wrong.empty()) return ExitCode::internal;
    note(console, found->answer.proved.empty()
                      ? "checked: bisection on independent code finds the same rate"
                      : "checked: independent code finds that the lengths prove the bounds");
  }
  if (options.check && found->alltoall && found->alltoall->proved) {
    const std::string wrong = flaw_of_lengths(*found->alltoall->proved, fabric->network);
    say(fmt::format("{}", wrong));
    if (!wrong.empty()) return ExitCode::internal;
  } else if (options.check && found->alltoall) {
    const auto demand = Demand::uniform(fabric->network.ranks.size());
    const ExitCode checked = check_alltoall(found->alltoall->proof, demand, *fabric, console);
    if (checked != ExitCode::done) return checked;
  }
  if (const auto done = price_failure(*found, *fabric, options, console); !done) {
    return done.errors();
  }
  found->group = at_work("finding what relays add", console,
                         [&] { return other_way(*found, *fabric, options); });
  Json json;
  std::string text;
  if (options.json) {
    json = bound_to_json(*found, *fabric, options);
  } else {
    text = bound_in_words(*found, *fabric, options);
  }
  if (options.whatif) {
    const auto asked = what_if_options(*fabric, options);
    if (!asked) return asked.errors();
    const auto changes = explore(*fabric, *asked, console);
    if (!changes) return changes.errors();
    const std::size_t lines = options.top == 0 ? kUsualChanges : options.top;
    json["what_if"] = to_json(*changes, fabric->topology, *asked);
    if (options.json) put_figures(json["what_if"], figures_of(found->answer, asked->collective));
    text += in_words(*changes, fabric->topology, *asked, lines);
    const AllreduceFigures* allreduce = find_allreduce(found->answer);
    if (allreduce != nullptr && allreduce->in_network) {
      const auto roles = at_work("what if switches could do less", console,
                                 [&] { return role_failures(fabric->topology); });
      if (!roles) return roles.errors();
      json["what_if"]["role_failures"] = to_json(*roles, fabric->topology);
      text += in_words(*roles, fabric->topology, lines);
    }
  }
  const std::string report = options.json ? report_text(std::move(json), console) : text;
  return finish(write_output("-", report));
}

}  // namespace

Command add_bound(CLI::App& program) {
  auto options = std::make_shared<BoundArguments>();
  CLI::App* command = program.add_subcommand(
      "bound", "Compute the optimal rate of a fabric, and the bottleneck that proves it");
  add_topology_argument(*command, options->topology);
  add_collective_option(
      *command, options->collective,
      "Only this collective (default: allgather, reduce_scatter and allreduce, and alltoall where\n"
      "that is quick)");
  add_root_option(*command, options->root);
  const OptionGroup general(*command);
  general.flag("--json", options->json, "Report as JSON (format forestcoll-bound, version 3)");
  add_json_version_option(*command);
  general.flag("--check", options->check,
               "Compute the rate again by bisection, with independent code; both must agree");
  general.flag(
      "--whatif", options->whatif,
      "Rank failures and upgrades by their effect, each solved exactly, of any collective but\n"
      "alltoall, scatter and gather; failures are of links, single cables, nodes, boxes and\n"
      "roles of switches");
  general
      .option("--top", options->top, "N",
              "Number of lines for the links of the bottleneck and for --whatif (text report)")
      ->check(number_from(std::size_t{1}, kMostLines));
  add_alltoall_options(*command, options->alltoall);
  add_jobs_option(*command, options->threads,
                  "Maximum number of threads for a large irregular alltoall (default: all\n"
                  "processors); other work uses one");
  command
      ->add_option("--target", options->target,
                   "Also report the rates of the schedules that `synth` makes for this runtime: " +
                       names_of_targets())
      ->check(CLI::Validator(refuse_unknown_target, "NAME"));
  add_failure_options(*command, options->failures);
  add_job_options(*command, options->job);
  const OptionGroup at_once(*command, "Process groups at once");
  at_once.flag(
      "--place", options->place,
      "Try all orders of the mesh's axes over the GPUs, and where the fabric has more GPUs\n"
      "than the mesh, which ones to take; the report is of the best");
  at_once.file("--hosts", options->hosts,
               "With --place, where the ranks of the best are: a hostfile or rankfile for Open\n"
               "MPI, with the GPUs of each host");
  at_once.option("--html", options->html, "FILE",
                 "Write a page: how long each step takes, what limits it, and the links by who\n"
                 "uses them");
  add_reading_options(*command, options->reading);
  group_options(*command, {"--collective", "--json", "--whatif", "--target", "--drop"});
  command->footer(
      "algbw is the size of the whole buffer divided by the time, busbw what nccl-tests derives\n"
      "from it. The rows are the optimum: no schedule is faster on this fabric, whatever its GPUs\n"
      "and switches do. The bottleneck is the set of nodes whose data takes longest to leave it\n"
      "(for a reduce_scatter: to enter it). Where a switch receives more than it sends, or less,\n"
      "trees have the rate of the best part of the fabric that they can use. Where nodes have\n"
      "weights, the buffer is what all of them own together. The rate per root is then that of a\n"
      "root of weight 1, once all weights are in lowest integers.\n"
      "\n"
      "Trees over GPUs have a lower optimum where switches can copy and sum (\"multicast\" and\n"
      "\"reduce\" in the file). It is printed where it is lower. With --target, the report also "
      "has\n"
      "the rate of the schedule that `synth` writes (up to 64 GPUs; seconds to a minute each).\n"
      "These rates have the same names in `synth`, `compare` and `batch`. --drop and --derate\n"
      "print them before the failure and after it. --whatif ranks failures by the optimum, of an\n"
      "allreduce without -c.\n"
      "\n"
      "alltoall is the best concurrent flow of equal blocks between all GPUs, whatever their\n"
      "weights, along any paths; with --demand, of any amounts. It is exact on fabrics that are\n"
      "small or regular. Elsewhere it is an interval: what flows reach, and an upper bound that\n"
      "lengths of the links prove.\n"
      "\n"
      "--groups, --at-once and --job ask for collectives of process groups that run at once. "
      "Their\n"
      "rate is of the largest buffer when all end at the same time. It stands beside the rates of\n"
      "each alone and one after the other. Lengths of links prove it.\n"
      "\n"
      "Examples:\n"
      "  forestcoll bound topologies/dgx-a100-x2.json\n"
      "  forestcoll bound topologies/dgx-a100-x2.json -c allreduce --groups 'MOD 8' --check\n"
      "  forestcoll bound topologies/dgx-a100-x2.json --mesh tp=8,dp=2 \\\n"
      "      --at-once 'allgather tp 64M' --at-once 'allreduce dp 1G' --place\n"
      "  forestcoll bound topologies/dragonfly-72.json -c alltoall --check\n"
      "  forestcoll bound topologies/dgx-a100-x2.json --json --check\n"
      "  forestcoll bound topologies/dgx-a100-x2.json -c allreduce --target azure\n"
      "  forestcoll bound topologies/dgx-1-v100.json -c broadcast --root 0\n"
      "  forestcoll bound topologies/dgx-a100-x4.json --whatif --top 5\n"
      "  forestcoll bound topologies/dgx-a100-x2.json --drop box0/nic3~ib1 --derate kind=pcie=1/2\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot read or\n"
      "write, 70 internal error (with --check: the two rates differ).");
  return {command, [options](const Console& console) { return run_bound(*options, console); }};
}

}  // namespace forestcoll::cli
