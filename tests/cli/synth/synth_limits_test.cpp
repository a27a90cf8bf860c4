// `forestcoll synth` where numbers or trees are many.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "choose/forest_size.hpp"
#include "cli/program.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::testing {
namespace {

std::string triangle(const std::string& up, const std::string& down, const std::string& direct) {
  return fmt::format(
      R"({{"format": "forestcoll-topology", "version": 1, "name": "triangle",
           "nodes": [{{"id": "g0", "type": "compute"}}, {{"id": "g1", "type": "compute"}},
                     {{"id": "s2", "type": "switch"}}],
           "links": [{{"src": "g0", "dst": "s2", "bandwidth": "{}"}},
                     {{"src": "s2", "dst": "g1", "bandwidth": "{}"}},
                     {{"src": "g0", "dst": "g1", "bandwidth": "{}"}}]}})",
      up, down, direct);
}

// Billions of trees per root: their loads and bandwidths do not fit 64 bits multiplied.
TEST(SynthLimits, FineBandwidthsAreCheckedExactly) {
  const std::string coarse = "50", fine = "450.0000001";
  const Scratch scratch;
  for (const auto& file : {triangle(fine, coarse, coarse), triangle(coarse, fine, coarse),
                           triangle(coarse, coarse, fine), triangle(fine, fine, coarse),
                           triangle(fine, "50.0000003", "99.9999999")}) {
    for (const std::string collective : {"allgather", "allreduce", "reduce_scatter"}) {
      const auto synth = run({"synth", scratch.write("t.json", file), "-c", collective, "-k",
                              "optimal", "--format", "forest"});
      EXPECT_EQ(synth.code, 0) << file << synth.err;
      EXPECT_THAT(synth.err, HasSubstr("100 % of the optimum"));
    }
  }
}

// 5,120 GPUs: so many trees are more than `verify` reads one by one.
TEST(SynthLimitsLong, TooManyEdgesAreRefusedBeforeAnythingIsSolved) {
  const Scratch scratch;
  const std::string file = scratch / "a100.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-a100", "--boxes", "640", "-o", file}).code, 0);
  const auto plain = run({"synth", file, "-c", "allgather", "-k", "1", "--format", "forest"});
  EXPECT_EQ(plain.code, 3);
  EXPECT_EQ(plain.out, "");
  EXPECT_THAT(plain.err, HasSubstr("at least 26209280 edges"));
  EXPECT_THAT(plain.err, HasSubstr("[T10]"));
  EXPECT_THAT(plain.err, HasSubstr("--format forest-symmetric"));
  run_well({"synth", file, "-c", "allgather", "-k", "1", "--format", "forest-symmetric", "-o",
            scratch / "forest.json"});
}

TEST(SynthLimits, SoIsTextThatIsTooLong) {
  CompileOptions options;
  options.format = Format::forest;
  EXPECT_TRUE(choose::refuse_large_text(kMaxForestBytes, options));
  const auto refused = choose::refuse_large_text(kMaxForestBytes + 1, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().code, Code::T10);
  EXPECT_EQ(refused.errors().front().kind, ErrorKind::limit);
  options.format = Format::msccl;
  EXPECT_TRUE(choose::refuse_large_text(kMaxForestBytes + 1, options));
}

}  // namespace
}  // namespace forestcoll::testing
