// MSCCL XML, for the parsers that the runtimes have: not XML parsers, but one hand-written scanner
// that all of them inherited. So: no prolog, one element per line, spaces and line feeds only,
// double quotes, decimal numbers, every attribute always present, values far below 256 bytes, and
// no comment whose first word has a '='. Names are reduced to characters that need no escaping,
// since the scanner knows no escapes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/words.hpp"
#include "emit/msccl_programs.hpp"
#include "emit/topology_hash.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kLongestName = 63;  // of the algorithm; the research runtime cuts there

// For the runtimes' own parsers, which know no escapes: everything but letters, digits and "._:/-"
// becomes '_', as does the second of two '-' in a row. At most `max_size` bytes.
std::string plain(std::string_view text, std::size_t max_size) {
  std::string result;
  for (const char c : text.substr(0, max_size)) {
    const bool is_plain =
        is_letter(c) || is_digit(c) || std::string_view("._:/-").find(c) != std::string_view::npos;
    const bool doubles = c == '-' && result.ends_with('-');
    result += is_plain && !doubles ? c : '_';
  }
  return result;
}

// By trees per root; roots that own unequal shares have unequal numbers of them, and only chunks
// say how many there are.
std::string algorithm_name(const Schedule& schedule, const CollectiveForest& forest,
                           const Topology& topology) {
  const std::string trees =
      forest.weight.empty() ? fmt::format("k{}", schedule.k) : fmt::format("c{}", schedule.chunks);
  const std::string end = fmt::format("-{}-{}", to_string(schedule.collective), trees);
  return plain(topology.name, kLongestName - end.size()) + end;
}

// What the calls that the runtime selects the file for have to be multiples of.
std::string selected_counts(const Schedule& schedule, const TargetLimits& target, bool unequal) {
  const auto multiple = target.selected_counts(schedule.collective, schedule.chunks,
                                               static_cast<std::int64_t>(schedule.programs.size()));
  std::string_view counted = "elements per rank";
  if (schedule.collective == Collective::allgather) counted = "elements sent per rank";
  if (schedule.collective == Collective::reduce_scatter) counted = "elements received per rank";
  if (schedule.collective == Collective::alltoall) counted = "elements per pair of ranks";
  if (unequal) counted = "elements that the call counts per rank";
  if (multiple == 1) return fmt::format("any number of {}", counted);
  return fmt::format("{} that are multiples of {}", counted, multiple);
}

std::string trees_in_words(const Schedule& schedule, const CollectiveForest& forest) {
  if (forest.weight.empty()) return fmt::format("k = {} trees per root", forest.k);
  const auto [least, most] = std::minmax_element(forest.weight.begin(), forest.weight.end());
  return fmt::format("{} chunks, {} to {} of a root", schedule.chunks, *least * schedule.k,
                     *most * schedule.k);
}

std::string what_in_words(const Schedule& schedule, const CollectiveForest& forest,
                          const XmlOptions& options) {
  const std::string whose =
      options.algorithm.empty() ? "" : plain(options.algorithm, kLongestName) + ", ";
  if (is_personalized(schedule.collective)) {
    return fmt::format("{}k = {} parts per pair, {} chunks of scratch at most", whose, schedule.k,
                       schedule.max_scratch());
  }
  const std::string instances = schedule.k == forest.k
                                    ? std::string()
                                    : fmt::format(" in {} instances", schedule.k / forest.k);
  const bool has_trees = forest.reduce || forest.broadcast;
  const std::string trees = has_trees ? trees_in_words(schedule, forest)
                                      : fmt::format("{} chunks, no trees", schedule.chunks);
  return fmt::format("{}{}{}, algbw {} GB/s", whose, trees, instances, forest.algbw.to_string());
}

void append_comments(std::string& out, const Schedule& schedule, const CollectiveForest& forest,
                     const Topology& topology, const TargetLimits& target,
                     const XmlOptions& options) {
  fmt::format_to(std::back_inserter(out),
                 "<!-- forestcoll {}: {} on {}, topology hash {:016x} -->\n"
                 "<!-- {}, optimum {} GB/s -->\n",
                 kVersion, to_string(forest.collective), plain(topology.name, 100),
                 emit::topology_hash(topology), what_in_words(schedule, forest, options),
                 forest.optimum.to_string());
  const bool unequal = forest.collective != Collective::allreduce && !forest.weight.empty();
  fmt::format_to(std::back_inserter(out), "<!-- {} selects it for {} -->\n", target.name,
                 selected_counts(schedule, target, unequal));
  if (unequal) {
    fmt::format_to(std::back_inserter(out),
                   "<!-- Every rank {} as many chunks as its {}_chunks says, in place at their "
                   "offset in the whole buffer. No runtime checks this: a call in which all ranks "
                   "have as much gets wrong data. -->\n",
                   forest.collective == Collective::allgather ? "sends" : "receives",
                   forest.collective == Collective::allgather ? 'i' : 'o');
  }
  if (forest.root) {
    fmt::format_to(std::back_inserter(out),
                   "<!-- The root is rank {}. No runtime checks this: a call with any other root "
                   "gets wrong data. -->\n",
                   forest.root->value);
  }
}

void append_algorithm(std::string& out, const Schedule& schedule, const CollectiveForest& forest,
                      const Topology& topology, const TargetLimits& target,
                      const XmlOptions& options) {
  const std::string_view collective = schedule.collective == Collective::reduce_scatter
                                          ? target.reduce_scatter_name
                                          : to_string(schedule.collective);
  fmt::format_to(
      std::back_inserter(out),
      "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
      "coll=\"{}\" inplace=\"{:d}\" outofplace=\"{:d}\" minBytes=\"{}\" maxBytes=\"{}\"{}>\n",
      algorithm_name(schedule, forest, topology), options.protocol, schedule.channels,
      schedule.chunks, schedule.programs.size(), collective, schedule.in_place,
      schedule.out_of_place, options.min_bytes,
      options.max_bytes.value_or(target.default_max_bytes),
      options.buffer_bytes == 0 ? "" : fmt::format(" buffsize=\"{}\"", options.buffer_bytes));
}

}  // namespace

std::string to_msccl_xml(const Schedule& schedule, const CollectiveForest& forest,
                         const Topology& topology, const XmlOptions& options) {
  const TargetLimits* target = find_target(schedule.target);
  FORESTCOLL_CHECK(target != nullptr, "schedules are lowered for known targets only");
  std::string out;
  append_comments(out, schedule, forest, topology, *target, options);
  append_algorithm(out, schedule, forest, topology, *target, options);
  emit::append_programs(out, schedule.programs);
  out += "</algo>\n";
  return out;
}

}  // namespace forestcoll
