// Plans of MSCCL++ as a person would write them, with operations that our own do not use.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace audit_test {

using PlanJson = nlohmann::json;

inline PlanJson op(const std::string& name) {
  return {{"name", name}};
}
inline PlanJson local(const std::string& type, int index, int size) {
  return {{"type", type}, {"index", index}, {"size", size}};
}
inline PlanJson remote(int id, int index, int size) {
  return {{"buffer_id", id}, {"index", index}, {"size", size}};
}
inline PlanJson on(const std::string& name, const std::string& kind, std::vector<int> channels) {
  return {{"name", name}, {"channel_ids", std::move(channels)}, {"channel_type", kind}};
}
/// Lists, not JSON: what one element in braces is as JSON, compilers do not agree on.
inline PlanJson data(const std::string& name, const std::vector<PlanJson>& from,
                     const std::vector<PlanJson>& to, const std::string& kind = "",
                     std::vector<int> channels = {}) {
  PlanJson made = {{"name", name}, {"src_buff", from}, {"dst_buff", to}};
  if (!kind.empty()) made["channel_type"] = kind;
  if (!channels.empty()) made["channel_ids"] = std::move(channels);
  return made;
}

/// A flush as the executor counts it: by destinations, one for each channel.
inline PlanJson flush(std::vector<int> channels) {
  PlanJson made = on("flush", "port", channels);
  made["dst_buff"] = std::vector<PlanJson>(channels.size(), local("o", 0, 1));
  return made;
}

/// A threadblock with these channels and remote buffers of one kind.
inline PlanJson threadblock(int id, PlanJson ops, const std::string& kind,
                            const std::vector<int>& channels, const std::vector<int>& buffers) {
  PlanJson tb = {{"id", id}, {"ops", std::move(ops)}};
  tb["channels"] = PlanJson::array({{{"channel_type", kind}, {"channel_ids", channels}}});
  tb["remote_buffer_refs"] =
      PlanJson::array({{{"access_channel_type", kind}, {"remote_buffer_ids", buffers}}});
  return tb;
}

struct GpuParts {
  int inputs = 1, outputs = 1, scratch = 0;
  std::vector<PlanJson> threadblocks;
  std::vector<int> peers;
  std::vector<std::pair<int, std::string>> remote;  // rank, type
};

inline PlanJson plan_of(const std::string& collective, bool in_place, const std::string& kind,
                        const std::vector<GpuParts>& gpus) {
  PlanJson plan = {{"name", "by hand"},    {"collective", collective}, {"protocol", "Simple"},
                   {"inplace", in_place},  {"reuse_resources", false}, {"buffer_alignment", 16},
                   {"min_message_size", 0}};
  plan["max_message_size"] = UINT64_MAX;
  plan["gpus"] = PlanJson::array();
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    const GpuParts& parts = gpus[r];
    PlanJson gpu = {{"id", r},
                    {"input_chunks", parts.inputs},
                    {"output_chunks", parts.outputs},
                    {"scratch_chunks", parts.scratch},
                    {"threadblocks", parts.threadblocks}};
    gpu["channels"] = PlanJson::array({{{"channel_type", kind}, {"connected_to", parts.peers}}});
    gpu["remote_buffers"] = PlanJson::array();
    for (const auto& [rank, type] : parts.remote) {
      gpu["remote_buffers"].push_back(
          {{"rank", rank}, {"type", type}, {"access_channel_types", {kind}}});
    }
    gpu["semaphores"] = PlanJson::array();
    plan["gpus"].push_back(gpu);
  }
  return plan;
}

/// Each of two ranks reads the other's half, adds it to its own and writes the sum to both.
inline PlanJson read_reduce_allreduce() {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < 2; ++r) {
    const PlanJson ops = {on("signal", "memory", {0}),
                          on("wait", "memory", {0}),
                          op("nop"),
                          data("rres", {local("i", r, 1), remote(0, r, 1)},
                               {local("i", r, 1), remote(0, r, 1)}, "memory"),
                          op("nop"),
                          on("signal", "memory", {0}),
                          on("wait", "memory", {0})};
    gpus.push_back({2, 2, 0, {threadblock(0, ops, "memory", {0}, {0})}, {1 - r}, {{1 - r, "i"}}});
  }
  return plan_of("allreduce", true, "memory", gpus);
}

/// The same with the data fetched to scratch first, and the sum sent from there.
inline PlanJson get_allreduce() {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < 2; ++r) {
    const PlanJson ops = {on("signal", "memory", {0}),
                          on("wait", "memory", {0}),
                          op("nop"),
                          data("get", {remote(0, r, 1)}, {local("s", r, 1)}, "memory"),
                          op("nop"),
                          data("res", {local("i", r, 1), local("s", r, 1)},
                               {local("i", r, 1), remote(0, r, 1)}, "memory"),
                          op("nop"),
                          on("signal", "memory", {0}),
                          on("wait", "memory", {0})};
    gpus.push_back({2, 2, 2, {threadblock(0, ops, "memory", {0}, {0})}, {1 - r}, {{1 - r, "i"}}});
  }
  return plan_of("allreduce", true, "memory", gpus);
}

