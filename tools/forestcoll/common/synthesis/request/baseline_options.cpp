#include "common/synthesis/request/baseline_options.hpp"

#include <CLI/CLI.hpp>

#include "common/options/file_option.hpp"

namespace forestcoll::cli {

void add_baseline_options(CLI::App& command, BaselineArguments& arguments) {
  constexpr const char* kGroup = "Algorithm";
  command
      .add_option("--algorithm", arguments.algorithm,
                  "Whose trees: forestcoll's, the best possible, or one to compare with:\n"
                  "nccl-ring, ring, double-tree, nvls, halving-doubling, bruck, multitree, bfb,\n"
                  "hierarchical, greedy, pat, swing, bine, one-shot, two-shot, two-level,\n"
                  "recursive-doubling, swing-doubling, all-pairs-once, all-pairs; of an alltoall:\n"
                  "nccl-pairwise, nccl-pxn, hierarchical, bruck, direct; of a scatter or gather:\n"
                  "binomial, direct")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(kGroup);
  add_file_option(command, "--nccl-graph", arguments.nccl_graph,
                  "Take exactly the rings of this dump (NCCL_GRAPH_DUMP_FILE) for the boxes; with\n"
                  "nccl-ring, double-tree or hierarchical")
      ->group(kGroup);
  command
      .add_flag("--cross-nic", arguments.cross_nic,
                "nccl-ring between boxes: rings change places in pairs, as with NCCL_CROSS_NIC")
      ->group(kGroup);
  command
      .add_flag("--nccl-constants", arguments.nccl_constants,
                "Search for rings at the speeds of NCCL's own table only")
      ->group(kGroup);
}

}  // namespace forestcoll::cli
