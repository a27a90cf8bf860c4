// Races by definition: every chunk of every step is an event, happens-before is the reachability
// of its graph, and all pairs of accesses are compared.
#pragma once

#include <map>
#include <tuple>

#include "support/algo.hpp"

namespace audit_test {

/// Whether some two accesses to one chunk are unordered. REQUIRES: a valid schedule whose messages
/// match and which can end.
inline bool has_race(const Algo& algo, bool in_place) {
  struct Event {
    int rank = 0, block = 0, step = 0, strand = 0;
    const Step* s = nullptr;
  };
  std::vector<Event> events;
  std::vector<std::vector<int>> next;
  std::map<std::tuple<int, int, int, int>, int> number;  // rank, block, step, strand
  for (int r = 0; r < algo.ranks(); ++r) {
    const auto& tbs = algo.gpus[static_cast<std::size_t>(r)].tbs;
    for (int b = 0; b < static_cast<int>(tbs.size()); ++b) {
      const auto& steps = tbs[static_cast<std::size_t>(b)].steps;
      for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
        const Step& step = steps[static_cast<std::size_t>(s)];
        for (int strand = 0; strand < std::max(1, step.cnt); ++strand) {
          number[{r, b, s, strand}] = static_cast<int>(events.size());
          events.push_back({r, b, s, strand, &step});
        }
      }
    }
  }
  next.resize(events.size());
  std::map<std::tuple<int, int, int>, std::vector<int>> sent, received;
  for (std::size_t e = 0; e < events.size(); ++e) {
    const Event& event = events[e];
    const Tb& tb =
        algo.gpus[static_cast<std::size_t>(event.rank)].tbs[static_cast<std::size_t>(event.block)];
    if (e > 0 && events[e - 1].rank == event.rank && events[e - 1].block == event.block) {
      next[e - 1].push_back(static_cast<int>(e));
    }
    if (event.strand == 0 && event.s->depid >= 0) {
      const Step& on = algo.gpus[static_cast<std::size_t>(event.rank)]
                           .tbs[static_cast<std::size_t>(event.s->depid)]
                           .steps[static_cast<std::size_t>(event.s->deps)];
      const int last = number[{event.rank, event.s->depid, event.s->deps, std::max(1, on.cnt) - 1}];
      next[static_cast<std::size_t>(last)].push_back(static_cast<int>(e));
    }
    if (event.s->sends()) sent[{event.rank, tb.send, tb.chan}].push_back(static_cast<int>(e));
    if (event.s->receives())
      received[{tb.recv, event.rank, tb.chan}].push_back(static_cast<int>(e));
  }
  for (const auto& [key, list] : sent) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      next[static_cast<std::size_t>(list[i])].push_back(received[key][i]);
    }
  }
  std::vector<std::vector<bool>> reach(events.size(), std::vector<bool>(events.size(), false));
  for (std::size_t e = 0; e < events.size(); ++e) {
    std::vector<int> stack = {static_cast<int>(e)};
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      for (const int to : next[static_cast<std::size_t>(at)]) {
        if (reach[e][static_cast<std::size_t>(to)]) continue;
        reach[e][static_cast<std::size_t>(to)] = true;
        stack.push_back(to);
      }
    }
  }
  const auto parts = parts_of(algo);
  const auto place = [&](int rank, char buf, int off) {
    int shift = 0;
    if (buf == 'o' && !in_place) shift = algo.nchunks;
    if (buf == 's') shift = 2 * algo.nchunks;
    if (in_place && ((buf == 'i' && algo.coll == "allgather") ||
                     (buf == 'o' && algo.coll == "reducescatter"))) {
      shift = parts[static_cast<std::size_t>(rank)];
    }
    return std::pair(rank, off + shift);
  };
  std::map<std::pair<int, int>, std::vector<std::pair<int, bool>>> accesses;
  for (std::size_t e = 0; e < events.size(); ++e) {
    const Event& x = events[e];
    if (x.s->reads_src()) {
      accesses[place(x.rank, x.s->srcbuf, x.s->srcoff + x.strand)].push_back(
          {static_cast<int>(e), false});
    }
    if (x.s->writes_dst()) {
      accesses[place(x.rank, x.s->dstbuf, x.s->dstoff + x.strand)].push_back(
          {static_cast<int>(e), true});
    }
  }
  for (const auto& [where, list] : accesses) {
    for (const auto& [a, a_writes] : list) {
      for (const auto& [b, b_writes] : list) {
        if (a >= b || (!a_writes && !b_writes)) continue;
        const Event& x = events[static_cast<std::size_t>(a)];
        const Event& y = events[static_cast<std::size_t>(b)];
        // Strands of one step run in any order.
        if (x.rank == y.rank && x.block == y.block && x.step == y.step) return true;
        const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
        if (!reach[i][j] && !reach[j][i]) return true;
      }
    }
  }
  return false;
}

}  // namespace audit_test
