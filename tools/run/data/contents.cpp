#include "run/data/contents.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/mix.hpp"
#include "run/data/with_type.hpp"

namespace forestcoll::run {
namespace {

/// What a floating-point type holds exactly: whole numbers up to 2^kDigits, and 2^±kExponent.
template <class T>
struct Exact {
  static constexpr int kDigits = std::numeric_limits<T>::digits;
  static constexpr int kExponent = std::numeric_limits<T>::max_exponent - 2;
};
template <>
struct Exact<Half> {
  static constexpr int kDigits = 11, kExponent = 14;
};
template <>
struct Exact<BFloat16> {
  static constexpr int kDigits = 8, kExponent = 126;
};

/// So that a float is not only whole numbers of 24 bits, which look alike in the lower bytes.
constexpr std::int64_t kMostValue = std::int64_t{1} << 20;

template <class T>
T from_number(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

// A whole number of either sign, not 0, of which so many stay exact when they are added up.
template <class T>
T small_number(std::uint64_t random, std::int64_t terms) {
  const std::int64_t most =
      std::clamp((std::int64_t{1} << Exact<T>::kDigits) / terms, std::int64_t{1}, kMostValue);
  const auto value = static_cast<std::int64_t>(random >> 1) % most + 1;
  return from_number<T>(static_cast<double>((random & 1U) != 0 ? -value : value));
}

template <class T>
T power_of_two(std::uint64_t random) {
  const double value = (random & 1U) != 0 ? 2 : 0.5;
  return from_number<T>((random & 2U) != 0 ? -value : value);
}

}  // namespace

Contents::Contents(const CallShape& shape, ElementType type, ReduceOp op, std::int64_t root,
                   std::uint64_t seed)
    : shape_(shape), type_(type), op_(op), root_(root), seed_(base::mix(seed)) {}

template <class T>
T Contents::input(std::int64_t rank, std::int64_t index) const {
  const auto r = static_cast<std::uint64_t>(rank), i = static_cast<std::uint64_t>(index);
  const std::uint64_t turn = base::mix(seed_ ^ i);
  const std::uint64_t random = base::mix(turn ^ r << 32);
  if constexpr (!kIsFloating<T>) {
    // Modulo 2^n an odd factor can be told from none, an even one from 0 cannot.
    return static_cast<T>(op_ == ReduceOp::prod ? random | 1U : random);
  } else {
    const std::int64_t room = op_ == ReduceOp::prod ? std::int64_t{Exact<T>::kExponent}
                                                    : std::int64_t{1} << Exact<T>::kDigits;
    const std::int64_t terms = std::min(shape_.ranks, room);
    const bool takes_part = (r + turn % static_cast<std::uint64_t>(shape_.ranks)) %
                                static_cast<std::uint64_t>(shape_.ranks) <
                            static_cast<std::uint64_t>(terms);
    switch (op_) {
      case ReduceOp::sum:
        return takes_part ? small_number<T>(random, terms) : from_number<T>(0);
      case ReduceOp::prod:
        return takes_part ? power_of_two<T>(random) : from_number<T>((random & 1U) != 0 ? -1 : 1);
      case ReduceOp::max:
      case ReduceOp::min:
        return small_number<T>(random, 1);
    }
    return T{};
  }
}

template <class T>
T Contents::reduced(std::int64_t index) const {
  T sum = input<T>(0, index);
  for (std::int64_t rank = 1; rank < shape_.ranks; ++rank) {
    sum = apply(op_, sum, input<T>(rank, index));
  }
  return sum;
}

template <class T>
T Contents::output(std::int64_t rank, std::int64_t index) const {
  const std::int64_t part = shape_.part();
  switch (shape_.pattern) {
    case Pattern::allgather:
    case Pattern::gather: {
      const std::int64_t owner = shape_.owner(index);
      return input<T>(owner, index - shape_.begin(owner));
    }
    case Pattern::scatter:
      return input<T>(root_, shape_.begin(rank) + index);
    case Pattern::reduce_scatter:
      return reduced<T>(shape_.begin(rank) + index);
    case Pattern::allreduce:
    case Pattern::reduce:
      return reduced<T>(index);
    case Pattern::broadcast:
      return input<T>(root_, index);
    case Pattern::alltoall:
      return input<T>(index / part, rank * part + index % part);
    case Pattern::sendrecv:
      return input<T>((rank + shape_.ranks - 1) % shape_.ranks, index);
  }
  return T{};
}

bool Contents::has_output(std::int64_t rank) const {
  const bool is_of_root = shape_.pattern == Pattern::reduce || shape_.pattern == Pattern::gather;
  return !shape_.is_idle && (!is_of_root || rank == root_);
}

void Contents::fill(Memory& memory, std::int64_t rank) const {
  memory.poison();
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < shape_.input(rank); ++i) {
      const T value = input<T>(rank, i);
      std::memcpy(memory.at(Buffer::input, i), &value, sizeof(T));
    }
  });
}

std::int64_t Contents::wrong(const Memory& memory, std::int64_t rank) const {
  return with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    const auto differs = [&](Buffer buffer, std::int64_t i, T expected) {
      return std::memcmp(memory.at(buffer, i), &expected, sizeof(T)) != 0;
    };
    std::int64_t count = 0;
    for (std::int64_t i = 0; has_output(rank) && i < shape_.output(rank); ++i) {
      if (differs(Buffer::output, i, output<T>(rank, i))) ++count;
    }
    if (shape_.placement == Placement::in_place && !shape_.is_idle) return count;
    for (std::int64_t i = 0; i < shape_.input(rank); ++i) {
      if (differs(Buffer::input, i, input<T>(rank, i))) ++count;
    }
    return count;
  });
}

}  // namespace forestcoll::run
