// From the words of the command line to what is asked for.
#include "common/synthesis/request/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/files/named_files.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/alltoall_request.hpp"
#include "common/synthesis/request/nccl_files.hpp"
#include "common/synthesis/request/refusals.hpp"
#include "common/synthesis/request/trace.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

// A search solves the fabric once per k.
constexpr std::int64_t kLongestSearch = 10'000;
constexpr std::string_view kMaxPrefix = "max:";
constexpr const char* kSizesOfDirectory = "1K:4G";
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
constexpr std::int64_t kLeastBufferBytes = 64 << 10, kMostBufferBytes = 64 << 20;

Format parse_format(std::string_view name) {
  if (name == "mscclpp") return Format::mscclpp;
  if (name == "forest") return Format::forest;
  if (name == "flows") return Format::flows;
  if (name == "forest-symmetric") return Format::forest_symmetric;
  if (name == "forest-xml") return Format::forest_xml;
  if (name == "dot") return Format::dot;
  if (name == "svg") return Format::dot;  // drawn by the program, of the same trees
  if (name == "none") return Format::none;
  return Format::msccl;  // of a trace, too, whose messages are those of XML
}

// A number of trees that is asked for.
Expected<TreesPerRoot> parse_trees(const std::string& text) {
  using Mode = TreesPerRoot::Mode;
  if (text == "optimal") return TreesPerRoot{};
  const bool search = text.starts_with(kMaxPrefix);
  const auto value =
      parse_number<std::int64_t>(search ? std::string_view(text).substr(kMaxPrefix.size()) : text);
  if (value && *value >= 1 && (!search || *value <= kLongestSearch)) {
    return TreesPerRoot{search ? Mode::best_up_to : Mode::fixed, *value};
  }
  return make_error(Code::S03, fmt::format("-k: expected a number of trees, found \"{}\"", text),
                    fmt::format("write optimal, auto, a positive number, or max:N with N up to {}",
                                kLongestSearch));
}

// -k
Expected<void> read_trees(const std::string& text, CompileOptions& compile) {
  if (text.empty()) return {};
  if (text == "auto") {
    compile.tree_count = TreeCount::chosen;
    return {};
  }
  const auto trees = parse_trees(text);
  if (!trees) return trees.errors();
  compile.tree_count = TreeCount::as_given;
  compile.synthesis.trees_per_root = *trees;
  return {};
}

Expected<void> refuse_combination(const SynthArguments& arguments, Format format) {
  if (auto done = refuse_with_deploy(arguments, format); !done) return done;
  const bool on_stdout = arguments.output == "-" && arguments.deploy.empty();
  if (arguments.json && on_stdout && format != Format::none) {
    return make_error(Code::S04,
                      "--json puts the summary on standard output, where the schedule is",
                      "name a file for the schedule with -o, or write none with --format none");
  }
  if (format == Format::none && arguments.output != "-") {
    return make_error(Code::S04, "--format none writes no schedule, and -o names a file for one",
                      "leave -o out, or choose another --format");
  }
  const bool writes = format != Format::none;
  return refuse_clashes({{"topology file", arguments.topology},
                         {"--box file", arguments.reading.dump.box},
                         {"--warm file", arguments.solver.warm},
                         {"--nccl-graph file", arguments.baseline.nccl_graph},
                         {"--demand file", arguments.demand}},
                        {{"-o", writes && arguments.deploy.empty() ? arguments.output : ""},
                         {"--json", arguments.json ? "-" : ""}});
}

Diagnostic no_window(const std::string& text) {
  return make_error(
      Code::S03,
      fmt::format("--sizes: expected one window, MIN:MAX, or one size, found \"{}\"", text),
      "write --sizes 64K:16M; --tune 64K:16M:4 or 64K,1M makes a schedule for each of several "
      "sizes");
}

// The default window is the target's; its upper end is known to the emitter.
Expected<void> read_window(const SynthArguments& arguments, Format format, XmlOptions& xml) {
  std::string low = arguments.min_bytes, high = arguments.max_bytes;
  if (!arguments.sizes.empty()) {
    if (!low.empty() || !high.empty()) {
      return make_error(Code::S04, "--sizes says the same as --min-bytes and --max-bytes",
                        "give either --sizes or the other two");
    }
    const std::size_t end = arguments.sizes.find_first_of(":,-");
    low = arguments.sizes.substr(0, end);
    high = end == std::string::npos ? low : arguments.sizes.substr(end + 1);
  }
  const bool split = !arguments.sizes.empty();
  if (split && (!parse_size(low) || !parse_size(high))) return no_window(arguments.sizes);
  if (!low.empty()) {
    const auto bytes = read_size("--min-bytes", low);
    if (!bytes) return bytes.errors().front();
    xml.min_bytes = *bytes;
  }
  if (!high.empty()) {
    const auto bytes = read_size("--max-bytes", high);
    if (!bytes) return bytes.errors().front();
    if (*bytes == 0) {
      return make_error(
          Code::S03, fmt::format("{}: no buffer has 0 bytes", split ? "--sizes" : "--max-bytes"),
          "in a file, a largest size of 0 would mean any size: name the largest that is meant");
    }
    xml.max_bytes = *bytes;
  }
  const std::int64_t most =
      xml.max_bytes.value_or(find_target(arguments.target)->default_max_bytes);
  if (xml.min_bytes > most && !xml.max_bytes) {
    return make_error(Code::S04,
                      fmt::format("--min-bytes {} is above {}, up to which a runtime selects the "
                                  "schedule where --max-bytes does not say otherwise",
                                  xml.min_bytes, most),
                      "name a --max-bytes above it, or a smaller --min-bytes");
  }
  if (xml.min_bytes > most) {
    return make_error(
        Code::S04,
        fmt::format("{} {} is above {} {}", split ? "--sizes: its first size" : "--min-bytes",
                    xml.min_bytes, split ? "its second" : "--max-bytes", most),
        "exchange them, or leave one of them out");
  }
  if (xml.max_bytes && format == Format::msccl) {
    xml.max_bytes = find_target(arguments.target)->max_bytes_for(most);
  }
  return {};
}

