// The codes of diagnostics, and what every one of them means.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

namespace forestcoll {

/// What is wrong, as a key of docs/diagnostics.md. E and others: errors; W and some I: warnings. A
/// code keeps its name and meaning from release to release; its number here means nothing.
enum class Code : std::uint8_t {
  // about the topology file
  E01,
  E02,
  E03,
  E04,
  E05,
  E06,
  E07,
  E08,
  E09,
  E10,
  E11,
  E12,
  E13,
  E14,
  E15,
  E17,
  W01,
  W02,
  W03,
  W04,
  W05,
  W06,
  W07,
  W08,
  W09,
  W12,
  W16,
  // about the request
  S02,
  S03,
  S04,
  S05,
  IO,
  T01,
  T02,
  T03,
  T04,
  T05,
  T06,
  T07,
  T08,
  T09,
  T10,
  E16,
  E18,
  R01,
  R02,
  R03,
  A02,
  A03,
  A04,
  A05,
  A06,
  F01,
  F02,
  D01,
  D02,
  D03,
  D04,
  G01,
  G02,
  G03,
  G04,
  G05,
  K01,
  K02,
  K03,
  K04,
  K05,
  C01,
  P01,
  P02,
  P03,
  P04,
  W10,
  W11,
  W13,
  W14,
  W15,
  O01,
  O02,
  O03,
  O04,
  O05,
  O06,
  O07,
  O08,
  O09,
  // about algorithms, simulation and comparison
  B01,
  B02,
  B03,
  B04,
  B05,
  B06,
  B07,
  B08,
  B09,
  B10,
  M01,
  M02,
  M03,
  M04,
  M05,
  M06,
  N01,
  N02,
  N03,
  N04,
  N05,
  N06,
  N07,
  N08,
  N09,
  N10,
  // about forestcoll-run
  X01,
  X02,
  X03,
  X04,
  X05,
  X06,
  // about a batch
  J01,
  J02,
  J03,
  J04,
  J05,
  J06,
  J07,
  J08,
  // about a dump that is imported
  I01,
  I02,
  I03,
  I04,
  I05,
  I06,
  I07,
  I08,
  I09,
  I21,
  I22,
  I23,
  I24,
  I25,
  // about a schedule
  V01,
  V02,
  V03,
  V04,
  V05,
  V06,
  V07,
  V08,
  V09,
  V10,
  V11,
  V12,
  V13,
  V14,
  V15,
  V16,
  V17,
  V18,
  V19,
  V20,
  V21,
  V22,
  V23,
  V24,
  V25,
  V26,
};

/// What kind of failure an error is; a program may make its exit code of that.
enum class ErrorKind : std::uint8_t {
  input,         ///< the input is wrong
  limit,         ///< it does not fit a target's limits or exact arithmetic
  threadblocks,  ///< a GPU has too many peers for the target's threadblocks or channels
  stopped,       ///< it was asked to stop before the end
  io,            ///< a file cannot be read or written
};

/// What findings are about.
enum class About : std::uint8_t {
  topology_file,
  request,
  comparison,
  run,
  batch,
  imported_dump,
  schedule,
};
/// "the topology file"
[[nodiscard]] std::string_view to_string(About about);

struct CodeInfo {
  Code code = {};
  std::string_view name;  ///< "E05"
  About about = {};
  std::string_view meaning;           ///< a sentence, without a capital at its beginning
  ErrorKind kind = ErrorKind::input;  ///< of every error of this code
};

/// All codes, in the order of their enumerators.
[[nodiscard]] std::span<const CodeInfo> codes();
[[nodiscard]] const CodeInfo& info_of(Code code);
/// "E05"; empty where there is none.
[[nodiscard]] std::string_view name_of(std::optional<Code> code);
/// The one of that name, if there is one. Cost: O(codes).
[[nodiscard]] std::optional<Code> parse_code(std::string_view name);

// What several codes have in common, for who goes on after such an error.

/// Steps, channels or elements are too many: fewer and larger messages take less of them.
[[nodiscard]] bool is_of_many_messages(std::optional<Code> code);
/// Some GPUs do not reach others.
[[nodiscard]] bool is_of_disconnection(std::optional<Code> code);

/// Writes its name.
std::ostream& operator<<(std::ostream& out, Code code);

}  // namespace forestcoll
