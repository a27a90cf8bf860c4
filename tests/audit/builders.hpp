// Schedules as a person would write them: rings, recursive doubling, trees; fused and unfused, in
// place and out of place.
#pragma once

#include <utility>

#include "support/algo.hpp"

namespace audit_test {

inline Algo empty_algo(std::string coll, int n, int nchunks, bool in_place) {
  Algo algo;
  algo.coll = std::move(coll);
  algo.nchunks = nchunks;
  algo.inplace = in_place ? 1 : 0;
  algo.outofplace = in_place ? 0 : 1;
  algo.gpus.resize(static_cast<std::size_t>(n));
  return algo;
}

inline Step send(char buf, int off, int cnt) {
  return {"s", buf, off, buf, off, cnt};
}
inline Step recv(char buf, int off, int cnt) {
  return {"r", buf, off, buf, off, cnt};
}
inline Step copy(char from, int src, char to, int dst, int cnt) {
  return {"cpy", from, src, to, dst, cnt};
}
inline Step after(Step step, int depid, int deps) {
  step.depid = depid;
  step.deps = deps;
  return step;
}

/// Each rank's own block goes round; `cnt` chunks per block.
inline Algo ring_allgather(int n, int cnt, bool fused, bool in_place) {
  Algo algo = empty_algo("allgather", n, n * cnt, in_place);
  for (int r = 0; r < n; ++r) {
    const int next = (r + 1) % n, prev = (r + n - 1) % n;
    const auto block = [&](int back) { return (r + n - back) % n * cnt; };
    auto& tbs = algo.gpus[static_cast<std::size_t>(r)].tbs;
    if (fused) {
      Tb tb{next, prev, 0, {}};
      tb.steps.push_back(send('i', 0, cnt));
      for (int back = 1; back < n - 1; ++back) {
        tb.steps.push_back({"rcs", 'o', block(back), 'o', block(back), cnt});
      }
      tb.steps.push_back(recv('o', block(n - 1), cnt));
      if (!in_place) tb.steps.push_back(copy('i', 0, 'o', r * cnt, cnt));
      tbs.push_back(tb);
    } else {
      Tb out{next, -1, 0, {}}, in{-1, prev, 0, {}};
      if (!in_place) out.steps.push_back(copy('i', 0, 'o', r * cnt, cnt));
      out.steps.push_back(send('o', r * cnt, cnt));
      for (int back = 1; back < n; ++back) {
        in.steps.push_back(recv('o', block(back), cnt));
        if (back < n - 1) out.steps.push_back(after(send('o', block(back), cnt), 1, back - 1));
      }
      tbs = {out, in};
    }
  }
  return finished(algo);
}

/// Partial sums go round and end at their owner.
inline Algo ring_reduce_scatter(int n, int cnt, bool fused, bool in_place) {
  Algo algo = empty_algo("reducescatter", n, n * cnt, in_place);
  for (int r = 0; r < n; ++r) {
    const int next = (r + 1) % n, prev = (r + n - 1) % n;
    const auto block = [&](int back) { return (r + 2 * n - back) % n * cnt; };
    Gpu& gpu = algo.gpus[static_cast<std::size_t>(r)];
    if (fused) {
      Tb tb{next, prev, 0, {}};
      tb.steps.push_back(send('i', block(1), cnt));
      for (int back = 2; back < n; ++back) {
        tb.steps.push_back({"rrs", 'i', block(back), 'i', block(back), cnt});
      }
      tb.steps.push_back({"rrc", 'i', r * cnt, 'o', 0, cnt});
      gpu.tbs.push_back(tb);
    } else {
      Tb out{next, -1, 0, {}}, in{-1, prev, 0, {}};
      out.steps.push_back(send('i', block(1), cnt));
      if (!in_place) gpu.s_chunks = (n - 2) * cnt;
      for (int back = 2; back < n; ++back) {
        const char buf = in_place ? 'i' : 's';
        const int off = in_place ? block(back) : (back - 2) * cnt;
        in.steps.push_back({"rrc", 'i', block(back), buf, off, cnt});
        out.steps.push_back(after(send(buf, off, cnt), 1, back - 2));
      }
      in.steps.push_back({"rrc", 'i', r * cnt, 'o', 0, cnt});
      gpu.tbs = {out, in};
    }
  }
  return finished(algo);
}

/// Reduce-scatter and allgather in one round trip, on one channel per direction of travel.
inline Algo ring_allreduce(int n, int cnt, int channels, bool in_place) {
  Algo algo = empty_algo("allreduce", n, n * cnt * channels, in_place);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < channels; ++c) {
      const int turn = c % 2 == 0 ? 1 : n - 1;
      const auto at = [&](int back) { return (c * n + (r + back * (n - turn)) % n) * cnt; };
      Tb tb{(r + turn) % n, (r + n - turn) % n, c, {}};
      tb.steps.push_back(send('i', at(1), cnt));
      for (int back = 2; back < n; ++back) {
        tb.steps.push_back({"rrs", 'i', at(back), 'o', at(back), cnt});
      }
      tb.steps.push_back({"rrcs", 'i', at(n), 'o', at(n), cnt});
      for (int back = 1; back < n - 1; ++back) {
        tb.steps.push_back({"rcs", 'o', at(back), 'o', at(back), cnt});
      }
      tb.steps.push_back(recv('o', at(n - 1), cnt));
      algo.gpus[static_cast<std::size_t>(r)].tbs.push_back(tb);
    }
  }
  return finished(algo);
}

