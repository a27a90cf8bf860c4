// A slow, obvious machine that runs schedules on symbolic data: the oracle of the lowering tests.
//
// Every threadblock is a process; connections are queues that hold a bounded number of operations;
// a dependency waits for a flag that only steps with `has_dependent` raise. Memory is, per rank,
// the input and the output, which in place overlap as the collective says, and scratch. A value is
// an expression, so that sums in a different order differ. Vector clocks, joined by messages and by
// flags, find every pair of accesses that nothing orders.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/schedule.hpp"

namespace forestcoll::testing {

/// Expressions over the data that the ranks start with; equal expressions have equal ids.
class Expressions {
 public:
  static constexpr int garbage = -1;

  int leaf(int rank, std::int64_t chunk) { return intern({rank, chunk, -1, -1}, {rank}, chunk); }
  int sum(int a, int b) {
    if (a == garbage || b == garbage || chunk_.at(at(a)) != chunk_.at(at(b))) return garbage;
    std::vector<int> ranks = ranks_[at(a)];
    ranks.insert(ranks.end(), ranks_[at(b)].begin(), ranks_[at(b)].end());
    std::sort(ranks.begin(), ranks.end());
    return intern({-1, -1, a, b}, ranks, chunk_[at(a)]);
  }
  /// The ranks whose data are in it, sorted, with repetition.
  [[nodiscard]] const std::vector<int>& ranks(int e) const { return ranks_[at(e)]; }
  [[nodiscard]] std::int64_t chunk(int e) const { return chunk_[at(e)]; }
  /// The sum as the machine would form it in single precision, in the order of the expression.
  template <class Leaf>
  [[nodiscard]] float evaluate(int e, const Leaf& leaf) const {
    const auto& [rank, chunk, a, b] = keys_[at(e)];
    return a < 0 ? leaf(rank, chunk) : evaluate(a, leaf) + evaluate(b, leaf);
  }

 private:
  using Key = std::tuple<int, std::int64_t, int, int>;
  static std::size_t at(int e) { return static_cast<std::size_t>(e); }
  int intern(const Key& key, std::vector<int> ranks, std::int64_t chunk) {
    const auto [it, is_new] = ids_.emplace(key, static_cast<int>(ranks_.size()));
    if (is_new) {
      ranks_.push_back(std::move(ranks));
      chunk_.push_back(chunk);
      keys_.push_back(key);
    }
    return it->second;
  }

  std::map<Key, int> ids_;
  std::vector<std::vector<int>> ranks_;
  std::vector<std::int64_t> chunk_;
  std::vector<Key> keys_;
};

struct MachineOptions {
  std::size_t depth = 1;    ///< operations in flight on a connection
  std::int64_t split = 71;  ///< chunks per operation at most
  unsigned seed = 0;        ///< 0: round robin; odd: random priorities; even: at random
  bool in_place = true;     ///< how the collective is called
};

class Machine {
 public:
  Machine(const Schedule& schedule, MachineOptions options)
      : schedule_(schedule), options_(options), random_(options.seed) {
    const auto n = static_cast<int>(schedule.programs.size());
    for (int r = 0; r < n; ++r) {
      first_process_.push_back(processes_.size());
      for (const auto& block : schedule.programs[Rank(r)].threadblocks) {
        processes_.push_back({r, &block, 0, 0, {}, {}});
      }
      fill_memory(r);
    }
    for (auto& process : processes_) {
      process.clock.assign(processes_.size(), 0);
      process.flags.resize(process.block->steps.size());
    }
  }

