#include "topology/generate/jellyfish.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace forestcoll::topology {
namespace {

constexpr int kAttempts = 20;

using Neighbours = std::vector<std::vector<std::size_t>>;

class RandomGraph {
 public:
  RandomGraph(std::size_t nodes, std::size_t degree, std::mt19937_64& random)
      : degree_(degree), random_(random), neighbours_(nodes) {
    for (std::size_t v = 0; v < nodes; ++v) open_.push_back(v);
  }

  /// False where it got stuck, which is rare.
  bool build() {
    join_free_pairs();
    // What is left are few nodes, all linked to one another.
    for (std::size_t tries = 0; !open_.empty(); ++tries) {
      if (tries > 1000 * (degree_ + 1)) return false;
      put_into_a_link();
    }
    return true;
  }

  [[nodiscard]] bool is_connected() const {
    std::vector<bool> met(neighbours_.size(), false);
    std::vector<std::size_t> stack = {0};
    std::size_t count = 0;
    met[0] = true;
    while (!stack.empty()) {
      const std::size_t v = stack.back();
      stack.pop_back();
      ++count;
      for (const std::size_t w : neighbours_[v]) {
        if (!met[w]) stack.push_back(w);
        met[w] = true;
      }
    }
    return count == neighbours_.size();
  }

  [[nodiscard]] Neighbours take() {
    for (auto& list : neighbours_) std::ranges::sort(list);
    return std::move(neighbours_);
  }

 private:
  std::size_t draw(std::size_t below) { return static_cast<std::size_t>(random_() % below); }

  [[nodiscard]] bool linked(std::size_t a, std::size_t b) const {
    return std::ranges::find(neighbours_[a], b) != neighbours_[a].end();
  }
  void join(std::size_t a, std::size_t b) {
    neighbours_[a].push_back(b);
    neighbours_[b].push_back(a);
  }
  void part(std::size_t a, std::size_t b) {
    std::erase(neighbours_[a], b);
    std::erase(neighbours_[b], a);
  }
  void drop_full() {
    std::erase_if(open_, [&](std::size_t v) { return neighbours_[v].size() == degree_; });
  }

  void join_free_pairs() {
    for (std::size_t misses = 0; open_.size() > 1 && misses < 100 * (degree_ + 1);) {
      const std::size_t a = open_[draw(open_.size())];
      const std::size_t b = open_[draw(open_.size())];
      if (a == b || linked(a, b)) {
        ++misses;
        continue;
      }
      join(a, b);
      misses = 0;
      if (neighbours_[a].size() == degree_) std::erase(open_, a);
      if (neighbours_[b].size() == degree_) std::erase(open_, b);
    }
  }

  // A link x–y becomes x–v and y–w, where v and w have free ports; they may be the same node.
  void put_into_a_link() {
    const std::size_t v = open_[draw(open_.size())];
    const bool two_free = neighbours_[v].size() + 2 <= degree_;
    const std::size_t w = two_free ? v : open_[draw(open_.size())];
    const std::size_t x = draw(neighbours_.size());
    if (neighbours_[x].empty()) return;
    const std::size_t y = neighbours_[x][draw(neighbours_[x].size())];
    const bool fits = x != v && y != v && x != w && y != w && !linked(x, v) && !linked(y, w);
    if (!fits || (v == w && !two_free)) return;
    part(x, y);
    join(x, v);
    join(y, w);
    drop_full();
  }

  std::size_t degree_;
  std::mt19937_64& random_;
  Neighbours neighbours_;
  std::vector<std::size_t> open_;  ///< nodes with free ports
};

}  // namespace

std::optional<Neighbours> random_regular_graph(std::size_t nodes, std::size_t degree,
                                               std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    RandomGraph graph(nodes, degree, random);
    if (graph.build() && graph.is_connected()) return graph.take();
  }
  return std::nullopt;
}

}  // namespace forestcoll::topology
