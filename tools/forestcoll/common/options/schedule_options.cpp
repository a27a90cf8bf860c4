#include "common/options/schedule_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "common/files/io.hpp"
#include "common/options/did_you_mean.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int32_t kSmsAtMost = 4096;

std::vector<std::string> target_names() {
  std::vector<std::string> names = verify_targets();
  for (const PlanTarget& each : plan_targets()) names.push_back(each.name);
  return names;
}

}  // namespace

std::string refuse_unknown_target(const std::string& name) {
  if (is_target(name)) return {};
  return validator_text(Code::T07, fmt::format("\"{}\" is no target; known are {}{}", name,
                                               names_of_targets(), nearest_target(name)));
}

std::string nearest_target(std::string_view name) {
  if (name.starts_with("nccl") || name.starts_with("NCCL")) {
    return "; NCCL as shipped runs no schedules, but takes files of `synth --format nccl-graph` "
           "and `nccl-tuner` (docs/how-to/stock-nccl.md)";
  }
  return did_you_mean(name, target_names());
}

bool is_target(std::string_view name) {
  return find_target(name) != nullptr;
}

std::string names_of_targets() {
  return fmt::format("{}", fmt::join(target_names(), ", "));
}

void add_target_options(CLI::App& command, std::string& target, std::optional<std::int32_t>& sms) {
  command
      .add_option(
          "--target", target,
          fmt::format(
              "The runtime whose limits apply: {}; the last two are releases of MSCCL++, for\n"
              "--format mscclpp, and {} means the newer one",
              names_of_targets(), kPlanTarget))
      ->check(CLI::Validator(refuse_unknown_target, "NAME"))
      ->capture_default_str();
  add_sms_option(command, sms);
}

void add_sms_option(CLI::App& command, std::optional<std::int32_t>& sms) {
  const OptionGroup general(command);
  general
      .option(
          "--sms", sms, "N",
          fmt::format(
              "Threadblocks that a GPU runs at once (its streaming multiprocessors); default\n"
              "{}, for RCCL {}, or those of the fabric's GPU, if it has fewer. A schedule with\n"
              "more hangs",
              default_sms("azure"), default_sms("rccl-6")))
      ->check(number_from(1, kSmsAtMost));
}

void add_baseline_options(CLI::App& command, BaselineArguments& arguments) {
  const OptionGroup group(command, "Algorithm");
  group
      .option("--algorithm", arguments.algorithm, "NAME",
              "The algorithm: forestcoll, which is optimal, or one to compare with; nccl-ring,\n"
              "ring, double-tree, double-tree-direct, double-tree-binomial, nvls,\n"
              "halving-doubling, bruck, multitree, bfb, hierarchical, greedy, pat, swing, bine,\n"
              "one-shot, two-shot, two-level, rail-pat, two-level-pat, recursive-doubling,\n"
              "swing-doubling, all-pairs-once, all-pairs. For an alltoall: nccl-pairwise,\n"
              "nccl-pxn, hierarchical, bruck, direct. For a scatter or gather: binomial, direct")
      ->capture_default_str();
  group.file("--nccl-graph", arguments.nccl_graph,
             "Use exactly the rings of this dump (NCCL_GRAPH_DUMP_FILE) within boxes; with\n"
             "nccl-ring, double-tree or hierarchical");
  group.flag("--cross-nic", arguments.cross_nic,
             "nccl-ring: exchange pairs of rings between boxes, as with NCCL_CROSS_NIC");
  group.flag("--nccl-constants", arguments.nccl_constants,
             "nccl-ring: search for rings only at the speeds of NCCL's own table");
}

bool has_box_rings(const std::string& algorithm) {
  const BaselineInfo* info = find_baseline(algorithm);
  return info != nullptr && info->traits.has_box_rings;
}

Expected<std::optional<NcclGraph>> read_rings(const std::string& path) {
  if (path.empty()) return std::optional<NcclGraph>();
  const auto text = read_input(path);
  if (!text) return text.errors();
  const auto graphs = read_nccl_graph(*text, display_name(path));
  if (!graphs) return graphs.errors();
  const auto rings = std::ranges::find(*graphs, 0, &NcclGraph::id);
  if (rings != graphs->end()) return std::optional(*rings);
  return make_error(Code::B07, "the graph file has no graph of rings (id 0)",
                    "dump it with NCCL_GRAPH_DUMP_FILE, of a run that uses rings",
                    {.file = display_name(path)});
}

}  // namespace forestcoll::cli
