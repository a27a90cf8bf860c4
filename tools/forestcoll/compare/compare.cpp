// `forestcoll compare`: ours beside the schedules that others use, on one fabric.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/bound_alltoall.hpp"
#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/files/nccl_rings.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/file_option.hpp"
#include "common/options/jobs_option.hpp"
#include "common/options/size_options.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "compare/comparison.hpp"
#include "compare/make_comparison.hpp"
#include "compare/overlay.hpp"
#include "compare/page.hpp"
#include "compare/program_rows.hpp"
#include "compare/write.hpp"
#include "forestcoll/alltoall_baseline.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {
namespace {

constexpr int kChartWidth = 960;

struct CompareArguments {
  std::string topology;
  std::string collective = "allreduce";
  std::string demand;  ///< a file
  std::string root;
  std::vector<std::string> algorithms = {"all"};
  std::string sizes = "1K:4G:4";
  std::vector<std::string> schedules, measured;
  std::string gpu, parameters;  ///< empty: the fabric's own GPU
  std::string nccl_graph;
  bool cross_nic = false, nccl_constants = false;
  bool trees = false;
  bool json = false, csv = false, markdown = false, latex = false;
  std::string svg, html;  ///< files to write; empty: none
  int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  ReadingOptions reading;
  Failures failures;
};

// The baselines that have the collective.
std::vector<std::string> baselines_of(const CompareArguments& options) {
  std::vector<std::string> names;
  if (is_alltoall(options.collective)) {
    for (const BaselineInfo& info : alltoall_baselines()) names.emplace_back(info.name);
    return names;
  }
  const Collective collective = *parse_collective(options.collective);
  for (const BaselineInfo& info : baselines()) {
    if (std::ranges::find(info.supported, collective) != info.supported.end()) {
      names.emplace_back(info.name);
    }
  }
  if (options.trees) return names;
  if (collective == Collective::allreduce) {
    for (const ExchangeInfo& info : exchanges()) names.emplace_back(info.name);
  }
  names.emplace_back("nccl-pick");
  if (collective == Collective::allreduce) names.emplace_back("mscclpp-pick");
  return names;
}

bool is_algorithm(const std::string& name, const CompareArguments& options) {
  if (name == ours) return true;
  if (is_alltoall(options.collective)) return find_alltoall_baseline(name) != nullptr;
  return name == kOursByRate || is_selector(name) || find_exchange(name) != nullptr ||
         find_baseline(name) != nullptr;
}

Diagnostic no_algorithm(const std::string& name, const CompareArguments& options) {
  std::vector<std::string_view> known = {"all", ours};
  for (const BaselineInfo& info :
       is_alltoall(options.collective) ? alltoall_baselines() : baselines()) {
    known.push_back(info.name);
  }
  return make_error("S03", fmt::format("--algorithms: there is no \"{}\"", name),
                    fmt::format("there are {}", fmt::join(known, ", ")));
}

// "all" is ours and every baseline that has this collective.
Expected<std::vector<std::string>> names_of(const CompareArguments& options) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const std::string& asked : options.algorithms) {
    if (asked == "all") {
      add(ours);
      if (!is_alltoall(options.collective) && !options.trees) add(kOursByRate);
      for (const std::string& name : baselines_of(options)) add(name);
    } else if (is_algorithm(asked, options)) {
      add(asked);
    } else {
      return no_algorithm(asked, options);
    }
  }
  return names;
}

// As they are asked for; else those of the GPU that the fabric names.
Expected<void> choose_parameters(const CompareArguments& options, const Fabric& fabric,
                                 RowsRequest& request) {
  ChosenGpu gpu{options.gpu, "as asked for"};
  if (options.gpu.empty()) gpu = fabric.gpu;
  auto parameters = find_simulation_parameters(gpu.name);
  request.gpu_chosen = gpu.reason;
  if (!options.parameters.empty()) {
    const auto text = read_input(options.parameters);
    if (!text) return text.errors();
    parameters = parse_simulation_parameters(*text, display_name(options.parameters));
    request.gpu_chosen = "from " + display_name(options.parameters);
  }
  if (!parameters) return parameters.errors();
  request.parameters = *std::move(parameters);
  return {};
}

