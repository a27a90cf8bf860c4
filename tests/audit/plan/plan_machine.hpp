// The machine under the executor in miniature: the memory of all ranks, call after call, what is
// still on its way there, and what a collective promises to leave in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace audit_test {

class PlanMachine {
 public:
  using Json = nlohmann::json;

 protected:
  static constexpr int kCalls = 3;
  using Value = std::uint64_t;
  struct Packet {
    Value value = 0;
    int flag = 0;  // the call that wrote it, from 1 on
  };
  struct Store {
    Value* to = nullptr;
    Value value = 0;
  };
  struct PacketStore {
    Packet* to = nullptr;
    Packet packet;
  };
  struct Memory {
    std::map<char, std::vector<Value>> values;  // 'b': input and output, 's': both halves
    std::vector<Packet> packets;                // of both halves of scratch
    std::deque<Store> stores;                   // that have not arrived
    std::deque<PacketStore> packet_stores;
  };

  PlanMachine(const Json& plan, std::uint64_t seed) : plan_(plan), random_(seed) {}

  [[nodiscard]] int n() const { return static_cast<int>(plan_["gpus"].size()); }
  [[nodiscard]] const Json& gpu(int rank) const {
    return plan_["gpus"].at(static_cast<std::size_t>(rank));
  }
  // Chunks are cut as finely as groups of threadblocks cut them; all sizes are in such pieces.
  [[nodiscard]] int size_of(int rank, const char* what) const {
    const int chunks = gpu(rank).at(what);
    return chunks * pieces_;
  }
  // Of a rank's own part in the whole buffer, of an allgather's inputs or reduce-scatter's outputs.
  [[nodiscard]] int begin(int rank) const {
    int first = 0;
    for (const int r : together(rank)) {
      if (r == rank) break;
      first += size_of(r, coll_ == "allgather" ? "input_chunks" : "output_chunks");
    }
    return first;
  }
  // The ranks that do the collective with this one, in their order; none: it only passes on.
  [[nodiscard]] const std::vector<int>& together(int rank) const {
    for (const std::vector<int>& group : groups_) {
      if (std::ranges::find(group, rank) != group.end()) return group;
    }
    return none_;
  }
  Memory& memory(int rank) { return memory_[static_cast<std::size_t>(rank)]; }

  void set_up_memory() {
    const std::function<void(const Json&)> cut = [&](const Json& ops) {
      for (const Json& op : ops) {
        if (op.contains("ops")) cut(op.at("ops"));
        if (!op.contains("tbg_info")) continue;
        const int parts = op.at("tbg_info").at("tbg_size");
        const int part = op.at("tbg_info").at("tb_id");
        if (parts < 1 || part < 0 || part >= parts) throw std::out_of_range("group");
        pieces_ = std::lcm(pieces_, parts);
      }
    };
    for (const Json& each : plan_["gpus"]) {
      for (const Json& tb : each.at("threadblocks")) cut(tb.at("ops"));
    }
    memory_.resize(static_cast<std::size_t>(n()));
    std::vector<int> all(static_cast<std::size_t>(n()));
    std::iota(all.begin(), all.end(), 0);
    groups_ = plan_.value("process_groups", std::vector<std::vector<int>>{all});
    chunks_ = std::max(size_of(0, "output_chunks"), size_of(0, "input_chunks"));
    in_place_ = plan_.at("inplace");
    coll_ = plan_.at("collective");
    doubled_ = plan_.value("use_double_scratch_buffer", false);
  }

  void begin_memory(int r, int call) {
    if (call == 0) {
      memory(r).values['b'].resize(static_cast<std::size_t>(2 * chunks_));
      memory(r).values['s'].resize(2 * scratch(r));
      memory(r).packets.resize(2 * scratch(r));
    }
    spoil(r);
    const int inputs = size_of(r, "input_chunks");
    for (int c = 0; c < inputs; ++c) at(r, 'i', c) = input(call, r, c);
  }

  // What a call leaves, and finds, in buffers that are the caller's in between. Packets stay.
  void spoil(int r) {
    for (auto& [name, values] : memory(r).values) {
      for (Value& value : values) value = random_();
    }
  }

  [[nodiscard]] std::size_t scratch(int r) const {
    return static_cast<std::size_t>(size_of(r, "scratch_chunks"));
  }

