// The state of GPUs on the NVLink fabric, as NVML has it: in words (`nvidia-smi -q`, the section
// Fabric), and as the bits of `healthMask`, which NCCL logs:
//   host:12:34 [0] NCCL INFO MNNVL busId 0x… fabric UUID … cliqueId 0x… state 3 healthMask 0xaa
// Bits, from NVML's reference: 0-1 bandwidth degraded, 2-3 route recovery in progress, 4-5 route
// unhealthy, 6-7 access timeout recovery (each 0 not supported, 1 true, 2 false), 8-11 incorrect
// configuration (0 not supported, 1 none).
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <set>

#include "base/words.hpp"
#include "topology/health/dumps.hpp"

namespace forestcoll::health {
namespace {

constexpr std::array<std::pair<unsigned, std::string_view>, 4> kMaskBits = {
    {{0, "its NVLink bandwidth is degraded"},
     {2, "a route of it is being recovered"},
     {4, "a route of it is unhealthy"},
     {6, "it recovers from an access timeout"}}};
constexpr unsigned kConfigurationShift = 8;

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

// "State    : Completed" in its two parts.
std::pair<std::string_view, std::string_view> key_and_value(std::string_view line) {
  const std::size_t colon = line.find(" : ");
  if (colon == std::string_view::npos) return {trimmed(line), {}};
  return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 3))};
}

bool says_nothing(std::string_view value) {
  return value.empty() || value == "N/A" || value == "Not Supported" || value == "None";
}

void take_field(std::string_view key, std::string_view value, GpuState& gpu) {
  if (says_nothing(value)) return;
  if (key == "State" && value != "Completed") {
    gpu.off_fabric =
        fmt::format("it is not on the NVLink fabric, state {}", topology::quote(value));
  } else if (key == "Status" && value != "Success") {
    gpu.off_fabric =
        fmt::format("it is not on the NVLink fabric, status {}", topology::quote(value));
  } else if (key == "Summary" && value != "Healthy") {
    gpu.doubts.push_back(
        fmt::format("its health on the NVLink fabric is {}", topology::quote(value)));
  } else if (key == "Bandwidth" && value != "Full") {
    gpu.doubts.emplace_back(kMaskBits[0].second);
  } else if (key == "Route Recovery in progress" && value == "True") {
    gpu.doubts.emplace_back(kMaskBits[1].second);
  } else if (key == "Route Unhealthy" && value == "True") {
    gpu.doubts.emplace_back(kMaskBits[2].second);
  } else if (key == "Access Timeout Recovery" && value == "True") {
    gpu.doubts.emplace_back(kMaskBits[3].second);
  } else if (key == "Incorrect Configuration" && value != "False") {
    gpu.doubts.push_back(fmt::format("it is configured wrongly: {}", topology::quote(value)));
  }
}

// The hexadecimal number behind a word.
std::optional<std::uint32_t> hexadecimal_after(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const char* begin = line.data() + at + word.size();
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value, 16);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// "node1" and 0 of "2026-11-30 node1:12:34 [0] NCCL INFO …", whatever launchers write before it.
std::pair<std::string_view, std::optional<std::int64_t>> host_and_gpu(std::string_view line) {
  const auto words = words_of(line.substr(0, line.find(" NCCL ")));
  if (words.size() < 2 || !words.back().starts_with("[") || !words.back().ends_with("]")) return {};
  const std::string_view process = words[words.size() - 2];
  const std::string_view number = words.back().substr(1, words.back().size() - 2);
  return {process.substr(0, process.find(':')), natural(number)};
}

void take_mask(std::uint32_t mask, GpuState& gpu) {
  gpu.doubts.clear();  // the last line holds
  for (const auto& [shift, meaning] : kMaskBits) {
    if (((mask >> shift) & 3U) == 1U) gpu.doubts.emplace_back(meaning);
  }
  if (((mask >> kConfigurationShift) & 15U) > 1U) {
    gpu.doubts.emplace_back("it is configured wrongly on the NVLink fabric");
  }
}

}  // namespace

// Sections of the GPUs stand in the order of their numbers; some dumps have the sections Fabric
// alone.
std::optional<MachineState> read_fabric(const Dump& dump) {
  MachineState state{.source = "nvidia-smi -q"};
  GpuState* gpu = nullptr;
  std::size_t sections = 0, finished = 0, indent = 0;
  for (const TextLine& line : lines_of(dump.text)) {
    const auto [key, value] = key_and_value(line.text);
    if (key.empty() || key == "--") continue;
    if (key == "Fabric" && value.empty()) {
      if (sections == static_cast<std::size_t>(kMostGpus)) break;
      gpu = &state.gpus[sections++];
      indent = indent_of(line.text);
    } else if (gpu != nullptr && indent_of(line.text) > indent) {
      if (key == "Status") ++finished;
      take_field(key, value, *gpu);
    } else {
      gpu = nullptr;
    }
  }
  if (sections == finished) return state;
  dump.findings.error(Code::I02, "",
                      fmt::format("{} of {} sections Fabric have a status", finished, sections),
                      "The dump may be cut off: take the output of nvidia-smi -q as it is.");
  return std::nullopt;
}

std::optional<MachineState> read_health_mask(const Dump& dump) {
  MachineState state{.source = "NCCL's log"};
  std::set<std::string_view> hosts;
  for (const TextLine& line : lines_of(dump.text)) {
    const auto mask = hexadecimal_after(line.text, "healthMask 0x");
    if (!mask) continue;
    const auto [host, gpu] = host_and_gpu(line.text);
    if (!gpu || *gpu >= kMostGpus) {
      dump.findings.error(Code::I02, "",
                          fmt::format("expected the number of a GPU in brackets before "
                                      "healthMask, found {}",
                                      topology::quote(line.text)),
                          "Take the lines of NCCL's log as they are.");
      return std::nullopt;
    }
    hosts.insert(host);
    take_mask(*mask, state.gpus[static_cast<std::size_t>(*gpu)]);
  }
  if (hosts.size() <= 1) return state;
  dump.findings.error(Code::I02, "",
                      fmt::format("the log has healthMask of {} hosts", hosts.size()),
                      "Give the lines of each host as a file of its own, with its GPUs before it.");
  return std::nullopt;
}

}  // namespace forestcoll::health
