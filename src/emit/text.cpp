#include "emit/text.hpp"

#include <nlohmann/json.hpp>

namespace forestcoll::emit {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._:/-").find(c) != std::string_view::npos;
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string plain(std::string_view text, std::size_t max_size) {
  std::string result;
  for (const char c : text.substr(0, max_size)) {
    const bool doubles = c == '-' && result.ends_with('-');
    result += is_plain(c) && !doubles ? c : '_';
  }
  return result;
}

}  // namespace forestcoll::emit
