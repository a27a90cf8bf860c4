// Which wiring for so many accelerators of so many ports: the candidates, what was published about
// them, and who is on the front.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/wiring_figures.hpp"

namespace forestcoll {

struct DirectRequest {
  std::size_t nodes = 0;
  std::size_t ports = 0;
  bool two_way = false;     ///< cables both ways only
  std::size_t randoms = 2;  ///< so many random regular graphs, of seeds 1, 2, …
};

/// The expressions of all wirings that have exactly so many nodes and ports, base graphs first,
/// each once: every base graph, and line digraphs, degree expansions, powers and products of those
/// smaller ones that no other beats by steps, BFB's time and mean distance. Circulants are those of
/// fewest steps among offsets 1 and b, of consecutive offsets, and of powers of a number. Errors:
/// K01 where nothing has so many, in words that say why. Cost: that of BFB on all smaller
/// candidates.
[[nodiscard]] Expected<std::vector<std::string>> direct_candidates(const DirectRequest& request);

/// What is published of a construction (Zhao et al., NSDI 2025), where it is.
struct ClosedForm {
  std::optional<std::size_t> steps;  ///< T_L
  std::optional<Ratio> bfb;          ///< T_B, in units of M/B
};
/// Of a base graph by its formula; of an expansion by the theorem's formula from those of what it
/// expands, and where that has none, from what it takes. REQUIRES: `make_wiring` takes it.
/// Cost: that of BFB on what is expanded and has no formula.
[[nodiscard]] ClosedForm closed_form(std::string_view expression);

/// What a front is about: two times, or three.
enum class DirectAim {
  allgather,  ///< steps and the forest's time; reduce-scatter and allreduce have the same front
  bfb,        ///< steps and BFB's time
  alltoall,   ///< steps and all-to-all's time
  all,        ///< steps, the forest's time and all-to-all's
};
/// By position: is there no other that is as good in all and better in one? Of proved intervals the
/// larger end counts.
[[nodiscard]] std::vector<bool> pareto_front(std::span<const WiringFigures> figures, DirectAim aim);

/// By position: is it on the front, or would it be if all-to-all took it as little as its interval
/// says, and the others as much? Cost: that of a front for each.
[[nodiscard]] std::vector<bool> perhaps_on_front(std::span<const WiringFigures> figures,
                                                 DirectAim aim);

}  // namespace forestcoll
