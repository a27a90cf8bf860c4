// What goes into a collective, what must come out, and whether it did.
#pragma once

#include <cstdint>

#include "run/data/element.hpp"
#include "run/data/memory.hpp"

namespace forestcoll::run {

/// The contents of one call. Every element of every rank is a number that looks random and differs
/// from call to call by the seed. Those that are reduced are chosen so that any order of adding
/// them up gives the same bits: for floating point, whole numbers whose sums stay below what the
/// type holds exactly, and powers of two whose products do. Where a type is too narrow for a share
/// of every rank in every element (bfloat16 holds whole numbers up to 256), the ranks take turns,
/// and the others put in what changes nothing, so that each is missed somewhere if it is missing.
class Contents {
 public:
  /// `root`: of a collective that has one.
  Contents(const CallShape& shape, ElementType type, ReduceOp op, std::int64_t root,
           std::uint64_t seed);

  /// Poisons the memory of a rank and writes its input.
  void fill(Memory& memory, std::int64_t rank) const;
  /// How many elements of the rank's output are not what they must be, and out of place, or of one
  /// in no group, how many of its input are no longer what they were. Cost: O(elements), times the
  /// ranks where they are reduced.
  [[nodiscard]] std::int64_t wrong(const Memory& memory, std::int64_t rank) const;

 private:
  template <class T>
  [[nodiscard]] T input(std::int64_t rank, std::int64_t index) const;
  template <class T>
  [[nodiscard]] T reduced(std::int64_t index) const;
  template <class T>
  [[nodiscard]] T output(std::int64_t rank, std::int64_t index) const;
  [[nodiscard]] bool has_output(std::int64_t rank) const;

  CallShape shape_;
  ElementType type_;
  ReduceOp op_;
  std::int64_t root_;
  std::uint64_t seed_;
};

}  // namespace forestcoll::run
