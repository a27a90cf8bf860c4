// A program that is verified once, and what it comes to on one fabric after the other.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "audit/checking.hpp"
#include "support/files.hpp"

namespace audit_test {
namespace {

using forestcoll::parse_topology;
using forestcoll::Ratio;
using forestcoll::Topology;
using forestcoll::VerifiedProgram;

Topology fabric(const std::string& name) {
  return parse_topology(forestcoll::test::bundled_text(name), name)->topology;
}

// The same verdict as of the text, also where the fabric has too few GPUs.
TEST(VerifiedProgram, FindsWhatVerifyFinds) {
  const std::string text = to_xml(ring_allgather(8, 1, false, true));
  const auto program = VerifiedProgram::read(text, "test.xml", {});
  ASSERT_TRUE(program.has_value());
  EXPECT_TRUE(program->alone().ok);
  EXPECT_FALSE(program->alone().algbw.has_value());
  for (const char* name : {"dgx-a100-x1", "dgx-1-v100", "torus-4x4", "dgx-a100-x1"}) {
    const Topology topology = fabric(name);
    const auto expected = forestcoll::verify(text, "test.xml", &topology, {});
    const Verdict found = program->on(topology);
    EXPECT_EQ(found.ok, expected->ok) << name;
    EXPECT_EQ(found.algbw, expected->algbw) << name;
    EXPECT_EQ(found.outcome, expected->outcome) << name;
    EXPECT_EQ(found.loads.size(), expected->loads.size()) << name;
    ASSERT_EQ(found.findings.size(), expected->findings.size()) << name;
    for (std::size_t i = 0; i < found.findings.size(); ++i) {
      EXPECT_EQ(to_string(found.findings[i]), to_string(expected->findings[i]));
    }
  }
}

TEST(RateAtOnce, LoadsAddUp) {
  const Topology topology = fabric("dgx-a100-x1");
  const auto program =
      VerifiedProgram::read(to_xml(ring_allgather(8, 1, false, true)), "test.xml", {});
  const Verdict alone = program->on(topology);
  const std::vector loads(3, alone.loads);
  EXPECT_EQ(rate_at_once(topology, loads), *alone.algbw / Ratio(3));
  EXPECT_FALSE(rate_at_once(topology, {}).has_value());
  EXPECT_FALSE(rate_at_once(fabric("torus-4x4"), loads).has_value()) << "other links";
}

}  // namespace
}  // namespace audit_test
