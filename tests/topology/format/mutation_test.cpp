// Damaged files: whatever is done to a text, parsing ends, with a bounded list of findings or with
// a topology that holds what its type promises.
#include "forestcoll/network.hpp"
#include "topology/damage.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll {
namespace {

using testing::below;
using testing::damage;
using testing::Random;

const std::vector<std::string> kPieces = {"0",
                                          "-",
                                          "9999999999",
                                          "1e308",
                                          "[0-99999999]",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          "\"",
                                          ",",
                                          ":",
                                          "null",
                                          "true",
                                          "/",
                                          "\\u0000",
                                          "\xFF",
                                          "e",
                                          "[0-9][0-9][0-9][0-9][0-9][0-9][0-9]",
                                          "0.000000000000001"};

void expect_sound(const Topology& topology) {
  ASSERT_GE(topology.ranks.size(), 2U);
  for (const TopologyLink& link : topology.links) {
    ASSERT_LT(link.src.index(), topology.nodes.size());
    ASSERT_LT(link.dst.index(), topology.nodes.size());
    ASSERT_NE(link.src, link.dst);
    ASSERT_GT(link.bandwidth, Ratio(0));
    ASSERT_GE(link.latency.value_or(Ratio(0)), Ratio(0));
  }
  const auto network = to_digraph(topology);
  if (!network) {
    ASSERT_EQ(network.errors().front().code, Code::E14);
    return;
  }
  Int128 sum = 0;
  for (const Capacity capacity : network->capacity) {
    ASSERT_GT(capacity, 0);
    sum += capacity;
  }
  ASSERT_LT(sum * static_cast<Int128>(network->ranks.size()), Int128{1} << 62);
}

void expect_refused_or_read(const std::vector<std::string>& names) {
  TopologyOptions options;
  options.max_nodes = 2'000;
  std::size_t refused = 0, read = 0;
  for (const std::string& name : names) {
    const std::string original = test::bundled_text(name);
    Random random(11);
    for (int round = 0; round < 400; ++round) {
      std::string text = original;
      for (std::size_t times = 1 + below(random, 3); times > 0; --times)
        damage(text, kPieces, random);
      const auto parsed = parse_topology(text, "damaged.json", options);
      if (parsed) {
        ++read;
        expect_sound(parsed->topology);
        continue;
      }
      ++refused;
      ASSERT_FALSE(parsed.errors().empty());
      ASSERT_EQ(parsed.errors().front().severity, Severity::error);
      std::size_t length = 0;
      for (const Diagnostic& error : parsed.errors()) length += to_string(error).size();
      ASSERT_LT(length, 200'000U);
    }
  }
  // Both happen often enough to mean something.
  EXPECT_GT(refused, names.size() * 180);
  EXPECT_GT(read, names.size() * 10);
}

TEST(Mutation, DamagedFilesAreRefusedInBoundedWordsOrRead) {
  expect_refused_or_read(test::small_bundled_names());
}

TEST(MutationLong, DamagedFilesAreRefusedInBoundedWordsOrRead) {
  expect_refused_or_read(test::large_bundled_names());
}

TEST(Mutation, EveryTruncationIsRefused) {
  const std::string text = test::read_file(test::source_path("topologies/dgx-a100-x2.json"));
  const std::size_t last = text.find_last_not_of(" \n");
  for (std::size_t length = 0; length <= last; ++length) {
    ASSERT_FALSE(parse_topology(text.substr(0, length), "cut.json")) << length;
  }
}

}  // namespace
}  // namespace forestcoll
