// Per-rank programs as elements of MSCCL XML.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/id.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::emit {

/// "s", "rcs", …: what an operation is called there.
[[nodiscard]] std::string_view letters(Operation operation);

/// Appends a <gpu> with its threadblocks and steps for every rank. Cost: linear in the text.
void append_programs(std::string& out, const IdVector<Rank, RankProgram>& programs);

}  // namespace forestcoll::emit
