#include "audit/common/json_kind.hpp"

#include "audit/common/json_events.hpp"
#include "audit/common/scan_json.hpp"

namespace forestcoll::audit {
namespace {

// Ends at the first key that tells, or after its value.
struct KindProbe {
  bool null() { return !is_format; }
  bool boolean(bool) { return !is_format; }
  bool number_integer(std::int64_t) { return !is_format; }
  bool number_unsigned(std::uint64_t) { return !is_format; }
  bool number_float(std::string_view) { return !is_format; }
  bool string(std::string_view value) {
    if (is_format && value == "forestcoll-flows") kind = JsonKind::flows;
    return !is_format;
  }
  bool start_object() { return !is_format && ++depth <= kMaxJsonDepth; }
  bool key(std::string_view key) {
    if (depth != 1) return true;
    is_format = key == "format";
    if (key == "gpus") kind = JsonKind::plan;
    return kind != JsonKind::plan;
  }
  bool end_object() { return --depth > 0; }
  bool start_array() { return !is_format && ++depth <= kMaxJsonDepth; }
  bool end_array() { return --depth > 0; }

  std::size_t depth = 0;
  bool is_format = false;
  JsonKind kind = JsonKind::other;
};

}  // namespace

JsonKind kind_of_json(std::string_view text) {
  KindProbe probe;
  JsonScanner(text, probe).run();
  return probe.kind;
}

}  // namespace forestcoll::audit
