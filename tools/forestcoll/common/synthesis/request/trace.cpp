#include "common/synthesis/request/trace.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/files/file_set.hpp"
#include "common/files/io.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/trace.hpp"

namespace forestcoll::cli {
namespace {

// The key of ASTRA-sim's system file; empty where it has no such collective.
std::string_view astra_sim_key(std::string_view collective) {
  for (const auto& [name, key] :
       {std::pair<std::string_view, std::string_view>("allreduce", "all-reduce"),
        {"allgather", "all-gather"},
        {"reduce_scatter", "reduce-scatter"},
        {"alltoall", "all-to-all"}}) {
    if (name == collective) return key;
  }
  return {};
}

std::string system_text(std::string_view key, const std::string& prefix) {
  const Json system = {{"scheduling-policy", "FIFO"},
                       {"preferred-dataset-splits", 1},
                       {fmt::format("{}-implementation-custom", key), Json::array({prefix})}};
  return to_text(system);
}

std::vector<NamedText> chakra_files(const Trace& trace, const SynthArguments& arguments) {
  std::vector<NamedText> files;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    files.push_back({fmt::format("{}.{}.et", arguments.collective, rank), to_chakra(trace, rank)});
  }
  const std::string_view key = astra_sim_key(arguments.collective);
  if (!key.empty()) {
    files.push_back({"system.json", system_text(key, fmt::format("{}/{}", arguments.output,
                                                                 arguments.collective))});
  }
  return files;
}

}  // namespace

bool is_trace(std::string_view format) {
  return format == "goal" || format == kChakra;
}

Expected<std::int64_t> resolve_trace(const SynthArguments& arguments) {
  if (const char* option = first_given({{"--tune", !arguments.tune.empty()},
                                        {"--min-bytes", !arguments.min_bytes.empty()},
                                        {"--max-bytes", !arguments.max_bytes.empty()}})) {
    return make_error(
        Code::S04,
        fmt::format("{} is for what runtimes load, not for --format {}", option, arguments.format),
        fmt::format("leave {} out: a trace is of the one size that --sizes names", option));
  }
  if (arguments.sizes.empty()) {
    return make_error(Code::S04,
                      fmt::format("--format {} has messages of one size", arguments.format),
                      "name the size of the whole buffer: --sizes 16M");
  }
  if (arguments.format == kChakra) {
    if (arguments.output == "-") {
      return make_error(Code::S04, "--format chakra writes a file for every rank",
                        "name a directory with -o");
    }
    const auto done = refuse_directory(arguments.output, "-o");
    if (!done) return done.errors();
  }
  return read_size("--sizes", arguments.sizes);
}

Expected<void> write_trace(const std::string& xml, std::int64_t bytes,
                           const SynthArguments& arguments) {
  const auto trace = make_trace(xml, "<schedule>", arguments.target, bytes);
  if (!trace) return trace.errors();
  if (arguments.format == kChakra) {
    return write_files(arguments.output, chakra_files(*trace, arguments));
  }
  return write_output(arguments.output, to_goal(*trace));
}

std::string trace_line(const SynthArguments& arguments) {
  if (arguments.output == "-") return "";
  if (arguments.format == kChakra) {
    if (astra_sim_key(arguments.collective).empty()) return "";
    return fmt::format(
        "  next: ASTRA-sim with --system-configuration={}/system.json, in this directory "
        "(docs/run.md)",
        arguments.output);
  }
  return fmt::format("  next: txt2bin -i {0} -o {0}.bin; LogGOPSim -f {0}.bin (docs/run.md)",
                     arguments.output);
}

}  // namespace forestcoll::cli
