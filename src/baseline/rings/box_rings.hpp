// The rings inside each box, shared by all algorithms that go round boxes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "baseline/boxes.hpp"
#include "baseline/implicit_forest.hpp"
#include "baseline/path_finder.hpp"
#include "baseline/rings/ring_search.hpp"

namespace forestcoll::baseline {

/// Cyclic orders of a box's ranks.
using BoxOrders = std::vector<std::vector<Rank>>;

/// Boxes, their rings, and who of them stands at the door.
class BoxRings {
 public:
  /// Finds the rings of every box of the request's network, like boxes once: those of its vendor's
  /// library where that has some for such a box, else by NCCL's search (always with
  /// `nccl_constants`, which asks for one); or takes those of the options' graph. Paths are those
  /// of `network`: the same, or that turned round. Errors: B01, B07.
  static Expected<BoxRings> make(const Request& request, const Network& network);

  [[nodiscard]] const Boxes& boxes() const { return *boxes_; }
  [[nodiscard]] PathFinder& finder() { return *finder_; }
  [[nodiscard]] const BoxOrders& orders(std::size_t box) const { return orders_[box]; }
  /// GB/s of each ring of the first box.
  [[nodiscard]] const Ratio& speed() const { return speed_; }
  /// Where the first box has its rings from, in words: "NCCL search".
  [[nodiscard]] const std::string& origin() const { return origin_; }

  /// By box, its doors by rail: see `baseline::doors_by_rail`.
  [[nodiscard]] std::vector<std::vector<Rank>> doors_by_rail();
  /// The path from a rank to the next in its box: through the box's switches, else through others,
  /// else, where rings may (those of a graph file do), through another GPU of it. Empty: none.
  [[nodiscard]] Path step(Rank from, Rank to);

 private:
  BoxRings(const Request& request, const Network& network);
  /// The rings of a box, as positions in it, and whose they are.
  struct Found {
    RingOrders rings;
    std::string origin;
  };
  [[nodiscard]] Found find(const Request& request, const std::vector<Rank>& box) const;
  [[nodiscard]] Expected<void> find_all(const Request& request);
  [[nodiscard]] Expected<void> take_graph(const Request& request);

  const Network* network_;
  bool through_gpus_;
  std::unique_ptr<Boxes> boxes_;  ///< stay where they are: the finder refers to them
  std::unique_ptr<PathFinder> finder_;
  std::vector<BoxOrders> orders_;
  Ratio speed_ = 0;
  std::string origin_;
};

/// `order` turned so that it begins with `first`.
[[nodiscard]] std::vector<Rank> turned(const std::vector<Rank>& order, Rank first);

}  // namespace forestcoll::baseline
