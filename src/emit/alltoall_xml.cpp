// See msccl_xml.cpp for what the runtimes' parsers ask for.
#include <fmt/format.h>

#include "base/check.hpp"
#include "emit/alltoall.hpp"
#include "emit/msccl_programs.hpp"
#include "emit/text.hpp"
#include "emit/topology_hash.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kLongestAlltoallName = 63;  // the research runtime cuts there

std::string alltoall_name(const Schedule& schedule, const Topology& topology) {
  const std::string end = fmt::format("-alltoall-k{}", schedule.k);
  return emit::plain(topology.name, kLongestAlltoallName - end.size()) + end;
}

// Its calls count what every pair exchanges, as those of an allgather count what a rank sends.
std::string counts_of_pairs(const Schedule& schedule, const TargetLimits& target) {
  const auto multiple = target.selected_counts(Collective::allgather, schedule.chunks,
                                               static_cast<std::int64_t>(schedule.programs.size()));
  if (multiple == 1) return "any number of elements per pair of ranks";
  return fmt::format("elements per pair of ranks that are multiples of {}", multiple);
}

}  // namespace

std::string to_alltoall_xml(const Schedule& schedule, const Ratio& optimum,
                            const Topology& topology, const XmlOptions& options) {
  const TargetLimits* target = find_target(schedule.target);
  FORESTCOLL_CHECK(target != nullptr, "schedules are lowered for known targets only");
  std::string out = fmt::format(
      "<!-- forestcoll {}: alltoall on {}, topology hash {:016x} -->\n"
      "<!-- {}k = {} parts per pair, {} chunks of scratch at most, optimum {} GB/s -->\n"
      "<!-- {} selects it for {} -->\n",
      kVersion, emit::plain(topology.name, 100), emit::topology_hash(topology),
      options.algorithm.empty() ? "" : emit::plain(options.algorithm, kLongestAlltoallName) + ", ",
      schedule.k, schedule.max_scratch(), optimum.to_string(), target->name,
      counts_of_pairs(schedule, *target));
  out += fmt::format(
      "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
      "coll=\"alltoall\" inplace=\"0\" outofplace=\"1\" minBytes=\"{}\" "
      "maxBytes=\"{}\"{}>\n",
      alltoall_name(schedule, topology), options.protocol, schedule.channels, schedule.chunks,
      schedule.programs.size(), options.min_bytes,
      options.max_bytes.value_or(target->default_max_bytes),
      options.buffer_bytes == 0 ? "" : fmt::format(" buffsize=\"{}\"", options.buffer_bytes));
  emit::append_programs(out, schedule.programs);
  return out + "</algo>\n";
}

}  // namespace forestcoll
