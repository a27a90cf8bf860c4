// A runtime in miniature: it runs a schedule on numbers, with threadblocks interleaved at random,
// and says whether the result was right. Slow, obvious, and unaware of the verifier.
#pragma once

#include <deque>
#include <map>
#include <random>
#include <tuple>

#include "audit/model.hpp"

namespace audit_test {

enum class Outcome { right, wrong, hangs, invalid };

class Executor {
 public:
  Executor(const Algo& algo, bool in_place, int m, int depth, std::uint64_t seed)
      : algo_(algo), n_(algo.ranks()), in_place_(in_place), m_(m), depth_(depth), random_(seed) {}

  /// Whether every rank ends with the same values, where a + b is b + a and (a + b) + c is another
  /// value than a + (b + c), as with floating-point numbers.
  bool add_in_order() {
    in_order_ = true;
    run();
    for (int r = 1; r < n_; ++r) {
      for (int c = 0; c < algo_.nchunks; ++c) {
        if (memory(r, 'o', c) != memory(0, 'o', c)) return false;
      }
    }
    return true;
  }

  Outcome run() {
    const bool divided =
        algo_.coll == "allgather" || algo_.coll == "reducescatter" || algo_.coll == "alltoall";
    if (divided && algo_.nchunks % n_ != 0) return Outcome::invalid;
    set_up();
    std::vector<std::size_t> ready;
    while (true) {
      ready.clear();
      for (std::size_t b = 0; b < blocks_.size(); ++b) {
        if (can_move(blocks_[b])) ready.push_back(b);
      }
      if (ready.empty()) break;
      // Now and then another threadblock becomes the favourite, so that some run far ahead.
      if (random_() % 8 == 0) favourite_ = random_() % blocks_.size();
      std::size_t pick = ready[random_() % ready.size()];
      if (std::find(ready.begin(), ready.end(), favourite_) != ready.end()) pick = favourite_;
      move(blocks_[pick]);
      if (invalid_) return Outcome::invalid;
    }
    for (const Block& b : blocks_) {
      if (b.step < b.tb->steps.size()) return Outcome::hangs;
    }
    for (const auto& [key, queue] : fifo_) {
      if (!queue.empty()) return Outcome::wrong;  // the next call would receive it
    }
    return results_are_right() ? Outcome::right : Outcome::wrong;
  }

 private:
  using Value = std::uint64_t;
  struct Block {
    int rank = 0;
    const Tb* tb = nullptr;
    std::size_t step = 0;
    int done = 0;   // chunks of the step
    int phase = 0;  // read, write, deliver
    int flag = 0;   // last signalled step + 1
    std::vector<Value> values;
  };
  using Key = std::tuple<int, int, int>;  // from, to, channel

  void set_up() {
    for (int r = 0; r < n_; ++r) {
      const Gpu& gpu = algo_.gpus[static_cast<std::size_t>(r)];
      first_block_.push_back(blocks_.size());
      for (const Tb& tb : gpu.tbs) {
        Block b;
        b.rank = r;
        b.tb = &tb;
        blocks_.push_back(b);
      }
    }
    const int part = algo_.nchunks / n_;
    memory_.resize(static_cast<std::size_t>(n_));
    for (int r = 0; r < n_; ++r) {
      auto& chunks = memory_[static_cast<std::size_t>(r)];
      chunks.resize(static_cast<std::size_t>(3 * algo_.nchunks +
                                             algo_.gpus[static_cast<std::size_t>(r)].s_chunks));
      for (Value& v : chunks) v = random_();
      const int inputs = algo_.coll == "allgather" ? part : algo_.nchunks;
      for (int c = 0; c < inputs; ++c) {
        const int index = algo_.coll == "allgather" ? r * part + c : c;
        memory(r, 'i', c) = input_[{r, index}] = random_();
      }
    }
  }

  // In place all lies in the first nchunks; out of place the output has its own.
  Value& memory(int rank, char buf, int off) {
    const int part = algo_.nchunks / n_;
    int place = off;
    if (buf == 'o' && !in_place_) place += algo_.nchunks;
    if (buf == 's') place += 2 * algo_.nchunks;
    if (in_place_ && ((buf == 'i' && algo_.coll == "allgather") ||
                      (buf == 'o' && algo_.coll == "reducescatter"))) {
      place += rank * part;
    }
    return memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(place)];
  }

  // What a step names, within the sizes that the file declares.
  Value& at(int rank, char buf, int off) {
    const Gpu& gpu = algo_.gpus[static_cast<std::size_t>(rank)];
    const int size = buf == 'i' ? gpu.i_chunks : buf == 'o' ? gpu.o_chunks : gpu.s_chunks;
    if (off >= 0 && off < size) return memory(rank, buf, off);
    invalid_ = true;
    return memory_[static_cast<std::size_t>(rank)][0];
  }

  static Key out_key(const Block& b) { return {b.rank, b.tb->send, b.tb->chan}; }
  static Key in_key(const Block& b) { return {b.tb->recv, b.rank, b.tb->chan}; }

