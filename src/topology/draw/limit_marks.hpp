// Capacities that links share, as a picture names them: by a letter on their links.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/topology.hpp"

namespace forestcoll::topology {

/// Limits of one name within their boxes, one bandwidth and as many links have one letter; only the
/// first few have letters.
class LimitMarks {
 public:
  explicit LimitMarks(const Topology& topology);

  /// The marks of the limits that this direction is in, ascending; see `letter_of`.
  [[nodiscard]] std::vector<std::size_t> of(NodeId src, NodeId dst) const;

  /// "limits that links share, by letter: a mem, 80 GB/s; b on gpu2 -> sw1, …, 40 GB/s; 3 more".
  /// Empty where links share nothing.
  [[nodiscard]] std::string note() const;
  /// The same without letters, for pictures whose links have none.
  [[nodiscard]] std::string note_without_letters() const;

 private:
  [[nodiscard]] std::string note_with(bool letters) const;

  std::vector<std::string> names_;  ///< by mark, all of them
  std::map<std::pair<NodeId, NodeId>, std::vector<std::size_t>> marks_;
};

/// "a" for the first mark, "a, b" for the first two.
[[nodiscard]] std::string letters_of(const std::vector<std::size_t>& marks);

/// Adds marks to others, all ascending, each once.
void add_marks(std::vector<std::size_t>& marks, const std::vector<std::size_t>& more);

}  // namespace forestcoll::topology
