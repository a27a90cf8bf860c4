// Commuting automorphisms of a fabric, and what they do to its nodes and ranks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"

namespace forestcoll {

/// An element of a Symmetry: the exponents of its generators, side by side in binary.
/// 0 is the identity.
struct Element {
  std::uint32_t exponents = 0;
};

/// How elements move things of one kind. Kept as the images under the 2^j-th powers of the
/// generators, so that 16,384 elements of 16,384 ranks take 14 rows and not 16,384.
template <class I>
class Action {
 public:
  using Image = IdVector<I, I>;

  /// Appends `width` bits of exponent for one generator.
  void add_generator(const Image& image, int width) {
    Image power = image;
    for (int bit = 0; bit < width; ++bit) {
      powers_.push_back(power);
      for (std::size_t i = 0; i < power.size(); ++i) power[I(i)] = powers_.back()[power[I(i)]];
    }
  }
  /// Cost: O(log of the group's order).
  [[nodiscard]] I apply(Element g, I x) const {
    for (std::uint32_t bits = g.exponents; bits != 0; bits &= bits - 1) {
      x = powers_[static_cast<std::size_t>(std::countr_zero(bits))][x];
    }
    return x;
  }

 private:
  std::vector<Image> powers_;
};

/// A direct product of cyclic groups of automorphisms. A rank is either fixed, by all elements, or
/// moved by all but the identity. The default is the trivial group.
class Symmetry {
 public:
  struct Generator {
    std::int32_t order = 1;
    Action<NodeId>::Image nodes;
    Action<Rank>::Image ranks;
  };

  Symmetry() = default;
  /// REQUIRES: the generators commute, and each has its order.
  explicit Symmetry(std::vector<Generator> generators);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const Generator> generators() const { return generators_; }
  /// How many bits of exponent a generator takes.
  [[nodiscard]] static int width(const Generator& generator);

  /// The elements are numbered 0 … size − 1, the identity first.
  [[nodiscard]] Element element(std::size_t number) const;
  [[nodiscard]] Element inverse(Element g) const;
  [[nodiscard]] NodeId apply(Element g, NodeId v) const { return nodes_.apply(g, v); }
  [[nodiscard]] Rank apply(Element g, Rank r) const { return ranks_.apply(g, r); }

 private:
  std::size_t size_ = 1;
  std::vector<Generator> generators_;
  Action<NodeId> nodes_;
  Action<Rank> ranks_;
};

}  // namespace forestcoll
