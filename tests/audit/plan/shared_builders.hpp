// Plans whose ranks need no signals for their data, whose threadblocks share work, or whose ranks
// reach each other through a switch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "audit/plan/plan_builders.hpp"

namespace audit_test {

/// `plan` with packets, and two halves of scratch for them or one.
inline PlanJson in_packets(PlanJson plan, bool two_halves = true) {
  plan["protocol"] = "LL";
  plan["use_double_scratch_buffer"] = two_halves;
  return plan;
}

/// All other ranks' scratch, as remote buffers 0, 1, … in the order of ranks.
inline GpuParts with_all_scratch(int n, int rank, int inputs, int outputs, int scratch) {
  GpuParts parts{inputs, outputs, scratch, {}, {}, {}};
  for (int peer = 0; peer < n; ++peer) {
    if (peer == rank) continue;
    parts.peers.push_back(peer);
    parts.remote.emplace_back(peer, "s");
  }
  return parts;
}
inline std::vector<int> first_ids(int count) {
  std::vector<int> ids;
  for (int i = 0; i < count; ++i) ids.push_back(i);
  return ids;
}
/// The place of `rank` among the others of `of`.
inline int slot(int rank, int of) {
  return rank < of ? rank : rank - 1;
}

/// Everybody sends all it has to everybody, who adds it up.
inline PlanJson one_shot_allreduce(int n) {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < n; ++r) {
    GpuParts parts = with_all_scratch(n, r, 1, 1, n - 1);
    std::vector<PlanJson> from, to, sum = {local("i", 0, 1)};
    for (int peer = 0; peer < n; ++peer) {
      if (peer == r) continue;
      from.push_back(local("i", 0, 1));
      to.push_back(remote(slot(peer, r), slot(r, peer), 1));
      sum.push_back(local("s", slot(peer, r), 1));
    }
    const PlanJson ops = {data("ppkt", from, to, "memory"), data("repkt", sum, {local("o", 0, 1)})};
    parts.threadblocks = {threadblock(0, ops, "memory", first_ids(n - 1), first_ids(n - 1))};
    gpus.push_back(parts);
  }
  return in_packets(plan_of("allreduce", false, "memory", gpus));
}

/// Everybody adds up one part and hands the sum to all; whoever sends a sum has heard from all, so
/// one half of scratch is enough.
inline PlanJson two_shot_allreduce(int n) {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < n; ++r) {
    GpuParts parts = with_all_scratch(n, r, n, n, 2 * (n - 1));
    std::vector<PlanJson> from, to, sum = {local("i", r, 1)}, out = {local("i", r, 1)};
    PlanJson ops = PlanJson::array();
    PlanJson last = PlanJson::array();
    for (int peer = 0; peer < n; ++peer) {
      if (peer == r) continue;
      from.push_back(local("i", peer, 1));
      to.push_back(remote(slot(peer, r), slot(r, peer), 1));
      sum.push_back(local("s", slot(peer, r), 1));
      out.push_back(remote(slot(peer, r), n - 1 + slot(r, peer), 1));
      last.push_back(data("upkt", {local("s", n - 1 + slot(peer, r), 1)}, {local("i", peer, 1)}));
    }
    ops.push_back(data("ppkt", from, to, "memory"));
    ops.push_back(data("respkt", sum, out, "memory"));
    ops.push_back(op("nop"));
    for (const PlanJson& each : last) ops.push_back(each);
    parts.threadblocks = {threadblock(0, ops, "memory", first_ids(n - 1), first_ids(n - 1))};
    gpus.push_back(parts);
  }
  return in_packets(plan_of("allreduce", true, "memory", gpus), false);
}

