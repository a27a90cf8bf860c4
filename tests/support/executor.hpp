// A runtime in miniature: it runs a schedule on numbers, with threadblocks interleaved at random,
// and says whether the result was right. Slow, obvious, and unaware of the library.
//
// Every threadblock is a process; connections are queues that hold a bounded number of operations;
// a dependency waits for a flag that only steps with `hasdep` raise. Memory is, per rank, the input
// and the output, which in place overlap as the collective says, and scratch. Vector clocks, joined
// by messages and by flags, find every pair of accesses that nothing orders, where that is asked
// for.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>

#include "support/algo.hpp"

namespace audit_test {

enum class Outcome { right, wrong, races, hangs, invalid };

class Executor {
 public:
  /// `m`: chunks per operation; `depth`: operations in flight on a connection.
  Executor(const Algo& algo, bool in_place, int m, int depth, std::uint64_t seed)
      : algo_(algo),
        n_(algo.ranks()),
        parts_(parts_of(algo)),
        equal_(has_equal_parts(algo)),
        in_place_(in_place),
        m_(m),
        depth_(depth),
        random_(seed) {}

  /// Two accesses to a chunk that nothing orders are wrong, whatever their values.
  void watch_races() { watches_ = true; }

  using Value = std::uint64_t;
  /// What an allreduce leaves on every rank, where a + b is b + a and (a + b) + c is another value
  /// than a + (b + c), as with floating-point numbers. The input is the same for every seed.
  std::vector<std::vector<Value>> sums_in_order() {
    in_order_ = true;
    run();
    std::vector<std::vector<Value>> sums(static_cast<std::size_t>(n_));
    for (int r = 0; r < n_; ++r) {
      for (int c = 0; c < algo_.nchunks; ++c) {
        sums[static_cast<std::size_t>(r)].push_back(cell(r, 'o', c).value);
      }
    }
    return sums;
  }

