// Executes a rank's threadblocks of MSCCL XML.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "audit/common/program.hpp"
#include "run/data/element.hpp"
#include "run/mpi/wait_set.hpp"
#include "run/msccl/cursor.hpp"
#include "run/msccl/cut.hpp"
#include "run/rank_run.hpp"

namespace forestcoll::run {

/// Every threadblock is a state machine that goes on until it has to wait: for a flag of another
/// threadblock, for a message, or for a message of its own to have found a free slot. When none can
/// go on, the rank waits in MPI for what is outstanding.
///
/// A connection has as many slots as the runtime's FIFO, one half of them at either end. The
/// receiver asks for a message once there is a slot for it, and the sender's slot is free again
/// when its message has arrived in one (MPI_Issend); so a send waits, as in the runtime, until the
/// message as many slots before it has been used. Messages of a connection bear its channel as
/// their tag.
class ProgramRun : public RankRun {
 public:
  /// REQUIRES: check_structure and build_step_graph found nothing; both references outlive it.
  /// `holds`: see Connections::hold.
  ProgramRun(const audit::Gpu& gpu, const Cut& cut, ElementType type, bool holds,
             MPI_Comm communicator);

  void begin(Memory& memory, ReduceOp op) override;
  bool advance() override;
  [[nodiscard]] WaitSet& waits() override { return waits_; }
  void note(const WaitSet::Done& done) override;
  [[nodiscard]] std::string describe() const override;

 private:
  struct Block {
    Block(const audit::Threadblock& threadblock, const Cut& cut, std::int64_t most_bytes)
        : program(&threadblock),
          slot_bytes(most_bytes),
          at(threadblock, cut, Cursor::Over::all_steps),
          to_post(threadblock, cut, Cursor::Over::receives),
          has_arrived(static_cast<std::size_t>(cut.slots / 2), false),
          is_leaving(static_cast<std::size_t>(cut.slots / 2), false) {}
    const audit::Threadblock* program;
    std::int64_t slot_bytes;  // that one holds
    Cursor at, to_post;
    std::vector<bool> has_arrived;      // by slot
    std::vector<bool> is_leaving;       // by slot of the sender
    bool is_held = false;               // by the message of its slice
    std::int64_t sends = 0;             // messages so far
    std::int64_t flag = 0;              // steps ended, as others see it
    std::vector<std::int32_t> waiters;  // of its flag
  };

  void post_receives(std::int32_t block);
  void advance(std::int32_t block);
  // What must be there before the slice can be run.
  [[nodiscard]] bool has_flag(const Block& block) const;
  [[nodiscard]] bool has_message(const Block& block) const;
  [[nodiscard]] bool has_room(const Block& block) const;
  [[nodiscard]] bool is_leaving(const Block& block) const;
  // Moves and adds the slice's data; what is to be sent, or null.
  const std::byte* work(Block& block);
  void send(std::int32_t block, const std::byte* message);
  void end_slice(std::int32_t block);
  [[nodiscard]] std::byte* slot(const Block& block, std::int64_t position);
  [[nodiscard]] std::int32_t slots() const { return cut_.slots / 2; }
  [[nodiscard]] std::int64_t slot_bytes(const audit::Threadblock& threadblock) const;
  [[nodiscard]] std::string describe(const Block& block) const;

  const audit::Gpu& gpu_;
  Cut cut_;
  ElementType type_;
  bool holds_;
  std::int64_t element_bytes_;
  MPI_Comm communicator_;
  Memory* memory_ = nullptr;  // of the call
  ReduceOp op_ = ReduceOp::sum;
  std::vector<Block> blocks_;
  std::vector<std::vector<std::byte>> slots_;    // of each threadblock that receives
  std::vector<std::vector<std::byte>> leaving_;  // of each that sends
  std::deque<std::int32_t> ready_;
  WaitSet waits_;
};

}  // namespace forestcoll::run