/// A sum that travels along ranks 0, 1, 2, 3 and back: rank 1 hands it on as it makes it, rank 2
/// keeps a copy and sends that.
inline PlanJson chain_allreduce() {
  std::vector<GpuParts> gpus(4);
  const auto with_peers = [](std::vector<int> peers) {
    GpuParts parts{1, 1, 3, {}, std::move(peers), {}};
    for (const int peer : parts.peers) parts.remote.emplace_back(peer, "s");
    return parts;
  };
  const PlanJson take = data("upkt", {local("s", 1, 1)}, {local("o", 0, 1)});
  gpus[0] = with_peers({1});
  gpus[0].threadblocks = {
      threadblock(0, {data("ppkt", {local("i", 0, 1)}, {remote(0, 0, 1)}, "memory"), take},
                  "memory", {0}, {0})};
  gpus[1] = with_peers({0, 2});
  gpus[1].threadblocks = {
      threadblock(0,
                  {data("recspkt", {local("i", 0, 1), local("s", 0, 1)},
                        {local("o", 0, 1), local("s", 2, 1), remote(1, 0, 1)}, "memory"),
                   data("rppkt", {local("s", 1, 1)}, {remote(0, 1, 1)}, "memory"), op("nop"), take},
                  "memory", {0, 1}, {0, 1})};
  gpus[2] = with_peers({1, 3});
  gpus[2].threadblocks = {threadblock(
      0,
      {data("recpkt", {local("i", 0, 1), local("s", 0, 1)}, {local("o", 0, 1), local("s", 2, 1)}),
       data("rppkt", {local("s", 2, 1)}, {remote(1, 0, 1)}, "memory"),
       data("rppkt", {local("s", 1, 1)}, {remote(0, 1, 1)}, "memory"), op("nop"), take},
      "memory", {0, 1}, {0, 1})};
  gpus[3] = with_peers({2});
  gpus[3].threadblocks = {
      threadblock(0,
                  PlanJson::array({data("respkt", {local("i", 0, 1), local("s", 0, 1)},
                                        {local("o", 0, 1), remote(0, 1, 1)}, "memory")}),
                  "memory", {0}, {0})};
  return in_packets(plan_of("allreduce", false, "memory", gpus));
}

/// A ring through ports, which send packets as they lie in scratch: the own ones by ppkt, what came
/// from the other by rppkt.
inline PlanJson port_packets_allgather(int n) {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < n; ++r) {
    const int next = (r + 1) % n, prev = (r + n - 1) % n;
    PlanJson ops = {data("cpkt", {local("i", 0, 1)}, {local("s", r, 1)}), op("nop"),
                    data("ppkt", {local("s", r, 1)}, {remote(0, r, 1)}, "port", {0}),
                    data("copy", {local("i", 0, 1)}, {local("o", r, 1)})};
    for (int back = 1; back < n; ++back) {
      const int block = (r + n - back) % n;
      if (back < n - 1) {
        ops.push_back(data("rppkt", {local("s", block, 1)}, {remote(0, block, 1)}, "port", {0}));
      }
      ops.push_back(data("upkt", {local("s", block, 1)}, {local("o", block, 1)}));
    }
    gpus.push_back(
        {1, n, n, {threadblock(0, ops, "port", {0, 1}, {0})}, {next, prev}, {{next, "s"}}});
  }
  return in_packets(plan_of("allgather", false, "port", gpus));
}

inline PlanJson part_of(PlanJson operation, int part, int parts) {
  operation["tbg_info"] = {{"tb_id", part}, {"tbg_size", parts}};
  return operation;
}

/// Two threadblocks of each of two ranks share every put and every copy.
inline PlanJson grouped_allgather() {
  std::vector<GpuParts> gpus;
  const PlanJson barrier = {{"name", "barrier"}, {"barrier_id", 0}, {"num_threadblocks", 2}};
  for (int r = 0; r < 2; ++r) {
    GpuParts parts{1, 2, 0, {}, {1 - r}, {{1 - r, "o"}}};
    for (int t = 0; t < 2; ++t) {
      PlanJson ops = PlanJson::array();
      if (t == 0) {
        ops.push_back(on("rlxsignal", "memory", {0}));
        ops.push_back(on("rlxwait", "memory", {0}));
      }
      ops.push_back(barrier);
      ops.push_back(part_of(data("put", {local("i", 0, 1)}, {remote(0, r, 1)}, "memory"), t, 2));
      ops.push_back(part_of(data("copy", {local("i", 0, 1)}, {local("o", r, 1)}), t, 2));
      ops.push_back(barrier);
      if (t == 0) {
        ops.push_back(on("signal", "memory", {0}));
        ops.push_back(on("wait", "memory", {0}));
      }
      parts.threadblocks.push_back(threadblock(t, ops, "memory", {0}, {0}));
    }
    gpus.push_back(parts);
  }
  return plan_of("allgather", false, "memory", gpus);
}

/// The ranks of `groups` that a GPU knows, all of one buffer.
inline PlanJson switches(const std::string& buffer, const std::vector<std::vector<int>>& groups) {
  PlanJson list = {{"channel_type", "switch"}, {"buffer_type", buffer}};
  list["rank_groups"] = PlanJson::array();
  for (const auto& ranks : groups) {
    list["rank_groups"].push_back({{"size", ranks.size()}, {"ranks", ranks}});
  }
  return list;
}
inline PlanJson by_switch(int id, int index, int size) {
  return {{"switch_channel_id", id}, {"index", index}, {"size", size}};
}