// A size of a list that makes no sense keeps none of the others from being simulated.
void choose_sizes(const std::string& text, RowsRequest& request) {
  auto all = parse_sizes(text);
  if (all) {
    request.sizes = *std::move(all);
    return;
  }
  std::istringstream parts(text.find(',') != std::string::npos ? text : "");
  std::set<std::int64_t> sizes;
  for (std::string part; std::getline(parts, part, ',');) {
    const auto size = parse_sizes(part);
    if (size) {
      sizes.insert(size->begin(), size->end());
    } else {
      request.refused_sizes.push_back({part, size.errors().front()});
    }
  }
  // As a whole it makes none: a range, or too long a list.
  if (request.refused_sizes.empty()) {
    request.refused_sizes.push_back({text, all.errors().front()});
  } else {
    request.sizes.assign(sizes.begin(), sizes.end());
  }
}

// A picture or a page on standard output stands alone there, unless a report is asked for.
bool prints_report(const CompareArguments& options) {
  const bool asked = options.json || options.csv || options.markdown || options.latex;
  return asked || (options.svg != "-" && options.html != "-");
}

Expected<void> refuse_files(const CompareArguments& options, const RowsRequest& request) {
  std::vector<NamedFile> inputs = {{"topology file", options.topology},
                                   {"--box file", options.reading.dump.box},
                                   {"--parameters file", options.parameters},
                                   {"--nccl-graph file", options.nccl_graph},
                                   {"--demand file", options.demand}};
  for (const std::string& schedule : options.schedules) {
    inputs.push_back({"--schedule file", schedule});
  }
  for (const std::string& measured : options.measured) {
    inputs.push_back({"--measured file", measured_path(request, measured)});
  }
  return refuse_clashes(inputs, {{"--svg", options.svg},
                                 {"--html", options.html},
                                 {"the report", prints_report(options) ? "-" : ""}});
}

// What says nothing to the algorithms that are compared.
Expected<void> refuse_for_algorithms(const CompareArguments& options,
                                     const std::vector<std::string>& names) {
  const bool rings = std::ranges::any_of(names, has_box_rings);
  const bool nccl_ring = std::ranges::find(names, "nccl-ring") != names.end();
  for (const auto& [option, given, fits] :
       {std::tuple("--nccl-graph", !options.nccl_graph.empty(), rings),
        std::tuple("--nccl-constants", options.nccl_constants, rings),
        std::tuple("--cross-nic", options.cross_nic, nccl_ring)}) {
    if (!given || fits) continue;
    return make_error(
        "S04", fmt::format("{} says nothing to --algorithms {}", option, fmt::join(names, ",")),
        "add nccl-ring to them, or leave it out");
  }
  return {};
}

std::string report(const Comparison& comparison, const CompareArguments& options) {
  if (options.json) return to_text(to_json(comparison, true));
  if (options.csv) return to_csv(comparison);
  if (options.markdown) return to_markdown(comparison);
  if (options.latex) return to_latex(comparison);
  return to_terminal(comparison);
}

Expected<void> write_files(const Comparison& comparison, const CompareArguments& options,
                           const Console& console) {
  if (!options.svg.empty()) {
    if (!has_times(comparison)) {
      return make_error("N09", "--svg: no algorithm has times, so there is nothing to draw",
                        "the report says why, for each of them");
    }
    if (const auto done = write_output(options.svg, to_chart(comparison, kChartWidth, true));
        !done) {
      return done.errors();
    }
  }
  if (options.html.empty()) return {};
  const Page page = at_work("drawing the page", console, [&] { return to_page(comparison); });
  print(page.warnings, console);
  return write_output(options.html, page.html);
}