  /// Runs to the end. Returns what went wrong first, or nothing.
  std::string run() {
    std::vector<std::size_t> order(processes_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (options_.seed != 0) std::shuffle(order.begin(), order.end(), random_);
    for (bool moved = true; moved && error_.empty();) {
      moved = false;
      for (const std::size_t p : order) {
        if (!error_.empty() || !advance(p)) continue;
        moved = true;
        if (options_.seed % 2 == 1) break;  // the first in `order` that can, always
      }
      if (options_.seed != 0 && options_.seed % 2 == 0) {
        std::shuffle(order.begin(), order.end(), random_);
      }
    }
    if (error_.empty()) check_finished();
    if (error_.empty()) check_result();
    return error_;
  }

  /// The expression that `rank`'s output holds for a chunk of the whole collective.
  [[nodiscard]] int value(int rank, std::int64_t chunk) const {
    const bool is_part = schedule_.collective == Collective::reduce_scatter;
    const std::int64_t place =
        address(rank, {Buffer::output, is_part ? chunk - rank * schedule_.k : chunk});
    return memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(place)].value;
  }
  [[nodiscard]] const Expressions& expressions() const { return values_; }

 private:
  struct Access {
    std::size_t process;
    std::int64_t time;
  };
  struct Cell {
    int value;
    std::vector<Access> writes;  // the last one
    std::vector<Access> reads;   // since then
  };
  using Clock = std::vector<std::int64_t>;
  struct Process {
    int rank;
    const Threadblock* block;
    std::size_t step;
    std::int64_t done;  // chunks of the step
    Clock clock;
    std::vector<Clock> flags;  // of raised steps: the clock at that moment
  };
  struct Packet {
    std::vector<int> values;
    Clock clock;
  };

  bool starts_with(int rank, std::int64_t chunk) const {
    switch (schedule_.collective) {
      case Collective::allgather:
        return chunk / schedule_.k == rank;
      case Collective::broadcast:
        return schedule_.root->value == rank;
      default:
        return true;
    }
  }

  // Room for the input, the output and scratch; in place, the first serves as both buffers.
  void fill_memory(int r) {
    const RankProgram& program = schedule_.programs[Rank(r)];
    std::vector<Cell> cells(static_cast<std::size_t>(2 * schedule_.chunks + program.scratch_chunks),
                            Cell{Expressions::garbage, {}, {}});
    for (std::int64_t c = 0; c < schedule_.chunks; ++c) {
      if (!starts_with(r, c)) continue;
      const bool is_part = schedule_.collective == Collective::allgather;
      const Slice input{Buffer::input, is_part ? c - r * schedule_.k : c};
      cells[static_cast<std::size_t>(address(r, input))].value = values_.leaf(r, c);
    }
    memory_.push_back(std::move(cells));
  }

  // Where a slice lies in a rank's memory.
  std::int64_t address(int rank, const Slice& slice) const {
    if (slice.buffer == Buffer::scratch) return 2 * schedule_.chunks + slice.offset;
    const bool is_input = slice.buffer == Buffer::input;
    if (!options_.in_place) return slice.offset + (is_input ? 0 : schedule_.chunks);
    const bool own_block =
        schedule_.collective == (is_input ? Collective::allgather : Collective::reduce_scatter);
    return slice.offset + (own_block ? rank * schedule_.k : 0);
  }

  // How many chunks a buffer of a rank has.
  std::int64_t size(int rank, Buffer buffer) const {
    const RankProgram& program = schedule_.programs[Rank(rank)];
    return buffer == Buffer::input    ? program.input_chunks
           : buffer == Buffer::output ? program.output_chunks
                                      : program.scratch_chunks;
  }

  std::string place(const Process& process) const {
    return fmt::format("rank {} channel {} send {} recv {} step {}", process.rank,
                       process.block->channel, process.block->send_peer.value,
                       process.block->recv_peer.value, process.step);
  }
  void complain(const Process& process, const std::string& what) {
    if (error_.empty()) error_ = place(process) + ": " + what;
  }
  static void join(Clock& clock, const Clock& other) {
    for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
  }

