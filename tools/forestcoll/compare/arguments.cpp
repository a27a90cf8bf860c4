#include "compare/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/options/collective_option.hpp"
#include "common/options/help_groups.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "compare/comparison.hpp"
#include "compare/groups.hpp"
#include "compare/rows/program_rows.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/nearest.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {
namespace {

// Rows are programs of XML; what MSCCL++ runs alone is among them as it is.
std::string refuse_other_target(const std::string& name) {
  if (find_target(name) != nullptr && find_plan_target(name) == nullptr) return {};
  return validator_text(Code::T07, fmt::format("\"{}\" is no target of MSCCL XML; known are {}",
                                               name, known_targets()));
}

void add_algorithm_options(CLI::App& command, CompareArguments& options) {
  const OptionGroup group(command, "Algorithms");
  std::string known = fmt::format("{}, {}", kOurs, kOursByRate);
  for (const BaselineInfo& info : baselines()) known += fmt::format(", {}", info.name);
  known +=
      ",\nrecursive-doubling, swing-doubling, all-pairs-once, all-pairs, nccl-pick,\nmscclpp-pick";
  std::string of_alltoall = kOurs;
  for (const BaselineInfo& info : alltoall_baselines())
    of_alltoall += fmt::format(", {}", info.name);
  group
      .list("--algorithms", options.algorithms, "NAME,...",
            fmt::format("Algorithms to compare, with commas, or all; {}. Of --groups also\n{}, {}. "
                        "For an alltoall: {}",
                        known, kOursAlone, kOursInOnePlan, of_alltoall))
      ->delimiter(',');
  group.list("--schedule", options.schedules, "FILE",
             "Also compare this schedule: MSCCL XML, an MSCCL++ plan, forest or flows JSON;\n"
             "several times");
  group.file("--nccl-graph", options.nccl_graph,
             "nccl-ring: use exactly the rings of this dump (NCCL_GRAPH_DUMP_FILE)");
  group.flag("--cross-nic", options.cross_nic,
             "nccl-ring: exchange pairs of rings between boxes, as with NCCL_CROSS_NIC");
  group.flag("--nccl-constants", options.nccl_constants,
             "nccl-ring: search for rings only at the speeds of NCCL's own table");
}

void add_model_options(CLI::App& command, CompareArguments& options) {
  const OptionGroup group(command, "Times");
  group
      .option("--sizes", options.sizes, "SIZES",
              fmt::format("Buffer sizes to simulate: {}", kSizesInWords))
      ->default_str("1K:4G:4");
  group.flag("--trees", options.trees,
             "Simulate trees without threadblocks, as fast as links allow, instead of programs");
  group
      .option("--target", options.target, "NAME",
              fmt::format("The runtime that programs are for: {} (default: {})", known_targets(),
                          LowerOptions().target))
      ->check(CLI::Validator(refuse_other_target, "NAME"));
  auto* gpu = group.option(
      "--gpu", options.gpu, "NAME",
      fmt::format(
          "GPU parameters: {} (default: the GPU that the fabric names or has the links of,\n"
          "else a100)",
          fmt::join(simulation_gpus(), ", ")));
  group
      .file("--parameters", options.parameters,
            "GPU parameters from a JSON file, as for `forestcoll simulate`")
      ->excludes(gpu);
  group.list("--measured", options.measured, "[ALGORITHM=]FILE",
             "Measured times to show beside the simulated ones; output of nccl-tests or\n"
             "forestcoll-run, for one algorithm (forestcoll where none is named); several\n"
             "times");
}

void add_output_options(CLI::App& command, CompareArguments& options) {
  const OptionGroup group(command, "Output");
  const std::vector<CLI::Option*> formats = {
      group.flag("--json", options.json, "Report as JSON (forestcoll-compare, version 2)"),
      group.flag("--csv", options.csv, "Report as CSV: a line per algorithm and size"),
      group.flag("--markdown", options.markdown, "Report as Markdown"),
      group.flag("--latex", options.latex, "Report as LaTeX tables (package booktabs)")};
  for (std::size_t i = 0; i < formats.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) formats[i]->excludes(formats[j]);
  }
  add_json_version_option(command);
  group.file("--table", options.table,
             "Also write the tables as text to a file, beside a report in another form");
  group.file("--svg", options.svg, "Draw algbw over size; - is standard output");
  group.file("--html", options.html,
             "Write a page without links to the network: fabric, bottleneck, chart, busy\n"
             "links, trees and tables");
}

