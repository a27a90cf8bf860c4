#include <fmt/format.h>

#include <set>

#include "base/words.hpp"
#include "forestcoll/health.hpp"
#include "topology/format/select.hpp"
#include "topology/format/text_encoding.hpp"
#include "topology/health/apply.hpp"
#include "topology/health/dumps.hpp"

namespace forestcoll {
namespace {

using health::Dump;
using health::MachineState;
using health::NetworkState;
using topology::Findings;

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// Those of one machine; nothing of others.
std::optional<std::optional<MachineState>> read_machine_state(const Dump& dump) {
  const std::string_view text = dump.text;
  if (has(text, "NvLink Link Status")) return health::read_dcgmi(dump);
  if (has(text, "healthMask 0x")) return health::read_health_mask(dump);
  if (has(text, "Link Type between two GPUs") || has(text, "XGMI Error count:")) {
    return health::read_rocm(dump);
  }
  if (has(text, "all links are inActive")) return health::read_nvlink(dump);
  for (const TextLine& line : lines_of(text)) {
    const std::string_view words = trimmed(line.text);
    if (words == "Fabric") return health::read_fabric(dump);
    const bool is_link =
        words.starts_with("Link ") && words.size() > 5 && is_digit(words[5]) && has(words, ": ");
    if (is_link) return health::read_nvlink(dump);
  }
  return std::nullopt;
}

// Those of a network; nothing of others.
std::optional<std::optional<NetworkState>> read_network_state(const Dump& dump) {
  if (has(dump.text, "==(") && has(dump.text, ")==>")) return health::read_iblinkinfo(dump);
  if (has(dump.text, "START_PORTS")) return health::read_ibdiagnet(dump);
  if (has(dump.text, " } PHY=")) return health::read_ibdiagnet_list(dump);
  return std::nullopt;
}

// The GPUs that the dump numbers; I05 where nothing says which box they are in.
Expected<std::vector<NodeId>> gpus_of(const Topology& topology, const std::string& named,
                                      std::string_view file) {
  if (!named.empty()) return topology::NameLookup(topology).ranks(named, "`health`");
  std::vector<NodeId> gpus;
  std::set<std::string_view> boxes;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const TopologyNode& node = topology.nodes[NodeId(i)];
    if (node.type != NodeType::compute || !node.enabled) continue;
    gpus.push_back(NodeId(i));
    boxes.insert(node.box);
  }
  if (boxes.size() == 1) return gpus;
  return make_error(
      Code::I05,
      fmt::format("the topology has {} boxes, and the dump is of one machine", boxes.size()),
      fmt::format("Write which before the file: {}={}.", *boxes.rbegin(), file),
      {.file = std::string(file)});
}

Diagnostic not_health(std::string_view file) {
  return make_error(Code::I01, "this is no dump of health that is known",
                    "Known are nvidia-smi nvlink -s and -e, nvidia-smi -q, dcgmi nvlink -s, NCCL's "
                    "log with healthMask, rocm-smi --showtopo and --showxgmierr, iblinkinfo, and "
                    "ibdiagnet2.db_csv and .lst of ibdiagnet.",
                    {.file = std::string(file)});
}

}  // namespace

Expected<HealthReport> read_health(const Topology& topology, std::string_view text,
                                   std::string_view file, const std::string& gpus) {
  Findings findings(file);
  if (!topology::check_encoding(text, findings)) return findings.all();
  const Dump dump{text, findings};
  HealthReport report;
  if (const auto network = read_network_state(dump)) {
    if (!*network) return findings.all();
    report.source = (*network)->source;
    if (!health::apply_network(topology, **network, findings, report)) return findings.all();
  } else if (const auto machine = read_machine_state(dump)) {
    if (!*machine) return findings.all();
    const MachineState& state = **machine;
    if (state.gpus.empty()) return not_health(file);
    report.source = state.source;
    const auto named = gpus_of(topology, gpus, file);
    if (!named) return named.errors();
    if (!health::apply_machine(topology, *named, state, findings, report)) return findings.all();
  } else {
    return not_health(file);
  }
  report.warnings = findings.warnings();
  return report;
}

}  // namespace forestcoll
