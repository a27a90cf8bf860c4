// Which algorithms are compared.
#pragma once

#include <string>
#include <vector>

#include "compare/arguments.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The names that `--algorithms` asks for, each once; "all" is ours and every baseline that has the
/// collective. Errors: S03 no such algorithm, S04 options that say nothing to those asked for.
[[nodiscard]] Expected<std::vector<std::string>> find_algorithms(const CompareArguments& options);

}  // namespace forestcoll::cli