/// log2(n) rounds; in round b the 2^b blocks held are swapped with a partner.
inline Algo doubling_allgather(int rounds, bool in_place) {
  const int n = 1 << rounds;
  Algo algo = empty_algo("allgather", n, n, in_place);
  for (int r = 0; r < n; ++r) {
    auto& tbs = algo.gpus[static_cast<std::size_t>(r)].tbs;
    for (int b = 0; b < rounds; ++b) {
      const int size = 1 << b, peer = r ^ size;
      const int mine = r / size * size, theirs = peer / size * size;
      Tb tb{peer, peer, 0, {}};
      if (b == 0 && !in_place) tb.steps.push_back(copy('i', 0, 'o', r, 1));
      Step out = send('o', mine, size);
      if (b > 0) out = after(out, b - 1, static_cast<int>(tbs.back().steps.size()) - 1);
      tb.steps.push_back(out);
      tb.steps.push_back(recv('o', theirs, size));
      tbs.push_back(tb);
    }
  }
  return finished(algo);
}

/// The whole buffer is swapped with a partner through scratch and added by `re`: only steps that
/// every runtime has.
inline Algo doubling_allreduce(int rounds, int chunks, bool in_place) {
  const int n = 1 << rounds;
  Algo algo = empty_algo("allreduce", n, chunks, in_place);
  for (int r = 0; r < n; ++r) {
    Gpu& gpu = algo.gpus[static_cast<std::size_t>(r)];
    gpu.s_chunks = chunks;
    for (int b = 0; b < rounds; ++b) {
      const int peer = r ^ (1 << b);
      Tb tb{peer, peer, 0, {}};
      if (b == 0 && !in_place) tb.steps.push_back(copy('i', 0, 'o', 0, chunks));
      Step out = send('o', 0, chunks);
      if (b > 0) out = after(out, b - 1, static_cast<int>(gpu.tbs.back().steps.size()) - 1);
      tb.steps.push_back(out);
      tb.steps.push_back(recv('s', 0, chunks));
      tb.steps.push_back({"re", 's', 0, 'o', 0, chunks});
      gpu.tbs.push_back(tb);
    }
  }
  return finished(algo);
}

