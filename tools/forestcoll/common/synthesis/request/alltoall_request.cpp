#include "common/synthesis/request/alltoall_request.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/options/collective_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/synthesis/request/trace.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::string_view kUpTo = "max:";
constexpr std::int64_t kMaxParts = 4096;

// The options of trees, or of schedules of trees, that were given.
Expected<void> refuse_tree_options(const SynthArguments& arguments) {
  if (const char* option =
          first_given({{"--nccl-graph", !arguments.baseline.nccl_graph.empty()},
                       {"--cross-nic", arguments.baseline.cross_nic},
                       {"--nccl-constants", arguments.baseline.nccl_constants},
                       {"--unfused", arguments.unfused},
                       {"--force-simple", arguments.force_simple},
                       {"--threadblocks per-tree", arguments.threadblocks == "per-tree"},
                       {"--effort", arguments.solver.effort != "default"},
                       {"--max-height", !arguments.solver.max_height.empty()},
                       {"--tradeoff", arguments.solver.tradeoff},
                       {"--warm", !arguments.solver.warm.empty()}})) {
    return make_error(Code::S04,
                      fmt::format("{} is about trees, and {} has none", option,
                                  with_article(arguments.collective)),
                      fmt::format("leave {} out", option));
  }
  return {};
}

Expected<void> refuse_format(const SynthArguments& arguments) {
  const std::string& format = arguments.format;
  for (const char* known : {"msccl", kPlanTarget, "flows", "none"}) {
    if (format == known) return {};
  }
  if (is_trace(format)) {
    if (!is_for_plans_alone(*collective_of(arguments.collective))) return {};
    return make_error(Code::S04,
                      fmt::format("--format {} has the messages of MSCCL XML, and no runtime of it "
                                  "has {}",
                                  format, with_article(arguments.collective)),
                      "write a plan or flows, which simulate takes");
  }
  return make_error(Code::S04,
                    fmt::format("--format {} is for trees, and {} has none", format,
                                with_article(arguments.collective)),
                    "write --format msccl, mscclpp, flows or none");
}

// RCCL's interface says that it does not support an alltoall in place; NCCL has none of its own.
// The executor of MSCCL++ takes plans for both.
Expected<void> refuse_in_place(const SynthArguments& arguments) {
  if (!arguments.in_place || arguments.format == kPlanTarget) return {};
  return make_error(Code::T06,
                    fmt::format("the runtimes have no {} in place", arguments.collective),
                    "leave --inplace out: the schedule is for calls out of place");
}

// Its NCCL interface answers an alltoall with an error before it looks for a plan.
Expected<void> refuse_deployed_plan(const SynthArguments& arguments) {
  if (arguments.deploy.empty() || arguments.format != kPlanTarget) return {};
  return make_error(Code::T06,
                    fmt::format("MSCCL++ runs plans of {} for callers of its executor alone, not "
                                "behind NCCL's calls",
                                with_article(arguments.collective)),
                    "write the plan with -o, and give it to mscclpp.Executor");
}

Diagnostic no_parts(const std::string& text) {
  return make_error(Code::S03, fmt::format("-k: expected a number of parts, found \"{}\"", text),
                    fmt::format("write auto, N or max:N, with N from 1 to {}; the exact optimum of "
                                "an alltoall may need any number of parts",
                                kMaxParts));
}

Expected<void> refuse_with_several(const SynthArguments& arguments) {
  if (arguments.tune.empty()) return {};
  if (const char* option = first_given({{"--demand", !arguments.demand.empty()},
                                        {"--algorithm", arguments.baseline.chosen()}})) {
    return make_error(Code::S04,
                      fmt::format("{} is about one schedule, and --tune makes several", option),
                      fmt::format("leave {} or --tune out", option));
  }
  return {};
}

Expected<void> refuse_algorithm(const SynthArguments& arguments) {
  if (!arguments.baseline.chosen()) return {};
  const std::string& name = arguments.baseline.algorithm;
  const Collective collective = *collective_of(arguments.collective);
  const BaselineInfo* info = find_alltoall_baseline(name);
  if (info == nullptr || !supports(*info, collective)) {
    return unknown_alltoall_baseline(name, collective);
  }
  if (arguments.size.empty()) return {};
  return make_error(Code::S04, "--size chooses among all algorithms, and --algorithm names one",
                    "leave one of the two out");
}

// Of another collective.
Expected<void> refuse_paths(const SynthArguments& arguments) {
  if (arguments.format == "flows") {
    return make_error(Code::S04, "--format flows is for -c alltoall",
                      "write --format forest: other collectives have trees");
  }
  return refuse_misplaced_demand(arguments.collective, arguments.demand);
}

}  // namespace

Expected<void> refuse_for_alltoall(const SynthArguments& arguments) {
  if (!has_paths(arguments.collective)) return refuse_paths(arguments);
  for (const auto& done :
       {refuse_tree_options(arguments), refuse_format(arguments), refuse_in_place(arguments),
        refuse_deployed_plan(arguments), refuse_with_several(arguments),
        refuse_misplaced_demand(arguments.collective, arguments.demand),
        refuse_algorithm(arguments)}) {
    if (!done) return done.errors();
  }
  return {};
}

Expected<void> read_parts(const std::string& text, CompileOptions& compile) {
  if (text.empty() || text == "auto") return {};
  const bool search = text.starts_with(kUpTo);
  const std::string_view digits = std::string_view(text).substr(search ? kUpTo.size() : 0);
  const auto value = parse_number<std::int64_t>(digits);
  if (!value || *value < 1 || *value > kMaxParts) return no_parts(text);
  compile.tree_count = TreeCount::as_given;
  compile.synthesis.trees_per_root = {
      search ? TreesPerRoot::Mode::best_up_to : TreesPerRoot::Mode::fixed, *value};
  return {};
}

Expected<std::optional<std::int64_t>> bytes_of_flows(const SynthArguments& arguments) {
  const std::string& sizes = arguments.sizes;
  if (sizes.empty()) return std::optional<std::int64_t>();
  const std::size_t last = sizes.find_last_of(":,-");
  const auto bytes =
      read_size("--sizes", last == std::string::npos ? sizes : sizes.substr(last + 1));
  if (!bytes) return bytes.errors();
  if (*bytes > 0) return std::optional(*bytes);
  return make_error(Code::S03, "--sizes: no buffer has 0 bytes", "name the size of a buffer");
}

}  // namespace forestcoll::cli