/// A ring through ports: put with a signal, and a flush for the caller's memory.
inline PlanJson port_ring_allgather(int n) {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < n; ++r) {
    const int next = (r + 1) % n, prev = (r + n - 1) % n;
    // Channel 0 leads to the next, 1 to the one before.
    PlanJson ops = {on("signal", "port", {1}), on("wait", "port", {0}), op("nop")};
    for (int back = 0; back < n - 1; ++back) {
      const int block = (r + n - back) % n;
      ops.push_back(data("pws", {local("o", block, 1)}, {remote(0, block, 1)}, "port", {0}));
      ops.push_back(op("nop"));
      ops.push_back(on("wait", "port", {1}));
      ops.push_back(op("nop"));
    }
    ops.push_back(flush({0}));
    gpus.push_back(
        {1, n, 0, {threadblock(0, ops, "port", {0, 1}, {0})}, {next, prev}, {{next, "o"}}});
  }
  return plan_of("allgather", true, "port", gpus);
}

/// Two threadblocks of a rank in step by a barrier: one fetches, the other hands on.
inline PlanJson barrier_broadcast() {
  std::vector<GpuParts> gpus(3);
  const PlanJson barrier = {{"name", "barrier"}, {"barrier_id", 0}, {"num_threadblocks", 2}};
  // Rank 0 to rank 1 to rank 2, over channels 0 (down) and 1 (up) of rank 1.
  gpus[0] = {2,
             2,
             0,
             {threadblock(0,
                          {on("wait", "memory", {0}), op("nop"),
                           data("put", {local("i", 0, 2)}, {remote(0, 0, 2)}, "memory"), op("nop"),
                           on("signal", "memory", {0})},
                          "memory", {0}, {0})},
             {1},
             {{1, "o"}}};
  gpus[1] = {2,
             2,
             0,
             {threadblock(0, {on("signal", "memory", {0}), on("wait", "memory", {0}), barrier},
                          "memory", {0}, {}),
              threadblock(1,
                          {barrier, on("wait", "memory", {0}), op("nop"),
                           data("put", {local("o", 0, 2)}, {remote(0, 0, 2)}, "memory"), op("nop"),
                           on("signal", "memory", {0})},
                          "memory", {1}, {0})},
             {0, 2},
             {{2, "o"}}};
  gpus[2] = {
      2,
      2,
      0,
      {threadblock(0, {on("signal", "memory", {0}), on("wait", "memory", {0})}, "memory", {0}, {})},
      {1},
      {}};
  return plan_of("broadcast", true, "memory", gpus);
}

/// The same with a semaphore instead of the barrier.
inline PlanJson semaphore_broadcast() {
  PlanJson plan = barrier_broadcast();
  PlanJson& gpu = plan["gpus"][1];
  gpu["semaphores"] = PlanJson::array({{{"init_value", 0}}});
  PlanJson& first = gpu["threadblocks"][0]["ops"];
  first.back() = op("nop");
  first.push_back({{"name", "sem_release"}, {"semaphore_ids", {0}}});
  gpu["threadblocks"][1]["ops"][0] = {{"name", "sem_acquire"}, {"semaphore_ids", {0}}};
  return plan;
}

/// Every rank puts its part straight to every other.
inline PlanJson direct_alltoall(int n, const std::string& kind) {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < n; ++r) {
    GpuParts parts{n, n, 0, {}, {}, {}};
    std::vector<int> all;
    std::vector<PlanJson> sources, destinations;
    for (int peer = 0; peer < n; ++peer) {
      if (peer == r) continue;
      const int id = static_cast<int>(all.size());
      all.push_back(id);
      parts.peers.push_back(peer);
      parts.remote.emplace_back(peer, "o");
      sources.push_back(local("i", peer, 1));
      destinations.push_back(remote(id, r, 1));
    }
    PlanJson ops = {
        on("signal", kind, all),
        on("wait", kind, all),
        op("nop"),
        data("copy", {local("i", r, 1)}, {local("o", r, 1)}),
        data("put", sources, destinations, kind, kind == "port" ? all : std::vector<int>{}),
        op("nop"),
        on("signal", kind, all),
        on("wait", kind, all)};
    if (kind == "port") ops.push_back(flush(all));
    parts.threadblocks = {threadblock(0, ops, kind, all, all)};
    gpus.push_back(parts);
  }
  return plan_of("alltoall", false, kind, gpus);
}

