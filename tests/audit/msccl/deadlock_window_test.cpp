// Deadlock is judged within the sizes that a file is for: against an execution with the splitting
// that the runtimes work out for each size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "audit/builders.hpp"
#include "audit/checking.hpp"
#include "forestcoll/verify.hpp"
#include "support/executor.hpp"

namespace audit_test {
namespace {

using forestcoll::Code;
using forestcoll::Verdict;

/// Two ranks send each other `count` chunks in one step, then receive: more operations than are in
/// flight, once the step is cut into that many.
Algo exchange(int count, const std::string& proto) {
  Algo algo = empty_algo("allgather", 2, 2 * count, true);
  algo.proto = proto;
  for (int r = 0; r < 2; ++r) {
    algo.gpus[static_cast<std::size_t>(r)].tbs = {
        {1 - r, 1 - r, 0, {send('i', 0, count), recv('o', (1 - r) * count, count)}}};
  }
  return finished(algo);
}

/// Bytes that one operation holds, with the buffers that the runtimes have by default.
std::int64_t operation_bytes(const Algo& algo, bool amd) {
  if (algo.proto == "LL") return amd ? 16384 : 32768;
  if (algo.proto == "LL128") return amd ? 50176 : 576000;
  return algo.coll == "broadcast" || algo.coll == "reduce" ? 524288 : 2097152;
}

/// Chunks in one operation, for a buffer of so many bytes.
int allowed_count(const Algo& algo, std::int64_t bytes, bool amd) {
  const std::int64_t chunk = (bytes + algo.nchunks - 1) / algo.nchunks;
  const std::int64_t allowed = std::max<std::int64_t>(1, operation_bytes(algo, amd) / chunk);
  return static_cast<int>(std::min<std::int64_t>(71, allowed));
}

bool hangs_at(const Algo& algo, std::int64_t bytes, bool amd = false) {
  const int depth = algo.proto == "Simple" ? 2 : 8;
  return Executor(algo, true, allowed_count(algo, bytes, amd), depth, 1).run() == Outcome::hangs;
}

/// The largest buffer, in whole chunks, that does not hang.
std::int64_t largest_safe(const Algo& algo, bool amd) {
  std::int64_t low = 1, high = std::int64_t{1} << 30;  // chunk bytes: runs, hangs
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (hangs_at(algo, middle * algo.nchunks, amd) ? high : low) = middle;
  }
  return low * algo.nchunks;
}

TEST(DeadlockWindow, EndsWhereTheLastSafeSizeDoes) {
  for (const std::string proto : {"Simple", "LL", "LL128"}) {
    for (const int count : {3, 9, 20}) {
      for (const bool amd : {false, true}) {
        const std::string target = amd ? "rccl-6" : "azure";
        Algo algo = exchange(count, proto);
        if (!hangs_at(algo, std::int64_t{1} << 40, amd)) {  // LL holds eight
          EXPECT_TRUE(verdict_for(algo, target).ok);
          EXPECT_FALSE(verdict_for(algo, target).safe_bytes);
          continue;
        }
        SCOPED_TRACE(proto + " " + std::to_string(count) + " " + target);
        const std::int64_t safe = largest_safe(algo, amd);
        EXPECT_FALSE(verdict_for(algo, target).ok);  // up to 1 TiB
        algo.max_bytes = safe;
        const Verdict fits = verdict_for(algo, target);
        EXPECT_TRUE(fits.ok);
        EXPECT_EQ(fits.safe_bytes, std::optional(safe));
        EXPECT_FALSE(fits.free_at_one_in_flight);
        algo.max_bytes = safe + algo.nchunks;
        const Verdict beyond = verdict_for(algo, target);
        ASSERT_FALSE(beyond.ok);
        EXPECT_EQ(beyond.findings[0].code, Code::V13);
        EXPECT_EQ(beyond.findings[0].remedy, "lower maxBytes to " + std::to_string(safe) +
                                                 ", up to which it is free of deadlock");
        algo.min_bytes = safe + algo.nchunks;  // nothing safe is left
        algo.max_bytes = 0;
        ASSERT_FALSE(verdict_for(algo, target).ok);
        EXPECT_EQ(verdict_for(algo, target).findings[0].remedy, "");
      }
    }
  }
}

// The last chunk that a window lets in is a whole one.
TEST(DeadlockWindow, CountsChunksThatFit) {
  Algo algo = exchange(3, "Simple");
  algo.max_bytes = largest_safe(algo, false) + algo.nchunks - 1;
  EXPECT_TRUE(verdict_for(algo).ok);
}

// The research runtime leaves the upper end out.
TEST(DeadlockWindow, KnowsWhetherItsEndIsIncluded) {
  Algo algo = exchange(3, "Simple");
  algo.max_bytes = largest_safe(algo, false) + algo.nchunks;
  EXPECT_FALSE(verdict_for(algo, "azure").ok);
  EXPECT_TRUE(verdict_for(algo, "msccl").ok);
}

// A quarter of the slots at once: operations of broadcast and reduce are that much smaller.
TEST(DeadlockWindow, BroadcastIsCutEarlier) {
  Algo algo = empty_algo("broadcast", 2, 3, true);
  algo.gpus[0].tbs = {{1, 1, 0, {send('o', 0, 3), recv('o', 0, 3)}}};
  algo.gpus[1].tbs = {{0, 0, 0, {send('o', 0, 3), recv('o', 0, 3)}}};
  algo = finished(algo);
  const std::int64_t safe = largest_safe(algo, false);
  Algo whole = algo;
  whole.coll = "allreduce";
  EXPECT_EQ(4 * safe, largest_safe(whole, false));
  const auto gets_stuck = [&](std::int64_t max_bytes) {  // its data is wrong at any size
    algo.max_bytes = max_bytes;
    const Verdict verdict = verdict_for(algo);
    return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                       [](const auto& finding) { return finding.code == Code::V13; });
  };
  EXPECT_FALSE(gets_stuck(safe));
  EXPECT_TRUE(gets_stuck(safe + algo.nchunks));
}

}  // namespace
}  // namespace audit_test
