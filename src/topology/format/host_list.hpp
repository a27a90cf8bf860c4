// Ids with Slurm host-list ranges: "n[0,2,4-6]g[00-15]".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::topology {

/// The longest id, after expansion, in bytes.
inline constexpr std::size_t kMaxIdLength = 255;

/// The product of two counts, the largest count where it would not fit.
[[nodiscard]] std::size_t saturating_product(std::size_t a, std::size_t b);
[[nodiscard]] std::size_t saturating_sum(std::size_t a, std::size_t b);

/// A list of ids as the file writes it; it refers to the text that it was parsed from.
class HostList {
 public:
  HostList() = default;

  /// What is written.
  [[nodiscard]] std::string_view text() const { return text_; }
  /// How many ids it stands for; the largest count where there are more than that.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// All of them, the last range running fastest. REQUIRES: the count is bounded. Cost: O(count).
  [[nodiscard]] std::vector<std::string> expand() const;
  /// True where both write the same ids in the same order: "gpu[0-3]" and "gpu[0-1,2,3]".
  [[nodiscard]] bool equals(const HostList& other) const;
  /// True where both begin with the same range of several ids and go on differently, as
  /// "box[0-2]/gpu[0-3]" and "box[0-2]/nvsw" do.
  [[nodiscard]] bool branches_from(const HostList& other) const;
  /// True where a range of several ids is the same on both sides and at least one side has another
  /// one besides, as "gpu[0-2]-[0-3]" and "nvsw[0-2]" have; but not where both end in that range
  /// and in the same name, as "box0/gpu[0-3]" and "box[1-2]/gpu[0-3]" do: these are alike.
  [[nodiscard]] bool shares_a_range_with(const HostList& other) const;

 private:
  friend class HostListParser;

  struct Range {
    std::uint64_t first = 0, last = 0;
    std::size_t width = 0;  ///< padded with zeros to so many digits
    bool operator==(const Range&) const = default;
  };
  struct Part {
    std::string_view literal;
    std::vector<Range> ranges;  ///< after the literal; empty for the part at the end
    /// The ranges with those that follow one another in one: "0,1,2-4" is "0-4".
    [[nodiscard]] std::vector<Range> merged() const;
    [[nodiscard]] bool has_several() const;
    /// The letters before the ranges: "gpu" of "box0/gpu[0-3]".
    [[nodiscard]] std::string_view name() const;
  };

  std::string_view text_;
  std::vector<Part> parts_;  ///< empty where the text is a plain id
  std::size_t count_ = 1;
};

/// Reads a host list. Error E11, without a place, where a range is malformed or reversed, or where
/// an id would be empty or longer than `kMaxIdLength`. The result refers to `text`.
[[nodiscard]] Expected<HostList> parse_host_list(std::string_view text);

}  // namespace forestcoll::topology
