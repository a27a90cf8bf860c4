// The sizes that a file claims, by definition: everything is simulated at every size.
#include "fastest/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fastest/contest.hpp"
#include "fastest/fabrics.hpp"
#include "fastest/selectors.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/topology_text.hpp"
#include "support/alltoall.hpp"

namespace forestcoll {
namespace {

using fastest::Contest;

constexpr std::int64_t kLeast = 1 << 10, kMost = std::int64_t{1} << 34;

// Of those that are taken, whether a runtime selects them as files or not.
double least_of(Contest& contest, std::int64_t bytes, const Contest::Takes& takes) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < contest.contenders().size(); ++c) {
    if (contest.is_there(c) && takes(c)) least = std::min(least, *contest.seconds(c, bytes));
  }
  return least;
}

// Of the runtime's own, with the contender's buffers or none that are asked for.
double runtime_least(Contest& contest, const fastest::Selector& nccl, std::size_t contender,
                     std::int64_t bytes) {
  return least_of(contest, bytes, [&, picked = takes(contest, nccl, bytes)](std::size_t c) {
    return picked(c) && runs_with(contest, c, contest.contenders()[contender].buffer_bytes);
  });
}

bool is_good(Contest& contest, const fastest::Selector& nccl, std::size_t contender,
             std::int64_t bytes) {
  if (!contest.serves(contender, bytes)) return false;
  const double seconds = *contest.seconds(contender, bytes);
  // Variants were made at other sizes, of what was near the best there.
  const auto served = [&](std::size_t c) {
    return contest.serves(c, bytes) && !contest.candidate(c).variant_of;
  };
  return seconds <= 1.1 * least_of(contest, bytes, served) &&
         seconds <= Contest::kWorthwhile * runtime_least(contest, nccl, contender, bytes);
}

void expect_window_by_definition(const Fabric& fabric, std::int64_t bytes,
                                 const std::vector<std::string>& algorithms = {}) {
  FastestOptions options;
  options.algorithms = algorithms;
  options.compile.synthesis.collective = Collective::allreduce;
  options.sizes = {bytes};
  auto contest = Contest::hold(fabric, options);
  ASSERT_TRUE(contest);
  const auto winner = contest->winners().front();
  ASSERT_TRUE(winner);
  const auto nccl = fastest::selectors(*contest, fabric).front();
  ASSERT_EQ(nccl.name, "nccl-pick");
  const SizeWindow window = fastest::FileSearch(*contest, fabric).window(winner->contender, bytes);
  (void)contest->all_programs();
  std::int64_t first = bytes, last = bytes;
  while (first > kLeast && is_good(*contest, nccl, winner->contender, first / 2)) first /= 2;
  while (last < kMost && is_good(*contest, nccl, winner->contender, last * 2)) last *= 2;
  EXPECT_EQ(window.first, first <= kLeast ? 0 : first);
  EXPECT_EQ(window.last, last >= kMost ? std::nullopt : std::optional(last));
  ASSERT_FALSE(window.times.empty());
  EXPECT_LE(window.times.size(), 3U);
  for (const TimeBeside& time : window.times) {
    EXPECT_EQ(time.seconds, *contest->seconds(winner->contender, time.bytes));
    const double least = runtime_least(*contest, nccl, winner->contender, time.bytes);
    EXPECT_GE(time.runtime_seconds, least);
    EXPECT_LE(time.runtime_seconds, Contest::kWorthwhile * least);
  }
}

TEST(WindowLongest, OfLargeMessagesIsThatOfItsDefinition) {
  expect_window_by_definition(test::star_of(4), std::int64_t{1} << 30);
}

TEST(WindowLong, OfSmallMessagesIsThatOfItsDefinition) {
  expect_window_by_definition(test::star_of(4), 1 << 12);
}

// Nothing is simulated where what is known of other sizes rules it out, and nothing that is needed
// is left out.
TEST(WindowLongest, OfSeveralBoxesIsThatOfItsDefinition) {
  expect_window_by_definition(test::boxes_of_two(3), std::int64_t{1} << 28,
                              {"forestcoll", "nccl-ring", "double-tree"});
}

