#include "common/synthesis/request/alltoall_request.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/bound_alltoall.hpp"
#include "common/options/size_options.hpp"
#include "common/options/target_options.hpp"
#include "common/synthesis/request/trace_request.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::string_view kUpTo = "max:";
constexpr std::int64_t kMaxParts = 4096;

// The options of trees, or of schedules of trees, that were given.
Expected<void> refuse_tree_options(const SynthArguments& arguments) {
  for (const auto& [option, given] :
       {std::pair("--nccl-graph", !arguments.baseline.nccl_graph.empty()),
        std::pair("--cross-nic", arguments.baseline.cross_nic),
        std::pair("--nccl-constants", arguments.baseline.nccl_constants),
        std::pair("--unfused", arguments.unfused),
        std::pair("--force-simple", arguments.force_simple),
        std::pair("--threadblocks per-tree", arguments.threadblocks == "per-tree"),
        std::pair("--effort", arguments.solver.effort != "default"),
        std::pair("--max-height", !arguments.solver.max_height.empty()),
        std::pair("--tradeoff", arguments.solver.tradeoff),
        std::pair("--warm", !arguments.solver.warm.empty())}) {
    if (!given) continue;
    return make_error(Code::S04, fmt::format("{} is about trees, and an alltoall has none", option),
                      fmt::format("leave {} out", option));
  }
  if (arguments.root.empty()) return {};
  return make_error(Code::S02, "an alltoall has no root", "leave --root out");
}

Expected<void> refuse_format(const SynthArguments& arguments) {
  const std::string& format = arguments.format;
  for (const char* known : {"msccl", kPlanTarget, "flows", "none"}) {
    if (format == known) return {};
  }
  if (is_trace(format)) return {};
  return make_error(Code::S04,
                    fmt::format("--format {} is for trees, and an alltoall has none", format),
                    "write --format msccl, mscclpp, flows or none");
}

// RCCL's interface says that it does not support an alltoall in place; NCCL has none of its own.
// The executor of MSCCL++ takes plans for both.
Expected<void> refuse_in_place(const SynthArguments& arguments) {
  if (!arguments.in_place || arguments.format == kPlanTarget) return {};
  return make_error(Code::T06, "the runtimes have no alltoall in place",
                    "leave --inplace out: the schedule is for calls out of place");
}

// Its NCCL interface answers an alltoall with an error before it looks for a plan.
Expected<void> refuse_deployed_plan(const SynthArguments& arguments) {
  if (arguments.deploy.empty() || arguments.format != kPlanTarget) return {};
  return make_error(Code::T06,
                    "MSCCL++ runs plans of an alltoall for callers of its executor alone, not "
                    "behind NCCL's calls",
                    "write the plan with -o, and give it to mscclpp.Executor");
}

Diagnostic no_parts(const std::string& text) {
  return make_error(Code::S03, fmt::format("-k: expected a number of parts, found \"{}\"", text),
                    fmt::format("write auto, N or max:N, with N from 1 to {}; the exact optimum of "
                                "an alltoall may need any number of parts",
                                kMaxParts));
}

Expected<void> read_parts(const std::string& text, AlltoallCompileOptions& options) {
  if (text.empty() || text == "auto") return {};
  const bool search = text.starts_with(kUpTo);
  const std::string_view digits = std::string_view(text).substr(search ? kUpTo.size() : 0);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || value < 1 || value > kMaxParts) return no_parts(text);
  if (search) {
    options.max_k = value;
    options.fastest_k = true;
  } else {
    options.k = value;
  }
  return {};
}

// What is made for sizes is the fastest for the largest of them.
Expected<void> read_largest_size(const SynthArguments& arguments, AlltoallCompileOptions& options) {
  const bool is_one = !arguments.size.empty();
  if (is_one && !arguments.sizes.empty()) {
    return make_error(Code::S04, "--size and --sizes both say for what size",
                      "leave one of them out");
  }
  const std::string& sizes = is_one ? arguments.size : arguments.sizes;
  const std::string option = is_one ? "--size" : "--sizes";
  if (sizes.empty()) return {};
  const std::size_t last = is_one ? std::string::npos : sizes.find_last_of(":,-");
  const auto bytes = read_size(option, last == std::string::npos ? sizes : sizes.substr(last + 1));
  if (!bytes) return bytes.errors();
  if (*bytes == 0) {
    return make_error(Code::S03, option + ": no buffer has 0 bytes", "name the size of a buffer");
  }
  options.bytes = *bytes;
  return {};
}

