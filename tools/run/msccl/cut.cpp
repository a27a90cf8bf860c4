// Sources: NCCL's prims_simple.h (slices), MSCCL's interpreter (passes, maxAllowedCount).
#include "run/msccl/cut.hpp"

#include <algorithm>

#include "audit/msccl/target_rules.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {
namespace {

constexpr std::int64_t kGrain = 16;         // elements that slices are multiples of
constexpr std::int64_t kLeastOfASlot = 32;  // a slice has at least this part of what a slot holds

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

std::int64_t Cut::in_pass(std::int64_t pass_number) const {
  return std::min(pass, chunk - pass_number * pass);
}

std::int64_t Cut::slice_of(std::int64_t elements) const {
  return std::min(slot, std::max(divide_up(elements, kGrain * op_slices) * kGrain, least_slice));
}

Cut cut_call(std::string_view protocol, std::int64_t chunk, std::size_t element_bytes,
             std::int64_t buffer_bytes) {
  const audit::TargetRules& rules = *audit::find_target_rules("azure");
  const bool is_simple = protocol == "Simple";
  const std::int64_t by_default = is_simple          ? audit::kSimpleBytes
                                  : protocol == "LL" ? rules.ll_bytes
                                                     : rules.ll128_bytes;
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  Cut cut;
  cut.chunk = chunk;
  cut.pass = std::max(std::int64_t{1}, by_default * buffer_bytes / kDefaultBufferBytes / bytes);
  cut.passes = divide_up(chunk, cut.pass);
  cut.op_chunks = static_cast<std::int32_t>(
      std::clamp(cut.pass / chunk, std::int64_t{1}, std::int64_t{audit::kMaxCount}));
  cut.op_slices = is_simple ? 2 : 1;
  cut.slots = is_simple ? 4 : 8;
  cut.slot = divide_up(cut.pass, cut.op_slices);
  cut.least_slice = std::max(std::int64_t{1}, cut.slot / kLeastOfASlot);
  return cut;
}

Cut in_whole_operations(Cut cut) {
  const std::int32_t operations = cut.slots / cut.op_slices;
  cut.slots = 2 * operations;
  cut.op_slices = 1;
  cut.slot = cut.pass;
  return cut;
}

}  // namespace forestcoll::run