/// A binary tree from rank 0; the first child is fed by the threadblock that receives.
inline Algo tree_broadcast(int n, int chunks, bool in_place) {
  Algo algo = empty_algo("broadcast", n, chunks, in_place);
  for (int r = 0; r < n; ++r) {
    auto& tbs = algo.gpus[static_cast<std::size_t>(r)].tbs;
    const int left = 2 * r + 1, right = 2 * r + 2;
    const auto peer = [&](int child) { return child < n ? child : -1; };
    Tb first{peer(left), r == 0 ? -1 : (r - 1) / 2, 0, {}};
    Tb second{peer(right), -1, 0, {}};
    const char own = in_place ? 'o' : 'i';
    for (int c = 0; c < chunks; ++c) {
      if (r == 0) {
        first.steps.push_back(send(own, c, 1));
        second.steps.push_back(send(own, c, 1));
      } else {
        first.steps.push_back(left < n ? Step{"rcs", 'o', c, 'o', c, 1} : recv('o', c, 1));
        if (right < n) second.steps.push_back(after(send('o', c, 1), 0, c));
      }
    }
    if (r == 0 && !in_place) first.steps.push_back(copy('i', 0, 'o', 0, chunks));
    tbs.push_back(first);
    if (right < n) tbs.push_back(second);
  }
  return finished(algo);
}

/// Sums go up a binary tree and come down again. Going up and coming down are threadblocks of
/// their own, so that what comes down is ordered after what went up by messages alone. In place.
inline Algo tree_allreduce(int n, int chunks) {
  Algo algo = empty_algo("allreduce", n, chunks, true);
  for (int r = 0; r < n; ++r) {
    auto& tbs = algo.gpus[static_cast<std::size_t>(r)].tbs;
    std::vector<int> children;
    for (const int child : {2 * r + 1, 2 * r + 2}) {
      if (child < n) children.push_back(child);
    }
    const auto up = static_cast<int>(children.size());
    for (int i = 0; i < up; ++i) {
      const int child = children[static_cast<std::size_t>(i)];
      Tb tb{-1, child, 0, {}};
      Step add{"rrc", 'o', 0, 'o', 0, chunks};
      if (i > 0) add = after(add, i - 1, 0);
      tb.steps.push_back(add);
      tbs.push_back(tb);
    }
    if (r > 0) {
      Step out = send('o', 0, chunks);
      if (up > 0) out = after(out, up - 1, 0);
      tbs.push_back({(r - 1) / 2, -1, 0, {out}});
      tbs.push_back({-1, (r - 1) / 2, 1, {recv('o', 0, chunks)}});
    }
    const int ready = r == 0 ? up - 1 : up + 1;
    for (const int child : children) {
      tbs.push_back({child, -1, 1, {after(send('o', 0, chunks), ready, 0)}});
    }
  }
  return finished(algo);
}

/// All ranks send to rank 0 at once; its sums and its answer wait for several threadblocks through
/// nop steps. In place.
inline Algo star_allreduce(int n, int chunks) {
  Algo algo = empty_algo("allreduce", n, chunks, true);
  Gpu& hub = algo.gpus[0];
  hub.s_chunks = (n - 1) * chunks;
  Tb sum{-1, -1, 0, {}};
  for (int r = 1; r < n; ++r) {
    hub.tbs.push_back({-1, r, 0, {recv('s', (r - 1) * chunks, chunks)}});
    algo.gpus[static_cast<std::size_t>(r)].tbs = {
        {0, 0, 0, {send('o', 0, chunks), recv('o', 0, chunks)}}};
  }
  for (int r = 1; r < n - 1; ++r) sum.steps.push_back(after({}, r - 1, 0));
  for (int r = 1; r < n; ++r) {
    Step add{"re", 's', (r - 1) * chunks, 'o', 0, chunks};
    if (r == 1) add = after(add, n - 2, 0);
    sum.steps.push_back(add);
  }
  hub.tbs.push_back(sum);
  for (int r = 1; r < n; ++r) {
    hub.tbs.push_back(
        {r, -1, 0, {after(send('o', 0, chunks), n - 1, static_cast<int>(sum.steps.size()) - 1)}});
  }
  return finished(algo);
}

