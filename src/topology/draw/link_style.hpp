// How links look: colour by kind, width by bandwidth, rounds of a schedule above both.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/convert.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"
#include "topology/draw/sheet.hpp"

namespace forestcoll::topology {

class LinkStyle {
 public:
  /// `widest` is the most bandwidth of a line, of `lines` lines.
  LinkStyle(const Topology& topology, const DrawOptions& options, const Ratio& widest,
            std::size_t lines);

  /// See `link_colors`.
  [[nodiscard]] Color color(const std::string& kind) const;
  [[nodiscard]] double width(const Ratio& bandwidth) const;

  /// The look of a line with these rounds of a schedule: forward from its first to its last point,
  /// backward, or none.
  void mark(SheetLine& line, std::optional<std::size_t> forward,
            std::optional<std::size_t> backward) const;

  /// Title, note, legend and caption.
  void set_head(Sheet& sheet) const;

 private:
  [[nodiscard]] std::vector<SheetKey> keys() const;

  const Topology& topology_;
  const DrawOptions& options_;
  double widest_ = 1, crowd_ = 1;
  std::map<std::string, Color> colors_;  ///< by kind
};

/// The first round in which data goes from one to the other, by the hops of a schedule.
using Rounds = std::map<std::pair<std::size_t, std::size_t>, std::size_t>;
void add_round(Rounds& rounds, std::size_t from, std::size_t to, std::size_t round);
[[nodiscard]] std::optional<std::size_t> round_of(const Rounds& rounds, std::size_t from,
                                                  std::size_t to);

}  // namespace forestcoll::topology
