// Pictures by Graphviz's program `dot`.
#pragma once

#include <string>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The picture of a Graphviz graph; `format` as `dot -T` takes it: "svg", "png". Errors: P01 `dot`
/// is not installed or cannot be started, P02 it failed, with what it said (ErrorKind::io).
[[nodiscard]] Expected<std::string> render(const std::string& graph, const std::string& format);

}  // namespace forestcoll::cli