/// All ranks send to rank 0, two chunks at a time; its answers go chunk by chunk, and only the
/// first to a rank waits, for the last of all sums: what went up and what comes down are ordered by
/// flags of other chunks. In place.
inline Algo merged_star_allreduce(int n, int pairs) {
  Algo algo = empty_algo("allreduce", n, 2 * pairs, true);
  Gpu& hub = algo.gpus[0];
  for (int r = 1; r < n; ++r) {
    Tb up{0, -1, 0, {}}, sum{-1, r, 0, {}};
    for (int p = 0; p < pairs; ++p) {
      up.steps.push_back(send('o', 2 * p, 2));
      const Step add{"rrc", 'o', 2 * p, 'o', 2 * p, 2};
      sum.steps.push_back(r == 1 ? add : after(add, r - 2, p));
    }
    hub.tbs.push_back(sum);
    algo.gpus[static_cast<std::size_t>(r)].tbs.push_back(up);
  }
  for (int r = 1; r < n; ++r) {
    Tb answer{r, -1, 0, {}}, down{-1, 0, 0, {}};
    for (int c = 0; c < 2 * pairs; ++c) {
      answer.steps.push_back(send('o', c, 1));
      down.steps.push_back(recv('o', c, 1));
    }
    answer.steps[0] = after(answer.steps[0], n - 2, pairs - 1);
    hub.tbs.push_back(answer);
    algo.gpus[static_cast<std::size_t>(r)].tbs.push_back(down);
  }
  return finished(algo);
}

/// Every rank sends its part for each other straight to it, all at once. Out of place.
inline Algo direct_alltoall(int n, int cnt) {
  Algo algo = empty_algo("alltoall", n, n * cnt, false);
  for (int r = 0; r < n; ++r) {
    auto& tbs = algo.gpus[static_cast<std::size_t>(r)].tbs;
    tbs.push_back({-1, -1, 0, {copy('i', r * cnt, 'o', r * cnt, cnt)}});
    for (int back = 1; back < n; ++back) {
      const int peer = (r + back) % n;
      tbs.push_back({peer, peer, 0, {send('i', peer * cnt, cnt), recv('o', peer * cnt, cnt)}});
    }
  }
  return finished(algo);
}

/// Two boxes of two: halves are summed within a box, swapped and summed between boxes through
/// scratch, and put together within the box again. In place.
inline Algo hierarchical_allreduce(int cnt) {
  Algo algo = empty_algo("allreduce", 4, 2 * cnt, true);
  for (int r = 0; r < 4; ++r) {
    Gpu& gpu = algo.gpus[static_cast<std::size_t>(r)];
    gpu.s_chunks = cnt;
    const int beside = r ^ 1, across = r ^ 2;
    const int mine = r % 2 * cnt, theirs = cnt - mine;
    Tb sum{beside, beside, 0, {send('i', theirs, cnt), {"rrc", 'i', mine, 'i', mine, cnt}}};
    Tb swap{across, across, 0, {after(send('i', mine, cnt), 0, 1), recv('s', 0, cnt)}};
    swap.steps.push_back({"re", 's', 0, 'i', mine, cnt});
    Tb gather{beside, beside, 1, {after(send('i', mine, cnt), 1, 2), recv('i', theirs, cnt)}};
    gpu.tbs = {sum, swap, gather};
  }
  return finished(algo);
}

