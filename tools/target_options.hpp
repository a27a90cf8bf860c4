// The options that name the runtime and the GPU that a schedule is for.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// Adds `--target` and `--sms`; an unknown target is a usage error that lists the known ones.
void add_target_options(CLI::App& command, std::string& target, std::int32_t& sms);

}  // namespace forestcoll::cli
