#include "solver/pack/trees/tree_store.hpp"

#include <algorithm>
#include <utility>

namespace forestcoll::solver {

TreeStore::TreeStore(const Core& core) : ranks_(core.compute.size()), table_(core.compute) {
  for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
    table_.add_segment(core.segment(ArcId(a)));
  }
}

PrefixId TreeStore::extended(PrefixId prefix, ArcId arc) {
  const std::uint64_t key =
      (static_cast<std::uint64_t>(prefix.value) << 32) | static_cast<std::uint32_t>(arc.value);
  const auto [it, is_new] = prefix_of_.try_emplace(key);
  if (is_new) it->second = table_.extend(prefix, SegmentId(arc.value));
  return it->second;
}

SlotId TreeStore::add(const Forest::Tree& tree, std::span<const Route> routes) {
  SlotId slot;
  if (free_.empty()) {
    slot = slots_.push_back(tree);
    routes_.resize(routes_.size() + ranks_);
  } else {
    slot = free_.back();
    free_.pop_back();
    slots_[slot] = tree;
  }
  std::copy(routes.begin(), routes.end(), own_row(slot).begin());
  return slot;
}

void TreeStore::remove(SlotId slot) {
  slots_[slot].multiplicity = 0;
  free_.push_back(slot);
}

// Rows of removed trees are filled from the end.
void TreeStore::close_gaps() {
  std::sort(free_.begin(), free_.end());
  std::size_t end = slots_.size();
  for (const SlotId gap : free_) {
    while (end > 0 && slots_[SlotId(end - 1)].multiplicity == 0) --end;
    if (gap.index() >= end) break;
    --end;
    std::copy(row(SlotId(end)).begin(), row(SlotId(end)).end(), own_row(gap).begin());
    std::swap(slots_[gap], slots_[SlotId(end)]);
  }
  slots_.resize(slots_.size() - free_.size());
  routes_.resize(slots_.size() * ranks_);
  free_.clear();
}

TreePart TreeStore::take() {
  close_gaps();
  TreePart part{std::vector(slots_.begin(), slots_.end()), std::move(routes_)};
  slots_ = {};
  routes_ = {};
  return part;
}

}  // namespace forestcoll::solver
