// The images that a symmetric forest leaves to its reader.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/forest/file.hpp"

namespace forestcoll::audit {

/// The permutations π₁ … π_d of a list, of orders s₁ … s_d. A tree T with images stands for the
/// trees π₁^a₁ … π_d^a_d T, 0 ≤ aᵢ < sᵢ: as many as the product of the orders.
class Images {
 public:
  /// Findings: a node that stands twice in a generator, an order that a cycle's length does not
  /// divide, more images than exact arithmetic holds. `where` names the list.
  Images(const ForestFile& forest, const TreeList& list, const std::string& where,
         Findings& findings);

  [[nodiscard]] std::size_t generators() const { return images_.size(); }
  [[nodiscard]] Name apply(std::size_t generator, Name name) const {
    return images_[generator][static_cast<std::size_t>(name)];
  }

  /// What all images of something do, from what it does itself: `amount[i]` is its load of thing i,
  /// and generator g takes thing i to `image(g, i)`. Adds up one generator after the other, along
  /// the cycles: exact, and right whether or not the generators commute. Nothing where that is more
  /// than exact arithmetic holds. REQUIRES: a generator's power of its order leaves all things in
  /// place. Cost: O(generators · things).
  [[nodiscard]] std::optional<std::vector<std::int64_t>> spread(
      std::vector<std::int64_t> amount,
      const std::function<std::size_t(std::size_t generator, std::size_t thing)>& image) const;

 private:
  std::vector<std::int64_t> orders_;
  std::vector<std::vector<Name>> images_;  ///< by generator and name
};

}  // namespace forestcoll::audit
