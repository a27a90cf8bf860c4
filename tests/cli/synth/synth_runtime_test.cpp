// What `forestcoll synth` says of the runtimes that a schedule is for: protocols that they do not
// use or that hang, and counts that they select.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

// Broadcast and reduce over the network: LL, unless Simple is forced.
TEST(SynthRuntimeLong, RootedCollectivesBetweenBoxesAreInLL) {
  for (const std::string collective : {"broadcast", "reduce"}) {
    const auto synth = [&](const std::string& name, const std::vector<std::string>& more = {}) {
      return run(
          joined({"synth", topology(name), "-c", collective, "--root", "0", "-k", "auto"}, more));
    };
    const auto between =
        run_well({"synth", topology("dgx-a100-x2"), "-c", collective, "--root", "0", "-v"});
    EXPECT_THAT(between.out, HasSubstr("proto=\"LL\""));
    EXPECT_THAT(between.err,
                HasSubstr("protocol LL: in Simple, a " + collective + " between boxes"));
    EXPECT_THAT(synth("dgx-a100-x1").out, HasSubstr("proto=\"Simple\""));
    EXPECT_THAT(synth("dgx-a100-x2", {"--proto", "LL"}).err, Not(HasSubstr("between boxes")));

    const auto refused = synth("dgx-a100-x2", {"--proto", "Simple"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("hangs"));
    EXPECT_THAT(refused.err, HasSubstr("--force-simple"));
    EXPECT_THAT(refused.err, HasSubstr("[T08]"));
    for (const std::vector<std::string>& forcing :
         {std::vector<std::string>{"--force-simple"}, {"--proto", "Simple", "--force-simple"}}) {
      const auto forced = synth("dgx-a100-x2", forcing);
      EXPECT_EQ(forced.code, 0) << forced.err;
      EXPECT_THAT(forced.out, HasSubstr("proto=\"Simple\""));
      EXPECT_THAT(forced.err, HasSubstr("[W13]"));
    }
    // Where it forces nothing, it is refused.
    for (const auto& idle : {synth("dgx-a100-x1", {"--force-simple"}),
                             synth("dgx-a100-x2", {"--force-simple", "--proto", "LL"}),
                             synth("dgx-a100-x2", {"--force-simple", "--format", "forest"})}) {
      EXPECT_EQ(idle.code, 2);
      EXPECT_THAT(idle.err, HasSubstr("[S04]"));
    }
  }
  EXPECT_EQ(run({"synth", "-k", "auto", topology("dgx-a100-x2"), "--force-simple"}).code, 2);
  EXPECT_THAT(run({"synth", "-k", "auto", topology("dgx-a100-x2")}).out,
              HasSubstr("proto=\"Simple\""));
}

TEST(SynthRuntimeLong, WarnsOfLL128WhereTheRuntimeDoesNotUseIt) {
  const auto warns = [](const std::string& name, const std::string& target) {
    const auto synth =
        run_well({"synth", topology(name), "--proto", "LL128", "--target", target, "-k", "1"});
    EXPECT_THAT(synth.out, HasSubstr("proto=\"LL128\""));
    return synth.err.find("[W14]") != std::string::npos;
  };
  EXPECT_FALSE(warns("dgx-a100-x1", "azure"));
  EXPECT_TRUE(warns("dgx-a100-x1", "rccl-6"));
  EXPECT_TRUE(warns("dgx-a100-x2", "azure"));
  EXPECT_FALSE(warns("mi250-x1", "rccl-6.3"));
  EXPECT_TRUE(warns("mi250-x1", "azure"));
}

// Where ranks are no power of two, no power of two of elements is a multiple of them.
TEST(SynthRuntimeLong, WarnsWhereOldReleasesSelectNoPowerOfTwo) {
  const auto err = [](const std::string& collective, const std::string& target,
                      const std::string& ranks) {
    return run({"synth", topology("dgx-a100-x1"), "-c", collective, "--target", target, "--ranks",
                ranks})
        .err;
  };
  EXPECT_THAT(err("allgather", "rccl-6", "0-5"), HasSubstr("[W15]"));
  EXPECT_THAT(err("allgather", "rccl-6", "0-5"), HasSubstr("for multiples of"));
  EXPECT_THAT(err("reduce_scatter", "rccl-6.2", "0-5"), HasSubstr("--target rccl-6.3"));
  for (const auto& [collective, target, ranks] :
       {std::tuple("allgather", "rccl-6.3", "0-5"), std::tuple("allgather", "azure", "0-5"),
        std::tuple("allreduce", "rccl-6", "0-5"), std::tuple("allgather", "rccl-6", "0-7")}) {
    EXPECT_THAT(err(collective, target, ranks), Not(HasSubstr("[W15]"))) << collective << target;
  }
}

TEST(SynthRuntimeLong, TellsTheCountsThatTheReleaseSelects) {
  const auto text = [](const std::string& target) {
    return run(
        {"synth", topology("dgx-a100-x1"), "-c", "allgather", "-k", "4", "--target", target});
  };
  for (const std::string old : {"rccl-5.7", "rccl-6", "rccl-6.2"}) {
    EXPECT_THAT(text(old).err, HasSubstr("divisible by 32 (elements sent per rank)"));
    EXPECT_THAT(text(old).out, HasSubstr(old + " selects it for elements sent per rank that are "
                                               "multiples of 32 -->"));
  }
  for (const std::string since : {"azure", "rccl-6.3", "msccl"}) {
    EXPECT_THAT(text(since).err, HasSubstr("divisible by 4 (elements sent per rank)"));
  }
  const auto all = run({"verify", "-", "--target", "all"}, {.input = text("rccl-6").out});
  EXPECT_THAT(all.out, HasSubstr("divisible by 32 "));
  EXPECT_THAT(all.out, HasSubstr("divisible by 4 "));
  // No window without such a size: a buffer is 8 · 32 elements or more.
  expect_says(2,
              {"synth", topology("dgx-a100-x1"), "-c", "allgather", "-k", "4", "--target", "rccl-6",
               "--max-bytes", "255"},
              "multiples of 256 bytes");
  EXPECT_EQ(run({"synth", topology("dgx-a100-x1"), "-c", "allgather", "-k", "4", "--target",
                 "rccl-6", "--max-bytes", "256"})
                .code,
            0);
}

TEST(SynthRuntime, TheSummarySaysTheWindowAsTheTargetReadsIt) {
  const auto said = [](const std::vector<std::string>& more) {
    return run(joined({"synth", "-k", "auto", "-", "-o", "/dev/null", "--target", "msccl"}, more),
               {.input = small_topology()})
        .err;
  };
  EXPECT_THAT(said({}), HasSubstr("from 0 B to less than 1 GiB"));
  EXPECT_THAT(said({"--sizes", "64K,16M"}), HasSubstr("from 64 KiB to 16 MiB"));
}

}  // namespace
}  // namespace forestcoll::testing
