// The programs that one rank of each class has are those that it has among all.
#include "schedule/msccl/class_schedule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "fastest/fabrics.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/synthesize.hpp"
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

struct Compared {
  int alike = 0, none = 0;
};

// `symmetric`: how many of the forests have programs by class.
Compared compare(const Fabric& fabric, Collective collective, std::int64_t k) {
  Compared compared;
  SynthesizeOptions options;
  options.collective = collective;
  options.trees_per_root = {TreesPerRoot::Mode::fixed, k};
  const auto found = synthesize(fabric.network, options);
  if (!found) return compared;
  for (const std::int32_t instances : {1, 2, 4}) {
    for (const char* target : {"azure", "msccl-tools"}) {
      for (const ThreadblockUse use : {ThreadblockUse::spread, ThreadblockUse::merge}) {
        LowerOptions lowering;
        lowering.target = target;
        lowering.instances = instances;
        lowering.threadblocks = use;
        lowering.boxes = boxes_of_nodes(fabric.topology);
        const auto classes = schedule::lower_classes(found->forest, lowering);
        if (!classes) {
          ++compared.none;
          continue;
        }
        const auto all = lower(found->forest, lowering);
        EXPECT_TRUE(all);
        if (!all) continue;
        EXPECT_EQ(classes->schedule.chunks, all->chunks);
        for (std::size_t r = 0; r < all->programs.size(); ++r) {
          if (!classes->views.is_first(Rank(r))) continue;
          ++compared.alike;
          EXPECT_EQ(in_words(classes->schedule.programs[Rank(r)]), in_words(all->programs[Rank(r)]))
              << "rank " << r << ", k " << k << ", " << instances << " instances, " << target;
        }
      }
    }
  }
  return compared;
}

Fabric generated(const std::string& name, const std::map<std::string, std::string>& options) {
  auto fabric = make_fabric(test::generated_topology(name, options), Metadata{});
  EXPECT_TRUE(fabric);
  return *std::move(fabric);
}

TEST(ClassSchedule, ProgramsOfClassesAreThoseOfAll) {
  const std::vector<std::pair<std::string, std::map<std::string, std::string>>> fabrics = {
      {"dgx-a100", {{"boxes", "2"}}},
      {"dgx-a100", {{"boxes", "3"}}},
      {"mi300x", {{"boxes", "2"}}},
      {"dgx-h100", {{"boxes", "2"}}},
  };
  for (const auto& [name, options] : fabrics) {
    const Fabric fabric = generated(name, options);
    for (const Collective collective :
         {Collective::allreduce, Collective::allgather, Collective::reduce_scatter}) {
      for (const std::int64_t k : {1, 2, 4}) {
        const Compared compared = compare(fabric, collective, k);
        fmt::print("{} {} k {}: {} alike, {} none\n", name, to_string(collective), k,
                   compared.alike, compared.none);
        EXPECT_GT(compared.alike, 0) << name << " " << to_string(collective) << " k " << k;
      }
    }
  }
}

}  // namespace
}  // namespace forestcoll