// Programs alone cannot be asked for as trees.
Expected<void> refuse_with_trees(const CompareArguments& options,
                                 const std::vector<std::string>& names) {
  if (!options.trees) return {};
  if (is_alltoall(options.collective)) {
    return make_error("S04", "an alltoall has no trees", "leave --trees out");
  }
  const auto program = std::ranges::find_if(names, [](const std::string& name) {
    return name == kOursByRate || is_selector(name) ||
           (find_exchange(name) != nullptr && find_baseline(name) == nullptr);
  });
  if (program == names.end()) return {};
  return make_error("S04", fmt::format("{} is timed as a program alone", *program),
                    "leave it or --trees out");
}

// What says nothing to an all-to-all, or to all others.
Expected<void> refuse_for_collective(const CompareArguments& options) {
  if (!is_alltoall(options.collective)) {
    if (options.demand.empty()) return {};
    return make_error("S04", "--demand is for -c alltoall", "add -c alltoall, or leave it out");
  }
  if (auto done = refuse_no_demand(options.collective, options.demand); !done) return done;
  if (!options.root.empty()) {
    return make_error("S02", "an alltoall has no root", "leave --root out");
  }
  return {};
}

ExitCode run_compare(const CompareArguments& options, const Console& console) {
  if (const auto done = refuse_for_collective(options); !done) return fail(done.errors(), console);
  const bool alltoall = is_alltoall(options.collective);
  RowsRequest request;
  // nccl-tests makes busbw of algbw in the same way for an allgather and an all-to-all.
  request.collective = alltoall ? Collective::allgather : *parse_collective(options.collective);
  request.schedules = options.schedules;
  auto names = names_of(options);
  if (!names) return fail(names.errors(), console);
  if (const auto done = refuse_for_algorithms(options, *names); !done) {
    return fail(done.errors(), console);
  }
  if (const auto done = refuse_with_trees(options, *names); !done) {
    return fail(done.errors(), console);
  }
  request.algorithms = *std::move(names);
  if (const auto done = refuse_files(options, request); !done) return fail(done.errors(), console);
  choose_sizes(options.sizes, request);
  request.threads = options.threads;
  request.trees = options.trees;
  request.by_size = !options.trees && !alltoall;
  const auto rings = read_rings(options.nccl_graph);
  if (!rings) return fail(rings.errors(), console);
  request.baseline = {.graph = *rings ? &**rings : nullptr,
                      .cross_nic = options.cross_nic,
                      .nccl_constants = options.nccl_constants};

  const auto fabric = load_fabric(options.topology, options.reading, options.failures, console);
  if (!fabric) return fail(fabric.errors(), console);
  report_reading(*fabric, options.reading, console);
  request.collective_name = options.collective;
  if (alltoall) {
    auto demand = read_demand(fabric->network, options.demand);
    if (!demand) return fail(demand.errors(), console);
    request.collective_name = demand->demand.is_uniform() ? "alltoall" : "alltoallv";
    request.demand = *std::move(demand);
  }
  const auto root = find_root(fabric->topology, request.collective, options.root);
  if (!root) return fail(root.errors(), console);
  request.root = *root;
  const auto chosen = choose_parameters(options, *fabric, request);
  if (!chosen) return fail(chosen.errors(), console);
  const auto ranks = static_cast<std::int64_t>(fabric->topology.ranks.size());
  std::vector<Overlay> overlays;
  for (const std::string& measured : options.measured) {
    auto overlay = read_overlay(request, ranks, measured);
    if (!overlay) return fail(overlay.errors(), console);
    print(overlay->measured.warnings, console);
    ask_for_sizes(request, *overlay);
    overlays.push_back(*std::move(overlay));
  }

  auto comparison = make_comparison(*fabric, request, console);
  if (!comparison) return fail(comparison.errors(), console);
  for (const Overlay& overlay : overlays) add_measured(*comparison, overlay);
  const auto written = write_files(*comparison, options, console);
  if (!written) return fail(written.errors(), console);
  if (!prints_report(options)) return ExitCode::done;
  return finish(write_output("-", report(*comparison, options)), console);
}

