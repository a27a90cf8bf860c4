// Jobs of Chakra execution traces with the communicators of ASTRA-sim.
#pragma once

#include <cstddef>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/job.hpp"

namespace forestcoll {

/// Whether a text is a Chakra execution trace: a stream of protobuf messages, or the JSON objects
/// one after the other that its converter to JSON makes of them. Cost: linear in the text.
[[nodiscard]] bool is_chakra_trace(std::string_view text);

/// Reads the trace of one rank. `communicators` is the JSON that ASTRA-sim takes for its groups,
/// {"1":[0,1],"2":[2,3]}, or empty: then the trace has them itself, as PyTorch's have, or all
/// collectives are of all ranks. Collectives before which equally many others have to end, by the
/// trace's dependencies, are a step. Other groups of as many ranks, as far apart, do the same at
/// the same time. Notes say so. `file` and `groups_file` are the names that diagnostics carry.
/// Errors: O01 not such a trace, with the message and its place; O02 a communicator that is not
/// known, or a text that has none; those of `check_operation`. Cost: linear in the texts.
[[nodiscard]] Expected<Job> parse_chakra_job(std::string_view text, std::string_view file,
                                             std::string_view communicators,
                                             std::string_view groups_file, std::size_t ranks);

}  // namespace forestcoll