Expected<void> refuse_with_tune(const SynthArguments& arguments) {
  if (arguments.tune.empty()) return {};
  for (const auto& [option, given] : {std::pair("--demand", !arguments.demand.empty()),
                                      std::pair("--algorithm", arguments.baseline.chosen()),
                                      std::pair("--size", !arguments.size.empty())}) {
    if (!given) continue;
    return make_error(Code::S04,
                      fmt::format("{} is about one schedule, and --tune makes several", option),
                      fmt::format("leave {} or --tune out", option));
  }
  return {};
}

// Empty: ours.
Expected<std::string> read_algorithm(const SynthArguments& arguments) {
  if (const auto done = refuse_no_demand(arguments.collective, arguments.demand); !done) {
    return done.errors();
  }
  const std::string& name = arguments.baseline.algorithm;
  if (!arguments.baseline.chosen()) return std::string();
  if (find_alltoall_baseline(name) != nullptr) return name;
  return unknown_alltoall_baseline(name);
}

}  // namespace

SynthArguments as_for_allgather(const SynthArguments& arguments) {
  SynthArguments common = arguments;
  common.collective = to_string(Collective::allgather);
  common.baseline = {};
  // No window: what is made is for a size.
  if (arguments.format == "flows" || arguments.format == "none") common.sizes.clear();
  common.trees.clear();
  return common;
}

// What schedules of all collectives have in common is read as for an allgather.
Expected<AlltoallRequest> resolve_alltoall(const SynthArguments& arguments) {
  for (const auto& done :
       {refuse_tree_options(arguments), refuse_format(arguments), refuse_in_place(arguments),
        refuse_deployed_plan(arguments), refuse_with_tune(arguments)}) {
    if (!done) return done.errors();
  }
  const auto options_of_baseline = read_algorithm(arguments);
  if (!options_of_baseline) return options_of_baseline.errors();
  const auto request = resolve(as_for_allgather(arguments));
  if (!request) return request.errors();
  AlltoallRequest result;
  AlltoallCompileOptions& options = result.options;
  options.algorithm = *options_of_baseline;
  if (const auto done = read_largest_size(arguments, options); !done) return done.errors();
  if (const auto done = read_parts(arguments.trees, options); !done) return done.errors();
  options.format = arguments.format == "none"        ? AlltoallFormat::none
                   : arguments.format == "flows"     ? AlltoallFormat::flows
                   : arguments.format == kPlanTarget ? AlltoallFormat::mscclpp
                                                     : AlltoallFormat::msccl;
  options.in_place = arguments.in_place;
  options.xml = request->compile.xml;
  options.sms = request->compile.sms;
  options.lowering = {.target = request->compile.lowering.target,
                      .max_threadblocks = request->compile.lowering.max_threadblocks,
                      .merge = arguments.threadblocks == "merge",
                      .instances = request->compile.lowering.instances};
  const bool is_program = is_schedule(request->compile.format) && !is_trace(arguments.format);
  result.by_size = is_program && !arguments.size.empty() && arguments.demand.empty() &&
                   options.algorithm.empty();
  result.size_is_default = request->size_is_default && !options.bytes && arguments.trees.empty() &&
                           arguments.demand.empty() && options.algorithm.empty();
  if (result.size_is_default) {
    options.bytes = request->size;
    result.by_size = true;
  }
  result.buffer_bytes = request->buffer_bytes;
  return result;
}

Expected<void> refuse_alltoall_options(const SynthArguments& arguments) {
  if (arguments.format == "flows") {
    return make_error(Code::S04, "--format flows is for -c alltoall",
                      "write --format forest: other collectives have trees");
  }
  if (arguments.demand.empty()) return {};
  return make_error(Code::S04, "--demand is for -c alltoall",
                    "leave --demand out; the weights of nodes say what they own");
}

}  // namespace forestcoll::cli
