#include "common/synthesis/request/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/files/named_files.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/file_option.hpp"
#include "common/options/size_options.hpp"
#include "common/options/target_options.hpp"
#include "common/options/validator_text.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/alltoall_request.hpp"
#include "common/synthesis/request/refusals.hpp"
#include "common/synthesis/request/trace_request.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

// A search solves the fabric once per k.
constexpr std::int64_t kLongestSearch = 10'000;
constexpr std::string_view kMaxPrefix = "max:";
constexpr std::int32_t kMostInstances = 64;
constexpr const char* kSizesOfDirectory = "1K:4G";
constexpr std::int64_t kLargeMessage = std::int64_t{1} << 30;
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
constexpr std::int64_t kLeastBufferBytes = 64 << 10, kMostBufferBytes = 64 << 20;

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Format parse_format(std::string_view name) {
  if (name == "mscclpp") return Format::mscclpp;
  if (name == "forest") return Format::forest;
  if (name == "flows") return Format::flows;
  if (name == "forest-symmetric") return Format::forest_symmetric;
  if (name == "forest-xml") return Format::forest_xml;
  if (name == "dot") return Format::dot;
  if (name == "none") return Format::none;
  return Format::msccl;  // of a trace, too, whose messages are those of XML
}

// A number of trees that is asked for.
Expected<TreesPerRoot> parse_trees(const std::string& text) {
  using Mode = TreesPerRoot::Mode;
  if (text == "optimal") return TreesPerRoot{};
  const bool search = text.starts_with(kMaxPrefix);
  const auto value =
      parse_integer(search ? std::string_view(text).substr(kMaxPrefix.size()) : text);
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

std::string refuse_nothing(const std::string& text) {
  if (!text.empty()) return {};
  return validator_text(Code::S03, "expected sizes such as 64K:1G, found nothing");
}

constexpr const char* kScheduleGroup = "Schedule";

void add_placement_options(CLI::App& command, SynthArguments& arguments) {
  command.add_flag("--inplace", arguments.in_place, "For calls in place (the default)")
      ->group(kScheduleGroup);
  command
      .add_flag("--outofplace", arguments.out_of_place,
                "For calls out of place, which leave their input as it is; with --inplace, for\n"
                "both")
      ->group(kScheduleGroup);
}

void add_protocol_options(CLI::App& command, SynthArguments& arguments) {
  command
      .add_option(
          "--proto", arguments.protocol,
          "The protocol of all connections; default Simple, or LL for a broadcast or reduce\n"
          "between boxes, where Simple hangs; with --size and --tune what is fastest")
      ->check(CLI::IsMember({"Simple", "LL", "LL128"}))
      ->group(kScheduleGroup);
  command
      .add_flag("--force-simple", arguments.force_simple,
                "Simple for a broadcast or reduce between boxes all the same")
      ->group(kScheduleGroup);
}

void add_threadblock_options(CLI::App& command, SynthArguments& arguments) {
  command
      .add_option("--instances", arguments.instances,
                  "Cut every chunk into N parts, each with threadblocks and channels of its own;\n"
                  "default 1, with --size and --tune 1, 2, 4 or 8")
      ->check(CLI::Range(1, kMostInstances).description(""))
      ->type_name("N")
      ->group(kScheduleGroup);
  command
      .add_option("--threadblocks", arguments.threadblocks,
                  "per-tree: one for every edge of every tree; merge: as few as the limits allow;\n"
                  "N: at most N per GPU. By default as many as fit and help")
      ->type_name("HOW")
      ->group(kScheduleGroup);
  command
      .add_flag("--unfused", arguments.unfused,
                "Only steps that simulators know: s, r, rrc, cpy, nop; none receives and forwards")
      ->group(kScheduleGroup);
}

// For which sizes a runtime selects the schedule.
void add_window_options(CLI::App& command, SynthArguments& arguments) {
  command
      .add_option("--min-bytes", arguments.min_bytes,
                  "Buffer size from which a runtime selects the schedule, such as 64K; default 0")
      ->type_name("SIZE")
      ->group(kScheduleGroup);
  command
      .add_option("--max-bytes", arguments.max_bytes,
                  "Buffer size up to which it does, this size too; default 1T, for msccl what is\n"
                  "below 1G")
      ->type_name("SIZE")
      ->group(kScheduleGroup);
  command
      .add_option(
          "--sizes", arguments.sizes,
          "Both in one: --sizes 64K:16M is --min-bytes 64K --max-bytes 16M; one size is\n"
          "that size alone. A window, no list: several sizes are for --tune. What is written\n"
          "is the fastest for the larger one, or for 1G where that is less; of flows, small\n"
          "messages for the next hop are put together where that pays")
      ->type_name("MIN:MAX")
      ->group(kScheduleGroup);
}

// For which sizes it is to be the fastest.
void add_fastest_options(CLI::App& command, SynthArguments& arguments) {
  command
      .add_option(
          "--size", arguments.size,
          "The fastest schedule for a buffer of this size, by simulation (a model, not a\n"
          "measurement): of our own trees, many and few, high and low, and of all others of\n"
          "--algorithm, in all protocols and several numbers of instances; as mscclpp of plans,\n"
          "those among them whose switches copy and combine")
      ->check(CLI::Validator(refuse_nothing, ""))
      ->type_name("SIZE")
      ->group(kScheduleGroup);
  command
      .add_option(
          "--tune", arguments.tune,
          fmt::format(
              "The same for each of these sizes, one file per range, into the directory -o, which\n"
              "must be empty or not there: {}. A\n"
              "size whose elements of 4 bytes no file's chunks divide is named as not served;\n"
              "as mscclpp they are plans, each for its range of sizes",
              kSizesInWords))
      ->check(CLI::Validator(refuse_nothing, ""))
      ->type_name("SIZES")
      ->group(kScheduleGroup);
  command
      .add_option("--buffsize", arguments.buffers,
                  "NCCL_BUFFSIZE that the ranks are started with, for --size and --tune; default\n"
                  "what is fastest of the runtime's own 4M and 512K, one for all files; 4M\n"
                  "where the environment is not yours to set")
      ->check(CLI::Validator(refuse_nothing, ""))
      ->type_name("SIZE")
      ->group(kScheduleGroup);
}

void add_schedule_options(CLI::App& command, SynthArguments& arguments) {
  add_placement_options(command, arguments);
  add_protocol_options(command, arguments);
  add_threadblock_options(command, arguments);
  add_window_options(command, arguments);
  add_fastest_options(command, arguments);
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
  if (arguments.size.empty() && arguments.tune.empty()) {
    return make_error(Code::S04, "--buffsize is for what --size and --tune choose by time",
                      "give one of them, or leave it out");
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
  const std::int32_t sms = lowering.max_threadblocks;
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
    const auto most = parse_integer(use);
    if (!most || *most < 1) {
      return make_error(Code::S03,
                        fmt::format("--threadblocks: expected per-tree, merge or a positive "
                                    "number, found \"{}\"",
                                    use),
                        "write --threadblocks merge for the fewest");
    }
    lowering.max_threadblocks = static_cast<std::int32_t>(std::min<std::int64_t>(*most, sms));
  }
  return {};
}

}  // namespace

