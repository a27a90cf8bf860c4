// The element types and operations of nccl-tests, by their names there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace forestcoll::run {

enum class ElementType : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  half,
  single,
  real64,
  bfloat16
};
/// "int8", "half", "float", "double", …; in the order of nccl-tests.
[[nodiscard]] std::string_view to_string(ElementType type);
[[nodiscard]] std::optional<ElementType> parse_element_type(std::string_view name);
[[nodiscard]] std::vector<ElementType> all_element_types();
[[nodiscard]] std::size_t size_of(ElementType type);

/// Those that a runtime runs a schedule for: averages and scaled sums it never hands to one.
enum class ReduceOp : std::uint8_t { sum, prod, max, min };
[[nodiscard]] std::string_view to_string(ReduceOp op);
[[nodiscard]] std::optional<ReduceOp> parse_reduce_op(std::string_view name);
[[nodiscard]] std::vector<ReduceOp> all_reduce_ops();

/// Adds up as the GPUs do: `target[i] = target[i] op other[i]`, in the type itself; integers wrap
/// around, half and bfloat16 are rounded to the nearest, ties to even, after every operation.
/// Cost: O(count).
void reduce(ElementType type, ReduceOp op, std::byte* target, const std::byte* other,
            std::int64_t count);

}  // namespace forestcoll::run