  bool can_move(Block& b) {
    if (b.step >= b.tb->steps.size()) return false;
    if (b.phase > 0) return true;
    const Step& s = b.tb->steps[b.step];
    if (b.done == 0 && s.depid >= 0) {
      const auto& tbs = algo_.gpus[static_cast<std::size_t>(b.rank)].tbs;
      if (s.depid >= static_cast<int>(tbs.size())) return false;
      const Block& other = blocks_[first_block_[static_cast<std::size_t>(b.rank)] +
                                   static_cast<std::size_t>(s.depid)];
      if (other.flag <= s.deps) return false;
    }
    if (s.receives() && fifo_[in_key(b)].empty()) return false;
    if (s.sends() && static_cast<int>(fifo_[out_key(b)].size()) + reserved_[out_key(b)] >= depth_) {
      return false;
    }
    return true;
  }

  void move(Block& b) {
    const Step& s = b.tb->steps[b.step];
    const int count = std::min(m_, s.cnt - b.done);
    if (s.type == "nop") {
      ++b.step;
      return;
    }
    if (b.phase == 0) {
      read(b, s, count);
    } else if (b.phase == 1) {
      for (int i = 0; i < count && s.writes_dst(); ++i) {
        at(b.rank, s.dstbuf, s.dstoff + b.done + i) = b.values[static_cast<std::size_t>(i)];
      }
    } else {
      if (s.receives() && fifo_[in_key(b)].empty()) {
        invalid_ = true;  // another threadblock on the same connection took it
        return;
      }
      if (s.receives()) fifo_[in_key(b)].pop_front();
      if (s.sends()) {
        fifo_[out_key(b)].push_back(b.values);
        --reserved_[out_key(b)];
      }
      b.done += count;
      if (b.done >= s.cnt) {
        ++b.step;
        b.done = 0;
        if (s.hasdep == 1) b.flag = static_cast<int>(b.step);
      }
    }
    b.phase = (b.phase + 1) % 3;
  }

  void read(Block& b, const Step& s, int count) {
    b.values.assign(static_cast<std::size_t>(count), 0);
    if (s.receives()) {
      const auto& message = fifo_[in_key(b)].front();
      if (static_cast<int>(message.size()) != count) invalid_ = true;
      for (std::size_t i = 0; i < b.values.size() && !invalid_; ++i) b.values[i] = message[i];
    }
    for (int i = 0; i < count; ++i) {
      Value& v = b.values[static_cast<std::size_t>(i)];
      if (s.reads_src()) {
        const Value source = at(b.rank, s.srcbuf, s.srcoff + b.done + i);
        v = s.receives() ? sum(v, source) : source;
      }
      if (s.type == "re") v = sum(v, at(b.rank, s.dstbuf, s.dstoff + b.done + i));
    }
    if (s.sends()) ++reserved_[out_key(b)];
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
    if (algo_.coll == "allgather") return input_[{chunk / part, chunk}];
    if (algo_.coll == "broadcast") return input_[{0, chunk}];
    if (algo_.coll == "alltoall") return input_[{chunk / part, rank * part + chunk % part}];
    return total(algo_.coll == "reducescatter" ? rank * part + chunk : chunk);
  }

  bool results_are_right() {
    const int part = algo_.nchunks / n_;
    for (int r = 0; r < (algo_.coll == "reduce" ? 1 : n_); ++r) {
      const int outputs = algo_.coll == "reducescatter" ? part : algo_.nchunks;
      for (int c = 0; c < outputs; ++c) {
        if (memory(r, 'o', c) != expected(r, c)) return false;
      }
      if (in_place_) continue;
      for (const auto& [key, value] : input_) {
        if (key.first != r) continue;
        const int c = algo_.coll == "allgather" ? key.second - r * part : key.second;
        if (memory(r, 'i', c) != value) return false;
      }
    }
    return true;
  }

  const Algo& algo_;
  int n_;
  bool in_place_;
  int m_, depth_;
  std::mt19937_64 random_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> first_block_;
  std::vector<std::vector<Value>> memory_;
  std::map<std::pair<int, int>, Value> input_;
  std::map<Key, std::deque<std::vector<Value>>> fifo_;
  std::map<Key, int> reserved_;
  std::size_t favourite_ = 0;
  bool invalid_ = false;
  bool in_order_ = false;
};

/// Whether an allreduce leaves the same bits on every rank.
inline bool add_in_order(const Algo& algo) {
  return Executor(algo, algo.inplace == 1, 1, 8, 1).add_in_order();
}

/// The worst outcome over splittings and many interleavings.
inline Outcome execute(const Algo& algo, int runs) {
  int most = 1;
  for (const Gpu& gpu : algo.gpus) {
    for (const Tb& tb : gpu.tbs) {
      for (const Step& s : tb.steps) most = std::max(most, s.cnt);
    }
  }
  for (int m = 1; m <= most; ++m) {
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