void add_synth_arguments(CLI::App& command, SynthArguments& arguments) {
  command.add_option("TOPOLOGY", arguments.topology, "Topology file, or - for standard input")
      ->required();
  command
      .add_option("-o,--output", arguments.output,
                  "Where the schedule goes; - is standard output (default)")
      ->type_name("FILE");
  add_file_option(command, "--deploy", arguments.deploy,
                  "In place of -o: a directory, empty or not there, with the schedule or those of\n"
                  "--tune, the runtime's environment, the order of ranks and a launcher line",
                  "DIR");
  add_collective_option(command, arguments.collective, "What to synthesise")->capture_default_str();
  add_file_option(command, "--demand", arguments.demand,
                  "All-to-all-v: bytes that every GPU has for every other, a row per sender, as\n"
                  "CSV or a JSON array of arrays (with -c alltoall --format flows)");
  add_root_option(command, arguments.root);
  command
      .add_option(
          "-k", arguments.trees,
          "Trees per root: `optimal` reaches the optimum; `auto` (default for msccl, mscclpp) is\n"
          "the best power of two up to 16, or up to 128 where that gains half a percent; for\n"
          "msccl, a smaller one that is as good for 1 GiB by the model of --tune, and 2^m chunks\n"
          "in all for an allreduce over a number of ranks that is no power of two;\n"
          "N is exactly N; max:N, with N up to 10000, is the best up to N. Of an alltoall: parts\n"
          "that every pair's data is cut into; auto is the least of 1, 2, 4, 8 within 1 % of the\n"
          "best, N and max:N go up to 4096")
      ->take_last()
      ->type_name("K");
  command
      .add_option(
          "--format", arguments.format,
          "What to write; mscclpp is an execution plan of MSCCL++; an allreduce as forest, or as\n"
          "mscclpp in one box, uses switches that copy and combine; none only solves and\n"
          "reports; forest-symmetric writes one tree\n"
          "per orbit of the fabric's symmetry, for fabrics of thousands of GPUs; flows are the\n"
          "paths of an alltoall, scatter or gather; goal (LogGOPSim) and chakra (ASTRA-sim,\n"
          "a directory) are the messages of one size, for others' simulators")
      ->check(CLI::IsMember({"msccl", "mscclpp", "forest", "forest-symmetric", "forest-xml", "dot",
                             "flows", "goal", "chakra", "none"}))
      ->each([&arguments](const std::string&) { arguments.format_given = true; })
      ->capture_default_str();
  add_baseline_options(command, arguments.baseline);
  add_target_options(command, arguments.target, arguments.sms);
  command.get_option("--target")->each([&arguments](const std::string&) {
    arguments.target_given = true;
  });
  add_schedule_options(command, arguments);
  command.add_flag("--json", arguments.json,
                   "Summary as JSON on standard output (format forestcoll-synth, version 1)");
  add_effort_options(command, arguments.solver);
  add_shape_options(command, arguments.solver);
  add_failure_options(command, arguments.failures);
  add_latency_option(command, arguments.failures);
  add_reading_options(command, arguments.reading);
}

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
  const bool is_directory = arguments.output.ends_with('/') && arguments.tune.empty();
  if (is_deployed || is_directory) arguments.tune = kSizesOfDirectory;
  return arguments;
}

Expected<SynthRequest> resolve(const SynthArguments& given) {
  SynthArguments arguments = given;
  SynthRequest request;
  CompileOptions& compile = request.compile;
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
  compile.sms = arguments.sms.value_or(default_sms(arguments.target));
  compile.lowering.max_threadblocks = compile.sms;
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
