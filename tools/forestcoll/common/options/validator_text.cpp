#include "common/options/validator_text.hpp"

#include <fmt/format.h>

namespace forestcoll::cli {

std::string validator_text(Code code, std::string_view message) {
  return fmt::format("{} [{}]", message, name_of(code));
}

}  // namespace forestcoll::cli
