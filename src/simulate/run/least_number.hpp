// The least of many numbers, of which few change at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace forestcoll::simulate {

/// Numbered values, infinite at first, and the first of the least ones. A tree in which each node
/// has the least of sixteen below it. Its jumps do not depend on what is compared, as those of a
/// heap do, and what changes again and again before the least is asked for is compared once. Cost:
/// O(1) for a change; for asking, O(log of all) for each group of sixteen that has changed.
class LeastNumber {
 public:
  explicit LeastNumber(std::size_t count) {
    do {
      count = std::max<std::size_t>(1, (count + kWidth - 1) / kWidth);
      levels_.emplace_back(count);
    } while (count > 1);
  }

  void set(std::int32_t number, double value) {
    const auto i = static_cast<std::size_t>(number);
    levels_.front().values[i] = value;
    levels_.front().note_change(i / kWidth);
  }
  /// Infinite where nothing is less.
  [[nodiscard]] double least() {
    for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
      Level& level = levels_[l];
      Level& above = levels_[l + 1];
      for (std::size_t i = 0; i < level.change_count; ++i) {
        const std::size_t node = level.changes[i];
        level.has_changed[node] = 0;
        above.values[node] = least_of(level.values.data() + node * kWidth);
        above.note_change(node / kWidth);
      }
      level.change_count = 0;
    }
    Level& top = levels_.back();
    if (top.change_count > 0) least_ = least_of(top.values.data());
    top.change_count = 0;
    top.has_changed.front() = 0;
    return least_;
  }
  /// Of those that are the least, the lowest number. REQUIRES: least() has been asked for since the
  /// last change.
  [[nodiscard]] std::int32_t first() const {
    std::size_t node = 0;
    for (std::size_t l = levels_.size(); l-- > 0;) {
      const double* values = levels_[l].values.data() + node * kWidth;
      std::size_t at = 0;
      for (std::size_t i = kWidth; i-- > 0;) at = values[i] <= least_ ? i : at;
      node = node * kWidth + at;
    }
    return static_cast<std::int32_t>(node);
  }

 private:
  static constexpr std::size_t kWidth = 16;
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();

  // Values, of which every sixteen have a node above.
  struct Level {
    explicit Level(std::size_t nodes)
        : values(nodes * kWidth, kInfinite), has_changed(nodes, 0), changes(nodes + 1) {}

    void note_change(std::size_t node) {
      changes[change_count] = static_cast<std::uint32_t>(node);
      change_count += 1 - has_changed[node];
      has_changed[node] = 1;
    }

    std::vector<double> values;
    std::vector<std::uint32_t> has_changed;  // by node: 1 or 0
    std::vector<std::uint32_t> changes;      // nodes
    std::size_t change_count = 0;
  };

  // Four at a time, as none waits for the others.
  static double least_of(const double* values) {
    double least[4] = {values[0], values[1], values[2], values[3]};
    for (std::size_t i = 4; i < kWidth; ++i) {
      least[i % 4] = values[i] < least[i % 4] ? values[i] : least[i % 4];
    }
    return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
  }

  std::vector<Level> levels_;  // from the values on upwards
  double least_ = kInfinite;
};

}  // namespace forestcoll::simulate
