// The executor of MSCCL++ in miniature: it runs a plan on numbers, three calls in a row, every rank
// at its own pace. Threads of a block are in step at nop and barrier only: in between, whatever is
// not done by one and the same thread happens in any order. Ports are served when it suits them.
// What threads write to another rank arrives there later, at the latest with a signal that is not
// relaxed, or at the end of the call.
// Slow, obvious, and unaware of the verifier.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "audit/executor.hpp"

namespace audit_test {

class PlanExecutor {
 public:
  using Json = nlohmann::json;

  PlanExecutor(const Json& plan, std::uint64_t seed) : plan_(plan), random_(seed) {}

  Outcome run() {
    try {
      set_up();
      while (step()) {
        if (wrong_) return Outcome::wrong;
      }
    } catch (const std::exception&) {
      return Outcome::invalid;  // it indexes what is not there
    }
    if (wrong_) return Outcome::wrong;
    for (const RankState& rank : ranks_) {
      if (rank.call < calls) return Outcome::hangs;
    }
    for (const auto& [key, count] : counters_) {
      if (count != waited_[key]) return Outcome::wrong;  // the next call would take it for its own
    }
    return Outcome::right;
  }

 private:
  static constexpr int calls = 3;
  using Value = std::uint64_t;
  struct Item {
    const Json* op = nullptr;
    int element = -1;  // thread; −1: all of them
    bool done = false;
    bool is_issued = false;  // a pwsf that waits for its flush
  };
  struct Store {
    Value* to = nullptr;
    Value value = 0;
  };
  struct Block {
    std::vector<std::vector<Item>> phases;  // a barrier is a phase of its own
    std::size_t phase = 0;
  };
  struct RankState {
    int call = 0;
    bool running = false;
    std::vector<Block> blocks;
    std::map<char, std::vector<Value>> memory;
    std::deque<Store> stores;  // that have not arrived
  };
  struct Work {
    const Json* op = nullptr;
    int element = 0;
    bool signals = false;
  };
  // Kind, from, to, which of them.
  using Key = std::tuple<std::string, int, int, int>;

  [[nodiscard]] int n() const { return static_cast<int>(plan_["gpus"].size()); }
  [[nodiscard]] const Json& gpu(int rank) const {
    return plan_["gpus"].at(static_cast<std::size_t>(rank));
  }

  void set_up() {
    ranks_.resize(static_cast<std::size_t>(n()));
    const auto& first = gpu(0);
    const int outputs = first.at("output_chunks"), inputs = first.at("input_chunks");
    chunks_ = std::max(outputs, inputs);
    in_place_ = plan_.at("inplace");
    coll_ = plan_.at("collective");
  }

  static bool is_data(const std::string& name) {
    return name == "put" || name == "pws" || name == "pwsf" || name == "get" || name == "copy" ||
           name == "re" || name == "res" || name == "rre" || name == "rres";
  }

  // Phases of a threadblock's program; a pipeline is one round.
  std::vector<std::vector<Item>> phases_of(const Json& ops) {
    std::vector<std::vector<Item>> phases(1);
    const std::function<void(const Json&)> add = [&](const Json& op) {
      const std::string name = op.at("name");
      if (name == "nop") {
        phases.emplace_back();
      } else if (name == "barrier") {
        phases.push_back({{&op, -1, false}});
        phases.emplace_back();
      } else if (name == "pipeline") {
        for (const Json& inner : op.at("ops")) add(inner);
      } else if (is_data(name) && op.value("channel_type", "") != "port") {
        phases.back().push_back({&op, -1, false});
      } else {
        const char* list = name.starts_with("sem_") ? "semaphore_ids"
                           : name == "flush"        ? "dst_buff"  // as the executor counts
                                                    : "channel_ids";
        const std::size_t elements = op.contains(list) ? op.at(list).size() : 0;
        for (int e = 0; e < static_cast<int>(elements); ++e) {
          phases.back().push_back({&op, e, false});
        }
      }
    };
    for (const Json& op : ops) add(op);
    return phases;
  }

  // One thing that can happen, picked at random; false where nothing can.
  bool step() {
    std::vector<std::function<void()>> can;
    for (int r = 0; r < n(); ++r) collect(r, can);
    for (auto& [key, queue] : ports_) {
      if (!queue.empty()) can.emplace_back([this, &key = key] { serve(key); });
    }
    for (int r = 0; r < n(); ++r) {
      if (!ranks_[static_cast<std::size_t>(r)].stores.empty()) {
        can.emplace_back([this, r] { deliver(r, 1); });
      }
    }
    if (can.empty()) return false;
    can[random_() % can.size()]();
    return true;
  }

