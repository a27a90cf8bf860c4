// Commands that another program calls: files in memory, findings, and the wish to stop.
#include "common/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"
#include "run_program.hpp"

namespace forestcoll::testing {
namespace {

// What the program says by itself is asked before there is a host, which its streams would go to.
TEST(Host, HasFilesInMemory) {
  const std::string alone = run({"synth", "-", "-k", "1"}, {.input = small_topology()}).out;
  Diagnostics findings;
  cli::Host host({{"fabric.json", small_topology()}, {"out.xml", ""}});
  EXPECT_EQ(cli::call_program({"synth", "fabric.json", "-k", "1", "-o", "out.xml"}, findings), 0);
  EXPECT_EQ(host.files["out.xml"], alone);
  EXPECT_EQ(host.out, "");
  EXPECT_THAT(host.notes, HasSubstr("algbw 25 GB/s"));
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(cli::call_program({"verify", "out.xml"}, findings), 0);
  EXPECT_THAT(host.out, HasSubstr("out.xml: valid: allreduce over 2 ranks"));
}

TEST(Host, HasFilesOfTheSystemAndNoStandardInput) {
  const std::string alone = run({"bound", topology("dgx-a100-x1")}).out;
  Diagnostics findings;
  cli::Host host({});
  EXPECT_EQ(cli::call_program({"bound", topology("dgx-a100-x1")}, findings), 0);
  EXPECT_EQ(host.out, alone);
  EXPECT_EQ(cli::call_program({"bound", "-"}, findings), 4);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().file, "<stdin>");
}

TEST(Host, HearsOfWrongWordsAsFindings) {
  cli::Host host({});
  for (const auto& [words, code] : std::vector<std::pair<std::vector<std::string>, Code>>{
           {{"topo", "gen", "dgx-a100", "--gpus", "3"}, Code::G02},
           {{"bound", "a.json", "--target", "none"}, Code::T07},
           {{"bond", "a.json"}, Code::S05},
           {{"bound", "a.json", "--tops", "[3]"}, Code::S05}}) {
    Diagnostics findings;
    EXPECT_EQ(cli::call_program(words, findings), 2);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front().code, code) << findings.front().message;
    EXPECT_THAT(findings.front().remedy, HasSubstr("--help`"));
  }
  EXPECT_EQ(host.notes, "");
}

TEST(Host, IsOfOneThreadAndEnds) {
  EXPECT_EQ(cli::Host::current(), nullptr);
  {
    const cli::Host outer({});
    const cli::Host inner({});
    EXPECT_EQ(cli::Host::current(), &inner);
  }
  EXPECT_EQ(cli::Host::current(), nullptr);
}

TEST(Host, AsksToStop) {
  std::stop_source stop;
  stop.request_stop();
  Diagnostics findings;
  const cli::Host host({}, stop.get_token());
  EXPECT_EQ(cli::call_program({"synth", topology("dgx-a100-x2")}, findings), 3);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().code, Code::R01);
}

}  // namespace
}  // namespace forestcoll::testing
