// The options of `synth`, as they stand in its help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "common/options/collective_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/options/solver_options.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int32_t kMostInstances = 64;

std::string refuse_nothing(const std::string& text) {
  if (!text.empty()) return {};
  return validator_text(Code::S03, "expected sizes such as 64K:1G, found nothing");
}

constexpr const char* kScheduleGroup = "Schedule";

void add_placement_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group.flag("--inplace", arguments.in_place, "For calls in place (the default)");
  group.flag("--outofplace", arguments.out_of_place,
             "For calls out of place, which leave their input as it is; with --inplace, for\n"
             "both");
}

void add_protocol_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group
      .place(command.add_option(
          "--proto", arguments.protocol,
          "The protocol of all connections; default Simple, or LL for a broadcast or reduce\n"
          "between boxes, where Simple hangs; with --size and --tune what is fastest"))
      ->check(CLI::IsMember({"Simple", "LL", "LL128"}));
  group.flag("--force-simple", arguments.force_simple,
             "Simple for a broadcast or reduce between boxes all the same");
}

void add_threadblock_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group
      .option("--instances", arguments.instances, "N",
              "Cut every chunk into N parts, each with threadblocks and channels of its own;\n"
              "default 1, with --size and --tune 1, 2, 4 or 8")
      ->check(CLI::Range(1, kMostInstances).description(""));
  group.option("--threadblocks", arguments.threadblocks, "HOW",
               "per-tree: one for every edge of every tree; merge: as few as the limits allow;\n"
               "N: at most N per GPU. By default as many as fit and help");
  group.flag("--unfused", arguments.unfused,
             "Only steps that simulators know: s, r, rrc, cpy, nop; none receives and forwards");
  group.flag("--any-buffers", arguments.any_buffers,
             "Of mscclpp: data goes from scratch to scratch, so that calls may have any buffers,\n"
             "such as tensors of PyTorch, not only whole allocations of one kind on all ranks");
}

// For which sizes a runtime selects the schedule.
void add_window_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group.option("--min-bytes", arguments.min_bytes, "SIZE",
               "Buffer size from which a runtime selects the schedule, such as 64K; default 0");
  group.option("--max-bytes", arguments.max_bytes, "SIZE",
               "Buffer size up to which it does, this size too; default 1T, for msccl what is\n"
               "below 1G");
  group.option("--sizes", arguments.sizes, "MIN:MAX",
               "Both in one: --sizes 64K:16M is --min-bytes 64K --max-bytes 16M; one size is\n"
               "that size alone. A window, no list: several sizes are for --tune. What is written\n"
               "is the fastest for the larger one, or for 1G where that is less; of flows, small\n"
               "messages for the next hop are put together where that pays");
}

// For which sizes it is to be the fastest.
void add_fastest_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group
      .option(
          "--size", arguments.size, "SIZE",
          "The fastest schedule for a buffer of this size, by simulation (a model, not a\n"
          "measurement): of our own trees, many and few, high and low, and of all others of\n"
          "--algorithm, in all protocols and several numbers of instances; as mscclpp of plans,\n"
          "those with in-network multicast and reduction")
      ->check(CLI::Validator(refuse_nothing, ""));
  group
      .option(
          "--tune", arguments.tune, "SIZES",
          fmt::format(
              "The same for each of these sizes, one file per range, into the directory -o, which\n"
              "must be empty or not there: {}. A\n"
              "size whose elements of 4 bytes no file's chunks divide is named as not served;\n"
              "as mscclpp they are plans, each for its range of sizes",
              kSizesInWords))
      ->check(CLI::Validator(refuse_nothing, ""));
  group
      .option("--buffsize", arguments.buffers, "SIZE",
              "NCCL_BUFFSIZE that the ranks are started with, for --size and --tune; default\n"
              "what is fastest of the runtime's own 4M, of 2M and of 512K, one for all files; 4M\n"
              "where the environment is not yours to set")
      ->check(CLI::Validator(refuse_nothing, ""));
}

