// What a step calls the memory that it reads, and what it says of memory that it does not read.
#include "schedule/msccl/labels.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "forestcoll/schedule.hpp"
#include "schedule/lowered.hpp"

namespace forestcoll::testing {
namespace {

template <class Visit>
void for_each_step(const Schedule& schedule, Visit visit) {
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    for (const Threadblock& block : schedule.programs[Rank(r)].threadblocks) {
      for (const Step& step : block.steps) visit(Rank(r), block, step);
    }
  }
}

// In place, is this input chunk memory of the output too?
bool is_output(const Schedule& schedule, Rank rank, std::int64_t chunk) {
  if (schedule.collective != Collective::reduce_scatter) return true;
  const std::int64_t own = rank.value * schedule.k;
  return chunk >= own && chunk < own + schedule.k;
}

// RCCL from 6.2 on is sure to see what another threadblock wrote only where it reads `o`.
TEST(Labels, WaitingStepsReadTheOutputByItsName) {
  std::mt19937 random(21);
  for (const Collective collective : all_collectives()) {
    for (const char* target : {"rccl-6", "rccl-6.2", "rccl-6.3"}) {
      std::size_t renamed = 0;
      for (int round = 0; round < 6; ++round) {
        const auto forest = random_forest(collective, 3 + below(random, 3), 2, random);
        const auto schedule = lowered_right(forest, {.target = target, .max_threadblocks = 64}, 2);
        for_each_step(schedule, [&](Rank rank, const Threadblock&, const Step& step) {
          if (!step.depends_on) return;
          if (step.src.buffer == Buffer::input) {
            EXPECT_FALSE(is_output(schedule, rank, step.src.offset));
          }
          renamed += step.operation == Operation::send && step.src.buffer == Buffer::output;
        });
      }
      if (collective == Collective::allreduce || collective == Collective::broadcast) {
        EXPECT_GT(renamed, 0u) << to_string(collective) << " " << target;
      }
    }
  }
}

// Elsewhere nothing depends on the name, and out of place they are two memories.
TEST(Labels, OtherTargetsAndPlacementsKeepTheirs) {
  std::mt19937 random(22);
  const auto forest = random_forest(Collective::allreduce, 5, 2, random);
  for_each_step(lowered_right(forest, {}, 2), [](Rank, const Threadblock&, const Step& step) {
    if (step.depends_on) {
      EXPECT_EQ(step.src.buffer, Buffer::input);
    }
  });
  const LowerOptions apart{
      .target = "rccl-6", .max_threadblocks = 64, .placement = Placement::out_of_place};
  lowered_right(forest, apart, 2);  // the rules of placement are checked there
}

// A step that receives without reading says where its message was sent from.
TEST(Labels, ReceptionsNameThePlaceOfTheirSender) {
  using Connection = std::tuple<Rank, Rank, std::int32_t>;
  std::mt19937 random(23);
  for (const Collective collective : all_collectives()) {
    for (const char* target : {"azure", "rccl-6.3"}) {
      for (const bool forward : {true, false}) {
        const auto forest = random_forest(collective, 5, 2, random);
        const auto schedule = lowered_right(
            forest, {.target = target, .max_threadblocks = 64, .forward = forward}, 2);
        std::map<Connection, std::vector<Slice>> sent;
        for_each_step(schedule, [&](Rank rank, const Threadblock& block, const Step& step) {
          if (!sends(step.operation)) return;
          sent[{rank, block.send_peer, block.channel}].push_back(
              step.operation == Operation::send ? step.src : step.dst);
        });
        std::map<Connection, std::size_t> next;
        std::size_t named = 0, unreachable = 0;
        for_each_step(schedule, [&](Rank rank, const Threadblock& block, const Step& step) {
          if (!receives(step.operation)) return;
          const Connection connection{block.recv_peer, rank, block.channel};
          const Slice& place = sent[connection][next[connection]++];
          const bool stores =
              step.operation == Operation::recv || step.operation == Operation::recv_copy_send;
          if (!stores) return;
          const RankProgram& program = schedule.programs[rank];
          const std::int64_t size = place.buffer == Buffer::input    ? program.input_chunks
                                    : place.buffer == Buffer::output ? program.output_chunks
                                                                     : program.scratch_chunks;
          const bool is_same = step.src.buffer == place.buffer && step.src.offset == place.offset;
          if (place.offset < size) {
            EXPECT_TRUE(is_same);
            ++named;
          } else {
            EXPECT_FALSE(is_same);
            ++unreachable;
          }
        });
        if (forest.broadcast) {
          EXPECT_GT(named, 0u);
        }
        EXPECT_EQ(unreachable > 0 && named == 0, false);
      }
    }
  }
}

constexpr Slice kSource{Buffer::input, 3}, kRelayed{Buffer::scratch, 1}, kKept{Buffer::output, 2};
constexpr std::int64_t kRoom = 4;  // chunks of every buffer

Step moving(Operation operation, Slice src, Slice dst) {
  Step step;
  step.operation = operation;
  step.src = src;
  step.dst = dst;
  return step;
}

/// Rank 0 sends to 1, which hands on to 2 in the step that receives.
IdVector<Rank, RankProgram> relayed() {
  IdVector<Rank, RankProgram> programs;
  const auto add = [&](int recv, int send, Step step) {
    Threadblock block;
    block.recv_peer = recv < 0 ? Rank() : Rank(static_cast<std::size_t>(recv));
    block.send_peer = send < 0 ? Rank() : Rank(static_cast<std::size_t>(send));
    block.steps = {step};
    programs.push_back({kRoom, kRoom, kRoom, {block}});
  };
  add(-1, 1, moving(Operation::send, kSource, kKept));
  add(0, 2, moving(Operation::recv_copy_send, kKept, kRelayed));
  add(1, -1, moving(Operation::recv, kKept, kKept));
  return programs;
}

Step& only_step(IdVector<Rank, RankProgram>& programs, std::size_t rank) {
  return programs[Rank(rank)].threadblocks.front().steps.front();
}

bool reads(const Step& step, const Slice& place) {
  return step.src.buffer == place.buffer && step.src.offset == place.offset;
}

// What a forwarding step sends lies where it stores, not where its own sender had it.
TEST(Labels, AForwardingStepIsASenderAndAReceiver) {
  auto programs = relayed();
  schedule::name_senders(programs);
  EXPECT_TRUE(reads(only_step(programs, 1), kSource));
  EXPECT_TRUE(reads(only_step(programs, 2), kRelayed));
}

// Those that reduce read their source, so it is theirs.
TEST(Labels, AReceptionThatReadsKeepsItsSource) {
  auto programs = relayed();
  only_step(programs, 1).operation = Operation::recv_reduce_copy_send;
  only_step(programs, 2).operation = Operation::recv_reduce_copy;
  schedule::name_senders(programs);
  EXPECT_TRUE(reads(only_step(programs, 1), kKept));
  EXPECT_TRUE(reads(only_step(programs, 2), kKept));
}

// RCCL from 6.2 on looks at the source of a step that waits, though a reception does not read it.
TEST(Labels, AWaitingReceptionKeepsItsSource) {
  auto programs = relayed();
  for (const std::size_t rank : {1, 2}) only_step(programs, rank).depends_on = StepRef{0, 0};
  schedule::name_senders(programs);
  EXPECT_TRUE(reads(only_step(programs, 1), kKept));
  EXPECT_TRUE(reads(only_step(programs, 2), kKept));
}

// Runtimes check the bounds of what they ignore, by the receiver's buffers.
TEST(Labels, APlaceBeyondTheReceiversBufferIsNotNamed) {
  auto programs = relayed();
  programs[Rank(2)].scratch_chunks = kRelayed.offset;
  schedule::name_senders(programs);
  EXPECT_TRUE(reads(only_step(programs, 2), kKept));
}

}  // namespace
}  // namespace forestcoll::testing
