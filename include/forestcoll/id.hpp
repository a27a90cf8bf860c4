// Strong integer ids, and vectors indexed by them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace forestcoll {

/// A dense index that cannot be mixed up with the index of something else. −1 means "none".
template <class Tag>
struct Id {
  std::int32_t value = -1;

  constexpr Id() = default;
  constexpr explicit Id(std::int32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<std::int32_t>(v)) {}

  [[nodiscard]] constexpr bool valid() const { return value >= 0; }
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  constexpr auto operator<=>(const Id&) const = default;
};

/// A node of a topology and of its digraph: the two share their numbering.
using NodeId = Id<struct NodeTag>;
/// A link of a topology, in the order of the file after ranges are expanded.
using LinkId = Id<struct LinkTag>;
/// An arc of a digraph.
using ArcId = Id<struct ArcTag>;
/// A compute node's position in rank order, 0 … N−1.
using Rank = Id<struct RankTag>;
/// A tree of a forest.
using TreeId = Id<struct TreeTag>;

/// std::vector that is indexed by one kind of id only.
template <class I, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t size, T value = T()) : items_(size, std::move(value)) {}

  [[nodiscard]] decltype(auto) operator[](I id) { return items_[id.index()]; }
  [[nodiscard]] decltype(auto) operator[](I id) const { return items_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  I push_back(T item) {
    items_.push_back(std::move(item));
    return I(items_.size() - 1);
  }
  void reserve(std::size_t n) { items_.reserve(n); }
  void assign(std::size_t n, const T& value) { items_.assign(n, value); }
  void resize(std::size_t n) { items_.resize(n); }
  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }
  bool operator==(const IdVector&) const = default;

 private:
  std::vector<T> items_;
};

}  // namespace forestcoll

template <class Tag>
struct std::hash<forestcoll::Id<Tag>> {
  std::size_t operator()(forestcoll::Id<Tag> id) const noexcept {
    return std::hash<std::int32_t>()(id.value);
  }
};
