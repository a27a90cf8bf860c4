// From topologies to items: what is to be made, in which order, by whom.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "batch/items/item.hpp"
#include "batch/items/manifest.hpp"
#include "batch/lock.hpp"
#include "batch/workers/work.hpp"

namespace forestcoll::cli::batch {

/// The items of one topology, each with its own output.
[[nodiscard]] std::vector<Item> items_of(const Assignment& assignment);

/// S03, S04, B09: the options of an item are none that `synth` takes, or all targets would get the
/// same.
[[nodiscard]] Expected<void> refuse(const Assignment& assignment);

/// Refuses words about process groups that are wrong for every topology; the same words are checked
/// once.
class GroupsRefusal {
 public:
  /// Errors: those of `check_group_words`.
  [[nodiscard]] Expected<void> refuse(const Assignment& assignment);

 private:
  std::set<Words> checked_;
};

/// Refuses collectives that have a root where none is named. Errors: S02.
[[nodiscard]] Expected<void> require_root(const Assignment& assignment);

/// S02: `common` names a root, and nothing that is to be made has one.
[[nodiscard]] Expected<void> reject_unused_root(const Words& common,
                                                const std::vector<Assignment>& assignments);

/// Adds what the probe found: key (see `item_key`), cost and footprint.
void apply(const Probe& probe, const std::string& program, Item& item);

/// The dearest first; equals in the order of the list. Indices into `items`.
[[nodiscard]] std::vector<std::size_t> by_cost(const std::vector<Item>& items);

/// Which items a shard makes: the dearest first, each goes to the shard with the least to do. The
/// same for equal topologies and options, wherever it is computed. Ascending indices.
[[nodiscard]] std::vector<std::size_t> share_of(const Shard& shard, const std::vector<Item>& items);

}  // namespace forestcoll::cli::batch
