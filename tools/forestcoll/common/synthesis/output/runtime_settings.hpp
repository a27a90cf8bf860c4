// What a runtime reads from its environment to find schedules.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/compile.hpp"

namespace forestcoll::cli {

/// Of a script in bash: sets `forestcoll_here` to the folder that it is in.
inline constexpr const char* kHere =
    "forestcoll_here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n";

/// A path as bash reads it: in quotes where it has to be.
[[nodiscard]] std::string bash_word(const std::string& path);

/// How many files the research runtime loads.
inline constexpr std::size_t kMostResearchFiles = 4;

[[nodiscard]] bool is_plan(const CompileOptions& options);
/// Whether they are for the research runtime, which is given files and not a folder.
[[nodiscard]] bool is_research(const CompileOptions& options);

/// Names, and values in which bash replaces variables.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// `folder`: where the XML files are, and no others; `files`: the files themselves with colons.
/// `buffer_bytes`: what NCCL_BUFFSIZE is to be; 0: left as it is.
[[nodiscard]] Settings runtime_settings(const CompileOptions& options, const std::string& folder,
                                        const std::string& files, std::int64_t buffer_bytes);

/// The settings as lines of bash.
[[nodiscard]] std::string exports_of(const Settings& settings, const CompileOptions& options);

/// The program of nccl-tests for a collective; empty where it has none.
[[nodiscard]] std::string_view nccl_test_of(Collective collective);

}  // namespace forestcoll::cli
