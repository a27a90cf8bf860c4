// What `synth` chose by itself is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

TEST(SynthNotes, AFileNameOfAnotherFormatIsSaid) {
  const Scratch scratch;
  const std::vector<std::string> scatter = {
      "synth", topology("dgx-a100-x1"), "--ranks", "0-3", "-c", "scatter", "--root", "0", "-o"};
  const std::string xml = scratch / "s.xml", json = scratch / "s.json";
  EXPECT_THAT(run_well(joined(scatter, {xml})).err,
              HasSubstr("s.xml holds JSON, as --format mscclpp is: its name says xml"));
  EXPECT_THAT(run_well(joined(scatter, {json})).err, Not(HasSubstr("its name says")));
  EXPECT_EQ(run_well(joined(scatter, {xml, "--quiet"})).err.find("its name says"),
            std::string::npos);
  const std::vector<std::string> trees = {
      "synth", topology("dgx-a100-x1"), "--ranks", "0-3", "-k", "1", "-o"};
  EXPECT_THAT(run_well(joined(trees, {json})).err,
              HasSubstr("s.json holds XML, as --format msccl is: its name says json"));
  EXPECT_THAT(run_well(joined(trees, {xml})).err, Not(HasSubstr("its name says")));
}

TEST(SynthNotesLong, WhyLl128IsNotUsedIsSaidInDetail) {
  const Scratch scratch;
  const std::string xml = scratch / "a.xml";
  const auto between = [&xml](const std::vector<std::string>& more) {
    return run_well(joined({"synth", topology("dgx-a100-x2"), "-o", xml}, more)).err;
  };
  EXPECT_THAT(between({"-v"}), HasSubstr("LL128 is not used: the runtime enables it only over"));
  EXPECT_THAT(between({}), Not(HasSubstr("LL128")));
  EXPECT_THAT(between({"-v", "--proto", "LL"}), Not(HasSubstr("LL128 is not used")));
  EXPECT_THAT(run_well({"synth", topology("dgx-a100-x1"), "-v", "-o", xml}).err,
              Not(HasSubstr("LL128 is not used")));
}

TEST(SynthNotes, AScheduleIsNoTopology) {
  const Scratch scratch;
  const std::string xml = scratch / "a.xml";
  run_well({"synth", topology("dgx-a100-x1"), "-k", "1", "-o", xml});
  for (const char* command : {"bound", "compare", "synth"}) {
    expect_says(2, {command, xml}, "a.xml is a schedule, where a topology is expected [S04]");
  }
}

}  // namespace
}  // namespace forestcoll::testing
