// Packings that one search has made, for its other parts: the same trees are not packed twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "solver/height/height.hpp"
#include "solver/low/known_programs.hpp"

namespace forestcoll {

/// All that a packing depends on, and what it came to. A search that tries numbers of trees,
/// divisions of links and copies of fewer trees asks the same several times over. May be shared by
/// threads: those that ask at the same time both work. Cost: memory of some megabytes, as it knows
/// nothing of more than `kMostRanks`, nor more than `kMostKnown` packings, and that of as many
/// programs as `KnownPrograms` has.
class KnownPackings {
 public:
  static constexpr std::size_t kMostRanks = 128, kMostKnown = 256;

  /// What is packed, into what, and with how much effort.
  struct Question {
    std::vector<Arc> arcs;
    std::vector<NodeId> ranks;
    IdVector<ArcId, Capacity> of_network, of_scaling;
    Weights weights;
    std::int64_t k = 1;
    Ratio scale;
    Effort effort = Effort::normal;
    std::int32_t enough_height = 1;
    bool symmetry = true;
    solver::HeightSearch search = {};
    bool operator==(const Question&) const = default;
  };

  [[nodiscard]] std::optional<Packing> find(const Question& question) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [asked, packing] : known_) {
      if (asked == question) return packing;
    }
    return std::nullopt;
  }

  /// What is known of the programs of low trees.
  [[nodiscard]] solver::KnownPrograms& programs() { return programs_; }

  void add(Question question, const Packing& packing) {
    const std::lock_guard lock(mutex_);
    if (known_.size() < kMostKnown) known_.emplace_back(std::move(question), packing);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<Question, Packing>> known_;
  solver::KnownPrograms programs_;
};

namespace solver {

/// Null where nothing is known.
[[nodiscard]] inline KnownPrograms* programs_known(const PackOptions& options) {
  return options.known ? &options.known->programs() : nullptr;
}

}  // namespace solver
}  // namespace forestcoll