// Its chunks take several passes there, and what lies between the ends is not simulated.
TEST(WindowLongest, OfADamagedFabricIsThatOfItsDefinition) {
  const Fabric whole = test::boxes_of_two(2);
  const auto left = degrade(whole.topology, {.derate = {"box1/gpu0~ib=1/2"}});
  ASSERT_TRUE(left);
  const auto fabric = make_fabric(left->topology);
  ASSERT_TRUE(fabric);
  for (const std::int64_t bytes : {std::int64_t{1} << 26, std::int64_t{1} << 30}) {
    expect_window_by_definition(*fabric, bytes, {"forestcoll", "nccl-ring", "double-tree"});
  }
}

TEST(WindowLong, IsWhatTheFileClaims) {
  FastestOptions options;
  options.sizes = {std::int64_t{1} << 20};
  const auto made = fastest_schedule(test::star_of(4), options);
  ASSERT_TRUE(made && made->window);
  const std::string min = "minBytes=\"" + std::to_string(made->window->first) + "\"";
  EXPECT_NE(made->compilation.text.find(min), std::string::npos);
  ASSERT_TRUE(made->window->last);
  const std::string max = "maxBytes=\"" + std::to_string(*made->window->last) + "\"";
  EXPECT_NE(made->compilation.text.find(max), std::string::npos);
}

// Six rings of eight GPUs: nothing that a power of two of chunks can say is as fast.
TEST(WindowLong, WhereTheRuntimeIsFasterAFileIsForTheSizesAround) {
  const Fabric fabric = test::bundled_fabric("dgx-1-v100");
  const std::int64_t bytes = std::int64_t{1} << 30;
  FastestOptions options;
  options.compile.synthesis.collective = Collective::reduce_scatter;
  options.compile.sms = 108;  // as many as rings of all links have
  options.sizes = {bytes};
  const auto made = fastest_schedule(fabric, options);
  ASSERT_TRUE(made && made->window);
  EXPECT_TRUE(made->compilation.verdict.ok);
  EXPECT_FALSE(made->choice.is_selected);
  EXPECT_NE(bytes / 4 % (8 * made->choice.chunks), 0);
  EXPECT_TRUE(!made->window->last || *made->window->last > made->window->first);
  for (const TimeBeside& time : made->window->times) {
    EXPECT_LE(time.seconds, time.runtime_seconds) << time.bytes;
  }
  // Nothing that is selected at the size is as fast as the runtime's own choice.
  auto contest = Contest::hold(fabric, options);
  ASSERT_TRUE(contest);
  (void)contest->all_programs();
  const auto nccl = fastest::selectors(*contest, fabric).front();
  const auto served = [&](std::size_t c) { return contest->serves(c, bytes); };
  EXPECT_GT(least_of(*contest, bytes, served),
            least_of(*contest, bytes, takes(*contest, nccl, bytes)));
}

TEST(Window, IsSelectedAtTheSizeWhereThatIsFast) {
  FastestOptions options;
  options.sizes = {std::int64_t{1} << 30};
  const auto made = fastest_schedule(test::star_of(4), options);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->choice.is_selected);
}

TEST(WindowLong, OfAnAlltoallIsNoSlowerThanDirectSends) {
  for (const char* name : {"dgx-1-v100", "dgx-a100-x2"}) {
    FastestOptions options;
    options.compile = test::alltoall_as(Format::msccl);
    options.sizes = {std::int64_t{1} << 30};
    const auto made = fastest_schedule(test::bundled_fabric(name), options);
    ASSERT_TRUE(made && made->window) << name;
    EXPECT_TRUE(made->compilation.verdict.ok);
    const std::string min = "minBytes=\"" + std::to_string(made->window->first) + "\"";
    EXPECT_NE(made->compilation.text.find(min), std::string::npos);
    for (const TimeBeside& time : made->window->times) {
      EXPECT_EQ(time.runtime_algorithm, "direct");
      EXPECT_LE(time.seconds, time.runtime_seconds) << name << ", " << time.bytes;
    }
  }
}

