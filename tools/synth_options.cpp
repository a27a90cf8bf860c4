#include "synth_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "report.hpp"
#include "target_options.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int64_t largest_automatic_k = 16;
// A search solves the fabric once per k.
constexpr std::int64_t longest_search = 10'000;
constexpr std::string_view max_prefix = "max:";

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "64", "64K", "1G": powers of 1024.
std::optional<std::int64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view suffixes = "KMGT";
  int shift = 0;
  if (!text.empty()) {
    if (const auto at = suffixes.find(text.back()); at != std::string_view::npos) {
      shift = 10 * (static_cast<int>(at) + 1);
      text.remove_suffix(1);
    }
  }
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > (INT64_MAX >> shift)) return std::nullopt;
  return *value << shift;
}

Format parse_format(std::string_view name) {
  if (name == "forest") return Format::forest;
  if (name == "forest-xml") return Format::forest_xml;
  if (name == "dot") return Format::dot;
  if (name == "none") return Format::none;
  return Format::msccl;
}

Expected<TreesPerRoot> parse_trees(const std::string& text, Format format) {
  using Mode = TreesPerRoot::Mode;
  const TreesPerRoot automatic{Mode::power_of_two, largest_automatic_k};
  if (text.empty()) return format == Format::msccl ? automatic : TreesPerRoot{};
  if (text == "optimal") return TreesPerRoot{};
  if (text == "auto") return automatic;
  const bool search = text.starts_with(max_prefix);
  const auto value =
      parse_integer(search ? std::string_view(text).substr(max_prefix.size()) : text);
  if (value && *value >= 1 && (!search || *value <= longest_search)) {
    return TreesPerRoot{search ? Mode::best_up_to : Mode::fixed, *value};
  }
  return usage_error("S03", fmt::format("-k: expected a number of trees, found \"{}\"", text),
                     fmt::format("write optimal, auto, a positive number, or max:N with N up to {}",
                                 longest_search));
}

Expected<std::int64_t> read_bytes(const char* option, const std::string& text) {
  if (const auto value = parse_bytes(text)) return *value;
  return usage_error("S03",
                     fmt::format("{}: expected a number of bytes, found \"{}\"", option, text),
                     "write a number, or one with K, M, G or T such as 64M");
}

std::optional<Diagnostic> refuse_combination(const SynthArguments& arguments, Format format) {
  if (arguments.json && arguments.output == "-" && format != Format::none) {
    return usage_error("S04", "--json puts the summary on standard output, where the schedule is",
                       "name a file for the schedule with -o, or write none with --format none");
  }
  std::error_code error;
  if (std::filesystem::equivalent(arguments.topology, arguments.output, error)) {
    return usage_error("S04", "-o names the topology file itself", "write to another file");
  }
  return std::nullopt;
}

}  // namespace

void add_synth_arguments(CLI::App& command, SynthArguments& arguments) {
  command.add_option("TOPOLOGY", arguments.topology, "Topology file, or - for standard input")
      ->required();
  command
      .add_option("-o,--output", arguments.output,
                  "Where the schedule goes; - is standard output (default)")
      ->type_name("FILE");
  command.add_option("-c,--collective", arguments.collective, "What to synthesise")
      ->check(CLI::IsMember({"allreduce", "allgather", "reduce_scatter", "broadcast", "reduce"}))
      ->capture_default_str();
  command
      .add_option("--root", arguments.root, "Root of broadcast and reduce: a GPU's id or its rank")
      ->type_name("GPU");
  command
      .add_option("-k", arguments.trees,
                  "Trees per root: `optimal` reaches the optimum; `auto` (default for msccl) is\n"
                  "the best power of two up to 16; N is exactly N; max:N is the best up to N")
      ->type_name("K");
  command.add_option("--format", arguments.format, "What to write; none only solves and reports")
      ->check(CLI::IsMember({"msccl", "forest", "forest-xml", "dot", "none"}))
      ->capture_default_str();
  add_target_options(command, arguments.target, arguments.sms);
  command
      .add_option("--min-bytes", arguments.min_bytes,
                  "Buffer size from which a runtime selects the schedule; K, M, G, T allowed")
      ->capture_default_str()
      ->type_name("SIZE");
  command.add_option("--max-bytes", arguments.max_bytes, "Buffer size up to which it does")
      ->capture_default_str()
      ->type_name("SIZE");
  command.add_flag("--json", arguments.json,
                   "Summary as JSON on standard output (format forestcoll-synth, version 1)");
  add_reading_options(command, arguments.reading);
}

Expected<SynthRequest> understand(const SynthArguments& arguments) {
  SynthRequest request;
  request.format = parse_format(arguments.format);
  request.collective = *parse_collective(arguments.collective);
  if (auto error = refuse_combination(arguments, request.format)) return *std::move(error);
  const auto trees = parse_trees(arguments.trees, request.format);
  if (!trees) return trees.errors();
  request.trees = *trees;
  const auto min_bytes = read_bytes("--min-bytes", arguments.min_bytes);
  if (!min_bytes) return min_bytes.errors();
  const auto max_bytes = read_bytes("--max-bytes", arguments.max_bytes);
  if (!max_bytes) return max_bytes.errors();
  if (*min_bytes > *max_bytes) {
    return usage_error("S04", "--min-bytes is above --max-bytes", "");
  }
  request.xml.target = arguments.target;
  request.xml.min_bytes = *min_bytes;
  request.xml.max_bytes = *max_bytes;
  return request;
}

}  // namespace forestcoll::cli
