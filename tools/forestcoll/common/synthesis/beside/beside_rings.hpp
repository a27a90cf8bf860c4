// A schedule whose links carry less than NCCL's rings do, and what the model says of its time.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// XML has a power of two of trees and names no routes, so its links can carry less than the
/// optimum, and less than NCCL's rings. Rings wait longer for one another; what that comes to, only
/// a model of time says.
struct BesideRings {
  Ratio rings;        ///< GB/s: what the links allow the rings of `nccl-ring`
  Ratio ours;         ///< GB/s: what they allow the schedule, less than that
  std::string whose;  ///< the note of `nccl-ring`
  /// Seconds for 1 GiB by the model; nothing where one of the two cannot be simulated.
  std::optional<double> rings_seconds, our_seconds;
};

/// Nothing where the schedule reaches the optimum, or carries no less than the rings, or there are
/// no rings, or once `stop` asks to give up. Cost: of `nccl-ring`, and where it carries more, of
/// simulating both.
[[nodiscard]] std::optional<BesideRings> beside_rings(const Fabric& fabric,
                                                      const Compilation& compiled,
                                                      const std::stop_token& stop,
                                                      const Console& console);

/// A line of the summary, without its end.
[[nodiscard]] std::string in_words(const BesideRings& beside);
/// {"rings", "ours", "note", "rings_seconds", "our_seconds"}
[[nodiscard]] Json to_json(const BesideRings& beside);

}  // namespace forestcoll::cli