void add_algorithm_options(CLI::App& command, CompareArguments& options) {
  constexpr const char* kGroup = "Algorithms";
  std::string known = fmt::format("{}, {}", ours, kOursByRate);
  for (const BaselineInfo& info : baselines()) known += fmt::format(", {}", info.name);
  known +=
      ",\nrecursive-doubling, swing-doubling, all-pairs-once, all-pairs, nccl-pick,\nmscclpp-pick";
  std::string of_alltoall = ours;
  for (const BaselineInfo& info : alltoall_baselines())
    of_alltoall += fmt::format(", {}", info.name);
  command
      .add_option(
          "--algorithms", options.algorithms,
          fmt::format("Which to compare: all, or names with commas: {}; of an alltoall:\n{}", known,
                      of_alltoall))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...")
      ->group(kGroup);
  command
      .add_option("--schedule", options.schedules,
                  "Also this schedule: MSCCL XML, an MSCCL++ plan, forest or flows JSON; several\n"
                  "times")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->group(kGroup);
  command
      .add_option("--nccl-graph", options.nccl_graph,
                  "nccl-ring has exactly the rings of this dump (NCCL_GRAPH_DUMP_FILE)")
      ->check(CLI::Validator(refuse_no_name, ""))
      ->type_name("FILE")
      ->group(kGroup);
  command.add_flag("--cross-nic", options.cross_nic, "nccl-ring between boxes: mirror odd rings")
      ->group(kGroup);
  command
      .add_flag("--nccl-constants", options.nccl_constants,
                "nccl-ring: only the ring speeds of NCCL's own table")
      ->group(kGroup);
}

void add_model_options(CLI::App& command, CompareArguments& options) {
  constexpr const char* kGroup = "Times";
  command
      .add_option("--sizes", options.sizes,
                  fmt::format("Buffer sizes to simulate: {}", kSizesInWords))
      ->capture_default_str()
      ->type_name("SIZES")
      ->group(kGroup);
  command
      .add_flag("--trees", options.trees,
                "Times of trees without threadblocks, as fast as their links allow, in place of\n"
                "those of programs")
      ->group(kGroup);
  auto* gpu = command
                  .add_option("--gpu", options.gpu,
                              fmt::format("Whose figures the simulation takes: {}\n(default: the "
                                          "GPU that the fabric names or has the links of, else\n"
                                          "a100)",
                                          fmt::join(simulation_gpus(), ", ")))
                  ->type_name("NAME")
                  ->group(kGroup);
  command
      .add_option("--parameters", options.parameters,
                  "Figures of a GPU from a file, as for `forestcoll simulate`")
      ->check(CLI::Validator(refuse_no_name, ""))
      ->type_name("FILE")
      ->excludes(gpu)
      ->group(kGroup);
  command
      .add_option("--measured", options.measured,
                  "Output of nccl-tests or forestcoll-run, laid over the times of one algorithm\n"
                  "(forestcoll where none is named) and marked as what it is; several times")
      ->allow_extra_args(false)
      ->type_name("[ALGORITHM=]FILE")
      ->group(kGroup);
}

