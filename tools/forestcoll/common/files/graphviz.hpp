// Pictures by Graphviz's program `dot`.
#pragma once

#include <string>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// So many seconds may one picture take, where nobody says otherwise.
inline constexpr double kPictureSeconds = 60;

/// The picture of a Graphviz graph; `format` as `dot -T` takes it: "svg", "png". After `seconds`
/// the program is ended. Errors: P01 `dot` is not installed or cannot be started, P02 it failed,
/// with what it said, P04 it took too long (ErrorKind::io).
[[nodiscard]] Expected<std::string> render(const std::string& graph, const std::string& format,
                                           double seconds = kPictureSeconds);

}  // namespace forestcoll::cli