// The baselines that have the collective.
std::vector<std::string> baselines_of(const CompareArguments& options) {
  std::vector<std::string> names;
  const Collective collective = *collective_of(options.collective);
  if (is_personalized(collective)) {
    for (const BaselineInfo& info : alltoall_baselines()) {
      if (supports(info, collective)) names.emplace_back(info.name);
    }
    return names;
  }
  for (const BaselineInfo& info : baselines()) {
    if (supports(info, collective)) names.emplace_back(info.name);
  }
  if (options.trees) return names;
  if (collective == Collective::allreduce) {
    for (const ExchangeInfo& info : exchanges()) names.emplace_back(info.name);
  }
  if (options.groups.given()) return names;
  names.emplace_back(kNcclPick);
  if (collective == Collective::allreduce) names.emplace_back(kMscclppPick);
  return names;
}

bool is_algorithm(const std::string& name, const CompareArguments& options) {
  const bool in_groups = options.groups.given();
  if (name == kOurs || (in_groups && (name == kOursAlone || name == kOursInOnePlan))) return true;
  if (in_groups && (name == kOursByRate || is_selector(name))) return false;
  if (has_paths(options.collective)) {
    const BaselineInfo* info = find_alltoall_baseline(name);
    return info != nullptr && supports(*info, *collective_of(options.collective));
  }
  return name == kOursByRate || is_selector(name) || find_exchange(name) != nullptr ||
         find_baseline(name) != nullptr;
}

Diagnostic no_algorithm(const std::string& name, const CompareArguments& options) {
  std::vector<std::string> known = {"all", kOurs};
  const bool of_paths = has_paths(options.collective);
  for (const BaselineInfo& info : of_paths ? alltoall_baselines() : baselines()) {
    if (of_paths && !supports(info, *collective_of(options.collective))) continue;
    known.emplace_back(info.name);
  }
  const std::string meant = nearest_word(name, known);
  return make_error(
      Code::B09, fmt::format("--algorithms: there is no \"{}\"", name),
      fmt::format("{}there are {}", meant.empty() ? "" : "did you mean " + meant + "? ",
                  fmt::join(known, ", ")));
}

std::vector<std::string> asked_algorithms(const CompareArguments& options) {
  if (!options.algorithms.empty()) return options.algorithms;
  if (!are_several(options) || options.trees) return {"all"};
  return {kOurs, has_paths(options.collective) ? "direct" : kNcclPick};
}

// "all" is ours and every baseline that has this collective.
Expected<std::vector<std::string>> names_of(const CompareArguments& options) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const std::string& asked : asked_algorithms(options)) {
    if (asked == "all") {
      add(kOurs);
      const bool has_rate = !has_paths(options.collective) && !options.trees;
      if (options.groups.given()) {
        if (has_relays(options.failures)) add(kOursInOnePlan);
        add(kOursAlone);
      } else if (has_rate) {
        add(kOursByRate);
      }
      for (const std::string& name : baselines_of(options)) add(name);
    } else if (is_algorithm(asked, options)) {
      add(asked);
    } else {
      return no_algorithm(asked, options);
    }
  }
  return names;
}

// What says nothing to the algorithms that are compared.
Expected<void> refuse_for_algorithms(const CompareArguments& options,
                                     const std::vector<std::string>& names) {
  const bool rings = std::ranges::any_of(names, has_box_rings);
  const bool nccl_ring = std::ranges::find(names, "nccl-ring") != names.end();
  if (const char* option = first_given({{"--nccl-graph", !options.nccl_graph.empty() && !rings},
                                        {"--nccl-constants", options.nccl_constants && !rings},
                                        {"--cross-nic", options.cross_nic && !nccl_ring}})) {
    return make_error(
        Code::S04,
        fmt::format("{} has no effect with --algorithms {}", option, fmt::join(names, ",")),
        "add nccl-ring to them, or leave it out");
  }
  return {};
}

// Programs alone cannot be asked for as trees.
Expected<void> refuse_with_trees(const CompareArguments& options,
                                 const std::vector<std::string>& names) {
  if (!options.trees) return {};
  if (has_paths(options.collective)) {
    return make_error(Code::S04, fmt::format("{} has no trees", with_article(options.collective)),
                      "leave --trees out");
  }
  const auto program = std::ranges::find_if(names, [](const std::string& name) {
    return name == kOursByRate || is_selector(name) ||
           (find_exchange(name) != nullptr && find_baseline(name) == nullptr);
  });
  if (program == names.end()) return {};
  return make_error(Code::S04, fmt::format("{} is timed as a program alone", *program),
                    "leave it or --trees out");
}

}  // namespace

