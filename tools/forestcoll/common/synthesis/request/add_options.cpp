// The options of `synth`, as they stand in its help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "common/options/collective_option.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/options/solver_options.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int32_t kMostInstances = 64;

std::string accept_any(const std::string& text) {
  if (!text.empty()) return {};
  return validator_text(Code::S03, "expected sizes such as 64K:1G, found nothing");
}

constexpr const char* kScheduleGroup = "Schedule";

void add_placement_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group.flag("--inplace", arguments.in_place, "For calls in place (the default)");
  group.flag("--outofplace", arguments.out_of_place,
             "For calls out of place, which keep their input; with --inplace, for both");
}

void add_protocol_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group
      .place(command.add_option(
          "--proto", arguments.protocol,
          "Protocol of all connections; default Simple, or LL for a broadcast or reduce\n"
          "between boxes, where Simple hangs. With --size and --tune the default is the\n"
          "fastest"))
      ->check(one_of({"Simple", "LL", "LL128"}));
  group.flag("--force-simple", arguments.force_simple,
             "Use Simple for a broadcast or reduce between boxes although it may hang");
}

void add_threadblock_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group
      .option("--instances", arguments.instances, "N",
              "Split each chunk into N parts with threadblocks and channels of their own;\n"
              "default 1, or the fastest of 1, 2, 4 and 8 with --size and --tune")
      ->check(number_from(1, kMostInstances));
  group.option("--threadblocks", arguments.threadblocks, "HOW",
               "Threadblocks per GPU; per-tree: one for each edge of each tree. merge: as few as\n"
               "the limits allow. N: at most N. Default: as many as fit and help");
  group.flag("--unfused", arguments.unfused,
             "Use only the steps that simulators know (s, r, rrc, cpy, nop); none receives and\n"
             "forwards at once");
  group.flag("--any-buffers", arguments.any_buffers,
             "mscclpp: send from scratch to scratch, so that calls may use any buffers, such\n"
             "as PyTorch tensors, not only whole allocations of one kind on all ranks");
}

// For which sizes a runtime selects the schedule.
void add_window_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group.option("--min-bytes", arguments.min_bytes, "SIZE",
               "Smallest buffer for which the runtime selects the schedule, such as 64K; default\n"
               "0");
  group.option("--max-bytes", arguments.max_bytes, "SIZE",
               "Largest buffer for which it does, this size included; default 1T, for the target\n"
               "msccl just below 1G");
  group.option("--sizes", arguments.sizes, "MIN:MAX",
               "Both limits at once; 64K:16M is --min-bytes 64K --max-bytes 16M, one size is\n"
               "that size alone. The schedule is the fastest for the larger limit, at most 1G.\n"
               "For several sizes use --tune. In flows, small messages to the same next hop are\n"
               "joined where that is faster");
}