  int read(std::size_t p, const Slice& slice, std::int64_t part) {
    Process& process = processes_[p];
    if (slice.offset < 0 || slice.offset + part >= size(process.rank, slice.buffer)) {
      complain(process, "reads outside the buffer");
      return Expressions::garbage;
    }
    const std::int64_t chunk = address(process.rank, slice) + part;
    Cell& cell = memory_[static_cast<std::size_t>(process.rank)][static_cast<std::size_t>(chunk)];
    for (const Access& write : cell.writes) {
      if (write.time > process.clock[write.process]) complain(process, "read races with a write");
    }
    cell.reads.push_back({p, process.clock[p]});
    if (cell.value == Expressions::garbage) complain(process, "reads garbage");
    return cell.value;
  }

  void write(std::size_t p, const Slice& slice, std::int64_t part, int value) {
    Process& process = processes_[p];
    if (slice.offset < 0 || slice.offset + part >= size(process.rank, slice.buffer)) {
      return complain(process, "writes outside");
    }
    if (!options_.in_place && slice.buffer == Buffer::input) complain(process, "writes its input");
    const std::int64_t chunk = address(process.rank, slice) + part;
    Cell& cell = memory_[static_cast<std::size_t>(process.rank)][static_cast<std::size_t>(chunk)];
    for (const auto* accesses : {&cell.writes, &cell.reads}) {
      for (const Access& access : *accesses) {
        if (access.time > process.clock[access.process]) {
          complain(process, "write races with an earlier access");
        }
      }
    }
    cell.reads.clear();
    cell.writes = {{p, process.clock[p]}};
    cell.value = value;
  }

  // One operation of process p, if it can do one.
  bool advance(std::size_t p) {
    Process& process = processes_[p];
    if (process.step == process.block->steps.size()) return false;
    const Step& step = process.block->steps[process.step];
    if (step.depends_on && process.done == 0 && !wait_for(process, *step.depends_on)) return false;
    ++process.clock[p];
    if (step.operation == Operation::nop) return finish_step(process, step);
    const std::int64_t begin = process.done;
    const std::int64_t end = std::min(step.count, begin + options_.split);
    if (!perform(p, step, begin, end)) return false;
    process.done = end;
    if (end == step.count) finish_step(process, step);
    return true;
  }

  bool wait_for(Process& process, const StepRef& ref) {
    const auto& program = schedule_.programs[Rank(process.rank)];
    if (ref.threadblock < 0 || ref.threadblock >= std::ssize(program.threadblocks)) {
      complain(process, "depends on a threadblock that is not there");
      return false;
    }
    Process& other = processes_[first_process_[static_cast<std::size_t>(process.rank)] +
                                static_cast<std::size_t>(ref.threadblock)];
    if (ref.step < 0 || ref.step >= std::ssize(other.flags)) {
      complain(process, "depends on a step that is not there");
      return false;
    }
    const Clock& flag = other.flags[static_cast<std::size_t>(ref.step)];
    if (flag.empty()) return false;
    join(process.clock, flag);
    return true;
  }

  bool finish_step(Process& process, const Step& step) {
    if (step.has_dependent) process.flags[process.step] = process.clock;
    ++process.step;
    process.done = 0;
    return true;
  }

  static bool sends(Operation o) {
    return o == Operation::send || o == Operation::recv_copy_send ||
           o == Operation::recv_reduce_send || o == Operation::recv_reduce_copy_send;
  }
  static bool receives(Operation o) {
    return o != Operation::send && o != Operation::copy && o != Operation::reduce;
  }
  static bool adds(Operation o) {
    return o == Operation::recv_reduce_send || o == Operation::recv_reduce_copy ||
           o == Operation::recv_reduce_copy_send || o == Operation::reduce;
  }
  static bool stores(Operation o) {
    return o != Operation::send && o != Operation::recv_reduce_send;
  }

