#include "common/synthesis/request/trace_request.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/files/file_set.hpp"
#include "common/options/size_options.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {

bool is_trace(std::string_view format) {
  return format == "goal" || format == kChakra;
}

Expected<std::int64_t> resolve_trace(const SynthArguments& arguments) {
  for (const auto& [option, given] : {std::pair("--tune", !arguments.tune.empty()),
                                      std::pair("--min-bytes", !arguments.min_bytes.empty()),
                                      std::pair("--max-bytes", !arguments.max_bytes.empty())}) {
    if (!given) continue;
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

}  // namespace forestcoll::cli