void add_compare_options(CLI::App& command, CompareArguments& options) {
  command
      .add_option("TOPOLOGY", options.topologies,
                  "Topology file, or - for standard input, or several to compare in one table")
      ->required();
  add_jobs_option(command, options.threads,
                  "Algorithms, and their sizes, at a time (default: all processors)");
  add_collective_option(command, options.collective, "The collective")->capture_default_str();
  add_file_option(
      command, "--demand", options.demand,
      "All-to-all-v: bytes that every GPU has for every other, a row per sender, as\n"
      "CSV or a JSON array of arrays (with -c alltoall); sizes are what a GPU sends on\n"
      "average, in the same proportions");
  add_root_option(command, options.root);
  add_algorithm_options(command, options);
  add_model_options(command, options);
  add_output_options(command, options);
  add_failure_options(command, options.failures);
  add_groups_options(command, options.groups);
  add_latency_option(command, options.failures);
  add_reading_options(command, options.reading);
  group_options(command, {"--collective", "--sizes", "--algorithms", "--svg", "--measured"});
  command.footer(
      "Rates are those of the links alone (congestion model), and times are simulated. Neither is\n"
      "a measurement. An algorithm that cannot exist on the fabric is listed with the reason, and\n"
      "the others are compared. An allreduce is compared with the best of NCCL's ring, tree and\n"
      "NVLS. Its two phases run at once, so its rate counts the link that both load most. Its\n"
      "optimum is that of all trees where it can be computed (see `bound`), else that of\n"
      "reduce-scatter, then allgather, without reduction inside switches. An alltoall is compared\n"
      "with NCCL's orders; its rows are paths, whose messages go in rounds.\n"
      "\n"
      "Times are of the programs that would be written. Each algorithm has its fastest variant by\n"
      "size, over protocols and 1, 2, 4 and 8 instances, for any number of elements. "
      "\"forestcoll\"\n"
      "is what synth --size writes, and may use any algorithm. \"forestcoll (rate)\" has the "
      "trees\n"
      "of the highest rate. nccl-pick and mscclpp-pick are the choices of the published "
      "selectors.\n"
      "With --groups \"forestcoll\" shares the links out among the groups, and \"forestcoll "
      "(alone)\"\n"
      "has what each group would take by itself.\n"
      "With --trees times are of trees without threadblocks. Then, or where a file of --schedule\n"
      "has trees, programs and trees have tables of their own. tb/ch/steps are threadblocks,\n"
      "channels and steps per GPU of the program, or the code of the limit that it exceeds.\n"
      "\n"
      "Examples:\n"
      "  forestcoll compare topologies/dgx-a100-x2.json\n"
      "  forestcoll compare topologies/mi250-x2.json -c allgather --html report.html\n"
      "  forestcoll compare h100.json h100-more-nics.json --sizes 1M,1G\n"
      "  forestcoll compare fabric.json --algorithms forestcoll,nccl-ring --sizes 1M:1G --csv\n"
      "  forestcoll compare fabric.json --schedule taccl.xml --svg chart.svg\n"
      "  forestcoll compare fabric.json --measured nccl-ring=all_reduce_perf.txt\n"
      "  forestcoll compare fabric.json --groups 'MOD 8' --algorithms forestcoll,nccl-ring\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot read or\n"
      "write, 70 internal error.");
}

Expected<void> refuse_with_several(const CompareArguments& options) {
  if (!are_several(options)) return {};
  const char* option = first_given({{"--schedule", !options.schedules.empty()},
                                    {"--measured", !options.measured.empty()},
                                    {"--nccl-graph", !options.nccl_graph.empty()},
                                    {"--demand", !options.demand.empty()},
                                    {"--latex", options.latex},
                                    {"--table", !options.table.empty()},
                                    {"--svg", !options.svg.empty()},
                                    {"--html", !options.html.empty()}});
  if (option != nullptr) {
    return make_error(Code::S04, fmt::format("{} is for one topology", option),
                      "name one topology, or leave the option out");
  }
  if (std::ranges::count(options.topologies, "-") < 2) return {};
  return make_error(Code::S04, "standard input can be one topology", "name files for the others");
}

Expected<void> refuse_with_groups(const CompareArguments& options) {
  const std::string none;
  if (auto done = refuse_misplaced_groups(options.groups, {options.failures, none, none, false});
      !done) {
    return done;
  }
  if (!options.groups.given()) return {};
  const char* option = first_given({{"more than one topology", are_several(options)},
                                    {"--demand", !options.demand.empty()},
                                    {"--schedule", !options.schedules.empty()},
                                    {"--measured", !options.measured.empty()},
                                    {"--nccl-graph", !options.nccl_graph.empty()},
                                    {"--cross-nic", options.cross_nic},
                                    {"--nccl-constants", options.nccl_constants},
                                    {"--trees", options.trees}});
  if (option == nullptr) return {};
  return make_error(Code::S04, fmt::format("{} does not go with --groups", option),
                    "leave it out, or compare one group with --members; a file for all groups is "
                    "timed by `simulate` with --groups");
}

Expected<std::vector<std::string>> find_algorithms(const CompareArguments& options) {
  auto names = names_of(options);
  if (!names) return names;
  if (const auto done = refuse_for_algorithms(options, *names); !done) return done.errors();
  if (const auto done = refuse_with_trees(options, *names); !done) return done.errors();
  return names;
}

}  // namespace forestcoll::cli
