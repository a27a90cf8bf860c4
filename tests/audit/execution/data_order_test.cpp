// The order of steps along their data, beside the order by definition.
#include "audit/execution/data_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "audit/builders.hpp"
#include "audit/checking.hpp"
#include "audit/msccl/race_oracle.hpp"
#include "audit/msccl/step_graph.hpp"
#include "audit/msccl/target_rules.hpp"
#include "audit/msccl/xml_reader.hpp"

namespace audit_test {
namespace {

using namespace forestcoll::audit;  // NOLINT(google-build-using-namespace)

/// A program, its steps and its memory.
class Loaded {
 public:
  explicit Loaded(const Algo& algo)
      : findings_("m.xml"),
        text_(to_xml(algo)),
        program_(*read_msccl_xml(text_, "m.xml", LineIndex(text_), *find_target_rules("azure"),
                                 findings_)),
        graph_(build_step_graph(program_, findings_)),
        memory_(program_, algo.inplace == 1 ? forestcoll::audit::Placement::in_place
                                            : forestcoll::audit::Placement::out_of_place) {
    EXPECT_FALSE(find_deadlock(graph_, 71, 8, &order_));
    execution_ = step_execution(graph_, order_);
    find_accesses();
  }
  Loaded(const Loaded&) = delete;  // its parts lead into one another

  /// All pairs of steps that access the same chunk of memory, the first in time first.
  [[nodiscard]] std::vector<AccessPair> pairs() const {
    std::vector<AccessPair> pairs;
    for (const auto& [location, steps] : accesses_) {
      for (std::size_t b = 0; b < steps.size(); ++b) {
        for (std::size_t a = 0; a < b; ++a) pairs.push_back({steps[a], steps[b], location});
      }
    }
    return pairs;
  }

  [[nodiscard]] std::vector<bool> by_data(std::span<const AccessPair> pairs) const {
    return ordered_by_data(execution_, memory_, pairs);
  }

  /// Along all paths.
  [[nodiscard]] std::vector<bool> by_all_events(std::span<const AccessPair> pairs) const {
    std::vector<OrderQuery> queries;
    for (const auto& [before, after, location] : pairs) {
      queries.push_back(execution_.query(before, after));
    }
    return happens_before(execution_.events, queries);
  }

  /// By definition: along some path with an edge that is not a message.
  [[nodiscard]] bool is_ordered(const AccessPair& pair) const {
    std::vector<std::pair<std::int32_t, bool>> stack = {{pair.after, false}};
    std::vector<std::vector<bool>> seen(2, std::vector<bool>(graph_.steps.size(), false));
    while (!stack.empty()) {
      const auto [step, whole] = stack.back();
      stack.pop_back();
      if (step < 0 || seen[whole ? 1 : 0][static_cast<std::size_t>(step)]) continue;
      if (step == pair.before && whole) return true;
      seen[whole ? 1 : 0][static_cast<std::size_t>(step)] = true;
      stack.emplace_back(graph_.node(step).message_from, whole);
      stack.emplace_back(graph_.node(step).depends_on, true);
      if (graph_.index(step) > 0) stack.emplace_back(step - 1, true);
    }
    return false;
  }

 private:
  void find_accesses() {
    for (const std::int32_t number : order_) {
      const forestcoll::audit::Step& step = *graph_.node(number).step;
      const std::int32_t rank = graph_.block_of(number).rank;
      for (std::int32_t i = 0; i < step.count; ++i) {
        if (step.operation->reads_source) {
          accesses_[memory_.locate(rank, step.source, step.source_offset + i)].push_back(number);
        }
        if (step.operation->writes) {
          accesses_[memory_.locate(rank, step.destination, step.destination_offset + i)].push_back(
              number);
        }
      }
    }
  }

  Findings findings_;
  std::string text_;
  Program program_;
  StepGraph graph_;
  MemoryMap memory_;
  std::vector<std::int32_t> order_;
  Execution execution_;
  std::map<std::size_t, std::vector<std::int32_t>> accesses_;  ///< by location, in time
};

TEST(EventOrder, IsThatByDefinition) {
  std::size_t ordered = 0, open = 0;
  for (const auto& [name, algo] : small_schedules()) {
    const Loaded loaded(algo);
    const std::vector<AccessPair> pairs = loaded.pairs();
    const std::vector<bool> answers = loaded.by_all_events(pairs);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      EXPECT_EQ(answers[p], loaded.is_ordered(pairs[p]))
          << name << ": " << pairs[p].before << " before " << pairs[p].after;
      (answers[p] ? ordered : open) += 1;
    }
  }
  EXPECT_GT(ordered, 500U);
  EXPECT_GT(open, 0U);
}

TEST(DataOrder, SaysYesOnlyWhereStepsAreOrdered) {
  std::size_t ordered = 0, seen = 0;
  for (const auto& [name, algo] : small_schedules()) {
    const Loaded loaded(algo);
    const std::vector<AccessPair> pairs = loaded.pairs();
    const std::vector<bool> answers = loaded.by_data(pairs);
    ASSERT_EQ(answers.size(), pairs.size());
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const bool is_ordered = loaded.is_ordered(pairs[p]);
      EXPECT_TRUE(is_ordered || !answers[p])
          << name << ": " << pairs[p].before << " before " << pairs[p].after;
      ordered += is_ordered ? 1 : 0;
      seen += answers[p] ? 1 : 0;
    }
  }
  EXPECT_GT(seen, ordered / 2);
}