/// Each of two ranks puts half of its input into the other's scratch, adds what arrived and writes
/// the sum to both.
inline PlanJson scratch_allreduce() {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < 2; ++r) {
    const PlanJson ops = {on("signal", "memory", {0}),
                          on("wait", "memory", {0}),
                          op("nop"),
                          data("put", {local("i", 1 - r, 1)}, {remote(1, 0, 1)}, "memory"),
                          op("nop"),
                          on("signal", "memory", {0}),
                          on("wait", "memory", {0}),
                          op("nop"),
                          data("res", {local("i", r, 1), local("s", 0, 1)},
                               {local("i", r, 1), remote(0, r, 1)}, "memory"),
                          op("nop"),
                          on("signal", "memory", {0}),
                          on("wait", "memory", {0})};
    gpus.push_back({2,
                    2,
                    1,
                    {threadblock(0, ops, "memory", {0}, {0, 1})},
                    {1 - r},
                    {{1 - r, "i"}, {1 - r, "s"}}});
  }
  return plan_of("allreduce", true, "memory", gpus);
}

/// `plan` with these operations, of every rank's first threadblock, relaxed.
inline PlanJson relaxed(PlanJson plan, const std::vector<std::size_t>& which) {
  for (PlanJson& gpu : plan["gpus"]) {
    PlanJson& ops = gpu["threadblocks"][0]["ops"];
    for (const std::size_t i : which) ops[i]["name"] = "rlx" + ops[i]["name"].get<std::string>();
  }
  return plan;
}

/// Two boxes of two: relaxed signals say that all is ready, memory channels within a box, a port
/// channel with pwsf to the other, and what arrived there is handed on.
inline PlanJson two_box_allgather() {
  std::vector<GpuParts> gpus;
  for (int r = 0; r < 4; ++r) {
    const int across = (r + 2) % 4;
    const PlanJson ops = {on("rlxsignal", "memory", {0}),
                          on("rlxwait", "memory", {0}),
                          op("nop"),
                          data("put", {local("o", r, 1)}, {remote(0, r, 1)}, "memory", {0}),
                          on("signal", "port", {0}),
                          on("wait", "port", {0}),
                          op("nop"),
                          data("pwsf", {local("o", r, 1)}, {remote(0, r, 1)}, "port", {0}),
                          on("wait", "port", {0}),
                          op("nop"),
                          data("put", {local("o", across, 1)}, {remote(0, across, 1)}, "memory"),
                          op("nop"),
                          on("signal", "memory", {0}),
                          on("wait", "memory", {0})};
    gpus.push_back({1, 4, 0, {threadblock(0, ops, "memory", {0}, {0})}, {r ^ 1}, {{r ^ 1, "o"}}});
  }
  PlanJson plan = plan_of("allgather", true, "memory", gpus);
  for (int r = 0; r < 4; ++r) {
    PlanJson& gpu = plan["gpus"][static_cast<std::size_t>(r)];
    gpu["channels"].push_back({{"channel_type", "port"}, {"connected_to", {(r + 2) % 4}}});
    gpu["remote_buffers"].push_back(
        {{"rank", (r + 2) % 4}, {"type", "o"}, {"access_channel_types", {"port"}}});
    PlanJson& tb = gpu["threadblocks"][0];
    tb["channels"].push_back({{"channel_type", "port"}, {"channel_ids", {0}}});
    tb["remote_buffer_refs"].push_back(
        {{"access_channel_type", "port"}, {"remote_buffer_ids", {1}}});
  }
  return plan;
}

/// That rank 1 has begun, one threadblock of rank 0 hears and another needs to know.
inline PlanJson relaxed_broadcast() {
  const PlanJson barrier = {{"name", "barrier"}, {"barrier_id", 0}, {"num_threadblocks", 2}};
  std::vector<GpuParts> gpus(2);
  gpus[0] = {1,
             1,
             0,
             {threadblock(0, {on("rlxwait", "memory", {0}), barrier}, "memory", {0}, {}),
              threadblock(1,
                          {barrier, data("put", {local("i", 0, 1)}, {remote(0, 0, 1)}, "memory"),
                           op("nop"), on("signal", "memory", {0})},
                          "memory", {1}, {0})},
             {1, 1},
             {{1, "o"}}};
  gpus[1] = {1,
             1,
             0,
             {threadblock(0, {on("rlxsignal", "memory", {0}), on("wait", "memory", {1})}, "memory",
                          {0, 1}, {})},
             {0, 0},
             {}};
  return plan_of("broadcast", true, "memory", gpus);
}

inline std::vector<std::pair<std::string, PlanJson>> small_plans() {
  return {{"read and reduce", read_reduce_allreduce()},
          {"get and reduce", get_allreduce()},
          {"ring of ports", port_ring_allgather(3)},
          {"barrier", barrier_broadcast()},
          {"semaphore", semaphore_broadcast()},
          {"all to all", direct_alltoall(3, "memory")},
          {"all to all by port", direct_alltoall(3, "port")},
          {"put to scratch", relaxed(scratch_allreduce(), {0, 1})},
          {"two boxes", two_box_allgather()},
          {"relaxed broadcast", relaxed_broadcast()}};
}

}  // namespace audit_test
