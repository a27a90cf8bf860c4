// Executes a rank's threadblocks of an MSCCL++ plan.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "run/mpi/mail.hpp"
#include "run/mpi/wait_set.hpp"
#include "run/plan/buffers.hpp"
#include "run/plan/meetings.hpp"
#include "run/plan/place.hpp"
#include "run/plan/task.hpp"
#include "run/rank_run.hpp"

namespace forestcoll::run {

/// Every threadblock goes on until it has to wait: for a signal, a barrier, packets, or the memory
/// of another rank, which is written and read by letters. What port channels are given is done by
/// one proxy for the rank, in order, when no threadblock can go on, that is, as late as it may be.
/// A switch channel is the memory of all ranks of its group, read one by one and added up, and
/// written one by one. A call ends when all ranks have ended theirs: until then others may want to
/// read here.
class PlanRun : public RankRun {
 public:
  PlanRun(int rank, std::vector<std::vector<PlanTask>> tasks, std::vector<std::int64_t> semaphores,
          const PlanCut& cut, ElementType type, MPI_Comm communicator);

  void begin(Memory& memory, ReduceOp op) override;
  bool advance() override;
  [[nodiscard]] WaitSet& waits() override { return waits_; }
  void note(const WaitSet::Done& done) override;
  [[nodiscard]] std::string describe() const override;

 private:
  enum class TaskStage : std::uint8_t { begin, reads, sends, flushes };
  struct Block {
    PlanPlace place;
    TaskStage stage = TaskStage::begin;
    PlanMeetings::Arrival arrival = {};
    std::int64_t letters = 0;                           // not yet sent, or not yet answered
    std::int64_t errands = 0;                           // of the proxy, for this threadblock
    std::vector<std::vector<std::byte>> operands = {};  // read from others
    [[nodiscard]] const PlanTask& task() const { return place.task(); }
  };
  // What a port channel was given.
  struct Errand {
    std::int64_t block = 0;
    bool is_signal = false;
    PlanSpan from, to;
    PlanExtent extent;
    PlanEnd end;
  };
  struct Stashed {
    int from = 0;
    Letter letter;
    std::vector<std::byte> data;
  };

  // Each tells whether the threadblock could go on.
  bool advance(std::int64_t block);
  bool execute(std::int64_t block);
  bool signal(std::int64_t block);
  bool move_data(std::int64_t block);
  bool hand_to_proxy(std::int64_t block);

  void ask_for_operands(std::int64_t block, const PlanExtent& extent);
  void write_results(std::int64_t block, const PlanExtent& extent);
  [[nodiscard]] const std::byte* operand(Block& block, std::size_t i, const PlanExtent& extent);
  void write(const PlanSpan& span, const PlanExtent& extent, const std::byte* data,
             std::int64_t flag, std::int64_t owner);
  void send_signal(const PlanEnd& end, std::int64_t owner);

  bool run_proxy();
  void obey(int from, const Letter& letter, const std::byte* data);
  void note_sent(std::int64_t owner);
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] std::string describe(const Block& block) const;

  int rank_;
  std::vector<std::vector<PlanTask>> tasks_;
  std::int64_t chunk_bytes_;
  ElementType type_;
  MPI_Comm communicator_;
  WaitSet waits_;
  Mail mail_;

  PlanBuffers buffers_;
  PlanMeetings meetings_;
  ReduceOp op_ = ReduceOp::sum;  // of the call
  std::vector<Block> blocks_;
  std::deque<Errand> errands_;
  std::int64_t errand_letters_ = 0;  // of the one under way
  bool is_errand_under_way_ = false;
  std::vector<Stashed> stashed_;  // of the next call
  bool has_told_ = false;         // the others that the call has ended here
  bool has_ended_everywhere_ = false;
};

}  // namespace forestcoll::run
