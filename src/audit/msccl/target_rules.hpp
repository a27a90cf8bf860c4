// What each runtime accepts: one row per target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::audit {

/// One runtime's limits and rules. Only what differs between runtimes is here; what they share
/// stands as constants below.
struct TargetRules {
  std::string_view name;
  std::string_view reduce_scatter_name;  ///< in `coll`
  std::string_view operations;           ///< accepted types, each between spaces
  std::int32_t max_threadblocks;         ///< per GPU
  std::int32_t max_steps;                ///< per threadblock
  std::int32_t max_channels;
  bool requires_name;          ///< else `outofplace`, `minBytes` and `maxBytes` are required
  bool honours_out_of_place;   ///< else a file is for in place or for out of place, never both
  bool max_bytes_is_included;  ///< the window's upper end; 0 then means unlimited
  bool enforces_chunk_counts;  ///< an input or output size that does not fit fails the load
  bool reads_threads;          ///< `nthreads`, a multiple of 32
  bool allocates_scratch;      ///< at load time, for maxBytes
  bool counts_parts;           ///< divides the count of one rank's part by the chunks, not of all
  std::int64_t ll_bytes;       ///< data of one operation of LL, with buffers of the default size
  std::int64_t ll128_bytes;    ///< the same of LL128
  [[nodiscard]] bool accepts(std::string_view operation) const;
};

inline constexpr std::int64_t kSimpleBytes = std::int64_t{2} << 20;  ///< of Simple, everywhere
inline constexpr std::int32_t kMaxCount = 71;                        ///< chunks per step
inline constexpr std::int32_t kMaxOffset = 32767;                    ///< 16 bits
inline constexpr std::int32_t kMaxDependency = 127;                  ///< a threadblock in 8 bits
inline constexpr std::int32_t kMaxChildren = 1024;                   ///< of one XML element
inline constexpr std::int32_t kMaxElements = 4095;                   ///< that one rank loads
inline constexpr std::int32_t kMaxFusion = 16;                       ///< `re` steps run as one
inline constexpr std::int32_t kMaxPerChannel = 32;  ///< sending, receiving threadblocks
/// Scratch that a runtime may take of a GPU's memory at load time.
inline constexpr std::int64_t kMaxScratchBytes = std::int64_t{16} << 30;
inline constexpr std::size_t kMaxName = 63;  ///< characters, where a name is required

/// The row of a target, or null.
[[nodiscard]] const TargetRules* find_target_rules(std::string_view name);
/// In the order of the table.
[[nodiscard]] std::vector<std::string> target_names();

}  // namespace forestcoll::audit