TEST(Window, IsOfTheSizeThatIsAskedForWhereAFileIsWorthHavingThere) {
  const Fabric fabric = test::star_of(4);
  for (const std::int64_t bytes : {std::int64_t{1} << 20, std::int64_t{1} << 30}) {
    FastestOptions options;
    options.sizes = {bytes};
    options.counts = ServedCounts::around;
    auto contest = Contest::hold(fabric, options);
    ASSERT_TRUE(contest);
    const auto file = fastest::FileSearch(*contest, fabric).at_or_near(bytes);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->bytes, bytes);
    EXPECT_TRUE(contest->serves(file->winner.contender, bytes));
  }
}

// On 384 and 512 GPUs no file that 1 GiB selects is as fast as the runtime's double tree, and what
// takes twice that size is not simulated.
TEST(WindowLongest, OfDamagedClustersHasUsableSizes) {
  for (const char* boxes : {"48", "64"}) {
    const auto document = generate("dgx-h100", {{"boxes", boxes}, {"fabric", "rail-spine"}});
    ASSERT_TRUE(document) << boxes;
    const std::string text = to_topology_json(*document);
    const auto left = degrade(parse_topology(text, boxes)->topology, {.drop = {"box3/nic2"}});
    ASSERT_TRUE(left) << boxes;
    FastestOptions options;
    options.compile.synthesis.collective = Collective::allreduce;
    options.sizes = {std::int64_t{1} << 30};
    options.counts = ServedCounts::around;
    options.few_variants = true;
    const auto made = fastest_schedule(*make_fabric(left->topology, metadata_of(text)), options);
    ASSERT_TRUE(made && made->window) << boxes;
    EXPECT_TRUE(made->compilation.verdict.ok) << boxes;
    EXPECT_TRUE(made->compilation.verdict.usable) << boxes;
    for (const TimeBeside& time : made->window->times) {
      EXPECT_LE(time.seconds, Contest::kWorthwhile * time.runtime_seconds)
          << boxes << ", " << time.bytes;
    }
  }
}

// What 1 GiB selects on 72 GPUs is the runtime's own double tree, which needs no file.
TEST(WindowLong, WhereTheRuntimeIsAsFastAFasterFileIsForTheSizesAround) {
  const auto document = generate("dgx-h100", {{"boxes", "9"}});
  ASSERT_TRUE(document);
  const std::string text = to_topology_json(*document);
  FastestOptions options;
  options.compile.synthesis.collective = Collective::allreduce;
  options.sizes = {std::int64_t{1} << 30};
  options.counts = ServedCounts::around;
  options.few_variants = true;
  const auto made = fastest_schedule(
      *make_fabric(parse_topology(text, "9")->topology, metadata_of(text)), options);
  ASSERT_TRUE(made && made->window);
  EXPECT_FALSE(made->choice.is_selected);
  EXPECT_TRUE(made->compilation.verdict.usable);
  for (const TimeBeside& time : made->window->times) {
    EXPECT_LT(Contest::kWorthwhile * time.seconds, time.runtime_seconds) << time.bytes;
  }
}

// Also where files are plans: their executor leaves other calls to NCCL.
TEST(WindowLong, OfPlansBetweenBoxesIsBesideNcclsKernels) {
  const Fabric fabric = test::boxes_of_two(2);
  FastestOptions options = test::options_for(Collective::allreduce, {std::int64_t{1} << 30});
  options.compile.format = Format::mscclpp;
  const auto made = fastest_schedule(fabric, options);
  ASSERT_TRUE(made && made->window);
  ASSERT_FALSE(made->window->times.empty());
  options.compile.format = Format::msccl;
  for (const TimeBeside& time : made->window->times) {
    options.sizes = {time.bytes};
    auto programs = Contest::hold(fabric, options);
    ASSERT_TRUE(programs);
    (void)programs->all_programs();
    const auto nccl = fastest::selectors(*programs, fabric).front();
    EXPECT_DOUBLE_EQ(time.runtime_seconds,
                     least_of(*programs, time.bytes, takes(*programs, nccl, time.bytes)))
        << time.bytes;
  }
}

TEST(Window, IsNoneWhereSizesAreGiven) {
  FastestOptions options;
  options.sizes = {std::int64_t{1} << 20};
  options.compile.xml.min_bytes = 1 << 19;
  const auto made = fastest_schedule(test::star_of(4), options);
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->window);
  EXPECT_NE(made->compilation.text.find("minBytes=\"524288\""), std::string::npos);
}

}  // namespace
}  // namespace forestcoll