  void collect(int r, std::vector<std::function<void()>>& can) {
    RankState& rank = ranks_[static_cast<std::size_t>(r)];
    if (!rank.running) {
      if (rank.call < calls) can.emplace_back([this, r] { begin(r); });
      return;
    }
    bool busy = false;
    for (std::size_t b = 0; b < rank.blocks.size(); ++b) {
      Block& block = rank.blocks[b];
      while (block.phase < block.phases.size() && is_over(block.phases[block.phase])) ++block.phase;
      if (block.phase == block.phases.size()) continue;
      busy = true;
      auto& items = block.phases[block.phase];
      std::set<int> threads;  // that are held up
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].done) continue;
        if (items[i].element >= 0 && !threads.insert(items[i].element).second) continue;
        if (!can_happen(r, static_cast<int>(b), items[i])) continue;
        can.emplace_back([this, r, b, i] { perform(r, static_cast<int>(b), i); });
      }
    }
    if (!busy) can.emplace_back([this, r] { end(r); });
  }

  static bool is_over(const std::vector<Item>& items) {
    return std::all_of(items.begin(), items.end(), [](const Item& item) { return item.done; });
  }

  void begin(int r) {
    RankState& rank = ranks_[static_cast<std::size_t>(r)];
    rank.running = true;
    rank.blocks.clear();
    for (const Json& tb : gpu(r).at("threadblocks")) {
      rank.blocks.push_back({phases_of(tb.at("ops")), 0});
    }
    if (rank.call == 0) {
      rank.memory['b'].resize(static_cast<std::size_t>(2 * chunks_));
      rank.memory['s'].resize(2 * scratch(r));
    }
    for (auto& [name, values] : rank.memory) {
      for (Value& value : values) value = random_();
    }
    const int inputs = gpu(r).at("input_chunks");
    for (int c = 0; c < inputs; ++c) at(r, 'i', c) = input(rank.call, r, c);
  }

  [[nodiscard]] std::size_t scratch(int r) const {
    return gpu(r).at("scratch_chunks").get<std::size_t>();
  }

  // The first stores of a rank that have not arrived yet.
  void deliver(int r, std::size_t count) {
    auto& stores = ranks_[static_cast<std::size_t>(r)].stores;
    for (; count > 0 && !stores.empty(); --count) {
      *stores.front().to = stores.front().value;
      stores.pop_front();
    }
  }
  void deliver(int r) { deliver(r, ranks_[static_cast<std::size_t>(r)].stores.size()); }

  // Inputs are a function of the call, so that every rank knows them all.
  static Value input(int call, int rank, int chunk) {
    std::mt19937_64 random(static_cast<std::uint64_t>((call * 1000 + rank) * 1000 + chunk + 1));
    return random();
  }

  Value& at(int rank, char buf, int off, bool other_half = false) {
    if (buf == 's') {
      const std::size_t half = scratch(rank);
      if (off < 0 || static_cast<std::size_t>(off) >= half) throw std::out_of_range("scratch");
      return ranks_[static_cast<std::size_t>(rank)].memory['s'].at(static_cast<std::size_t>(off) +
                                                                   (other_half ? half : 0));
    }
    const int size = gpu(rank).at(buf == 'i' ? "input_chunks" : "output_chunks");
    if (off < 0 || off >= size) throw std::out_of_range("buffer");
    int place = off;
    const int part = chunks_ / n();
    if (buf == 'o' && !in_place_) place += chunks_;
    if (in_place_ &&
        ((buf == 'i' && coll_ == "allgather") || (buf == 'o' && coll_ == "reducescatter"))) {
      place += rank * part;
    }
    auto& memory = ranks_[static_cast<std::size_t>(rank)].memory['b'];
    if (memory.empty()) memory.resize(static_cast<std::size_t>(2 * chunks_));
    return memory.at(static_cast<std::size_t>(place));
  }

  void end(int r) {
    RankState& rank = ranks_[static_cast<std::size_t>(r)];
    deliver(r);
    const int part = chunks_ / n();
    const int outputs = gpu(r).at("output_chunks"), inputs = gpu(r).at("input_chunks");
    for (int c = 0; c < outputs; ++c) {
      if (at(r, 'o', c) != expected(rank.call, r, c, part)) wrong_ = true;
    }
    for (int c = 0; c < inputs && !in_place_; ++c) {
      if (at(r, 'i', c) != input(rank.call, r, c)) wrong_ = true;
    }
    // Its buffers are the caller's again.
    for (auto& [name, values] : rank.memory) {
      for (Value& value : values) value = random_();
    }
    rank.running = false;
    ++rank.call;
  }

  Value expected(int call, int r, int c, int part) {
    if (coll_ == "allgather") return input(call, c / part, c % part);
    if (coll_ == "alltoall") return input(call, c / part, r * part + c % part);
    if (coll_ == "broadcast") return input(call, root_, c);
    Value sum = 0;
    for (int other = 0; other < n(); ++other) {
      sum += input(call, other, coll_ == "reducescatter" ? r * part + c : c);
    }
    return sum;
  }

  // The channel of an element, as the two ends know it: `outwards` for what goes to the peer.
  Key channel(int r, int b, const Json& op, int e, bool outwards) {
    const std::string kind = op.at("channel_type");
    const int local = op.at("channel_ids").at(static_cast<std::size_t>(e));
    int id = -1;
    for (const Json& list : block(r, b).at("channels")) {
      if (list.at("channel_type") == kind) {
        id = list.at("channel_ids").at(static_cast<std::size_t>(local));
      }
    }
    std::vector<int> peers;
    for (const Json& list : gpu(r).at("channels")) {
      if (list.at("channel_type") != kind) continue;
      for (const int peer : list.at("connected_to")) peers.push_back(peer);
    }
    const int peer = peers.at(static_cast<std::size_t>(id));
    if (peer < 0 || peer >= n() || peer == r) throw std::out_of_range("peer");
    const int which = static_cast<int>(std::count(peers.begin(), peers.begin() + id, peer));
    return outwards ? Key{kind, r, peer, which} : Key{kind, peer, r, which};
  }

  [[nodiscard]] const Json& block(int r, int b) const {
    return gpu(r).at("threadblocks").at(static_cast<std::size_t>(b));
  }

  Value& resolve(int r, int b, const Json& op, const Json& slice, int lane) {
    const int index = slice.at("index").get<int>() + lane;
    if (!slice.contains("buffer_id")) {
      const char type = slice.at("type").get<std::string>().at(0);
      const bool other_half = type == 's' && op.value("channel_type", "") != "port" &&
                              plan_.value("use_double_scratch_buffer", false) &&
                              ranks_[static_cast<std::size_t>(r)].call % 2 == 1;
      return at(r, type, index, other_half);
    }
    std::vector<int> list;
    for (const Json& refs : block(r, b).at("remote_buffer_refs")) {
      if (refs.at("access_channel_type") != op.at("channel_type")) continue;
      list = refs.at("remote_buffer_ids").get<std::vector<int>>();
    }
    const auto& remote =
        gpu(r)
            .at("remote_buffers")
            .at(static_cast<std::size_t>(list.at(slice.at("buffer_id").get<std::size_t>())));
    return at(remote.at("rank"), remote.at("type").get<std::string>().at(0), index);
  }

  bool can_happen(int r, int b, const Item& item) {
    const std::string name = item.op->at("name");
    if (name == "wait" || name == "rlxwait") {
      const Key key = channel(r, b, *item.op, item.element, false);
      return counters_[key] > waited_[key];
    }
    if (name == "sem_acquire") {
      return semaphores_[{r, item.op->at("semaphore_ids").at(0)}] > 0;
    }
    if (name == "barrier") {
      int arrived = 0;
      for (const Block& each : ranks_[static_cast<std::size_t>(r)].blocks) {
        if (each.phase >= each.phases.size() || each.phases[each.phase].empty()) continue;
        const Item& other = each.phases[each.phase].front();
        arrived += other.op->at("name") == "barrier" &&
                           other.op->at("barrier_id") == item.op->at("barrier_id")
                       ? 1
                       : 0;
      }
      return arrived >= item.op->at("num_threadblocks").get<int>();
    }
    if (name == "flush" || item.is_issued) {
      return ports_[channel(r, b, *item.op, item.element, true)].empty();
    }
    return true;
  }

  void perform(int r, int b, std::size_t i) {
    Block& own = ranks_[static_cast<std::size_t>(r)].blocks[static_cast<std::size_t>(b)];
    Item& item = own.phases[own.phase][i];
    const Json& op = *item.op;
    const std::string name = op.at("name");
    if (name == "barrier") {
      leave_barrier(r, op);
      return;
    }
    const bool waits_for_flush = name == "pwsf" && !item.is_issued;
    item.done = !waits_for_flush;
    if (item.is_issued) return;
    item.is_issued = waits_for_flush;
    if (name == "sem_acquire") {
      --semaphores_[{r, op.at("semaphore_ids").at(0)}];
    } else if (name == "sem_release") {
      ++semaphores_[{r, op.at("semaphore_ids").at(0)}];
    } else if (name == "wait" || name == "rlxwait") {
      ++waited_[channel(r, b, op, item.element, false)];
    } else if (name == "flush") {
      return;
    } else if (op.value("channel_type", "") == "port") {
      const Key key = channel(r, b, op, item.element, true);
      deliver(r);  // what is handed to the engine is released
      if (is_data(name)) ports_[key].push_back({&op, item.element, false});
      if (name != "put") ports_[key].push_back({&op, item.element, true});
      port_block_[key] = b;
    } else if (name == "signal" || name == "rlxsignal") {
      if (name == "signal") deliver(r);
      ++counters_[channel(r, b, op, item.element, true)];
    } else {
      move_data(r, b, op);
    }
  }

  // All who have arrived leave together.
  void leave_barrier(int r, const Json& op) {
    for (Block& each : ranks_[static_cast<std::size_t>(r)].blocks) {
      if (each.phase >= each.phases.size() || each.phases[each.phase].empty()) continue;
      Item& other = each.phases[each.phase].front();
      if (other.op->at("name") == "barrier" && other.op->at("barrier_id") == op.at("barrier_id")) {
        other.done = true;
      }
    }
  }

  void serve(const Key& key) {
    const Work work = ports_[key].front();
    ports_[key].pop_front();
    if (work.signals) {
      ++counters_[key];
      return;
    }
    const int r = std::get<1>(key);
    move_pair(r, port_block_[key], *work.op, static_cast<std::size_t>(work.element));
  }

  void move_pair(int r, int b, const Json& op, std::size_t i) {
    const int size = op.at("src_buff").at(i).at("size");
    for (int lane = 0; lane < size; ++lane) {
      resolve(r, b, op, op.at("dst_buff").at(i), lane) =
          resolve(r, b, op, op.at("src_buff").at(i), lane);
    }
  }

  // By the rank's threads: here at once, elsewhere when it arrives.
  void store(int r, int b, const Json& op, const Json& slice, int lane, Value value) {
    Value& to = resolve(r, b, op, slice, lane);
    if (slice.contains("buffer_id")) {
      ranks_[static_cast<std::size_t>(r)].stores.push_back({&to, value});
    } else {
      to = value;
    }
  }

  void move_data(int r, int b, const Json& op) {
    const std::string name = op.at("name");
    const Json& sources = op.at("src_buff");
    if (std::any_of(sources.begin(), sources.end(),
                    [](const Json& source) { return source.contains("buffer_id"); })) {
      deliver(r);  // it may read what it wrote
    }
    if (name == "put" || name == "get" || name == "copy") {
      for (std::size_t i = 0; i < op.at("dst_buff").size(); ++i) {
        const int size = sources.at(i).at("size");
        for (int lane = 0; lane < size; ++lane) {
          store(r, b, op, op.at("dst_buff").at(i), lane, resolve(r, b, op, sources.at(i), lane));
        }
      }
      return;
    }
    const int size = op.at("src_buff").at(0).at("size");
    for (int lane = 0; lane < size; ++lane) {
      Value sum = 0;
      for (const Json& source : op.at("src_buff")) sum += resolve(r, b, op, source, lane);
      for (const Json& to : op.at("dst_buff")) store(r, b, op, to, lane, sum);
    }
  }

 public:
  void set_root(int root) { root_ = root; }

 private:
  Json plan_;
  std::mt19937_64 random_;
  std::vector<RankState> ranks_;
  int chunks_ = 0, root_ = 0;
  bool in_place_ = true, wrong_ = false;
  std::string coll_;
  std::map<Key, std::int64_t> counters_, waited_;
  std::map<Key, std::deque<Work>> ports_;
  std::map<Key, int> port_block_;
  std::map<std::pair<int, int>, int> semaphores_;
};

/// The worst of several runs.
inline Outcome execute_plan(const nlohmann::json& plan, int runs, int root = 0) {
  for (int run = 0; run < runs; ++run) {
    PlanExecutor executor(plan, static_cast<std::uint64_t>(run));
    executor.set_root(root);
    const Outcome outcome = executor.run();
    if (outcome != Outcome::right) return outcome;
  }
  return Outcome::right;
}

}  // namespace audit_test