  Outcome run() {
    const bool divided =
        algo_.coll == "allgather" || algo_.coll == "reducescatter" || algo_.coll == "alltoall";
    if (divided && parts_.back() != algo_.nchunks) return Outcome::invalid;
    set_up();
    while (const auto next = pick()) {
      move(*next);
      if (invalid_) return Outcome::invalid;
      if (watches_ && !complaint_.empty()) return Outcome::races;
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].step < blocks_[b].tb->steps.size()) {
        complain(b, "is stuck");
        return Outcome::hangs;
      }
    }
    for (const auto& [key, queue] : fifo_) {
      if (queue.messages.empty()) continue;
      complaint_ = "a message is never received";  // the next call would receive it
      return Outcome::wrong;
    }
    return results_are_right() ? Outcome::right : Outcome::wrong;
  }

  /// What was wrong, and where; may be empty where the schedule is invalid.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  using Clock = std::vector<std::int64_t>;  // by threadblock
  struct Access {
    std::size_t block;
    std::int64_t time;
  };
  struct Cell {
    Value value = 0;
    std::optional<Access> write = {};  // the last one
    std::vector<Access> reads = {};    // since then
  };
  struct Message {
    std::vector<Value> values;
    Clock clock;
  };
  struct Queue {
    std::deque<Message> messages;
    int reserved = 0;
  };
  struct Block {
    int rank = 0;
    const Tb* tb = nullptr;
    std::size_t step = 0;
    int done = 0;   // chunks of the step
    int phase = 0;  // read, write, deliver
    int flag = 0;   // last signalled step + 1
    std::vector<Value> values;
    Queue *in = nullptr, *out = nullptr;
    Clock clock;
    std::map<int, Clock> raised;  // by step: the clock when it raised the flag
  };

  void set_up() {
    for (int r = 0; r < n_; ++r) {
      first_block_.push_back(blocks_.size());
      for (const Tb& tb : algo_.gpus[static_cast<std::size_t>(r)].tbs) {
        Block b;
        b.rank = r;
        b.tb = &tb;
        b.in = &fifo_[{tb.recv, r, tb.chan}];
        b.out = &fifo_[{r, tb.send, tb.chan}];
        blocks_.push_back(std::move(b));
      }
    }
    for (Block& b : blocks_) b.clock.assign(watches_ ? blocks_.size() : 0, 0);
    std::mt19937_64 data(1);
    memory_.resize(static_cast<std::size_t>(n_));
    for (int r = 0; r < n_; ++r) {
      auto& chunks = memory_[static_cast<std::size_t>(r)];
      chunks.resize(static_cast<std::size_t>(3 * algo_.nchunks +
                                             algo_.gpus[static_cast<std::size_t>(r)].s_chunks));
      for (Cell& each : chunks) each.value = data();
      const bool part = algo_.coll == "allgather";
      for (int c = 0; c < (part ? size(r) : algo_.nchunks); ++c) {
        Cell& from = part ? own(r, c) : cell(r, 'i', c);
        from.value = input_[{r, part ? begin(r) + c : c}] = data();
      }
    }
  }

  // One of those that can move, if any. Now and then another threadblock becomes the favourite, so
  // that some run far ahead.
  std::optional<std::size_t> pick() {
    if (blocks_.empty()) return std::nullopt;
    if (random_() % 8 == 0) favourite_ = random_() % blocks_.size();
    if (can_move(favourite_)) return favourite_;
    constexpr int kGuesses = 8;  // before all are asked
    for (int i = 0; i < kGuesses; ++i) {
      const std::size_t b = random_() % blocks_.size();
      if (can_move(b)) return b;
    }
    ready_.clear();
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (can_move(b)) ready_.push_back(b);
    }
    if (ready_.empty()) return std::nullopt;
    return ready_[random_() % ready_.size()];
  }

  [[nodiscard]] int begin(int rank) const { return parts_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int size(int rank) const { return begin(rank + 1) - begin(rank); }
  [[nodiscard]] int owner(int chunk) const {
    int rank = 0;
    while (chunk >= begin(rank + 1)) ++rank;
    return rank;
  }
  // A chunk of the rank's own part, where the caller has it.
  Cell& own(int rank, int c) {
    const char other = algo_.coll == "allgather" ? 'o' : 'i';
    return in_place_ ? cell(rank, other, begin(rank) + c) : cell(rank, other == 'o' ? 'i' : 'o', c);
  }

  // In place all lies in the first nchunks; out of place the output has its own. A call in place
  // has its part at rank × count: where parts are unequal, the caller's lies elsewhere.
  Cell& cell(int rank, char buf, int off) {
    int place = off;
    if (buf == 'o' && !in_place_) place += algo_.nchunks;
    if (buf == 's') place += 2 * algo_.nchunks;
    if (in_place_ && ((buf == 'i' && algo_.coll == "allgather") ||
                      (buf == 'o' && algo_.coll == "reducescatter"))) {
      place += equal_ ? begin(rank) : algo_.nchunks;
    }
    return memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(place)];
  }

  // What a step names, within the sizes that the file declares.
  Cell& at(std::size_t b, char buf, int off) {
    const int rank = blocks_[b].rank;
    const Gpu& gpu = algo_.gpus[static_cast<std::size_t>(rank)];
    const int size = buf == 'i' ? gpu.i_chunks : buf == 'o' ? gpu.o_chunks : gpu.s_chunks;
    if (off >= 0 && off < size) return cell(rank, buf, off);
    invalid_ = true;
    complain(b, "names a chunk outside of its buffer");
    return memory_[static_cast<std::size_t>(rank)][0];
  }

  Value read(std::size_t b, char buf, int off) {
    Cell& from = at(b, buf, off);
    if (watches_) {
      if (from.write && !is_before(*from.write, b)) complain(b, "reads what may not be there yet");
      from.reads.push_back({b, blocks_[b].clock[b]});
    }
    return from.value;
  }

  void write(std::size_t b, char buf, int off, Value value) {
    Cell& to = at(b, buf, off);
    to.value = value;
    if (!watches_) return;
    if (to.write && !is_before(*to.write, b)) complain(b, "writes what may be written still");
    for (const Access& access : to.reads) {
      if (!is_before(access, b)) complain(b, "writes what may be read still");
    }
    to.reads.clear();
    to.write = Access{b, blocks_[b].clock[b]};
  }

  [[nodiscard]] bool is_before(const Access& access, std::size_t b) const {
    return access.time <= blocks_[b].clock[access.block];
  }

  static void join(Clock& clock, const Clock& other) {
    for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
  }

  void complain(std::size_t b, const std::string& what) {
    if (!complaint_.empty()) return;
    const Block& block = blocks_[b];
    complaint_ =
        fmt::format("rank {}, threadblock {}, step {}: {}", block.rank,
                    b - first_block_[static_cast<std::size_t>(block.rank)], block.step, what);
  }

  const Block* awaited(const Block& b, const Step& s) const {
    const auto& tbs = algo_.gpus[static_cast<std::size_t>(b.rank)].tbs;
    if (s.depid >= static_cast<int>(tbs.size())) return nullptr;
    return &blocks_[first_block_[static_cast<std::size_t>(b.rank)] +
                    static_cast<std::size_t>(s.depid)];
  }

  bool can_move(std::size_t number) {
    const Block& b = blocks_[number];
    if (b.step >= b.tb->steps.size()) return false;
    if (b.phase > 0) return true;
    const Step& s = b.tb->steps[b.step];
    if (b.done == 0 && s.depid >= 0) {
      const Block* other = awaited(b, s);
      if (other == nullptr || other->flag <= s.deps) return false;
    }
    if (s.receives() && b.in->messages.empty()) return false;
    return !s.sends() || static_cast<int>(b.out->messages.size()) + b.out->reserved < depth_;
  }

  void move(std::size_t number) {
    Block& b = blocks_[number];
    const Step& s = b.tb->steps[b.step];
    const int count = std::min(m_, s.cnt - b.done);
    if (b.phase == 0) begin(number, s);
    if (s.type == "nop") {
      finish_step(b, s);
      return;
    }
    if (b.phase == 0) {
      read_operands(number, s, count);
    } else if (b.phase == 1) {
      for (int i = 0; i < count && s.writes_dst(); ++i) {
        write(number, s.dstbuf, s.dstoff + b.done + i, b.values[static_cast<std::size_t>(i)]);
      }
    } else {
      if (s.receives() && b.in->messages.empty()) {
        invalid_ = true;  // another threadblock on the same connection took it
        return;
      }
      if (s.receives()) b.in->messages.pop_front();
      if (s.sends()) {
        b.out->messages.push_back({b.values, b.clock});
        --b.out->reserved;
      }
      b.done += count;
      if (b.done >= s.cnt) finish_step(b, s);
    }
    b.phase = (b.phase + 1) % 3;
  }

  // What the operation comes after.
  void begin(std::size_t number, const Step& s) {
    if (!watches_) return;
    Block& b = blocks_[number];
    if (b.done == 0 && s.depid >= 0) {
      const auto raised = awaited(b, s)->raised.find(s.deps);
      if (raised != awaited(b, s)->raised.end()) join(b.clock, raised->second);
    }
    if (s.receives()) join(b.clock, b.in->messages.front().clock);
    ++b.clock[number];
  }

  void finish_step(Block& b, const Step& s) {
    if (s.hasdep == 1 && watches_) b.raised[static_cast<int>(b.step)] = b.clock;
    ++b.step;
    b.done = 0;
    if (s.hasdep == 1) b.flag = static_cast<int>(b.step);
  }

  void read_operands(std::size_t number, const Step& s, int count) {
    Block& b = blocks_[number];
    b.values.assign(static_cast<std::size_t>(count), 0);
    if (s.receives()) {
      const auto& message = b.in->messages.front().values;
      if (static_cast<int>(message.size()) != count) {
        invalid_ = true;
        complain(number, "receives a message of another size");
      }
      for (std::size_t i = 0; i < b.values.size() && !invalid_; ++i) b.values[i] = message[i];
    }
    for (int i = 0; i < count; ++i) {
      Value& v = b.values[static_cast<std::size_t>(i)];
      if (s.reads_src()) {
        const Value source = read(number, s.srcbuf, s.srcoff + b.done + i);
        v = s.receives() ? sum(v, source) : source;
      }
      if (s.type == "re") v = sum(v, read(number, s.dstbuf, s.dstoff + b.done + i));
    }
    if (s.sends()) ++b.out->reserved;
    const bool no_peer = (s.sends() && (b.tb->send < 0 || b.tb->send >= n_)) ||
                         (s.receives() && (b.tb->recv < 0 || b.tb->recv >= n_));
    if (no_peer) invalid_ = true;
  }

  [[nodiscard]] Value sum(Value a, Value b) const {
    return in_order_ ? (a ^ b) * 0x9e3779b97f4a7c15U + ((a & b) >> 7) : a + b;
  }

  Value total(int chunk) {
    Value all = 0;
    for (int r = 0; r < n_; ++r) all += input_[{r, chunk}];
    return all;
  }

  Value expected(int rank, int chunk) {
    const int part = algo_.nchunks / n_;
    if (algo_.coll == "allgather") return input_[{owner(chunk), chunk}];
    if (algo_.coll == "broadcast") return input_[{algo_.root, chunk}];
    if (algo_.coll == "alltoall") return input_[{chunk / part, rank * part + chunk % part}];
    return total(algo_.coll == "reducescatter" ? begin(rank) + chunk : chunk);
  }

  bool results_are_right() {
    for (int r = 0; r < n_; ++r) {
      if (algo_.coll == "reduce" && r != algo_.root) continue;
      if (!output_is_right(r) || !input_is_kept(r)) return false;
    }
    return true;
  }

  bool output_is_right(int r) {
    const bool part = algo_.coll == "reducescatter";
    for (int c = 0; c < (part ? size(r) : algo_.nchunks); ++c) {
      if ((part ? own(r, c) : cell(r, 'o', c)).value == expected(r, c)) continue;
      complaint_ = fmt::format("rank {} ends with wrong data in chunk {} of its output", r, c);
      return false;
    }
    return true;
  }

  bool input_is_kept(int r) {
    if (in_place_) return true;
    for (const auto& [key, value] : input_) {
      if (key.first != r) continue;
      const int first = algo_.coll == "allgather" ? begin(r) : 0;
      if (cell(r, 'i', key.second - first).value == value) continue;
      complaint_ = fmt::format("rank {} writes chunk {} of its input", r, key.second - first);
      return false;
    }
    return true;
  }

  const Algo& algo_;
  int n_;
  std::vector<int> parts_;  // where each rank's own begins, and the end
  bool equal_;
  bool in_place_;
  int m_, depth_;
  std::mt19937_64 random_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> first_block_, ready_;
  std::vector<std::vector<Cell>> memory_;
  std::map<std::pair<int, int>, Value> input_;
  std::map<std::tuple<int, int, int>, Queue> fifo_;  // from, to, channel
  std::size_t favourite_ = 0;
  bool invalid_ = false;
  bool in_order_ = false;
  bool watches_ = false;
  std::string complaint_;
};

/// Whether an allreduce leaves the same bits on every rank.
inline bool add_in_order(const Algo& algo) {
  const auto sums = Executor(algo, algo.inplace == 1, 1, 8, 1).sums_in_order();
  return std::all_of(sums.begin(), sums.end(), [&](const auto& sum) { return sum == sums[0]; });
}

/// The largest count of a step.
inline int largest_count(const Algo& algo) {
  int most = 1;
  for (const Gpu& gpu : algo.gpus) {
    for (const Tb& tb : gpu.tbs) {
      for (const Step& s : tb.steps) most = std::max(most, s.cnt);
    }
  }
  return most;
}

/// The worst outcome over splittings and many interleavings.
inline Outcome execute(const Algo& algo, int runs) {
  for (int m = 1; m <= largest_count(algo); ++m) {
    for (int run = 0; run < runs; ++run) {
      const Outcome outcome = Executor(algo, algo.inplace == 1, m, algo.proto == "Simple" ? 2 : 8,
                                       static_cast<std::uint64_t>(run))
                                  .run();
      if (outcome != Outcome::right) return outcome;
    }
  }
  return Outcome::right;
}

}  // namespace audit_test