// For which sizes it is to be the fastest.
void add_fastest_options(CLI::App& command, SynthArguments& arguments) {
  const OptionGroup group(command, kScheduleGroup);
  group
      .option("--size", arguments.size, "SIZE",
              "Write the schedule that is fastest for a buffer of this size, by simulation;\n"
              "candidates are our own trees (several k and heights) and all of --algorithm, in\n"
              "every protocol and with several numbers of instances. For mscclpp they are\n"
              "plans, also with in-network multicast and reduction")
      ->check(CLI::Validator(accept_any, ""));
  group
      .option(
          "--tune", arguments.tune, "SIZES",
          fmt::format(
              "Write the fastest schedule for each of these sizes, one file per range, into the\n"
              "directory -o; the directory must be empty or absent. SIZES is {}. A size is\n"
              "reported as not served if no file's chunks divide its elements of 4 bytes. For\n"
              "mscclpp the files are plans",
              kSizesInWords))
      ->check(CLI::Validator(accept_any, ""));
  group
      .option(
          "--buffsize", arguments.buffers, "SIZE",
          "NCCL_BUFFSIZE with which the ranks are started, for what is chosen by time;\n"
          "default: the fastest of 4M (the runtime's own), 2M and 512K, one value for all files.\n"
          "Give 4M if you cannot set the environment")
      ->check(CLI::Validator(accept_any, ""));
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
              "File to write; - is standard output, the default unless that is a terminal. Of\n"
              "process groups at once a directory, or with --format mscclpp a FILE.json for one\n"
              "plan of all groups")
      ->each([&arguments](const std::string&) { arguments.output_given = true; });
  add_file_option(command, "--deploy", arguments.deploy,
                  "Directory to write instead of -o; it must be empty or absent, and gets the\n"
                  "schedule or those of --tune, the runtime's environment, the rank order and a\n"
                  "launcher",
                  "DIR");
  add_collective_option(command, arguments.collective, "The collective")->capture_default_str();
  add_file_option(command, "--demand", arguments.demand,
                  "All-to-all-v: bytes that each GPU sends to each other one; CSV or a JSON array\n"
                  "of arrays with a row per sender (with -c alltoall --format flows)");
  add_root_option(command, arguments.root);
  general.option(
      "-k", arguments.trees, "K",
      "Trees per root; in an alltoall, parts that the data of each pair is split into.\n"
      "`optimal` reaches the optimum, N is exactly N, and max:N (N up to 10000) is the\n"
      "best up to N. `auto`, the default for msccl and mscclpp, is the best power of\n"
      "two up to 16, or up to 128 where that gains half a percent. For msccl it is a\n"
      "smaller one if that is as fast at 1 GiB by simulation. Where the number of ranks\n"
      "is no power of two, an allreduce has 2^m chunks in all where they fit. In an\n"
      "alltoall, `auto` is the smallest of 1, 2, 4 and 8 (up to 8 GPUs: of powers of two "
      "up to 64) within 1 % "
      "of the best, and N goes up to 4096");
  command
      .add_option(
          "--format", arguments.format,
          "Format of the output; `none` writes nothing and only reports. `mscclpp` is an\n"
          "execution plan of MSCCL++. `svg` is a picture of one tree on its fabric, `dot`\n"
          "of all trees. `forest-symmetric` has one tree per orbit of the fabric's\n"
          "symmetry, for thousands of GPUs. `flows` are the paths of an alltoall, scatter\n"
          "or gather. `goal` (LogGOPSim) and `chakra` (ASTRA-sim, a directory) are the\n"
          "messages of one size, for other simulators. `nccl-tuner` (example plugin of NCCL\n"
          "and RCCL) and `ncclx-tuner` (torchcomms) are rules that select the library's own\n"
          "algorithms by size, for all collectives without -c. `nccl-graph` is rings and\n"
          "trees within boxes, for NCCL_GRAPH_FILE. An allreduce as `forest`, or as\n"
          "`mscclpp` in one box, uses in-network multicast and reduction")
      ->check(
          one_of({"msccl", "mscclpp", "forest", "forest-symmetric", "forest-xml", "dot", "svg",
                  "flows", "goal", "chakra", "nccl-tuner", "ncclx-tuner", "nccl-graph", "none"}))
      ->each([&arguments](const std::string&) { arguments.format_given = true; })
      ->capture_default_str();
  add_baseline_options(command, arguments.baseline);
  add_target_options(command, arguments.target, arguments.sms);
  command.get_option("--target")->each([&arguments](const std::string&) {
    arguments.target_given = true;
  });
  add_schedule_options(command, arguments);
  general.flag("--json", arguments.json,
               "Print the summary as JSON (format forestcoll-synth, version 3)");
  add_json_version_option(command);
  add_effort_options(command, arguments.solver);
  add_shape_options(command, arguments.solver);
  add_failure_options(command, arguments.failures);
  add_latency_option(command, arguments.failures);
  add_reading_options(command, arguments.reading);
}

}  // namespace forestcoll::cli
