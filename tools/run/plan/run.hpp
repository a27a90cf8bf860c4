// Executes a rank's threadblocks of an MSCCL++ plan.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "run/mail.hpp"
#include "run/plan_task.hpp"
#include "run/rank_run.hpp"
#include "run/wait_set.hpp"
#include "run/watchdog.hpp"

namespace forestcoll::run {

/// How a call's bytes lie in a plan's chunks.
struct PlanCut {
  std::int64_t chunk_bytes = 0;
  std::int64_t chunk_elements = 0;
  std::int64_t scratch_bytes = 0;  ///< of this rank
  std::int64_t grain = 16;         ///< bytes of a packet's data
};

/// Every threadblock goes on until it has to wait: for a signal, a barrier, packets, or the memory
/// of another rank, which is written and read by letters. What port channels are given is done by
/// one proxy for the rank, in order, when no threadblock can go on, that is, as late as it may be.
/// A switch channel is the memory of all ranks of its group, read one by one and added up, and
/// written one by one. Packets lie apart from other scratch, with the number of the call as their
/// flag. A call ends when all ranks have ended theirs: until then others may want to read here.
class PlanRun : public RankRun {
 public:
  PlanRun(int rank, std::vector<std::vector<PlanTask>> tasks, std::vector<std::int64_t> semaphores,
          const PlanCut& cut, ElementType type, Watchdog& watchdog);

  void call(Memory& memory, ReduceOp op) override;

 private:
  enum class Phase : std::uint8_t { begin, reads, sends, flushes };
  struct Block {
    const std::vector<PlanTask>* tasks = nullptr;
    std::size_t at = 0;
    std::int64_t round = 0;  // of the pipeline that it is in
    Phase phase = Phase::begin;
    bool has_arrived = false;                      // at its barrier,
    std::int64_t arrival = 0;                      // which so many had passed before
    std::int64_t letters = 0;                      // not yet sent, or not yet answered
    std::int64_t errands = 0;                      // of the proxy, for this threadblock
    std::vector<std::vector<std::byte>> operands;  // read from others
    [[nodiscard]] bool is_done() const { return at == tasks->size(); }
    [[nodiscard]] const PlanTask& task() const { return (*tasks)[at]; }
  };
  // Bytes of every operand of an operation: all, or those of a pipeline's round.
  struct Extent {
    std::int64_t begin = 0, bytes = 0;
  };
  // What a port channel was given.
  struct Errand {
    std::int64_t block = 0;
    bool is_signal = false;
    PlanSpan from, to;
    Extent extent;
    PlanEnd end;
  };
  struct Barrier {
    std::int64_t here = 0, passed = 0;
  };
  struct Stashed {
    int from = 0;
    Letter letter;
    std::vector<std::byte> data;
  };
  using Channel = std::pair<int, std::int64_t>;  // other rank; kind and ordinal

  // Each tells whether the threadblock could go on.
  bool advance(std::int64_t block);
  bool execute(std::int64_t block);
  bool arrive(Block& block);
  bool signal(std::int64_t block);
  bool wait(const Block& block);
  bool acquire(const Block& block);
  bool move_data(std::int64_t block);
  bool hand_to_proxy(std::int64_t block);
  void release(const Block& block);

  void next(Block& block) const;
  [[nodiscard]] Extent extent_of(const Block& block) const;
  [[nodiscard]] std::int64_t rounds_of(const Block& block) const;
  [[nodiscard]] bool has_packets(const PlanSpan& span, const Extent& extent) const;
  void ask_for_operands(std::int64_t block, const Extent& extent);
  void write_results(std::int64_t block, const Extent& extent);
  [[nodiscard]] std::byte* local(const PlanSpan& span, const Extent& extent);
  [[nodiscard]] const std::byte* operand(Block& block, std::size_t i, const Extent& extent);
  void write(const PlanSpan& span, const Extent& extent, const std::byte* data, std::int64_t flag,
             std::int64_t owner);
  void set_flags(std::int64_t begin, std::int64_t bytes, std::int64_t flag);
  void send_signal(const PlanEnd& end, std::int64_t owner);

  bool run_proxy();
  void settle(Watchdog::Guard& guard);  // until nobody here can go on without a letter
  void receive(const WaitSet::Done& done);
  void obey(int from, const Letter& letter, const std::byte* data);
  void note_sent(std::int64_t owner);
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::string describe(const Block& block) const;

  int rank_;
  std::vector<std::vector<PlanTask>> tasks_;
  PlanCut cut_;
  ElementType type_;
  Watchdog& watchdog_;
  WaitSet waits_;
  Mail mail_;

  Memory* memory_ = nullptr;  // of the call
  ReduceOp op_ = ReduceOp::sum;
  std::int64_t call_ = 0;
  std::vector<Block> blocks_;
  std::deque<Errand> errands_;
  std::int64_t errand_letters_ = 0;  // of the one under way
  bool is_errand_under_way_ = false;
  std::map<std::int64_t, Barrier> barriers_;
  std::vector<std::int64_t> semaphores_;
  std::map<Channel, std::int64_t> signals_;
  std::vector<std::byte> packets_;
  std::vector<std::int64_t> flags_;  // of each grain of them
  std::vector<Stashed> stashed_;     // of the next call
  bool has_ended_everywhere_ = false;
};

}  // namespace forestcoll::run