/// Sums go along a chain to rank 0.
inline Algo chain_reduce(int n, int cnt, bool in_place) {
  Algo algo = empty_algo("reduce", n, cnt, in_place);
  for (int r = 0; r < n; ++r) {
    Tb tb{r > 0 ? r - 1 : -1, r + 1 < n ? r + 1 : -1, 0, {}};
    if (r + 1 == n) {
      tb.steps = {send('i', 0, cnt)};
    } else {
      tb.steps = {{r > 0 ? "rrs" : "rrc", 'i', 0, 'o', 0, cnt}};
    }
    algo.gpus[static_cast<std::size_t>(r)].tbs = {tb};
  }
  return finished(algo);
}

/// Every rank sends each other its part; sums are made of scratch by `re`, several waits carried by
/// nop steps: only steps that every runtime has. Out of place.
inline Algo direct_reduce_scatter(int n, int cnt) {
  Algo algo = empty_algo("reducescatter", n, n * cnt, false);
  for (int r = 0; r < n; ++r) {
    Gpu& gpu = algo.gpus[static_cast<std::size_t>(r)];
    gpu.s_chunks = (n - 1) * cnt;
    Tb sum{-1, -1, 0, {copy('i', r * cnt, 'o', 0, cnt)}};
    for (int back = 1; back < n; ++back) {
      const int peer = (r + back) % n;
      gpu.tbs.push_back(
          {peer, peer, 0, {send('i', peer * cnt, cnt), recv('s', (back - 1) * cnt, cnt)}});
      if (back < n - 1) sum.steps.push_back(after({}, back - 1, 1));
    }
    for (int back = 1; back < n; ++back) {
      Step add{"re", 's', (back - 1) * cnt, 'o', 0, cnt};
      if (back == 1) add = after(add, n - 2, 1);
      sum.steps.push_back(add);
    }
    gpu.tbs.push_back(sum);
  }
  return finished(algo);
}

/// The same schedule for a protocol with eight operations in flight. Rings and swaps whose messages
/// are split into several operations need them: with two, all ranks send first and wait for room.
inline Algo low_latency(Algo algo) {
  algo.proto = "LL";
  return algo;
}

/// Every schedule of this file, small enough to be executed by brute force.
inline std::vector<std::pair<std::string, Algo>> small_schedules() {
  std::vector<std::pair<std::string, Algo>> all;
  for (const bool in : {true, false}) {
    const std::string mode = in ? " in place" : " out of place";
    all.emplace_back("ring allgather" + mode, ring_allgather(4, 1, true, in));
    all.emplace_back("ring allgather LL" + mode, low_latency(ring_allgather(4, 2, true, in)));
    all.emplace_back("ring allgather unfused" + mode, ring_allgather(4, 3, false, in));
    all.emplace_back("ring reduce_scatter" + mode, ring_reduce_scatter(4, 1, true, in));
    all.emplace_back("ring reduce_scatter LL" + mode,
                     low_latency(ring_reduce_scatter(4, 2, true, in)));
    all.emplace_back("ring reduce_scatter unfused" + mode, ring_reduce_scatter(4, 3, false, in));
    all.emplace_back("ring allreduce" + mode, ring_allreduce(3, 1, 2, in));
    all.emplace_back("ring allreduce LL" + mode, low_latency(ring_allreduce(3, 2, 2, in)));
    all.emplace_back("doubling allgather" + mode, low_latency(doubling_allgather(3, in)));
    all.emplace_back("doubling allreduce" + mode, low_latency(doubling_allreduce(2, 3, in)));
    all.emplace_back("tree broadcast" + mode, tree_broadcast(6, 2, in));
    all.emplace_back("chain reduce" + mode, chain_reduce(4, 2, in));
  }
  all.emplace_back("tree allreduce", tree_allreduce(6, 3));
  all.emplace_back("star allreduce", star_allreduce(4, 2));
  all.emplace_back("direct alltoall", direct_alltoall(3, 2));
  all.emplace_back("hierarchical allreduce", hierarchical_allreduce(2));
  all.emplace_back("direct reduce_scatter", direct_reduce_scatter(3, 2));
  return all;
}

}  // namespace audit_test