  // Stores of a rank that have not arrived yet, the oldest first; packets take their own way.
  void deliver(int r, std::size_t count) {
    auto& stores = memory(r).stores;
    for (; count > 0 && !stores.empty(); --count) {
      *stores.front().to = stores.front().value;
      stores.pop_front();
    }
  }
  void deliver_packet(int r) {
    auto& stores = memory(r).packet_stores;
    *stores.front().to = stores.front().packet;
    stores.pop_front();
  }
  void deliver(int r) {
    deliver(r, memory(r).stores.size());
    while (!memory(r).packet_stores.empty()) deliver_packet(r);
  }

  // Inputs are a function of the call, so that every rank knows them all.
  static Value input(int call, int rank, int chunk) {
    std::mt19937_64 random(static_cast<std::uint64_t>((call * 1000 + rank) * 1000 + chunk + 1));
    return random();
  }

  Packet& packet_at(int rank, int off, bool other_half) {
    const std::size_t half = scratch(rank);
    if (off < 0 || static_cast<std::size_t>(off) >= half) throw std::out_of_range("packets");
    if (memory(rank).packets.empty()) memory(rank).packets.resize(2 * half);
    return memory(rank).packets.at(static_cast<std::size_t>(off) + (other_half ? half : 0));
  }

  Value& at(int rank, char buf, int off, bool other_half = false) {
    if (buf == 's') {
      const std::size_t half = scratch(rank);
      if (off < 0 || static_cast<std::size_t>(off) >= half) throw std::out_of_range("scratch");
      return memory(rank).values['s'].at(static_cast<std::size_t>(off) + (other_half ? half : 0));
    }
    const int size = size_of(rank, buf == 'i' ? "input_chunks" : "output_chunks");
    if (off < 0 || off >= size) throw std::out_of_range("buffer");
    int place = off;
    if (buf == 'o' && !in_place_) place += chunks_;
    if (in_place_ &&
        ((buf == 'i' && coll_ == "allgather") || (buf == 'o' && coll_ == "reducescatter"))) {
      place += begin(rank);
    }
    auto& values = memory(rank).values['b'];
    if (values.empty()) values.resize(static_cast<std::size_t>(2 * chunks_));
    return values.at(static_cast<std::size_t>(place));
  }

  // Whether the rank has in the end what the collective promises.
  bool is_right(int r, int call) {
    const int outputs = size_of(r, "output_chunks");
    if (!in_place_ && !has_its_input(r, call)) return false;
    if (coll_ == "sendrecv") return is_anothers(r, call, outputs);
    if (together(r).empty()) return !in_place_ || has_its_input(r, call);
    for (int c = 0; c < outputs; ++c) {
      if (at(r, 'o', c) != expected(call, r, c)) return false;
    }
    return true;
  }

  bool has_its_input(int r, int call) {
    for (int c = 0; c < size_of(r, "input_chunks"); ++c) {
      if (at(r, 'i', c) != input(call, r, c)) return false;
    }
    return true;
  }

  bool is_anothers(int r, int call, int outputs) {
    for (int other = 0; other < n(); ++other) {
      bool all = other != r;
      for (int c = 0; c < outputs; ++c) all = all && at(r, 'o', c) == input(call, other, c);
      if (all) return true;
    }
    return false;
  }

  Value expected(int call, int r, int c) {
    const int part = chunks_ / n();
    if (coll_ == "allgather") {
      for (const int owner : together(r)) {
        const int own = size_of(owner, "input_chunks");
        if (c < own) return input(call, owner, c);
        c -= own;
      }
    }
    if (coll_ == "alltoall") return input(call, c / part, r * part + c % part);
    if (coll_ == "broadcast") return input(call, root_, c);
    Value sum = 0;
    for (const int other : together(r)) {
      sum += input(call, other, coll_ == "reducescatter" ? begin(r) + c : c);
    }
    return sum;
  }

  Json plan_;
  std::mt19937_64 random_;
  std::vector<Memory> memory_;
  std::vector<std::vector<int>> groups_;  // of ranks that do the collective together
  const std::vector<int> none_;
  int pieces_ = 1;  // of a chunk
  int chunks_ = 0, root_ = 0;
  bool in_place_ = true, doubled_ = false;
  std::string coll_;
};

}  // namespace audit_test
