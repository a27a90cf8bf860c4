#include "common/synthesis/request/refusals.hpp"

#include <fmt/format.h>

#include <string>

#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/trace.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/plan_target.hpp"

namespace forestcoll::cli {
namespace {

Expected<void> refuse_with_plan(const SynthArguments& arguments) {
  const auto refuse = [](const char* option, const char* remedy) {
    return make_error(Code::S04,
                      fmt::format("{} is for MSCCL XML, not for --format mscclpp", option), remedy);
  };
  if (find_plan_target(arguments.target) == nullptr) {
    return refuse(fmt::format("--target {}", arguments.target).c_str(),
                  "leave it out, or name mscclpp-0.10 or mscclpp-0.9");
  }
  if (!arguments.protocol.empty()) return refuse("--proto", "leave it out: plans are Simple");
  if (arguments.force_simple) return refuse("--force-simple", "leave it out: plans are Simple");
  if (arguments.instances) return refuse("--instances", "use a larger -k");
  if (!arguments.buffers.empty()) {
    return refuse("--buffsize", "leave it out: plans bring buffers of their own");
  }
  if (arguments.unfused) return refuse("--unfused", "leave it out");
  if (arguments.threadblocks == "per-tree" || arguments.threadblocks == "merge") {
    return refuse("--threadblocks merge or per-tree", "name a number");
  }
  if (arguments.in_place && arguments.out_of_place) {
    return make_error(Code::S04, "a plan of MSCCL++ is either in place or out of place",
                      "write one plan for each");
  }
  return {};
}

Expected<void> refuse_with_forest(const SynthArguments& arguments) {
  if (const char* option = first_given({{program_option(arguments)},
                                        {"--min-bytes", !arguments.min_bytes.empty()},
                                        {"--max-bytes", !arguments.max_bytes.empty()},
                                        {"--sizes", !arguments.sizes.empty()}})) {
    return make_error(
        Code::S04,
        fmt::format("{} is for schedules, not for --format {}", option, arguments.format),
        fmt::format("leave {} out, or write --format msccl", option));
  }
  return {};
}

std::string names_of_baselines() {
  std::string names;
  for (const BaselineInfo& info : baselines()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  for (const ExchangeInfo& info : exchanges()) {
    if (find_baseline(info.name) == nullptr) names += fmt::format(", {}", info.name);
  }
  return names;
}

}  // namespace

const char* program_option(const SynthArguments& arguments) {
  return first_given({{"--target", arguments.target_given},
                      {"--sms", arguments.sms.has_value()},
                      {"--inplace", arguments.in_place},
                      {"--outofplace", arguments.out_of_place},
                      {"--proto", !arguments.protocol.empty()},
                      {"--force-simple", arguments.force_simple},
                      {"--instances", arguments.instances.has_value()},
                      {"--threadblocks", !arguments.threadblocks.empty()},
                      {"--unfused", arguments.unfused}});
}

const char* search_option(const SynthArguments& arguments) {
  const SolverArguments& solver = arguments.solver;
  return first_given({{"--effort", solver.effort != "default"},
                      {"--time-limit", !solver.time_limit.empty()},
                      {"--max-height", !solver.max_height.empty()},
                      {"--tradeoff", solver.tradeoff},
                      {"--warm", !solver.warm.empty()}});
}

Expected<void> refuse_for_format(const SynthArguments& arguments, Format format) {
  if (format == Format::mscclpp) return refuse_with_plan(arguments);
  if (arguments.any_buffers) {
    return make_error(
        Code::S04,
        fmt::format("--any-buffers is for plans of MSCCL++, not for --format {}", arguments.format),
        "leave it out, or write --format mscclpp");
  }
  if (format == Format::msccl) return {};
  return refuse_with_forest(arguments);
}

Expected<void> refuse_with_baseline(const SynthArguments& arguments) {
  const BaselineArguments& baseline = arguments.baseline;
  const bool is_known =
      find_baseline(baseline.algorithm) != nullptr || find_exchange(baseline.algorithm) != nullptr;
  if (baseline.chosen() && !is_known) {
    return make_error(
        Code::B09, fmt::format("--algorithm: there is no \"{}\"", baseline.algorithm.substr(0, 40)),
        fmt::format("the algorithms are forestcoll, {}", names_of_baselines()));
  }
  const bool rings = has_box_rings(baseline.algorithm);
  if (const char* option =
          first_given({{"--nccl-graph", !baseline.nccl_graph.empty() && !rings},
                       {"--nccl-constants", baseline.nccl_constants && !rings},
                       {"--cross-nic", baseline.cross_nic && baseline.algorithm != "nccl-ring"}})) {
    return make_error(
        Code::S04, fmt::format("{} has no effect with --algorithm {}", option, baseline.algorithm),
        "ask for --algorithm nccl-ring with it, or leave it out");
  }
  if (!baseline.chosen()) return {};
  if (const char* option = first_given({{"-k", !arguments.trees.empty()},
                                        {"--tune", !arguments.tune.empty()},
                                        {"--size", !arguments.size.empty()},
                                        {search_option(arguments)}})) {
    return make_error(Code::S04,
                      fmt::format("{} is for forestcoll's own trees, not for those of {}", option,
                                  baseline.algorithm),
                      fmt::format("leave {} or --algorithm out", option));
  }
  return {};
}

Expected<void> refuse_with_deploy(const SynthArguments& arguments, Format format) {
  if (arguments.deploy.empty()) return {};
  if (!is_schedule(format) || is_trace(arguments.format)) {
    return make_error(
        Code::S04,
        fmt::format("--deploy is for what runtimes load, not for --format {}", arguments.format),
        "write --format msccl or mscclpp");
  }
  if (arguments.output != "-") {
    return make_error(Code::S04, "--deploy stands in place of -o", "leave one of the two out");
  }
  return {};
}

Expected<void> refuse_with_tune(const SynthArguments& arguments, Format format) {
  if (!is_schedule(format)) {
    return make_error(Code::S04,
                      "--tune, --deploy and a directory as -o write schedules, not forests",
                      "write --format msccl or mscclpp");
  }
  const bool has_directory =
      !arguments.deploy.empty() || (arguments.output != "-" && !arguments.output.empty());
  if (!has_directory) {
    return make_error(Code::S04, "--tune writes several files",
                      "name a directory with -o or --deploy");
  }
  if (!arguments.sizes.empty() || !arguments.min_bytes.empty() || !arguments.max_bytes.empty()) {
    return make_error(Code::S04, "--tune gives every file its own window",
                      "leave --sizes, --min-bytes and --max-bytes out");
  }
  if (const char* option = first_given({{"--warm", !arguments.solver.warm.empty()},
                                        {"--tradeoff", arguments.solver.tradeoff}})) {
    return make_error(Code::S04,
                      fmt::format("{} is about one forest, and --tune makes several", option),
                      fmt::format("leave {} or --tune out", option));
  }
  return {};
}

Expected<void> refuse_deployed_shares(const SynthArguments& arguments,
                                      const CompileOptions& options, const Network& network) {
  const Collective collective = options.synthesis.collective;
  if (arguments.deploy.empty() || !has_unequal_shares(network, collective)) return {};
  return make_error(Code::T06,
                    fmt::format("--deploy is for NCCL's {}, which gives all ranks as much, and "
                                "these ranks own unequal shares",
                                to_string(collective)),
                    "write the schedule with -o, for callers that have these shares");
}

Expected<void> refuse_force_simple(const SynthArguments& arguments, const CompileOptions& options,
                                   const Topology& topology) {
  if (!arguments.force_simple || options.format != Format::msccl) return {};
  const bool hangs = hangs_in_simple(options.synthesis.collective, topology);
  if (hangs && !arguments.protocol.starts_with("LL")) return {};
  return make_error(Code::S04,
                    "--force-simple is for a broadcast or reduce in Simple on a fabric of "
                    "several boxes",
                    "leave it out");
}

}  // namespace forestcoll::cli
