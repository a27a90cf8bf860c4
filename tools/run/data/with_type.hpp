// From an element type as a value to one of C++.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "run/data/element.hpp"
#include "run/data/float16.hpp"

namespace forestcoll::run {

template <class T>
inline constexpr bool kIsFloating =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Calls `visit` with a value of the C++ type.
template <class Visit>
decltype(auto) with_type(ElementType type, Visit&& visit) {
  switch (type) {
    case ElementType::int8:
      return visit(std::int8_t{});
    case ElementType::uint8:
      return visit(std::uint8_t{});
    case ElementType::int32:
      return visit(std::int32_t{});
    case ElementType::uint32:
      return visit(std::uint32_t{});
    case ElementType::int64:
      return visit(std::int64_t{});
    case ElementType::uint64:
      return visit(std::uint64_t{});
    case ElementType::half:
      return visit(Half{});
    case ElementType::single:
      return visit(float{});
    case ElementType::real64:
      return visit(double{});
    case ElementType::bfloat16:
      return visit(BFloat16{});
  }
  return visit(std::int8_t{});
}

/// One operation on two values, in their type.
template <class T>
T apply(ReduceOp op, T a, T b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(apply(op, static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case ReduceOp::sum:
        return a + b;
      case ReduceOp::prod:
        return a * b;
      case ReduceOp::max:
        return a < b ? b : a;
      case ReduceOp::min:
        return b < a ? b : a;
    }
    return a;
  } else {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    switch (op) {
      case ReduceOp::sum:
        return static_cast<T>(x + y);
      case ReduceOp::prod:
        return static_cast<T>(x * y);
      case ReduceOp::max:
        return a < b ? b : a;
      case ReduceOp::min:
        return b < a ? b : a;
    }
    return a;
  }
}

}  // namespace forestcoll::run
