// What searches for low forests have found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/pack.hpp"
#include "solver/pack/search/max_height.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll::solver {

/// All forests found so far that no other one beats in both height and rate.
class KnownForests {
 public:
  void offer(Packing packing) {
    const auto replaces_it = [&](const Packing& other) { return replaces(other, packing); };
    if (std::any_of(packings_.begin(), packings_.end(), replaces_it)) return;
    std::erase_if(packings_, [&](const Packing& other) { return replaces(packing, other); });
    packings_.push_back(std::move(packing));
  }

  void take_over(KnownForests others) {
    for (Packing& packing : others.packings_) offer(std::move(packing));
  }

  // The fastest, and of these the lowest; nothing where all are higher.
  [[nodiscard]] const Packing* best_within(std::int32_t height) const {
    const Packing* best = nullptr;
    for (const Packing& packing : packings_) {
      if (packing.forest.max_height() > height) continue;
      if (best == nullptr || is_faster(packing.scaling, best->scaling)) best = &packing;
    }
    return best;
  }

  // That one itself, which is known no longer.
  std::optional<Packing> take_within(std::int32_t height) {
    const Packing* best = best_within(height);
    if (best == nullptr) return std::nullopt;
    return std::move(packings_[static_cast<std::size_t>(best - packings_.data())]);
  }

  // The highest first.
  [[nodiscard]] std::vector<HeightAtRate> rows() const {
    std::vector<HeightAtRate> result;
    for (const Packing& packing : packings_) {
      result.push_back({packing.forest.max_height(), packing.forest.mean_height(),
                        packing.scaling.k, packing.scaling.scale});
    }
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return b.height < a.height; });
    return result;
  }

 private:
  // At least as fast and as low, and of no more trees where it is neither faster nor lower. One
  // that is faster and higher replaces none, and is replaced by none.
  static bool replaces(const Packing& a, const Packing& b) {
    if (is_faster(b.scaling, a.scaling)) return false;
    const auto size = [](const Packing& each) {
      return std::tuple(each.forest.max_height(), each.forest.tree_count());
    };
    if (is_faster(a.scaling, b.scaling)) return a.forest.max_height() <= b.forest.max_height();
    return size(a) <= size(b);
  }

  std::vector<Packing> packings_;
};

}  // namespace forestcoll::solver