void add_output_options(CLI::App& command, CompareArguments& options) {
  constexpr const char* kGroup = "Output";
  std::vector<CLI::Option*> formats = {
      command.add_flag("--json", options.json, "Report as JSON (forestcoll-compare, version 1)"),
      command.add_flag("--csv", options.csv, "Report as CSV: a line per algorithm and size"),
      command.add_flag("--markdown", options.markdown, "Report as Markdown"),
      command.add_flag("--latex", options.latex, "Report as LaTeX tables (package booktabs)")};
  for (std::size_t i = 0; i < formats.size(); ++i) {
    formats[i]->group(kGroup);
    for (std::size_t j = 0; j < i; ++j) formats[i]->excludes(formats[j]);
  }
  command.add_option("--svg", options.svg, "Draw algbw over size; - is standard output")
      ->check(CLI::Validator(refuse_no_name, ""))
      ->type_name("FILE")
      ->group(kGroup);
  command
      .add_option("--html", options.html,
                  "Write a page that needs no network: fabric, bottleneck, chart, busy links,\n"
                  "trees and tables (Graphviz draws the fabric)")
      ->check(CLI::Validator(refuse_no_name, ""))
      ->type_name("FILE")
      ->group(kGroup);
}

}  // namespace

Command add_compare(CLI::App& program) {
  auto options = std::make_shared<CompareArguments>();
  CLI::App* command = program.add_subcommand(
      "compare", "Ours beside NCCL's rings and trees and the literature's schedules");
  command->add_option("TOPOLOGY", options->topology, "Topology file, or - for standard input")
      ->required();
  add_jobs_option(*command, options->threads,
                  "Algorithms, and their sizes, at a time (default: all processors)");
  add_collective_option(*command, options->collective, "What to compare")->capture_default_str();
  command
      ->add_option(
          "--demand", options->demand,
          "All-to-all-v: bytes that every GPU has for every other, a row per sender, as\n"
          "CSV or a JSON array of arrays (with -c alltoall); sizes are what a GPU sends on\n"
          "average, in the same proportions")
      ->check(CLI::Validator(refuse_no_name, ""))
      ->type_name("FILE");
  command
      ->add_option("--root", options->root, "Root of broadcast and reduce: a GPU's id or its rank")
      ->type_name("GPU");
  add_algorithm_options(*command, *options);
  add_model_options(*command, *options);
  add_output_options(*command, *options);
  add_failure_options(*command, options->failures);
  add_reading_options(*command, options->reading);
  command->footer(
      "Rates are those of the links alone (congestion model), times are simulated: both are\n"
      "models, not measurements. An algorithm that cannot exist on the fabric says why; the\n"
      "others are compared all the same. An allreduce is compared with the best of NCCL's ring,\n"
      "tree and NVLS. Its phases run at once, and so counts the link that both load most; its\n"
      "optimum is that of all trees where it can be computed (see `bound`), else that of\n"
      "reduce-scatter, then allgather. No optimum counts reduction inside switches. An alltoall "
      "is\n"
      "compared with NCCL's orders; its rows are paths, whose messages go in rounds.\n"
      "Times are of the programs that would be written: of every algorithm the fastest by size,\n"
      "over protocols and 1, 2, 4 and 8 instances, for any number of elements. forestcoll is what\n"
      "synth --size writes, whose algorithm it may be; forestcoll (rate) the trees of the highest\n"
      "rate; nccl-pick and mscclpp-pick what their published selectors take. With --trees\n"
      "times are of trees without threadblocks; then, or where a file of --schedule has trees, "
      "each\n"
      "kind has a table of its own, and a file that is a program is set against programs.\n"
      "tb/ch/steps are threadblocks, channels and steps per GPU of the program of the trees, or\n"
      "the code of what keeps it from fitting.\n"
      "\n"
      "Examples:\n"
      "  forestcoll compare topologies/dgx-a100-x2.json\n"
      "  forestcoll compare topologies/mi250-x2.json -c allgather --html report.html\n"
      "  forestcoll compare fabric.json --algorithms forestcoll,nccl-ring --sizes 1M:1G --csv\n"
      "  forestcoll compare fabric.json --schedule taccl.xml --svg chart.svg\n"
      "  forestcoll compare fabric.json --measured nccl-ring=all_reduce_perf.txt\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot read or\n"
      "write, 70 a bug of ours.");
  return {command, [options](const Console& console) { return run_compare(*options, console); }};
}

}  // namespace forestcoll::cli
