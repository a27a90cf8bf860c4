#include "common/synthesis/request/nccl_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/files/named_files.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/synthesis/request/refusals.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/nccl_tuner.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kSizesOfTuner = "1K:4G:4";

// What shapes a schedule, or says how one is found.
const char* first_of_schedules(const SynthArguments& arguments) {
  return first_given({{"-k", !arguments.trees.empty()},
                      {"--algorithm", arguments.baseline.chosen()},
                      {program_option(arguments)},
                      {"--any-buffers", arguments.any_buffers},
                      {"--size", !arguments.size.empty()},
                      {"--buffsize", !arguments.buffers.empty()},
                      {"--deploy", !arguments.deploy.empty()},
                      {"--demand", !arguments.demand.empty()},
                      {"--root", !arguments.root.empty()},
                      {search_option(arguments)}});
}

// One file holds for all collectives and sizes, and for all GPUs of a box.
Expected<void> refuse_with_graph(const SynthArguments& arguments) {
  if (const char* option = first_given({{"-c", arguments.collective_given},
                                        {"--tune", !arguments.tune.empty()},
                                        {"--sizes", !arguments.sizes.empty()},
                                        {"--min-bytes", !arguments.min_bytes.empty()},
                                        {"--max-bytes", !arguments.max_bytes.empty()}})) {
    return make_error(
        Code::S04,
        fmt::format("{} is for one collective or size, and NCCL's graphs are for all", option),
        fmt::format("leave {} out", option));
  }
  if (const char* option =
          first_given({{"--members", !arguments.failures.members.empty()},
                       {"--relays", arguments.failures.relays == Failures::Relays::all},
                       {"--nccl-graph", !arguments.baseline.nccl_graph.empty()}})) {
    return make_error(Code::S04,
                      fmt::format("{}: rings of a graph file go through all GPUs of a box, and are "
                                  "searched for",
                                  option),
                      fmt::format("leave {} out", option));
  }
  return {};
}

}  // namespace

bool is_nccl_tuner(std::string_view format) {
  return format == kNcclTuner || format == kNcclxTuner;
}

bool is_nccl_file(std::string_view format) {
  return is_nccl_tuner(format) || format == kNcclGraph;
}

Expected<void> refuse_with_nccl_file(const SynthArguments& arguments) {
  if (const char* option = first_of_schedules(arguments)) {
    return make_error(Code::S04,
                      fmt::format("{} is for schedules of ours, and --format {} is for the "
                                  "algorithms that NCCL itself has",
                                  option, arguments.format),
                      fmt::format("leave {} out, or write --format msccl", option));
  }
  if (arguments.format == kNcclGraph) {
    if (auto done = refuse_with_graph(arguments); !done) return done;
  }
  if (const char* option = first_given({{"--sizes", !arguments.sizes.empty()},
                                        {"--min-bytes", !arguments.min_bytes.empty()},
                                        {"--max-bytes", !arguments.max_bytes.empty()}})) {
    return make_error(Code::S04,
                      fmt::format("{} is the window of a schedule, and a tuner's file is for all "
                                  "sizes: what no row fits gets one channel",
                                  option),
                      "name the sizes that are compared with --tune");
  }
  if (arguments.json && arguments.output == "-") {
    return make_error(Code::S04, "--json puts the summary on standard output, where the file is",
                      "name a file with -o");
  }
  return refuse_clashes({{"topology file", arguments.topology},
                         {"--box file", arguments.reading.dump.box},
                         {"--nccl-graph file", arguments.baseline.nccl_graph}},
                        {{"-o", arguments.output}, {"--json", arguments.json ? "-" : ""}});
}

Expected<std::vector<Collective>> collectives_to_tune(const SynthArguments& arguments) {
  const auto known = nccl_tuner_collectives();
  if (!arguments.collective_given) return std::vector<Collective>(known.begin(), known.end());
  const auto collective = collective_of(arguments.collective);
  if (collective && std::ranges::find(known, *collective) != known.end()) {
    return std::vector<Collective>{*collective};
  }
  return make_error(Code::B06, fmt::format("-c: NCCL's tuner knows no {}", arguments.collective),
                    "name allreduce, allgather, reduce_scatter, broadcast or reduce; without -c "
                    "the file is for all of them");
}

Expected<std::vector<std::int64_t>> sizes_of_tuner(const SynthArguments& arguments) {
  return read_sizes("--tune", arguments.tune.empty() ? kSizesOfTuner : arguments.tune);
}

}  // namespace forestcoll::cli