/// Signals to and from all others around what is done through one switch channel of all ranks.
inline PlanJson through_switch(const std::string& collective, bool in_place, int inputs,
                               int scratch, const std::string& buffer,
                               const std::vector<std::vector<PlanJson>>& ops_of_ranks) {
  const int n = static_cast<int>(ops_of_ranks.size());
  std::vector<GpuParts> gpus;
  for (int r = 0; r < n; ++r) {
    const std::vector<int> all = first_ids(n - 1);
    PlanJson ops = {on("rlxsignal", "memory", all), on("rlxwait", "memory", all), op("nop")};
    for (const PlanJson& each : ops_of_ranks[static_cast<std::size_t>(r)]) ops.push_back(each);
    ops.push_back(op("nop"));
    ops.push_back(on("signal", "memory", all));
    ops.push_back(on("wait", "memory", all));
    GpuParts parts = with_all_scratch(n, r, inputs, n, scratch);
    parts.remote.clear();
    parts.threadblocks = {threadblock(0, ops, "memory", all, {})};
    parts.threadblocks[0]["channels"].push_back({{"channel_type", "switch"}, {"channel_ids", {0}}});
    gpus.push_back(parts);
  }
  PlanJson plan = plan_of(collective, in_place, "memory", gpus);
  for (PlanJson& gpu : plan["gpus"]) {
    gpu["channels"].push_back(switches(buffer, {first_ids(n)}));
  }
  return plan;
}

inline PlanJson switch_allreduce(int n) {
  std::vector<std::vector<PlanJson>> ops;
  for (int r = 0; r < n; ++r) {
    ops.push_back({data("glres", {by_switch(0, r, 1)}, {by_switch(0, r, 1)}, "switch")});
  }
  return through_switch("allreduce", true, n, 0, "i", ops);
}

inline PlanJson switch_allgather(int n) {
  std::vector<std::vector<PlanJson>> ops;
  for (int r = 0; r < n; ++r) {
    ops.push_back({data("gstore", {local("i", 0, 1)}, {by_switch(0, r, 1)}, "switch")});
  }
  return through_switch("allgather", false, 1, 0, "o", ops);
}

/// Packets to all at once, and nothing else: from where they arrive themselves.
inline PlanJson switch_packets_allgather(int n) {
  std::vector<std::vector<PlanJson>> none(static_cast<std::size_t>(n));
  PlanJson plan = through_switch("allgather", false, 1, n, "s", none);
  for (int r = 0; r < n; ++r) {
    PlanJson& ops = plan["gpus"][static_cast<std::size_t>(r)]["threadblocks"][0]["ops"];
    ops = {data("cpkt", {local("i", 0, 1)}, {local("s", r, 1)}),
           data("gstorepkt", {local("s", r, 1)}, {by_switch(0, r, 1)}, "switch")};
    for (int from = 0; from < n; ++from) {
      ops.push_back(data("upkt", {local("s", from, 1)}, {local("o", from, 1)}));
    }
  }
  return in_packets(plan);
}

/// Everybody sends to the next.
inline PlanJson ring_sendrecv(int n) {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < n; ++r) {
    const int next = (r + 1) % n, prev = (r + n - 1) % n;
    const PlanJson ops = {on("signal", "port", {1}), on("wait", "port", {0}), op("nop"),
                          data("pwsf", {local("i", 0, 1)}, {remote(0, 0, 1)}, "port", {0}),
                          on("wait", "port", {1})};
    gpus.push_back(
        {1, 1, 0, {threadblock(0, ops, "port", {0, 1}, {0})}, {next, prev}, {{next, "o"}}});
  }
  return plan_of("sendrecv", false, "port", gpus);
}

inline std::vector<std::pair<std::string, PlanJson>> shared_plans() {
  return {{"packets, one shot", one_shot_allreduce(3)},
          {"packets, two shots", two_shot_allreduce(3)},
          {"packets, a chain", chain_allreduce()},
          {"packets by port", port_packets_allgather(3)},
          {"group", grouped_allgather()},
          {"switch, allreduce", switch_allreduce(3)},
          {"switch, allgather", switch_allgather(3)},
          {"switch, packets", switch_packets_allgather(3)},
          {"sendrecv", ring_sendrecv(3)}};
}

}  // namespace audit_test