// What --tune chooses for.
Expected<std::vector<std::int64_t>> sizes_to_tune(const std::string& text) {
  auto sizes = read_sizes("--tune", text);
  if (!sizes || sizes->back() <= kLargestSize) return sizes;
  return make_error(Code::S03, fmt::format("--tune: expected sizes up to 1T, found \"{}\"", text),
                    "leave the larger ones out");
}

Expected<std::optional<std::int64_t>> size_to_serve(const SynthArguments& arguments,
                                                    Format format) {
  if (arguments.size.empty()) return std::optional<std::int64_t>();
  if (!is_schedule(format)) {
    return make_error(
        Code::S04,
        fmt::format("--size is for what runtimes load, not for --format {}", arguments.format),
        "leave one of the two out, or write --format msccl or mscclpp");
  }
  if (!arguments.tune.empty()) {
    return make_error(Code::S04, "--tune has sizes of its own, and --size another one",
                      "leave one of the two out");
  }
  const auto size = read_size("--size", arguments.size);
  if (!size) return size.errors().front();
  if (*size >= 1 && *size <= kLargestSize) return std::optional(*size);
  return make_error(
      Code::S03,
      fmt::format("--size: expected a size from 1 byte to 1T, found \"{}\"", arguments.size),
      "name the size of the whole buffer, such as 64K");
}

// Nothing says how the schedule of a runtime is to be chosen.
bool is_free(const SynthArguments& arguments) {
  const SolverArguments& solver = arguments.solver;
  return is_schedule(parse_format(arguments.format)) && !is_trace(arguments.format) &&
         arguments.size.empty() && arguments.tune.empty() && arguments.trees.empty() &&
         !arguments.baseline.chosen() && solver.max_height.empty() && solver.warm.empty() &&
         solver.time_limit.empty() && !solver.tradeoff;
}

// The runtime's own size is what it has where nothing is set.
Expected<std::optional<std::int64_t>> buffers_to_serve(const SynthArguments& arguments) {
  if (arguments.buffers.empty()) return std::optional<std::int64_t>();
  if (arguments.size.empty() && arguments.tune.empty() && !is_free(arguments)) {
    return make_error(Code::S04,
                      "--buffsize is for what is chosen by time, and other options choose here",
                      "leave it out, or add --size or --tune");
  }
  const auto bytes = read_size("--buffsize", arguments.buffers);
  if (!bytes) return bytes.errors().front();
  if (*bytes < kLeastBufferBytes || *bytes > kMostBufferBytes) {
    return make_error(
        Code::S03,
        fmt::format("--buffsize: expected a size from 64K to 64M, found \"{}\"", arguments.buffers),
        "4M is what the runtimes have by themselves");
  }
  return std::optional(*bytes == kDefaultBufferBytes ? 0 : *bytes);
}

// The largest that a window leaves of those that links alone count for.
std::int64_t large_message(const CompileOptions& compile, const std::string& target) {
  if (!compile.xml.max_bytes) return kLargeMessage;
  const std::int64_t most = compile.format == Format::msccl
                                ? find_target(target)->last_selected(*compile.xml.max_bytes)
                                : *compile.xml.max_bytes;
  return std::min(kLargeMessage, most);
}

Expected<void> read_lowering(const SynthArguments& arguments, bool has_paths,
                             LowerOptions& lowering) {
  lowering.target = arguments.target;
  lowering.instances = arguments.instances.value_or(1);
  lowering.forward = !arguments.unfused;
  if (arguments.out_of_place || (has_paths && !arguments.in_place)) {
    lowering.placement = arguments.in_place ? Placement::both : Placement::out_of_place;
  }
  const std::string& use = arguments.threadblocks;
  if (use.empty()) return {};
  if (use == "merge") {
    lowering.threadblocks = ThreadblockUse::merge;
  } else if (use == "per-tree") {
    lowering.threadblocks = ThreadblockUse::per_tree;
  } else {
    const auto most = parse_number<std::int64_t>(use);
    if (!most || *most < 1) {
      return make_error(Code::S03,
                        fmt::format("--threadblocks: expected per-tree, merge or a positive "
                                    "number, found \"{}\"",
                                    use),
                        "write --threadblocks merge for the fewest");
    }
    lowering.max_threadblocks =
        static_cast<std::int32_t>(std::min<std::int64_t>(*most, lowering.max_threadblocks));
  }
  return {};
}

}  // namespace

