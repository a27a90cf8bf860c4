// What every reader of the file of another tool gets: the text, the options, and where to tell
// what.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "forestcoll/import.hpp"
#include "forestcoll/ratio.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::importing {

using topology::Findings;
using topology::quote;

struct Context {
  /// Where a place was last asked for: findings come in the order of the file.
  struct Cursor {
    std::size_t offset = 0, line = 1, line_start = 0;
  };

  std::string_view text;
  Source source;
  const ImportOptions& options;
  Findings& findings;
  ImportReport& report;
  mutable Cursor cursor = {};

  /// "12:5" for a byte of the text.
  [[nodiscard]] std::string place(std::size_t offset) const;
  /// The bandwidth that the options give to a kind of link, in GB/s.
  [[nodiscard]] std::optional<Ratio> overridden(std::string_view kind) const;
  /// True where links get the constants that NCCL plans with.
  [[nodiscard]] bool nccl_constants() const;
};

/// Base of what reads a file and may refuse it.
class FileReader {
 protected:
  explicit FileReader(const Context& context) : context_(context) {}
  void fail(Code code, std::size_t offset, std::string message, std::string remedy) {
    context_.findings.error(code, context_.place(offset), std::move(message), std::move(remedy));
    failed_ = true;
  }

  const Context& context_;
  bool failed_ = false;
};

/// What all devices behind a PCIe host bridge share up to the CPU, as `bandwidths` calls it.
inline constexpr std::string_view kHostBridge = "host-bridge";
/// No graph and no cluster of more nodes than this is read.
inline constexpr std::size_t kMaxParts = 1'000'000;
inline constexpr std::size_t kMaxHosts = 100'000;
/// More of them in one machine are a damaged file.
inline constexpr std::size_t kMaxGpusOfMachine = 4096;
inline constexpr std::size_t kMaxNicsOfMachine = 1024;
inline constexpr std::size_t kMaxCpusOfMachine = 1024;
/// GB/s of one NIC, 8 Tb/s: more than any has.
inline const Ratio kMaxNicBandwidth{1000};
/// Elements and blocks are not nested deeper than this in any file that is meant.
inline constexpr std::size_t kMaxDepth = 64;

/// "25", or "246.857" where it is not exact in three decimals.
[[nodiscard]] std::string shown(const Ratio& value);
/// The first few of many names: "a, b, c and 5 more".
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

}  // namespace forestcoll::importing
