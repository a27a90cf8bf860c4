#include "compare/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/bound_alltoall.hpp"
#include "common/files/named_files.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/file_option.hpp"
#include "common/options/jobs_option.hpp"
#include "common/options/size_options.hpp"
#include "compare/comparison.hpp"
#include "compare/rows/program_rows.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {
namespace {

void add_algorithm_options(CLI::App& command, CompareArguments& options) {
  constexpr const char* kGroup = "Algorithms";
  std::string known = fmt::format("{}, {}", kOurs, kOursByRate);
  for (const BaselineInfo& info : baselines()) known += fmt::format(", {}", info.name);
  known +=
      ",\nrecursive-doubling, swing-doubling, all-pairs-once, all-pairs, nccl-pick,\nmscclpp-pick";
  std::string of_alltoall = kOurs;
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
  add_file_option(command, "--nccl-graph", options.nccl_graph,
                  "nccl-ring has exactly the rings of this dump (NCCL_GRAPH_DUMP_FILE)")
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
  add_file_option(command, "--parameters", options.parameters,
                  "Figures of a GPU from a file, as for `forestcoll simulate`")
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
  add_file_option(command, "--svg", options.svg, "Draw algbw over size; - is standard output")
      ->group(kGroup);
  add_file_option(command, "--html", options.html,
                  "Write a page that needs no network: fabric, bottleneck, chart, busy links,\n"
                  "trees and tables (Graphviz draws the fabric)")
      ->group(kGroup);
}

}  // namespace

void add_compare_options(CLI::App& command, CompareArguments& options) {
  command.add_option("TOPOLOGY", options.topology, "Topology file, or - for standard input")
      ->required();
  add_jobs_option(command, options.threads,
                  "Algorithms, and their sizes, at a time (default: all processors)");
  add_collective_option(command, options.collective, "What to compare")->capture_default_str();
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
  add_latency_option(command, options.failures);
  add_reading_options(command, options.reading);
  command.footer(
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
}

}  // namespace forestcoll::cli