// Through flags for other chunks, which steps before had.
TEST(DataOrder, FollowsFlagsOfOtherChunks) {
  for (const int pairs_of_chunks : {1, 2, 5}) {
    const Loaded loaded(merged_star_allreduce(4, pairs_of_chunks));
    const std::vector<AccessPair> pairs = loaded.pairs();
    const std::vector<bool> answers = loaded.by_data(pairs);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      EXPECT_EQ(answers[p], loaded.is_ordered(pairs[p]))
          << pairs[p].before << " before " << pairs[p].after;
    }
  }
}

// So many pairs about a datum that paths answer them, also where every second or third flag is
// lost.
TEST(DataOrder, PathsSayYesOnlyWhereStepsAreOrdered) {
  for (const int lost : {0, 2, 3}) {
    Algo algo = merged_star_allreduce(16, 2);
    int flags = 0;
    for (auto& gpu : algo.gpus) {
      for (auto& tb : gpu.tbs) {
        for (auto& step : tb.steps) {
          if (step.depid >= 0 && lost > 0 && ++flags % lost == 0) step.depid = step.deps = -1;
        }
      }
    }
    const Loaded loaded(algo);
    const std::vector<AccessPair> pairs = loaded.pairs();
    std::map<std::size_t, int> of_location;
    int most = 0;
    for (const AccessPair& pair : pairs) most = std::max(most, ++of_location[pair.location]);
    EXPECT_GE(most, 256);
    const std::vector<bool> answers = loaded.by_data(pairs);
    std::size_t ordered = 0, seen = 0;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const bool is_ordered = loaded.is_ordered(pairs[p]);
      EXPECT_TRUE(is_ordered || !answers[p]) << pairs[p].before << " before " << pairs[p].after;
      ordered += is_ordered ? 1 : 0;
      seen += answers[p] ? 1 : 0;
    }
    EXPECT_LT(ordered, pairs.size());
    EXPECT_GT(seen, ordered / 2);
  }
}

// The checker as a whole, where one flag is lost, or waits for the step before.
TEST(DataOrder, NoRaceIsMissedWhereAFlagIsChanged) {
  const Algo right = merged_star_allreduce(4, 2);
  const auto has_finding = [](const Verdict& verdict) {
    return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                       [](const auto& finding) { return finding.code == Code::V14; });
  };
  EXPECT_FALSE(has_finding(check_text(to_xml(right))));
  int races = 0;
  for (std::size_t t = 0; t < right.gpus[0].tbs.size(); ++t) {
    for (std::size_t s = 0; s < right.gpus[0].tbs[t].steps.size(); ++s) {
      if (right.gpus[0].tbs[t].steps[s].depid < 0) continue;
      for (const bool is_lost : {true, false}) {
        Algo changed = right;
        Step& step = changed.gpus[0].tbs[t].steps[s];
        if (!is_lost && step.deps == 0) continue;
        if (is_lost) step.depid = step.deps = -1;
        if (!is_lost) --step.deps;
        changed = finished(changed);
        const bool is_race = has_race(changed, true);
        EXPECT_EQ(has_finding(check_text(to_xml(changed))), is_race)
            << "threadblock " << t << ", step " << s;
        races += is_race ? 1 : 0;
      }
    }
  }
  EXPECT_GT(races, 5);
}

// More steps are asked about than a row of bits has columns: 40 threadblocks of 60 copies to one
// chunk, each of which waits for the one before, but for one in the middle.
TEST(DataOrder, AsksInParts) {
  Algo algo = empty_algo("allreduce", 2, 2, false);
  constexpr int kBlocks = 40, kSteps = 60, kFree = 25;
  for (int b = 0; b < kBlocks; ++b) {
    Tb tb{-1, -1, 0, std::vector<Step>(kSteps, copy('i', 0, 'o', 0, 1))};
    if (b > 0 && b != kFree) tb.steps[0] = after(tb.steps[0], b - 1, kSteps - 1);
    algo.gpus[0].tbs.push_back(tb);
  }
  const Loaded loaded(finished(algo));
  const std::int32_t last = kBlocks * kSteps - 1;
  std::vector<AccessPair> pairs = loaded.pairs();
  std::erase_if(pairs, [&](const AccessPair& pair) { return pair.after != last; });
  const std::vector<bool> answers = loaded.by_data(pairs);
  ASSERT_GT(pairs.size(), 1'024U);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    EXPECT_EQ(answers[p], pairs[p].before >= kFree * kSteps) << pairs[p].before;
  }
}

}  // namespace
}  // namespace audit_test
