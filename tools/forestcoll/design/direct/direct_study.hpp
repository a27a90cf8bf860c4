// The study of `design direct`: every candidate with its figures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command.hpp"
#include "forestcoll/design.hpp"

namespace forestcoll::cli {

/// A wiring with all that is known of it.
struct StudiedWiring {
  std::string expression;
  WiringFigures figures;
  ClosedForm published;
  bool two_way = false;       ///< every link has one back, as a cable has
  bool on_front = false;      ///< of the study's aim
  bool on_bfb_front = false;  ///< of steps and BFB's time
};

struct DirectStudy {
  std::size_t nodes = 0, ports = 0;
  DirectAim aim = DirectAim::all;
  std::vector<StudiedWiring> wirings;  ///< two-way ones first, by steps, then by the times
};

/// `also` are further expressions to study. Where `thorough`, all-to-all of `also` and of those
/// that may be on the front is solved whatever their size, until nothing that is left can be on it.
/// Works on `threads`
/// candidates at a time under a progress bar; the result does not depend on them. Errors: those of
/// `make_wiring`, K01, also where one of `also` has other nodes or ports, E14.
[[nodiscard]] Expected<DirectStudy> study_direct(const DirectRequest& request,
                                                 const std::vector<std::string>& also,
                                                 DirectAim aim, bool thorough, int threads,
                                                 const Console& console);

}  // namespace forestcoll::cli