  // Chunks begin … end − 1 of a step; false where it has to wait.
  bool perform(std::size_t p, const Step& step, std::int64_t begin, std::int64_t end) {
    Process& process = processes_[p];
    const Operation o = step.operation;
    auto& in = queues_[{process.block->recv_peer.value, process.rank, process.block->channel}];
    auto& out = queues_[{process.rank, process.block->send_peer.value, process.block->channel}];
    if ((receives(o) && in.empty()) || (sends(o) && out.size() >= options_.depth)) return false;
    Packet packet;
    if (receives(o)) {
      packet = std::move(in.front());
      in.pop_front();
      if (std::ssize(packet.values) != end - begin) {
        complain(process, "receives a message of another size");
        return false;
      }
      join(process.clock, packet.clock);
    } else {
      for (std::int64_t i = begin; i < end; ++i) packet.values.push_back(read(p, step.src, i));
    }
    for (std::int64_t i = begin; i < end; ++i) {
      int& value = packet.values[static_cast<std::size_t>(i - begin)];
      if (adds(o)) value = values_.sum(read(p, receives(o) ? step.src : step.dst, i), value);
      if (stores(o)) write(p, step.dst, i, value);
    }
    packet.clock = process.clock;
    if (sends(o)) out.push_back(std::move(packet));
    return true;
  }

  void check_finished() {
    for (const Process& process : processes_) {
      if (process.step < process.block->steps.size()) return complain(process, "is stuck");
    }
    for (const auto& [ends, queue] : queues_) {
      if (!queue.empty()) error_ = "a message was never received";
    }
  }

  void check_result() {
    const auto n = static_cast<int>(schedule_.programs.size());
    std::vector<int> everyone;
    for (int r = 0; r < n; ++r) everyone.push_back(r);
    for (int r = 0; r < n; ++r) {
      for (std::int64_t c = 0; c < schedule_.chunks; ++c) {
        const int owner = static_cast<int>(c / schedule_.k);
        const Collective coll = schedule_.collective;
        if (coll == Collective::reduce_scatter && owner != r) continue;
        if (coll == Collective::reduce && schedule_.root->value != r) continue;
        std::vector<int> expected = everyone;
        if (coll == Collective::allgather) expected = {owner};
        if (coll == Collective::broadcast) expected = {schedule_.root->value};
        const int found = value(r, c);
        if (found == Expressions::garbage || values_.chunk(found) != c ||
            values_.ranks(found) != expected) {
          error_ = fmt::format("rank {} ends with wrong data in chunk {}", r, c);
        }
      }
    }
  }

  const Schedule& schedule_;
  MachineOptions options_;
  std::mt19937 random_;
  Expressions values_;
  std::vector<Process> processes_;
  std::vector<std::size_t> first_process_;  // of each rank
  std::vector<std::vector<Cell>> memory_;
  std::map<std::tuple<int, int, int>, std::deque<Packet>> queues_;
  std::string error_;
};

/// Runs a schedule as it may be called, for several splits of steps, operations in flight and
/// orders of execution. Returns what went wrong first, or nothing.
inline std::string run_in_many_ways(const Schedule& schedule, unsigned seeds) {
  std::int64_t most = 1;
  for (const auto& program : schedule.programs) {
    for (const auto& block : program.threadblocks) {
      for (const auto& step : block.steps) most = std::max(most, step.count);
    }
  }
  std::set<std::int64_t> splits = {1, 2, 3, most / 2 + 1, most};
  for (const bool in_place : {true, false}) {
    if (!(in_place ? schedule.in_place : schedule.out_of_place)) continue;
    for (const std::int64_t split : splits) {
      if (split > most) continue;
      for (unsigned seed = 0; seed < seeds; ++seed) {
        const std::size_t depth = 1 + seed % 3;
        const std::string error = Machine(schedule, {depth, split, seed, in_place}).run();
        if (error.empty()) continue;
        return fmt::format("{} split {} seed {}: {}", in_place ? "in place" : "out of place", split,
                           seed, error);
      }
    }
  }
  return "";
}

}  // namespace forestcoll::testing
