// What `forestcoll verify` says of a schedule.
#pragma once

#include <string>
#include <vector>

#include "common/report/report.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

[[nodiscard]] std::string verdict_in_words(const Verdict& verdict, const std::string& file);
/// `loads`: with that of every link that has one.
[[nodiscard]] Json verdict_json(const Verdict& verdict, const std::string& file,
                                const Topology* topology, bool loads = false);

/// A target, and what it would do with the file.
struct JudgedTarget {
  std::string target;
  Verdict verdict;
};

/// Where one runtime runs the file, it knows more than where none does.
[[nodiscard]] const Verdict& best_of(const std::vector<JudgedTarget>& rows);
/// What every runtime would do with the file, and why.
[[nodiscard]] std::string targets_table(const std::vector<JudgedTarget>& rows,
                                        const std::string& file);
[[nodiscard]] Json targets_json(const std::vector<JudgedTarget>& rows, const std::string& file,
                                const Topology* topology);

}  // namespace forestcoll::cli
