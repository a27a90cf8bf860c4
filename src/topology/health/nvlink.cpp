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

// "Replay Errors", "Tx discards", "Link recovery failed events". All links count packets, bytes and
// what their error correction mends ("FEC Errors - 0", "Raw Errors Lane 1").
bool counts_failures(std::string_view name) {
  return name.ends_with("Errors") || name.ends_with("discards") || name.ends_with("events");
}

// A GPU's second section: one machine's lists would hide what is down in the other's.
void second_time(const Dump& dump, std::string_view line) {
  dump.findings.error(Code::I02, "",
                      fmt::format("{} stands there a second time", topology::quote(line)),
                      "Give the dump of each machine, and of each time, as a file of its own.");
}

class NvlinkReader {
 public:
  explicit NvlinkReader(const Dump& dump) : dump_(dump) {}

  std::optional<MachineState> read() {
    for (const TextLine& line : lines_of(dump_.text)) {
      if (!read_line(trimmed(line.text))) return std::nullopt;
    }
    state_.source = state_.lists_links ? "nvidia-smi nvlink -s" : "nvidia-smi nvlink -e";
    // Capabilities, throughput and the like say nothing of health.
    if (!state_.lists_links && !says_more_) state_.gpus.clear();
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
      says_more_ = true;
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
    if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
      read_count(number, text.substr(0, colon), trimmed(text.substr(colon + 1)));
      return true;
    }
    std::optional<Ratio> speed;
    if (!read_speed(dump_, line, text, speed)) return false;
    state_.lists_links = true;
    const bool is_new = gpu_->links.emplace(number, speed).second;
    if (!is_new) second_time(dump_, line);
    return is_new;
  }

  void read_count(std::int64_t number, std::string_view name, std::string_view value) {
    if (!counts_failures(name)) return;
    says_more_ = true;
    const auto count = natural(value);
    if (!count || *count == 0) return;
    gpu_->doubts.push_back(fmt::format("NVLink {} counts {} {}", number, *count, name));
  }

  const Dump& dump_;
  MachineState state_;
  GpuState* gpu_ = nullptr;
  bool says_more_ = false;  // than the speeds of links
};

}  // namespace

std::optional<MachineState> read_nvlink(const Dump& dump) {
  return NvlinkReader(dump).read();
}

// "    gpuId 0:" and, on the next line, a letter for each link: U up, D down, X disabled, _ none.
std::optional<MachineState> read_dcgmi(const Dump& dump) {
  MachineState state{.source = "dcgmi nvlink -s", .lists_links = true};
  GpuState* gpu = nullptr;
  for (const TextLine& each : lines_of(dump.text)) {
    const std::string_view line = trimmed(each.text);
    if (line.starts_with("NvSwitches") || line.starts_with("physicalId")) gpu = nullptr;
    if (const auto number = numbered_line(line, "gpuId ")) {
      if (number->first >= kMostGpus) {
        malformed(dump, line, fmt::format("a GPU below {}", kMostGpus));
        return std::nullopt;
      }
      const auto [at, is_new] = state.gpus.try_emplace(static_cast<std::size_t>(number->first));
      if (!is_new) return second_time(dump, line), std::nullopt;
      gpu = &at->second;
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
