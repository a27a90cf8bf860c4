// The files of tuner plugins. NCCL's example plugin reads lines of up to 255 bytes and takes what
// it does not know for another thing; of several rows that fit a call the first counts that NCCL
// has not ruled out.
#include <fmt/format.h>

#include <cctype>
#include <limits>

#include "emit/topology_hash.hpp"
#include "forestcoll/nccl_tuner.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kMostOfName = 60;
// As many channels as NCCL itself takes for the algorithm and the size (src/enqueue.cc).
constexpr int kOwnChannels = 0;
constexpr std::int64_t kEverything = std::numeric_limits<std::int64_t>::max();

// On a line of its own, whatever it holds.
std::string name_for_line(const Topology& topology) {
  std::string name = topology.name.substr(0, kMostOfName);
  for (char& c : name) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '?';
  }
  return name;
}

std::string head_of(const Topology& topology, std::string_view variable, std::string_view columns) {
  const NcclCommunicator communicator = nccl_communicator(topology);
  return fmt::format(
      "# forestcoll {}: {} ({:016x}), {} ranks on {}; simulated, not measured\n"
      "# for {}; of rows that fit, the first that NCCL has not ruled out counts\n# {}\n",
      kVersion, name_for_line(topology), emit::topology_hash(topology), communicator.ranks,
      counted(static_cast<std::size_t>(communicator.nodes), "node"), variable, columns);
}

// The part of one of so many. Parts are rounded down, as the tuner does: a call of the first size
// itself is in it where they do not divide that.
std::string interval_of(const NcclRule& rule, std::int64_t parts) {
  const std::int64_t first = rule.first / parts;
  if (rule.last == kEverything) return fmt::format("[{},)", first);
  const std::int64_t last = (rule.last + 1) / parts - 1;
  return last < first ? "" : fmt::format("[{},{}]", first, last);
}

}  // namespace

std::string to_nccl_tuner_csv(std::span<const NcclTuning> tunings, const Topology& topology) {
  const NcclCommunicator communicator = nccl_communicator(topology);
  std::string text = head_of(topology, "NCCL_TUNER_CONFIG_FILE",
                             "collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,"
                             "nRanks,numPipeOps,regBuff");
  for (const NcclTuning& tuning : tunings) {
    for (const auto* rules : {&tuning.rules, &tuning.otherwise}) {
      for (const NcclRule& rule : *rules) {
        text += fmt::format("{},{},{},{},{},{},{},{},-1,-1\n", nccl_name(tuning.collective),
                            rule.first, rule.last, rule.choice.algorithm, rule.choice.protocol,
                            kOwnChannels, communicator.nodes, communicator.ranks);
      }
    }
  }
  return text;
}

std::string to_ncclx_tuner_csv(std::span<const NcclTuning> tunings, const Topology& topology) {
  const NcclCommunicator communicator = nccl_communicator(topology);
  // As the tuner reckons where nodes are uneven, too: what is left over is in no part.
  const std::int64_t local = communicator.ranks / communicator.nodes;
  std::string text =
      head_of(topology, "NCCLX_TUNER_CONFIG_FILE",
              "collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks");
  for (const NcclTuning& tuning : tunings) {
    for (const auto* rules : {&tuning.rules, &tuning.otherwise}) {
      for (const NcclRule& rule : *rules) {
        const std::string interval = interval_of(rule, communicator.nodes * local);
        if (interval.empty()) continue;
        text += fmt::format("{},{},{},{},{},{},{}\n", nccl_name(tuning.collective), interval,
                            rule.choice.algorithm, rule.choice.protocol, kOwnChannels,
                            communicator.nodes, local);
      }
    }
  }
  return text;
}

}  // namespace forestcoll
