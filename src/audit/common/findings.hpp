// What verification found wrong: collected in any order, reported sorted and capped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// The kinds of findings; the number is that of the code that users see (V01 …).
enum class Rule {
  unreadable = 1,       ///< not XML or JSON, truncated, binary, too large
  lexical = 2,          ///< XML that the runtimes' own parser does not accept
  attribute = 3,        ///< an attribute or field is missing or not what it must be
  unsupported = 4,      ///< a collective, protocol or operation that the target does not have
  numbering = 5,        ///< GPUs, threadblocks or steps are missing or not numbered densely
  limit = 6,            ///< more than the target holds
  connection = 7,       ///< peers and channels
  bounds = 8,           ///< counts and offsets
  dependency = 9,       ///< depid, deps, hasdep
  nop = 10,             ///< where nop steps may stand
  chunk_count = 11,     ///< sizes of the buffers
  unmatched = 12,       ///< a message that nobody receives or sends, or of another size
  deadlock = 13,        ///< threadblocks that wait for one another
  race = 14,            ///< two accesses to a chunk that nothing orders
  undefined_read = 15,  ///< data that was never written is read
  reduction = 16,       ///< a contribution is added twice, or to another chunk
  result = 17,          ///< a rank ends with the wrong data
  input_written = 18,   ///< out of place, the input is overwritten
  never_selected = 19,  ///< no call can ever select the file
  fabric = 20,          ///< the schedule does not fit the topology
  tree = 21,            ///< a tree does not span, or its edges do not lead where they should
  height = 22,          ///< a tree's height is not what the file says
  multiplicity = 23,    ///< trees per root
  path = 24,            ///< the route of an edge
  claim = 25,           ///< the rate that the file claims is not what it reaches
  too_large = 26,       ///< more than this verifier is willing to hold
};

/// Where in a schedule; −1 and 0 mean "not said".
struct Place {
  std::int32_t rank = -1;
  std::int32_t threadblock = -1;
  std::int32_t step = -1;
  std::int64_t line = 0;
  std::string chunk = {};  ///< "output chunk 7"
};

/// "rank 3, threadblock 5, step 7, output chunk 2 (line 57)"
[[nodiscard]] std::string to_string(const Place& place);

/// Holds findings up to a fixed number and counts the rest, so that memory stays bounded however
/// broken the input is.
class Findings {
 public:
  explicit Findings(std::string_view file) : file_(file) {}

  [[nodiscard]] const std::string& file() const { return file_; }

  void add(Rule rule, const Place& place, std::string message, std::string remedy = {});
  /// For places outside a program: "12:5", "broadcast tree 3, edge 7".
  void add(Rule rule, std::string where, std::string message, std::string remedy = {});

  /// All of another check of the same file.
  void add(const Findings& others);

  /// Findings of any kind so far.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Whether there is a finding of this kind.
  [[nodiscard]] bool has(Rule rule) const {
    return (kinds_ >> static_cast<unsigned>(rule) & 1U) != 0;
  }
  /// Whether something was found that makes it pointless to run the program: everything but
  /// lexical rules, limits and selection.
  [[nodiscard]] bool blocked() const { return blocked_; }

  /// The findings by rule, then by place, at most `most` of them.
  [[nodiscard]] Diagnostics sorted(std::size_t most) const;
  /// What each of them says of the schedule.
  [[nodiscard]] std::vector<Fault> faults(std::size_t most) const;

 private:
  struct Entry {
    Rule rule;
    Place place;
    Diagnostic diagnostic;
  };
  void keep(Rule rule, const Place& place, std::string where, std::string message,
            std::string remedy);
  [[nodiscard]] std::vector<const Entry*> in_order(std::size_t most) const;

  std::string file_;
  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  std::uint64_t kinds_ = 0;  // a bit for each rule
  bool blocked_ = false;
};

/// A single error about the file as a whole, for Expected.
[[nodiscard]] Diagnostic file_error(std::string_view file, std::string where, std::string message,
                                    std::string remedy = {});

/// The worst that the findings mean, the way a runtime meets it: what does not load never hangs,
/// what is never selected never goes wrong.
[[nodiscard]] std::string outcome(const Findings& findings);

}  // namespace forestcoll::audit
