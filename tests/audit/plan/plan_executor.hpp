// The executor of MSCCL++ in miniature: it runs a plan on numbers, three calls in a row, every rank
// at its own pace. Threads of a block are in step at nop and barrier only: in between, whatever is
// not done by one and the same thread happens in any order. Ports are served when it suits them.
// What threads write to another rank arrives there later, at the latest with a signal that is not
// relaxed, or at the end of the call; packets on their own, by whose flags readers wait for them.
// Slow, obvious, and unaware of the verifier.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "audit/plan/plan_epochs.hpp"
#include "audit/plan/plan_operands.hpp"
#include "support/executor.hpp"

namespace audit_test {

class PlanExecutor : private PlanOperands {
 public:
  PlanExecutor(const Json& plan, std::uint64_t seed) : PlanOperands(plan, seed) {}

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
      if (rank.call < kCalls) return Outcome::hangs;
    }
    for (const auto& [key, count] : counters_) {
      if (count != waited_[key]) return Outcome::wrong;  // the next call would take it for its own
    }
    return Outcome::right;
  }

 private:
  struct Block {
    PlanEpochs epochs;
    std::size_t epoch = 0;
  };
  struct RankState {
    int call = 0;
    bool running = false;
    std::vector<Block> blocks;
  };
  struct Work {
    const Json* op = nullptr;
    int element = 0;
    bool signals = false;
    int flag = 0;  // of the call that gave it
  };
  // Kind, from, to, which of them.
  using Key = std::tuple<std::string, int, int, int>;

  void set_up() {
    set_up_memory();
    ranks_.resize(static_cast<std::size_t>(n()));
  }

  // One thing that can happen, picked at random; false where nothing can.
  bool step() {
    std::vector<std::function<void()>> can;
    for (int r = 0; r < n(); ++r) collect(r, can);
    for (auto& [key, queue] : ports_) {
      if (!queue.empty()) can.emplace_back([this, &key = key] { serve(key); });
    }
    for (int r = 0; r < n(); ++r) {
      if (!memory(r).stores.empty()) can.emplace_back([this, r] { deliver(r, 1); });
      if (!memory(r).packet_stores.empty()) can.emplace_back([this, r] { deliver_packet(r); });
    }
    if (can.empty()) return false;
    can[random_() % can.size()]();
    return true;
  }

  void collect(int r, std::vector<std::function<void()>>& can) {
    RankState& rank = ranks_[static_cast<std::size_t>(r)];
    if (!rank.running) {
      if (rank.call < kCalls) can.emplace_back([this, r] { begin(r); });
      return;
    }
    bool busy = false;
    for (std::size_t b = 0; b < rank.blocks.size(); ++b) {
      Block& block = rank.blocks[b];
      while (block.epoch < block.epochs.size() && is_over(block.epochs[block.epoch])) ++block.epoch;
      if (block.epoch == block.epochs.size()) continue;
      busy = true;
      auto& items = block.epochs[block.epoch];
      std::set<int> threads;  // that are held up
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].done) continue;
        if (items[i].element >= 0 && !threads.insert(items[i].element).second) continue;
        if (is_held_up(items, i) || !can_happen(r, static_cast<int>(b), items[i])) continue;
        can.emplace_back([this, r, b, i] { perform(r, static_cast<int>(b), i); });
      }
    }
    if (!busy) can.emplace_back([this, r] { end(r); });
  }

  // Threads take one operation after the other, and some stay with one that waits.
  static bool is_held_up(const std::vector<PlanItem>& items, std::size_t i) {
    const bool packets = items[i].element < 0 && is_packets(items[i].op->at("name"));
    for (std::size_t before = 0; before < i; ++before) {
      if (items[before].done) continue;
      if (items[before].element >= 0 && packets) return true;
      if (items[before].element < 0 && waits_for_packets(*items[before].op) &&
          (packets || items[i].element >= 0)) {
        return true;
      }
    }
    return false;
  }

  static bool is_over(const std::vector<PlanItem>& items) {
    return std::all_of(items.begin(), items.end(), [](const PlanItem& item) { return item.done; });
  }

  void begin(int r) {
    RankState& rank = ranks_[static_cast<std::size_t>(r)];
    rank.running = true;
    rank.blocks.clear();
    for (const Json& tb : gpu(r).at("threadblocks")) {
      rank.blocks.push_back({epochs_of(tb.at("ops")), 0});
    }
    begin_memory(r, rank.call);
  }

  void end(int r) {
    RankState& rank = ranks_[static_cast<std::size_t>(r)];
    deliver(r);
    wrong_ = wrong_ || !is_right(r, rank.call);
    spoil(r);
    rank.running = false;
    ++rank.call;
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

  // The half of doubled scratch that is rank r's turn.
  bool second_half(int r) const {
    return doubled_ && ranks_[static_cast<std::size_t>(r)].call % 2 == 1;
  }
  Value& value(int r, const Span& span, int place) {
    return at(span.rank, span.type, span.first + place, span.own_half && second_half(r));
  }
  // Who touches packets, touches its own call's half of whosever scratch.
  Packet& packet(int r, const Span& span, int place) {
    if (span.type != 's') throw std::out_of_range("packets");
    return packet_at(span.rank, span.first + place, second_half(r));
  }
  int flag(int r) const { return ranks_[static_cast<std::size_t>(r)].call + 1; }

  bool have_packets_come(int r, int b, const Json& op) {
    const Json& sources = op.at("src_buff");
    for (std::size_t i = first_packet_read(op); i < sources.size(); ++i) {
      for (const Span& span : spans(r, b, op, sources.at(i))) {
        for (int place = 0; place < span.count; ++place) {
          if (packet(r, span, place).flag != flag(r)) return false;
        }
      }
    }
    return true;
  }

  bool can_happen(int r, int b, const PlanItem& item) {
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
        if (each.epoch >= each.epochs.size() || each.epochs[each.epoch].empty()) continue;
        const PlanItem& other = each.epochs[each.epoch].front();
        arrived += other.op->at("name") == "barrier" &&
                           other.op->at("barrier_id") == item.op->at("barrier_id")
                       ? 1
                       : 0;
      }
      return arrived >= item.op->at("num_threadblocks").get<int>();
    }
    if (item.element < 0 && waits_for_packets(*item.op)) return have_packets_come(r, b, *item.op);
    if (name == "flush" || item.is_issued) {
      return ports_[channel(r, b, *item.op, item.element, true)].empty();
    }
    return true;
  }

  void perform(int r, int b, std::size_t i) {
    Block& own = ranks_[static_cast<std::size_t>(r)].blocks[static_cast<std::size_t>(b)];
    PlanItem& item = own.epochs[own.epoch][i];
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
      if (item.element < 0) return;  // an rppkt that has waited
      const Key key = channel(r, b, op, item.element, true);
      deliver(r);  // what is handed to the engine is released
      if (is_data(name)) ports_[key].push_back({&op, item.element, false, flag(r)});
      if (name == "signal" || name == "rlxsignal" || name == "pws" || name == "pwsf") {
        ports_[key].push_back({&op, item.element, true, flag(r)});
      }
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
      if (each.epoch >= each.epochs.size() || each.epochs[each.epoch].empty()) continue;
      PlanItem& other = each.epochs[each.epoch].front();
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
    move_pair(r, port_block_[key], *work.op, static_cast<std::size_t>(work.element), work.flag);
  }

  void move_pair(int r, int b, const Json& op, std::size_t i, int flag) {
    const bool one = op.at("name") == "rppkt";
    const Span from = spans(r, b, op, op.at("src_buff").at(one ? 0 : i)).at(0);
    const Span to = spans(r, b, op, op.at("dst_buff").at(i)).at(0);
    if (std::get<2>(channel(r, b, op, static_cast<int>(i), true)) != to.rank) {
      throw std::out_of_range("another rank's buffer");
    }
    for (int place = 0; place < from.count; ++place) {
      if (is_packets(op.at("name"))) {
        if (from.type != 's' || to.type != 's') throw std::out_of_range("packets");
        const bool second = doubled_ && flag % 2 == 0;
        packet_at(to.rank, to.first + place, second) =
            packet_at(from.rank, from.first + place, second);
      } else {
        value(r, to, place) = value(r, from, place);
      }
    }
  }

  // By the rank's threads: here at once, elsewhere when it arrives.
  void store(int r, int b, const Json& op, std::size_t i, int place, Value stored) {
    const bool packets = i >= first_packet_written(op);
    for (const Span& span : spans(r, b, op, op.at("dst_buff").at(i))) {
      if (packets) {
        memory(r).packet_stores.push_back({&packet(r, span, place), {stored, flag(r)}});
        if (!span.away) {
          *memory(r).packet_stores.back().to = memory(r).packet_stores.back().packet;
          memory(r).packet_stores.pop_back();
        }
      } else if (span.away) {
        memory(r).stores.push_back({&value(r, span, place), stored});
      } else {
        value(r, span, place) = stored;
      }
    }
  }

  Value load(int r, int b, const Json& op, std::size_t i, int place) {
    Value sum = 0;
    for (const Span& span : spans(r, b, op, op.at("src_buff").at(i))) {
      sum += i >= first_packet_read(op) ? packet(r, span, place).value : value(r, span, place);
    }
    return sum;
  }

  void move_data(int r, int b, const Json& op) {
    const std::string name = op.at("name");
    const Json& sources = op.at("src_buff");
    if (std::any_of(sources.begin(), sources.end(), [](const Json& source) {
          return source.contains("buffer_id") || source.contains("switch_channel_id");
        })) {
      deliver(r);  // it may read what it wrote
    }
    const int count = spans(r, b, op, sources.at(0)).at(0).count;
    const std::size_t destinations = op.at("dst_buff").size();
    if (name == "put" || name == "get" || name == "copy" || name == "ppkt") {
      for (std::size_t i = 0; i < destinations; ++i) {
        for (int place = 0; place < count; ++place) {
          store(r, b, op, i, place, load(r, b, op, i, place));
        }
      }
      return;
    }
    for (int place = 0; place < count; ++place) {
      Value sum = 0;
      for (std::size_t i = 0; i < sources.size(); ++i) sum += load(r, b, op, i, place);
      for (std::size_t i = 0; i < destinations; ++i) store(r, b, op, i, place, sum);
    }
  }

 public:
  void set_root(int root) { root_ = root; }

 private:
  std::vector<RankState> ranks_;
  bool wrong_ = false;
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
