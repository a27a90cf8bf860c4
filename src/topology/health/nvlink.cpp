// NVLinks by GPU: the lines of `nvidia-smi nvlink -s` and `-e`, and the letters of dcgmi.
//   GPU 3: NVIDIA A100-SXM4-40GB (UUID: GPU-…)
//            Link 0: 25 GB/s
//            Link 1: <inactive>
//            Link 2: Replay Errors: 0
#include <fmt/format.h>

#include "base/words.hpp"
#include "topology/format/units.hpp"
#include "topology/health/dumps.hpp"

namespace forestcoll::health {
namespace {

// The number of "GPU 3: …" or "Link 3: …", and what follows the colon.
std::optional<std::pair<std::int64_t, std::string_view>> numbered_line(std::string_view line,
                                                                       std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = natural(trimmed(line.substr(word.size(), colon - word.size())));
  if (!number) return std::nullopt;
  return std::pair(*number, trimmed(line.substr(colon + 1)));
}

void malformed(const Dump& dump, std::string_view line, std::string_view expected) {
  dump.findings.error(Code::I02, "",
                      fmt::format("expected {}, found {}", expected, topology::quote(line)),
                      "Take the output of the tool as it is.");
}

// "25.781 GB/s", "<inactive>".
bool read_speed(const Dump& dump, std::string_view line, std::string_view text,
                std::optional<Ratio>& speed) {
  if (text.find("nactive") != std::string_view::npos || text == "Down" || text == "down") {
    speed.reset();
    return true;
  }
  const auto value = topology::parse_quantity(topology::Quantity::bandwidth, std::string(text), 1);
  // In so few digits that sums of them are exact.
  constexpr std::int64_t kMostSpeed = 10'000, kDecimals = 10'000;
  if (value && *value > 0 && *value <= Ratio(kMostSpeed) && kDecimals % value->den() == 0) {
    speed = value;
    return true;
  }
  malformed(dump, line, "a speed such as 25 GB/s, or <inactive>");
  return false;
}

// "Replay Errors: 12": what is counted, where that is not 0.
std::optional<std::string> errors_counted(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto count = natural(trimmed(text.substr(colon + 1)));
  if (!count || *count == 0) return std::nullopt;
  return fmt::format("{} {}", *count, text.substr(0, colon));
}

class NvlinkReader {
 public:
  explicit NvlinkReader(const Dump& dump) : dump_(dump) {}

  std::optional<MachineState> read() {
    for (const TextLine& line : lines_of(dump_.text)) {
      if (!read_line(trimmed(line.text))) return std::nullopt;
    }
    state_.source = counts_errors_ ? "nvidia-smi nvlink -e" : "nvidia-smi nvlink -s";
    return std::move(state_);
  }

 private:
  bool read_line(std::string_view line) {
    if (const auto gpu = numbered_line(line, "GPU ")) {
      if (gpu->first >= kMostGpus) {
        malformed(dump_, line, fmt::format("a GPU below {}", kMostGpus));
        return false;
      }
      gpu_ = &state_.gpus[static_cast<std::size_t>(gpu->first)];
      return true;
    }
    if (gpu_ != nullptr && line.find("all links are inActive") != std::string_view::npos) {
      gpu_->off_fabric = "all of its NVLinks are inactive";
    }
    const auto link = numbered_line(line, "Link ");
    if (!link) return true;
    if (gpu_ == nullptr || link->first >= kMostLinks) {
      malformed(dump_, line, "a GPU's line before its links");
      return false;
    }
    return read_link(line, link->first, link->second);
  }

  bool read_link(std::string_view line, std::int64_t number, std::string_view text) {
    if (text.find("rror") != std::string_view::npos || text.find(':') != std::string_view::npos) {
      counts_errors_ = true;
      if (const auto counted = errors_counted(text)) {
        gpu_->doubts.push_back(fmt::format("NVLink {} counts {}", number, *counted));
      }
      return true;
    }
    std::optional<Ratio> speed;
    if (!read_speed(dump_, line, text, speed)) return false;
    gpu_->links[number] = speed;
    return true;
  }

  const Dump& dump_;
  MachineState state_;
  GpuState* gpu_ = nullptr;
  bool counts_errors_ = false;
};

}  // namespace

std::optional<MachineState> read_nvlink(const Dump& dump) {
  return NvlinkReader(dump).read();
}

// "    gpuId 0:" and, on the next line, a letter for each link: U up, D down, X disabled, _ none.
std::optional<MachineState> read_dcgmi(const Dump& dump) {
  MachineState state{.source = "dcgmi nvlink -s"};
  GpuState* gpu = nullptr;
  for (const TextLine& each : lines_of(dump.text)) {
    const std::string_view line = trimmed(each.text);
    if (line.starts_with("NvSwitches") || line.starts_with("physicalId")) gpu = nullptr;
    if (const auto number = numbered_line(line, "gpuId ")) {
      if (number->first >= kMostGpus) {
        malformed(dump, line, fmt::format("a GPU below {}", kMostGpus));
        return std::nullopt;
      }
      gpu = &state.gpus[static_cast<std::size_t>(number->first)];
      continue;
    }
    if (gpu == nullptr) continue;
    std::int64_t link = 0;
    for (const std::string_view letter : words_of(line)) {
      if (letter == "U") gpu->links[link] = Ratio(1);
      if (letter == "D" || letter == "X") gpu->links[link] = std::nullopt;
      if (letter != "U" && letter != "D" && letter != "X" && letter != "_") {
        malformed(dump, line, "a letter for each link: U, D, X or _");
        return std::nullopt;
      }
      if (++link > kMostLinks) break;
    }
    gpu = nullptr;
  }
  return state;
}

}  // namespace forestcoll::health
