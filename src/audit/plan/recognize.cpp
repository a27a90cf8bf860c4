#include <nlohmann/json.hpp>

#include "audit/common/json_events.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::audit {
namespace {

// Reads no further than the first key that tells.
struct KindOfFile {
  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t) { return true; }
  bool number_unsigned(std::uint64_t) { return true; }
  bool number_float(double, const std::string&) { return true; }
  bool string(const std::string&) { return true; }
  bool binary(const std::vector<std::uint8_t>&) { return true; }
  bool start_object(std::size_t) { return ++depth <= kMaxJsonDepth; }
  bool key(const std::string& key) {
    if (depth != 1) return true;
    is_plan = key == "gpus";
    return !is_plan && key != "format";
  }
  bool end_object() { return --depth > 0; }
  bool start_array(std::size_t) { return ++depth <= kMaxJsonDepth; }
  bool end_array() { return --depth > 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
    return false;
  }

  std::size_t depth = 0;
  bool is_plan = false;
};

}  // namespace

bool looks_like_plan(std::string_view text) {
  KindOfFile kind;
  nlohmann::json::sax_parse(text.begin(), text.end(), &kind);
  return kind.is_plan;
}

}  // namespace forestcoll::audit
