// The programs that one rank of each class has are those that it has among all.
#include "schedule/msccl/class_schedule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "choose/schedule_program.hpp"
#include "fastest/fabrics.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/prepare_program.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

// Whether a step's source only says what is known of the sender: programs of classes leave it out.
bool is_label(const Step& step) {
  return (step.operation == Operation::recv || step.operation == Operation::recv_copy_send) &&
         !step.depends_on;
}

std::string in_words(const RankProgram& program) {
  std::string words = fmt::format("{} {} {}\n", program.input_chunks, program.output_chunks,
                                  program.scratch_chunks);
  for (const Threadblock& block : program.threadblocks) {
    words += fmt::format("to {} from {} on {}\n", block.send_peer.value, block.recv_peer.value,
                         block.channel);
    for (const Step& step : block.steps) {
      const Slice source = is_label(step) ? Slice() : step.src;
      const StepRef awaited = step.depends_on.value_or(StepRef());
      words += fmt::format("  {} {}{} {}{} {} after {}.{} {}\n", static_cast<int>(step.operation),
                           static_cast<int>(source.buffer), source.offset,
                           static_cast<int>(step.dst.buffer), step.dst.offset, step.count,
                           awaited.threadblock, awaited.step, step.has_dependent);
    }
  }
  return words;
}

simulate::Images images_of(const schedule::Views& views) {
  return {views.images(), [&](std::size_t i, Rank rank) { return views.image(i, rank); },
          [&](std::pair<std::int32_t, std::int32_t> ends) {
            const Rank sender(ends.first);
            return std::pair(views.seen(sender, sender).value,
                             views.seen(sender, Rank(ends.second)).value);
          }};
}

// False: the fabric's routes are not as alike as the programs.
bool have_equal_times(const Fabric& fabric, const schedule::ClassSchedule& classes,
                      const Schedule& all) {
  auto links = simulate::Fabric::make(without_relays(fabric.topology));
  EXPECT_TRUE(links);
  const auto one = simulate::prepare_program(choose::program_of(classes.schedule), fabric.topology,
                                             *links, images_of(classes.views));
  const auto each = simulate::prepare_program(choose::program_of(all), fabric.topology, *links);
  EXPECT_TRUE(each);
  if (!one || !each) return false;
  EXPECT_LE(one->steps, each->steps);
  const auto parameters = find_simulation_parameters(fabric.gpu.name);
  EXPECT_TRUE(parameters);
  for (const std::int64_t bytes :
       {std::int64_t{1} << 16, std::int64_t{1} << 24, std::int64_t{1} << 30}) {
    const auto fast = one->simulator.run({bytes}, *parameters, {});
    const auto full = each->simulator.run({bytes}, *parameters, {});
    EXPECT_TRUE(fast && full);
    if (!fast || !full) return false;
    EXPECT_NEAR(fast->times.front().seconds / full->times.front().seconds, 1, 1e-9) << bytes;
    EXPECT_EQ(fast->links.size(), full->links.size());
    for (std::size_t i = 0; i < std::min(fast->links.size(), full->links.size()); ++i) {
      EXPECT_EQ(fast->links[i].src, full->links[i].src);
      EXPECT_NEAR(fast->links[i].busy, full->links[i].busy, 1e-9);
    }
  }
  return true;
}

// How many ways of lowering have programs of classes, which are compared with those of all ranks.
int compare(const Fabric& fabric, Collective collective, const std::string& algorithm,
            std::int64_t k) {
  int alike = 0;
  const auto forest = test::forest_of(fabric, collective, algorithm, k);
  if (!forest) return alike;
  for (const std::int32_t instances : {1, 4}) {
    for (const char* target : {"azure", "msccl"}) {
      for (const ThreadblockUse use : {ThreadblockUse::spread, ThreadblockUse::merge}) {
        LowerOptions lowering;
        lowering.target = target;
        lowering.instances = instances;
        lowering.threadblocks = use;
        lowering.boxes = boxes_of_nodes(fabric.topology);
        const auto found = schedule::lower_classes(*forest, lowering);
        if (found && !*found) continue;
        const auto all = lower(*forest, lowering);
        EXPECT_EQ(found.has_value(), all.has_value());
        if (!found && !all) {
          EXPECT_EQ(found.errors().front().message, all.errors().front().message);
        }
        if (!found || !all) continue;
        const std::optional<schedule::ClassSchedule>& classes = *found;
        EXPECT_EQ(classes->schedule.chunks, all->chunks);
        if (have_equal_times(fabric, *classes, *all)) ++alike;
        for (std::size_t r = 0; r < all->programs.size(); ++r) {
          if (!classes->views.is_first(Rank(r))) continue;
          EXPECT_EQ(in_words(classes->schedule.programs[Rank(r)]), in_words(all->programs[Rank(r)]))
              << "rank " << r << ", k " << k << ", " << instances << " instances, " << target;
        }
      }
    }
  }
  return alike;
}

Fabric generated(const std::string& name, const std::map<std::string, std::string>& options) {
  auto fabric = make_fabric(test::generated_topology(name, options), Metadata{});
  EXPECT_TRUE(fabric);
  return *std::move(fabric);
}

const std::vector<Collective> kCollectives = {Collective::allreduce, Collective::allgather,
                                              Collective::reduce_scatter};

TEST(ClassScheduleLong, ProgramsOfOurTreesAreThoseOfAll) {
  for (const auto& [name, boxes] : {std::pair("dgx-a100", "3"), std::pair("mi300x", "2")}) {
    const Fabric fabric = generated(name, {{"boxes", boxes}});
    for (const Collective collective : kCollectives) {
      for (const std::int64_t k : {1, 4}) {
        EXPECT_GT(compare(fabric, collective, "forestcoll", k), 0)
            << name << " " << to_string(collective) << " k " << k;
      }
    }
  }
}

TEST(ClassScheduleLong, ProgramsOfOthersAreThoseOfAll) {
  const Fabric fabric = generated("mi300x", {{"boxes", "2"}});
  for (const char* algorithm :
       {"two-level", "rail-pat", "two-level-pat", "hierarchical", "multitree", "greedy", "bfb"}) {
    EXPECT_GT(compare(fabric, Collective::allreduce, algorithm, 0), 0) << algorithm;
  }
}

// In rings over boxes the order of steps depends on the numbers of the ranks; trees may be more
// alike than the links of the fabric.
TEST(ClassSchedule, ThereIsNoneWhereRanksDiffer) {
  EXPECT_EQ(compare(test::bundled_fabric("dgx-a100-x2"), Collective::allgather, "nccl-ring", 0), 0);
  EXPECT_EQ(
      compare(test::bundled_fabric("dgx-a100-x2-degraded"), Collective::allgather, "forestcoll", 1),
      0);
}

TEST(ClassSchedule, ProgramsOfOneBoxAreThoseOfAll) {
  EXPECT_GT(compare(test::star_of(4), Collective::allreduce, "forestcoll", 2), 0);
  EXPECT_GT(compare(test::boxes_of_two(2), Collective::allgather, "forestcoll", 1), 0);
}

}  // namespace
}  // namespace forestcoll