std::string_view default_format(std::string_view collective) {
  const auto known = collective_of(collective);
  return known && is_for_plans_alone(*known) ? kPlanTarget : "msccl";
}

std::string default_target(Collective collective) {
  return is_for_plans_alone(collective) ? find_plan_target(kPlanTarget)->name
                                        : SynthArguments().target;
}

Expected<SynthArguments> with_format(SynthArguments arguments) {
  if (!arguments.format_given) arguments.format = default_format(arguments.collective);
  const bool is_left_open = arguments.format == kPlanTarget && !arguments.target_given;
  const PlanTarget* release = find_plan_target(is_left_open ? kPlanTarget : arguments.target);
  if (release == nullptr) return arguments;
  if (arguments.format_given && arguments.format != kPlanTarget) {
    return make_error(Code::S04,
                      fmt::format("--target {} asks for --format mscclpp, and --format is {}",
                                  arguments.target, arguments.format),
                      "leave one of the two out");
  }
  arguments.format = kPlanTarget;
  arguments.target = release->name;
  return arguments;
}

SynthArguments with_sizes(SynthArguments arguments) {
  const bool has_window =
      !arguments.sizes.empty() || !arguments.min_bytes.empty() || !arguments.max_bytes.empty();
  const bool is_deployed = !arguments.deploy.empty() && is_free(arguments) && !has_window;
  const std::string last = std::filesystem::path(arguments.output).filename().string();
  const bool names_directory = arguments.output.ends_with('/') || last == "." || last == "..";
  const bool is_directory = names_directory && arguments.tune.empty();
  if (is_deployed || is_directory) arguments.tune = kSizesOfDirectory;
  return arguments;
}

Expected<SynthRequest> resolve(const SynthArguments& given) {
  SynthArguments arguments = given;
  SynthRequest request;
  CompileOptions& compile = request.compile;
  if (is_nccl_file(arguments.format)) {
    return make_error(Code::S04,
                      fmt::format("--format {} is for `synth` of one topology", arguments.format),
                      "call `synth` for each, or write another --format");
  }
  if (const auto done = refuse_for_alltoall(arguments); !done) return done.errors();
  const Collective collective = *collective_of(arguments.collective);
  const bool has_paths = is_personalized(collective);
  compile.format = parse_format(arguments.format);
  compile.synthesis.collective = collective;
  if (has_paths && arguments.baseline.chosen()) compile.paths_of = arguments.baseline.algorithm;
  if (has_paths && !is_schedule(compile.format)) {
    const auto bytes = bytes_of_flows(arguments);
    if (!bytes) return bytes.errors();
    compile.bytes = *bytes;
    arguments.sizes.clear();  // no window
  }
  if (const auto done = refuse_combination(arguments, compile.format); !done) return done.errors();
  if (!has_paths) {
    if (const auto done = refuse_with_baseline(arguments); !done) return done.errors();
  }
  if (const auto done = refuse_for_format(arguments, compile.format); !done) return done.errors();
  const auto counted =
      has_paths ? read_parts(arguments.trees, compile) : read_trees(arguments.trees, compile);
  if (!counted) return counted.errors();
  compile.xml.protocol = arguments.protocol;
  compile.force_simple = arguments.force_simple;
  if (arguments.sms) compile.sms = compile.lowering.max_threadblocks = *arguments.sms;
  compile.any_buffers = arguments.any_buffers;
  if (is_trace(arguments.format)) {
    const auto bytes = resolve_trace(arguments);
    if (!bytes) return bytes.errors();
    request.trace = *bytes;
  } else if (const auto done = read_window(arguments, compile.format, compile.xml); !done) {
    return done.errors();
  }
  if (const auto done = read_lowering(arguments, has_paths, compile.lowering); !done) {
    return done.errors();
  }
  const auto size = size_to_serve(arguments, compile.format);
  if (!size) return size.errors();
  request.size = *size;
  if (is_free(arguments)) {
    request.size = large_message(compile, arguments.target);
    request.size_is_default = true;
  }
  const auto buffers = buffers_to_serve(arguments);
  if (!buffers) return buffers.errors();
  request.buffer_bytes = *buffers;
  if (!arguments.tune.empty()) {
    if (const auto done = refuse_with_tune(arguments, compile.format); !done) return done.errors();
    auto sizes = sizes_to_tune(arguments.tune);
    if (!sizes) return sizes.errors();
    request.tune = *std::move(sizes);
  }
  return request;
}

}  // namespace forestcoll::cli
