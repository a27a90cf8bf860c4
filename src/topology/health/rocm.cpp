// rocm-smi: the matrix "Link Type between two GPUs" of --showtopo, and the counts of --showxgmierr:
//   GPU[0]          : XGMI Error count: 1 (Single error detected since last read)
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/words.hpp"
#include "topology/health/dumps.hpp"

namespace forestcoll::health {
namespace {

// The number of "GPU3" or "GPU[3]".
std::optional<std::size_t> rocm_gpu(std::string_view word) {
  if (!word.starts_with("GPU")) return std::nullopt;
  word.remove_prefix(3);
  if (word.starts_with("[") && word.ends_with("]")) word = word.substr(1, word.size() - 2);
  const auto number = natural(word);
  if (!number || *number >= kMostGpus) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

class RocmReader {
 public:
  explicit RocmReader(const Dump& dump) : dump_(dump) {}

  std::optional<MachineState> read() {
    state_.source = "rocm-smi";
    for (const auto& line : lines_of(dump_.text)) {
      const std::string_view text = trimmed(line.text);
      if (text.starts_with("===")) {
        in_types_ = text.find("Link Type between two GPUs") != std::string_view::npos;
        if (in_types_ && has_types_) return malformed("a second matrix"), std::nullopt;
        has_types_ = has_types_ || in_types_;
      } else if (in_types_) {
        if (!read_row(text)) return std::nullopt;
      } else {
        read_errors(text);
      }
    }
    if (has_types_ && (rows_.empty() || rows_.size() != columns_.size())) {
      return malformed(fmt::format("{} of its {} rows", rows_.size(), columns_.size())),
             std::nullopt;
    }
    state_.by_pcie.assign(by_pcie_.begin(), by_pcie_.end());
    return std::move(state_);
  }

 private:
  bool read_row(std::string_view text) {
    const auto words = words_of(text);
    if (words.empty() || words[0].starts_with("*")) return true;
    if (columns_.empty()) {
      for (const std::string_view word : words) {
        const auto gpu = rocm_gpu(word);
        if (!gpu) return malformed_row(text);
        columns_.push_back(*gpu);
        state_.gpus[*gpu];
      }
      return true;
    }
    const auto row = rocm_gpu(words[0]);
    if (!row || words.size() != columns_.size() + 1 || !rows_.insert(*row).second) {
      return malformed_row(text);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (words[i + 1] == "PCIE" && *row != columns_[i]) {
        by_pcie_.insert(std::minmax(*row, columns_[i]));
      }
    }
    return true;
  }

  bool malformed_row(std::string_view text) {
    return malformed("the row " + topology::quote(text));
  }
  bool malformed(const std::string& found) {
    dump_.findings.error(
        Code::I02, "",
        fmt::format("expected one matrix of link types between all GPUs, found {}", found),
        "Take the output of rocm-smi --showtopo, of one machine, as it is.");
    return false;
  }

  void read_errors(std::string_view text) {
    constexpr std::string_view kCount = "XGMI Error count:";
    const std::size_t at = text.find(kCount);
    const auto words = words_of(text);
    if (at == std::string_view::npos || words.empty()) return;
    const auto gpu = rocm_gpu(words[0]);
    if (!gpu) return;
    GpuState& state = state_.gpus[*gpu];
    const std::string_view count = trimmed(text.substr(at + kCount.size()));
    if (!count.starts_with("0")) {
      state.doubts.push_back(
          fmt::format("rocm-smi counts xGMI errors: {}", topology::quote(count)));
    }
  }

  const Dump& dump_;
  MachineState state_;
  bool in_types_ = false, has_types_ = false;
  std::vector<std::size_t> columns_;
  std::set<std::size_t> rows_;
  std::set<std::pair<std::size_t, std::size_t>> by_pcie_;
};

}  // namespace

std::optional<MachineState> read_rocm(const Dump& dump) {
  return RocmReader(dump).read();
}

}  // namespace forestcoll::health
