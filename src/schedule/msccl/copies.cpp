// Copies are shared so that all who take part have done as much in the end, as water fills a vessel
// of an uneven floor.
#include "schedule/msccl/copies.hpp"

#include <algorithm>

namespace forestcoll::schedule {
namespace {

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// A threadblock that can copy.
struct Copier {
  std::size_t threadblock = 0;
  std::int64_t load = 0;  // chunks
  std::int64_t room = 0;  // chunks that it has steps for
};

std::int64_t taken_at(std::int64_t level, const Copier& copier) {
  return std::clamp<std::int64_t>(level - copier.load, 0, copier.room);
}

// The least level at which all is taken.
std::int64_t level_for(std::int64_t chunks, const std::vector<Copier>& copiers) {
  std::int64_t low = 0, high = chunks;
  for (const Copier& copier : copiers) high = std::max(high, copier.load + copier.room);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    std::int64_t taken = 0;
    for (const Copier& copier : copiers) taken += taken_at(middle, copier);
    if (taken >= chunks) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Those made for copies if they are as many as keep up, else all that have room.
std::vector<Copier> copiers_for(std::int64_t chunks, const std::vector<BlockLoad>& loads,
                                const CopyLimits& limits) {
  const std::int64_t most = limits.max_steps * limits.max_count;
  std::int64_t busiest = 0;
  for (const BlockLoad& load : loads) busiest = std::max(busiest, load.largest_lane);
  if (busiest == 0) busiest = most;
  const std::int64_t elements = limits.elements - divided_up(chunks, limits.max_count);
  const std::int64_t most_copiers = std::max<std::int64_t>(1, elements / 2);  // itself and a step
  const std::int64_t wanted =
      std::clamp<std::int64_t>(divided_up(chunks, std::min(busiest, most)), 1, most_copiers);
  std::vector<Copier> copiers;
  for (std::int64_t i = 0; i < std::min(wanted, limits.spare); ++i) {
    copiers.push_back({loads.size() + static_cast<std::size_t>(i), 0, most});
  }
  if (std::ssize(copiers) == wanted) return copiers;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const std::int64_t steps = limits.max_steps - loads[i].steps;
    if (steps > 0) copiers.push_back({i, loads[i].chunks, steps * limits.max_count});
  }
  std::stable_sort(copiers.begin(), copiers.end(),
                   [](const Copier& a, const Copier& b) { return a.load < b.load; });
  if (std::ssize(copiers) > most_copiers) copiers.resize(static_cast<std::size_t>(most_copiers));
  return copiers;
}

// Where a share that should end at a chunk can end: there or behind.
std::int64_t end_from(std::int64_t chunk, const std::vector<std::int64_t>& ends) {
  const auto it = std::lower_bound(ends.begin(), ends.end(), chunk);
  return it == ends.end() ? chunk : *it;
}

// The last place up to a chunk.
std::int64_t end_before(std::int64_t chunk, const std::vector<std::int64_t>& ends) {
  const auto it = std::upper_bound(ends.begin(), ends.end(), chunk);
  return it == ends.begin() ? chunk : *std::prev(it);
}

}  // namespace

std::vector<CopyShare> share_copies(ChunkRange own, const std::vector<BlockLoad>& loads,
                                    const CopyLimits& limits,
                                    const std::vector<std::int64_t>& ends) {
  std::vector<CopyShare> shares;
  std::int64_t next = own.begin;
  const auto share = [&](std::size_t threadblock, std::int64_t chunks, std::int64_t room) {
    std::int64_t end = std::min(own.end, end_from(next + chunks, ends));
    if (end > next + room) end = end_before(next + room, ends);
    if (end <= next) return false;
    shares.push_back({threadblock, {next, end}});
    next = end;
    return true;
  };
  const std::vector<Copier> copiers = copiers_for(own.size(), loads, limits);
  const std::int64_t level = level_for(own.size(), copiers);
  std::size_t threadblocks = loads.size();
  for (const Copier& copier : copiers) {
    const std::int64_t taken = taken_at(level, copier);
    if (taken > 0) share(copier.threadblock, taken, copier.room);
    threadblocks = std::max(threadblocks, copier.threadblock + 1);
  }
  const std::int64_t most = limits.max_steps * limits.max_count;
  while (next < own.end && share(threadblocks, most, most)) ++threadblocks;
  return shares;
}

}  // namespace forestcoll::schedule
