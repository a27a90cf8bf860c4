// One schedule that every group of several runs, each on its own members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::cli {

/// "0,8,16,24"; of many, the first ones.
[[nodiscard]] std::string ranks_in_words(const std::vector<Rank>& group);
/// "group 3 (ranks 3,11)".
[[nodiscard]] std::string group_in_words(std::size_t number, const std::vector<Rank>& group);

/// "allreduce MOD 8", as --groups has it; where that is long, "allreduce in 8 groups".
[[nodiscard]] std::string name_in_groups(const std::string& collective, const std::string& groups,
                                         std::size_t count);

/// O09 a group of other than so many members. The place is empty.
[[nodiscard]] Expected<void> refuse_other_size(const std::vector<Rank>& group, std::int64_t ranks);
/// With the group before the place, and the file.
[[nodiscard]] Diagnostic in_group(Diagnostic finding, std::size_t number,
                                  const std::vector<Rank>& group, const std::string& file);

/// S04 a file that --groups cannot give to every group: it names its GPUs, or is of all groups, or
/// is no schedule.
[[nodiscard]] Expected<void> refuse_for_groups(const std::string& format, bool is_of_all_groups);

}  // namespace forestcoll::cli
