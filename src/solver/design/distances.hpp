// Distances in a wiring, node by node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/generate.hpp"

namespace forestcoll::solver {

/// The neighbours of every node, each once, and how many links join them.
class Neighbours {
 public:
  struct Link {
    std::int32_t node;
    std::int32_t count;
  };
  explicit Neighbours(const Wiring& wiring);

  [[nodiscard]] std::size_t nodes() const { return out_.size(); }
  [[nodiscard]] const std::vector<Link>& out(std::size_t v) const { return out_[v]; }
  [[nodiscard]] const std::vector<Link>& in(std::size_t v) const { return in_[v]; }

  /// From `root` to every node along links; −1 where there is no way. Cost: O(links).
  [[nodiscard]] std::vector<std::int32_t> distances(std::size_t root) const;

 private:
  std::vector<std::vector<Link>> out_, in_;
};

/// Whether as many links enter every node as leave it. Cost: O(links).
[[nodiscard]] bool is_balanced(const Neighbours& neighbours);

}  // namespace forestcoll::solver
