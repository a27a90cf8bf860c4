// Splitting counts more finely only adds waits: what ends chunk by chunk ends at every splitting.
// The verifier relies on it and runs the finest splitting alone.
#include <gtest/gtest.h>

#include <random>

#include "audit/builders.hpp"
#include "audit/common/line_index.hpp"
#include "audit/msccl/checks.hpp"
#include "audit/msccl/step_graph.hpp"
#include "audit/msccl/xml_reader.hpp"
#include "support/executor.hpp"

namespace audit_test {
namespace {

using forestcoll::audit::find_deadlock;
using forestcoll::audit::Findings;
using forestcoll::audit::Program;

Program program_of(const Algo& algo, Findings& findings) {
  const std::string text = to_xml(algo);
  const auto& target = *forestcoll::audit::find_target_rules("azure");
  auto program = forestcoll::audit::read_msccl_xml(text, "x", forestcoll::audit::LineIndex(text),
                                                   target, findings);
  EXPECT_TRUE(program.has_value());
  forestcoll::audit::check_structure(*program, target, 108, findings);
  return *std::move(program);
}

// Messages of random sizes along random routes of three ranks, the ends of each put at random
// places of the threadblocks, with flags between steps of a rank: many of them hang.
Algo random_program(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const int n = 3;
  Algo algo = empty_algo("allreduce", n, 8, true);
  const auto below = [&](std::size_t most) { return static_cast<std::size_t>(random() % most); };
  for (int r = 0; r < n; ++r) {
    algo.gpus[static_cast<std::size_t>(r)].tbs = {{(r + 1) % n, (r + 2) % n, 0, {}},
                                                  {(r + 2) % n, (r + 1) % n, 1, {}}};
  }
  for (std::size_t c = 0; c < 2; ++c) {
    // Every connection of a channel carries messages of the same sizes, so that any order of sends
    // and receives, fused or not, matches.
    std::vector<int> sizes;
    for (std::size_t i = 1 + below(3); i > 0; --i) sizes.push_back(1 + static_cast<int>(below(6)));
    for (Gpu& gpu : algo.gpus) {
      std::size_t sent = 0, received = 0;
      while (sent < sizes.size() || received < sizes.size()) {
        auto& steps = gpu.tbs[c].steps;
        if (sent == received && below(2) == 0) {
          steps.push_back({"rcs", 'o', 0, 'o', 0, sizes[sent++]});
          ++received;
        } else if (received == sizes.size() || (sent < sizes.size() && below(2) == 0)) {
          steps.push_back(send('o', 0, sizes[sent++]));
        } else {
          steps.push_back(recv('o', 0, sizes[received++]));
        }
      }
    }
  }
  for (Gpu& gpu : algo.gpus) {
    if (below(2) == 0) continue;
    const std::size_t from = below(2);
    Step& step = gpu.tbs[from].steps[below(gpu.tbs[from].steps.size())];
    step = after(step, static_cast<int>(1 - from),
                 static_cast<int>(below(gpu.tbs[1 - from].steps.size())));
  }
  return finished(algo);
}

TEST(WaitRun, TheFinestSplittingIsTheStrictest) {
  int ends = 0, hangs_only_when_split = 0, hangs = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Findings findings("x");
    const Program program = program_of(random_program(seed), findings);
    const auto graph = forestcoll::audit::build_step_graph(program, findings);
    ASSERT_FALSE(findings.blocked()) << seed << to_string(findings.sorted(1)[0]);
    for (const int depth : {1, 2, 8}) {
      const bool finest = find_deadlock(graph, 1, depth).has_value();
      bool coarser = false;
      for (int m = 2; m <= 6; ++m) coarser = coarser || find_deadlock(graph, m, depth).has_value();
      EXPECT_TRUE(finest || !coarser) << seed;
      ends += finest ? 0 : 1;
      hangs += coarser ? 1 : 0;
      hangs_only_when_split += finest && !coarser ? 1 : 0;
    }
  }
  EXPECT_GT(ends, 1000);
  EXPECT_GT(hangs, 1000);
  EXPECT_GT(hangs_only_when_split, 100);
}

TEST(WaitRun, AgreesWithTheExecutor) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Algo algo = random_program(seed);
    Findings findings("x");
    const Program program = program_of(algo, findings);
    const auto graph = forestcoll::audit::build_step_graph(program, findings);
    for (const int m : {1, 2, 6}) {
      for (const int depth : {1, 2, 8}) {
        const Outcome outcome = Executor(algo, true, m, depth, seed).run();
        EXPECT_EQ(outcome == Outcome::hangs, find_deadlock(graph, m, depth).has_value())
            << seed << " " << m << " " << depth;
      }
    }
  }
}

TEST(WaitRun, OrderIsLinear) {
  Findings findings("x");
  const Program program = program_of(tree_allreduce(6, 3), findings);
  const auto graph = forestcoll::audit::build_step_graph(program, findings);
  std::vector<std::int32_t> order;
  ASSERT_FALSE(find_deadlock(graph, 71, 1, &order).has_value());
  ASSERT_EQ(order.size(), graph.steps.size());
  std::vector<std::size_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[static_cast<std::size_t>(order[i])] = i;
  for (std::size_t s = 0; s < order.size(); ++s) {
    const auto& node = graph.steps[s];
    for (const std::int32_t before : {node.depends_on, node.message_from}) {
      if (before < 0) continue;
      EXPECT_LT(position[static_cast<std::size_t>(before)], position[s]);
    }
    if (graph.block_of(static_cast<std::int32_t>(s)).begin < static_cast<std::int32_t>(s)) {
      EXPECT_LT(position[s - 1], position[s]);
    }
  }
}

}  // namespace
}  // namespace audit_test
