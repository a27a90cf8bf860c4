#include "run/data/element.hpp"

#include <array>
#include <cstring>

#include "run/data/with_type.hpp"

namespace forestcoll::run {
namespace {

constexpr std::array<std::string_view, 10> kTypeNames = {
    "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16"};
constexpr std::array<std::string_view, 4> kOpNames = {"sum", "prod", "max", "min"};

template <class Enum, std::size_t count>
std::optional<Enum> find_name(const std::array<std::string_view, count>& names,
                              std::string_view name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

template <class Enum>
std::vector<Enum> first(std::size_t count) {
  std::vector<Enum> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<Enum>(i));
  return all;
}

}  // namespace

std::string_view to_string(ElementType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

std::optional<ElementType> parse_element_type(std::string_view name) {
  return find_name<ElementType>(kTypeNames, name);
}

std::vector<ElementType> all_element_types() {
  return first<ElementType>(kTypeNames.size());
}

std::size_t size_of(ElementType type) {
  return with_type(type, [](auto value) { return sizeof value; });
}

std::string_view to_string(ReduceOp op) {
  return kOpNames[static_cast<std::size_t>(op)];
}

std::optional<ReduceOp> parse_reduce_op(std::string_view name) {
  return find_name<ReduceOp>(kOpNames, name);
}

std::vector<ReduceOp> all_reduce_ops() {
  return first<ReduceOp>(kOpNames.size());
}

void reduce(ElementType type, ReduceOp op, std::byte* target, const std::byte* other,
            std::int64_t count) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i) * sizeof(T);
      T a, b;
      std::memcpy(&a, target + at, sizeof(T));
      std::memcpy(&b, other + at, sizeof(T));
      a = apply(op, a, b);
      std::memcpy(target + at, &a, sizeof(T));
    }
  });
}

}  // namespace forestcoll::run
