// An implicit forest whose trees are given edge by edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "baseline/implicit_forest.hpp"

namespace forestcoll::baseline {

class TreeTable {
 public:
  explicit TreeTable(std::size_t ranks)
      : ranks_(ranks), into_(std::make_shared<std::vector<std::uint32_t>>()) {}

  /// Returns its number; it spans once `add` has named a hop into every other rank.
  std::size_t begin_tree(Rank root) {
    implicit_.trees.push_back({root, 1, 0});
    into_->resize(into_->size() + ranks_);
    return implicit_.trees.size() - 1;
  }

  /// The number of a path; the same nodes have the same number.
  std::size_t hop(Path path) {
    const auto [at, added] = number_.try_emplace(std::move(path), implicit_.hops.size());
    if (added) implicit_.hops.push_back({at->first, 0});
    return at->second;
  }

  /// `child` gets the data of the tree over this hop.
  void add(std::size_t tree, Rank child, std::size_t hop) {
    ++implicit_.hops[hop].load;
    (*into_)[tree * ranks_ + child.index()] = static_cast<std::uint32_t>(hop);
  }

  ImplicitForest take() {
    implicit_.hop_into = [into = into_, ranks = ranks_](std::size_t tree, Rank child) {
      return std::size_t{(*into)[tree * ranks + child.index()]};
    };
    return std::move(implicit_);
  }

 private:
  std::size_t ranks_;
  ImplicitForest implicit_;
  std::map<Path, std::size_t> number_;
  std::shared_ptr<std::vector<std::uint32_t>> into_;  ///< by tree and rank
};

}  // namespace forestcoll::baseline