void add_schedule_options(CLI::App& command, SynthArguments& arguments) {
  add_placement_options(command, arguments);
  add_protocol_options(command, arguments);
  add_threadblock_options(command, arguments);
  add_window_options(command, arguments);
  add_fastest_options(command, arguments);
}

}  // namespace

void add_synth_arguments(CLI::App& command, SynthArguments& arguments) {
  add_topology_argument(command, arguments.topology);
  const OptionGroup general(command);
  general
      .option("-o,--output", arguments.output, "FILE",
              "Where the schedule goes; - is standard output, the default unless that is a\n"
              "terminal")
      ->each([&arguments](const std::string&) { arguments.output_given = true; });
  add_file_option(command, "--deploy", arguments.deploy,
                  "In place of -o: a directory, empty or not there, with the schedule or those of\n"
                  "--tune, the runtime's environment, the order of ranks and a launcher line",
                  "DIR");
  add_collective_option(command, arguments.collective, "What to synthesise")->capture_default_str();
  add_file_option(command, "--demand", arguments.demand,
                  "All-to-all-v: bytes that every GPU has for every other, a row per sender, as\n"
                  "CSV or a JSON array of arrays (with -c alltoall --format flows)");
  add_root_option(command, arguments.root);
  general
      .option(
          "-k", arguments.trees, "K",
          "Trees per root: `optimal` reaches the optimum; `auto` (default for msccl, mscclpp) is\n"
          "the best power of two up to 16, or up to 128 where that gains half a percent; for\n"
          "msccl, a smaller one that is as good for 1 GiB by the model of --tune, and 2^m chunks\n"
          "in all for an allreduce over a number of ranks that is no power of two;\n"
          "N is exactly N; max:N, with N up to 10000, is the best up to N. Of an alltoall: parts\n"
          "that every pair's data is cut into; auto is the least of 1, 2, 4, 8 within 1 % of the\n"
          "best, N and max:N go up to 4096")
      ->take_last();
  command
      .add_option(
          "--format", arguments.format,
          "What to write; mscclpp is an execution plan of MSCCL++; an allreduce as forest, or as\n"
          "mscclpp in one box, uses in-network multicast and reduction; none only solves and\n"
          "reports; svg is a picture of one tree on its\n"
          "fabric, dot one of all trees; forest-symmetric writes one tree\n"
          "per orbit of the fabric's symmetry, for fabrics of thousands of GPUs; flows are the\n"
          "paths of an alltoall, scatter or gather; goal (LogGOPSim) and chakra (ASTRA-sim,\n"
          "a directory) are the messages of one size, for others' simulators; nccl-tuner (NCCL's\n"
          "and RCCL's example plugin) and ncclx-tuner (torchcomms) are rules that say which of\n"
          "the library's own algorithms to take by size, for all collectives without -c;\n"
          "nccl-graph is rings and trees in the boxes for NCCL_GRAPH_FILE")
      ->check(CLI::IsMember({"msccl", "mscclpp", "forest", "forest-symmetric", "forest-xml", "dot",
                             "svg", "flows", "goal", "chakra", "nccl-tuner", "ncclx-tuner",
                             "nccl-graph", "none"}))
      ->each([&arguments](const std::string&) { arguments.format_given = true; })
      ->capture_default_str();
  add_baseline_options(command, arguments.baseline);
  add_target_options(command, arguments.target, arguments.sms);
  command.get_option("--target")->each([&arguments](const std::string&) {
    arguments.target_given = true;
  });
  add_schedule_options(command, arguments);
  general.flag("--json", arguments.json,
               "Summary as JSON on standard output (format forestcoll-synth, version 2)");
  add_effort_options(command, arguments.solver);
  add_shape_options(command, arguments.solver);
  add_failure_options(command, arguments.failures);
  add_latency_option(command, arguments.failures);
  add_reading_options(command, arguments.reading);
}

}  // namespace forestcoll::cli
