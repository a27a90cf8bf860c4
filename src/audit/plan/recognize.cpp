#include "audit/common/json_events.hpp"
#include "audit/common/scan_json.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::audit {
namespace {

// Reads no further than the first key that tells.
struct KindOfFile {
  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t) { return true; }
  bool number_unsigned(std::uint64_t) { return true; }
  bool number_float(std::string_view) { return true; }
  bool string(std::string_view) { return true; }
  bool start_object() { return ++depth <= kMaxJsonDepth; }
  bool key(std::string_view key) {
    if (depth != 1) return true;
    is_plan = key == "gpus";
    return !is_plan && key != "format";
  }
  bool end_object() { return --depth > 0; }
  bool start_array() { return ++depth <= kMaxJsonDepth; }
  bool end_array() { return --depth > 0; }

  std::size_t depth = 0;
  bool is_plan = false;
};

}  // namespace

bool looks_like_plan(std::string_view text) {
  KindOfFile kind;
  JsonScanner(text, kind).run();
  return kind.is_plan;
}

}  // namespace forestcoll::audit
