// Which readers a JSON file is for.
#pragma once

#include <string_view>

namespace forestcoll::audit {

/// `plan`: an object with the key "gpus" before any "format"; `flows`: one whose "format" says so.
enum class JsonKind { plan, flows, other };

/// Reads no further than it has to. Cost: linear in the text up to the answer.
[[nodiscard]] JsonKind kind_of_json(std::string_view text);

}  // namespace forestcoll::audit
