// For which counts a runtime selects a file: what the file, the verifier and the target's limits
// say, against the selection rules of the runtimes, release by release.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "emit/fabric.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;

/// A release of a runtime, as far as its choice among files goes.
struct Release {
  std::string name;
  bool multiplies = true;     ///< the count, before it divides it by the chunks
  bool excludes_end = false;  ///< of the window
  std::string reduce_scatter = "reducescatter";
};

/// The file's header, as a release reads it.
struct Header {
  std::string collective;
  std::int64_t ranks = 0, chunks = 0, least = 0, most = 0;
};

Header header_of(const std::string& text) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(text.c_str()));
  const auto algo = document.child("algo");
  return {algo.attribute("coll").value(), algo.attribute("ngpus").as_llong(),
          algo.attribute("nchunksperloop").as_llong(), algo.attribute("minBytes").as_llong(),
          algo.attribute("maxBytes").as_llong()};
}

/// Does the release take this file for a call with so many elements of so many bytes?
bool selects(const Release& release, const Header& file, std::int64_t count, std::int64_t bytes) {
  const bool is_part = file.collective == "allgather" || file.collective == release.reduce_scatter;
  const std::int64_t multiplier = is_part ? file.ranks : 1;
  const std::int64_t size = count * bytes * multiplier;
  const std::int64_t divided = release.multiplies ? count * multiplier : count;
  if (count <= 0 || divided % file.chunks != 0 || size < file.least) return false;
  if (release.excludes_end) return size < file.most;
  return file.most == 0 || size <= file.most;
}

const Release kAzure{"azure"};
const Release kResearch{"msccl", true, true, "reduce_scatter"};
const Release kRccl57{"rccl 5.7.1", false};
const Release kRccl60{"rccl 6.0.2", false};
const Release kRccl61{"rccl 6.1.2", false};
const Release kRccl62{"rccl 6.2.2", false};
const Release kRccl63{"rccl 6.3.0"};
const Release kRccl71{"rccl 7.1.0"};

struct Target {
  std::string name;
  std::vector<Release> releases;
};

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {{"azure", {kAzure}},
                                          {"rccl-5.7", {kRccl57}},
                                          {"rccl-6", {kRccl60, kRccl61, kRccl62, kRccl63, kRccl71}},
                                          {"rccl-6.2", {kRccl61, kRccl62}},
                                          {"rccl-6.3", {kRccl63, kRccl71}},
                                          {"msccl", {kResearch}}};
  return all;
}

// "count must be divisible by 32 (…)", or "any count (…)".
std::string in_words_of_file(std::int64_t counts, const std::string& singular) {
  return counts == 1 ? "any number of " + singular
                     : fmt::format("{} that are multiples of {}", singular, counts);
}

std::string in_words(std::int64_t counts, const std::string& singular) {
  return counts == 1 ? fmt::format("any count ({})", singular)
                     : fmt::format("count must be divisible by {} ({})", counts, singular);
}

void expect_told_right(const Target& target, const CollectiveForest& forest,
                       const Topology& topology) {
  const auto schedule = lower(forest, {.target = target.name, .max_threadblocks = 64});
  ASSERT_TRUE(schedule) << to_string(schedule.errors().front());
  const std::string text = to_msccl_xml(*schedule, forest, topology, {.max_bytes = {}});
  const Header file = header_of(text);
  const auto verdict = verify(text, "s.xml", &topology, {.target = target.name, .sms = 64});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << to_string(verdict->findings.front());
  // 1. What is said, in three places.
  const std::int64_t counts =
      find_target(target.name)->selected_counts(forest.collective, file.chunks, file.ranks);
  std::string counted = "elements per rank";
  if (forest.collective == Collective::allgather) counted = "elements sent per rank";
  if (forest.collective == Collective::reduce_scatter) counted = "elements received per rank";
  EXPECT_THAT(verdict->usable_counts, HasSubstr(in_words(counts, counted) + ";"));
  EXPECT_THAT(text, HasSubstr(fmt::format("<!-- {} selects it for {} -->", target.name,
                                          in_words_of_file(counts, counted))));
  // 2. What is so.
  bool exact = false;
  for (const Release& release : target.releases) {
    std::int64_t missed = 0;
    for (std::int64_t count = 1; count <= 2 * counts + 7; ++count) {
      const bool told = count % counts == 0;
      const bool taken = selects(release, file, count, 4);
      EXPECT_TRUE(taken || !told) << release.name << " does not select " << count;
      missed += taken && !told ? 1 : 0;
    }
    exact |= missed == 0;
  }
  EXPECT_TRUE(exact) << "no release asks for so much";
}

void expect_told_right_over(const std::vector<std::size_t>& numbers) {
  for (const std::size_t ranks : numbers) {
    const Topology topology = switched(static_cast<int>(ranks));
    const auto network = to_digraph(topology);
    ASSERT_TRUE(network);
    for (const Collective collective :
         {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
          Collective::broadcast, Collective::reduce}) {
      for (const std::int64_t k : {1, 2, 3, 4}) {
        SynthesizeOptions options;
        options.collective = collective;
        if (is_rooted(collective)) options.root = Rank(1);
        options.trees_per_root = {TreesPerRoot::Mode::fixed, k};
        const auto solved = synthesize(*network, options);
        ASSERT_TRUE(solved) << to_string(solved.errors().front());
        for (const Target& target : targets()) {
          SCOPED_TRACE(fmt::format("{} {} over {} ranks, k = {}", target.name,
                                   to_string(collective), ranks, k));
          expect_told_right(target, solved->forest, topology);
        }
      }
    }
  }
}

TEST(Selection, IsToldAsEveryReleaseDecides) {
  expect_told_right_over({3});
}

TEST(SelectionLong, IsToldAsEveryReleaseDecides) {
  expect_told_right_over({4, 12});
}

// Each target of RCCL stands for releases of the same rule; the careful one for all of them.
TEST(Selection, ReleasesDifferWhereTheyAreKnownTo) {
  const Header gather{"allgather", 8, 32, 0, 0};
  for (const Release& old : {kRccl57, kRccl60, kRccl61, kRccl62}) {
    EXPECT_FALSE(selects(old, gather, 4, 4)) << old.name;
    EXPECT_TRUE(selects(old, gather, 32, 4)) << old.name;
  }
  for (const Release& since : {kAzure, kResearch, kRccl63, kRccl71}) {
    EXPECT_EQ(selects(since, gather, 4, 4), !since.excludes_end) << since.name;
  }
}

}  // namespace
}  // namespace forestcoll::testing
