// The reports of `forestcoll batch`: for people, CI systems and comparisons.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;

// One that works, and one that does not, with names that every format must quote.
class BatchReportLong : public ::testing::Test {
 protected:
  BatchReportLong() {
    batch_.add("good.json", pair_topology("10"));
    batch_.add("b|a<d>,\n\"x\".json", pair_topology("\"fast\""));
  }
  BatchDirectories batch_;
};

TEST_F(BatchReportLong, JsonGoesToStandardOutputOnDemand) {
  const auto result = batch_.run({"--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, read_file(batch_.out() + "/report.json"));
}

TEST_F(BatchReportLong, CsvHasARecordPerItem) {
  ASSERT_EQ(batch_.run().code, 1);
  const std::string csv = read_file(batch_.out() + "/report.csv");
  EXPECT_THAT(csv, StartsWith("input,collective,target,k,status,output,hash,algbw,algbw_exact,"
                              "optimum_fraction,height,seconds,code,where,message,optimum_range\r\n"
                              "\"b|a<d>,\n\"\"x\"\".json\",allreduce,azure,auto,failed,,,,,,,"));
  EXPECT_THAT(csv, HasSubstr(",E05,/links/0/bandwidth,"));
  EXPECT_THAT(csv, HasSubstr("\r\ngood.json,allreduce,azure,auto,ok,good.json/allreduce.xml,"));
  EXPECT_THAT(csv, HasSubstr(",10,10,1,1,"));
}

TEST_F(BatchReportLong, MarkdownHasFailuresFirst) {
  ASSERT_EQ(batch_.run().code, 1);
  const std::string text = read_file(batch_.out() + "/report.md");
  EXPECT_THAT(text, StartsWith("### forestcoll: 1 failed, 0 worse\n\n2 items, 1 made, 0 reused, "
                               "1 failed, 0 skipped.\n\n| failed |"));
  EXPECT_THAT(text, HasSubstr("| b\\|a&lt;d>,\\\\n\"x\".json | allreduce | E05 | "
                              "/links/0/bandwidth |"));
  EXPECT_LT(text.find("E05"), text.find("<details>"));
  EXPECT_THAT(text,
              HasSubstr("| good.json | allreduce | azure | auto | ok | 10 | 10 | 100 % | 1 |"));
}

TEST(BatchMarkdown, IsNoLongerThanACommentMayBe) {
  const BatchDirectories batch;
  for (int i = 0; i < 400; ++i) {
    batch.add(std::string(150, 'x') + std::to_string(i) + ".json", "{\"" + std::string(300, 'y'));
  }
  ASSERT_EQ(batch.run().code, 1);
  const std::string text = read_file(batch.out() + "/report.md");
  EXPECT_LT(text.size(), 65'536);
  EXPECT_THAT(text, HasSubstr("… and 350 more in report.json"));
}

TEST_F(BatchReportLong, JunitHasATestCasePerItem) {
  ASSERT_EQ(batch_.run({"--junit", batch_ / "junit.xml"}).code, 1);
  pugi::xml_document document;
  ASSERT_TRUE(document.load_file((batch_ / "junit.xml").c_str()));
  const auto suite = document.child("testsuites").child("testsuite");
  EXPECT_EQ(suite.attribute("tests").as_int(), 2);
  EXPECT_EQ(suite.attribute("failures").as_int(), 1);
  const auto broken = suite.first_child();
  EXPECT_EQ(std::string(broken.attribute("classname").value()), "b|a<d>,\\n\"x\".json");
  EXPECT_EQ(std::string(broken.child("failure").attribute("type").value()), "E05");
  EXPECT_THAT(broken.child("failure").attribute("message").value(),
              StartsWith("/links/0/bandwidth: "));
  EXPECT_FALSE(broken.next_sibling().child("failure"));
}

TEST_F(BatchReportLong, AnnotationsAreWorkflowCommands) {
  batch_.add("cut.json", "{\n \"format\": ");
  const auto result = batch_.run({"--annotate"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("::error file=" + batch_.in() +
                                    "/b|a<d>%2C%0A\"x\".json,title=E05 allreduce::"
                                    "/links/0/bandwidth: "));
  EXPECT_THAT(result.out, HasSubstr("/cut.json,line=2,col="));
}

TEST(BatchLong, ALinePerItemWhereThereIsNoTerminal) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  const auto made = batch.run();
  EXPECT_THAT(made.err, HasSubstr("[1/1] ok      a.json allreduce (azure, k auto): 10 GB/s, 100 % "
                                  "of the optimum, height 1"));
  EXPECT_THAT(made.err, HasSubstr("most memory: "));
  EXPECT_THAT(batch.run().err, HasSubstr("[1/1] cached  a.json allreduce"));
  EXPECT_EQ(batch.run({"-q"}).err, "");
}

// What --baseline is for: each kind of regression, planted in the report of before.
class BatchBaselineLong : public ::testing::Test {
 protected:
  BatchBaselineLong() {
    batch_.add("a.json", pair_topology("10"));
    EXPECT_EQ(batch_.run().code, 0);
    before_ = batch_.report();
  }
  Result run(const nlohmann::json& baseline, const std::vector<std::string>& more = {}) const {
    std::ofstream(batch_ / "baseline.json") << baseline;
    return batch_.run(joined({"--baseline", batch_ / "baseline.json"}, more));
  }
  BatchDirectories batch_;
  nlohmann::json before_;
};

TEST_F(BatchBaselineLong, TheSameIsNoRegression) {
  const auto result = run(before_);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(batch_.report()["regressions"], IsEmpty());
}

TEST_F(BatchBaselineLong, ALowerRateIsOne) {
  before_["items"][0]["algbw"]["exact"] = "1000000000000001/100000000000000";
  const auto result = run(before_);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("rate 10.00000000000001 -> 10.00000000000000 GB/s (by less than 0.1 %), "
                        "exactly 1000000000000001/100000000000000 -> 10"));
  EXPECT_EQ(batch_.report()["regressions"][0]["what"], "rate");
  EXPECT_THAT(read_file(batch_.out() + "/report.md"),
              HasSubstr("| worse | a.json | allreduce | rate |"));
  EXPECT_EQ(run(before_, {"--allow", "height", "--allow", "file"}).code, 1);
  const auto misspelt = run(before_, {"--allow", "rate:b*", "--allow", "rate:a*"});
  EXPECT_EQ(misspelt.code, 0);
  EXPECT_THAT(misspelt.err, AllOf(HasSubstr("--allow rate:b* allows nothing: no input of this run "
                                            "or of the baseline matches the pattern\n"),
                                  Not(HasSubstr("--allow rate:a* allows nothing"))));
  EXPECT_EQ(run(before_, {"--allow", "rate:b*"}).code, 1);
  EXPECT_EQ(run(before_, {"--allow", "rate:a*"}).code, 0);
  EXPECT_EQ(run(before_, {"--allow", "rate"}).code, 0);
  EXPECT_THAT(run(before_, {"--allow", "rate"}).err, HasSubstr(" (allowed by --allow)"));
  EXPECT_THAT(run(before_, {"--allow", "file"}).err, Not(HasSubstr("allowed by --allow")));
  before_["items"][0]["algbw"]["exact"] = "9999999999999999/1000000000000000";
  EXPECT_EQ(run(before_).code, 0) << "a higher rate is none";
}

TEST_F(BatchBaselineLong, AFileThatReachesLessIsOne) {
  before_["items"][0]["reached"] = {{"exact", "20"}, {"value", 20}};
  const auto result = run(before_);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("rate 20.00 -> 10.00 GB/s"));
}

TEST_F(BatchBaselineLong, HigherTreesAreOne) {
  before_["items"][0]["max_height"] = 0;
  const auto result = run(before_, {"--junit", batch_ / "junit.xml", "--annotate"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("height 0 -> 1"));
  EXPECT_THAT(result.out, HasSubstr("/a.json,title=worse::allreduce: height 0 -> 1"));
  EXPECT_THAT(
      read_file(batch_ / "junit.xml"),
      AllOf(HasSubstr("failures=\"1\""), HasSubstr("type=\"worse\""), HasSubstr("height 0 -> 1")));
}

TEST_F(BatchBaselineLong, OtherBytesAreAChangeAndFailWhereThatIsAsked) {
  before_["items"][0]["outputs"][0]["hash"] = std::string(36, '0');
  const auto changed = run(before_);
  EXPECT_EQ(changed.code, 0);
  EXPECT_THAT(changed.err, AllOf(HasSubstr("changed a.json allreduce"),
                                 HasSubstr("0 worse, 0 better, 1 changed, 0 missing")));
  EXPECT_THAT(batch_.report()["regressions"], IsEmpty());
  EXPECT_EQ(batch_.report()["other_differences"][0]["grade"], "changed");
  const std::vector<std::string> strict = {"--fail-on", "worse,missing,changed", "--junit",
                                           batch_ / "junit.xml", "--annotate"};
  const auto refused = run(before_, strict);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out, HasSubstr(",title=changed::allreduce: "));
  EXPECT_THAT(read_file(batch_ / "junit.xml"), HasSubstr("type=\"changed\""));
  EXPECT_THAT(read_file(batch_.out() + "/report.md"),
              HasSubstr("### forestcoll: 0 failed, 0 worse, 1 changed\n"));
  EXPECT_EQ(batch_.report()["regressions"][0]["what"], "file");
  const auto bytes = before_["items"][0]["outputs"][0]["bytes"].get<int>();
  EXPECT_THAT(read_file(batch_.out() + "/report.md"),
              HasSubstr(fmt::format("| file | a.json/allreduce.xml: other content, {} bytes as "
                                    "before | {} -> ",
                                    bytes, std::string(36, '0'))));
  before_["items"][0]["outputs"][0]["bytes"] = 7;
  EXPECT_THAT(run(before_).err,
              HasSubstr(fmt::format("file a.json/allreduce.xml: 7 -> {} bytes", bytes)));
  EXPECT_EQ(run(before_, {"--fail-on", "changed", "--allow", "file"}).code, 0);
}

TEST_F(BatchBaselineLong, ALowerRateWithinTheToleranceIsAChange) {
  before_["items"][0]["algbw"]["exact"] = "500/49";  // 98 % of it are 10
  for (const char* tolerance : {"2%", "2 %", "0.02", "1/50"}) {
    EXPECT_EQ(run(before_, {"--tolerance", tolerance}).code, 0) << tolerance;
    EXPECT_EQ(batch_.report()["other_differences"][0]["grade"], "changed");
  }
  EXPECT_EQ(run(before_, {"--tolerance", "1.99%"}).code, 1);
  EXPECT_EQ(run(before_, {"--fail-on", "none"}).code, 0);
  EXPECT_EQ(batch_.report()["other_differences"][0]["grade"], "worse");
  EXPECT_EQ(run(before_).code, 1);
  EXPECT_THAT(run(before_).err, HasSubstr("1 worse, 0 better, 0 changed, 0 missing"));
}

TEST_F(BatchBaselineLong, AHigherRateIsBetter) {
  before_["items"][0]["algbw"]["exact"] = "8";
  const auto result = run(before_);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("better  a.json allreduce (azure, k auto): rate 8.00 -> 10.00 "
                                    "GB/s (+25.0 %), exactly 8 -> 10"));
  EXPECT_EQ(batch_.report()["other_differences"][0]["grade"], "better");
  EXPECT_EQ(run(before_, {"--fail-on", "better"}).code, 1);
}

TEST_F(BatchBaselineLong, WordsThatAreNoneAreErrors) {
  for (const auto& [words, message] :
       {std::pair<std::vector<std::string>, std::string>{{"--tolerance", "100%"}, "below 100 %"},
        {{"--tolerance", "-1%"}, "below 100 %"},
        {{"--tolerance", "two"}, "below 100 %"},
        {{"--fail-on", "worst"}, "found \"worst\""},
        {{"--allow", "bytes"}, "expected rate, height, file or item"}}) {
    const auto result = run(before_, words);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr(message), HasSubstr("[S03]")));
  }
  EXPECT_THAT(batch_.run({"--tolerance", "1%"}).err,
              HasSubstr("--tolerance has a meaning with --baseline only"));
}

// What a reviewer wants to know first, with the fractions beside it.
TEST_F(BatchBaselineLong, RatesAreSaidWithDecimals) {
  before_["items"][0]["algbw"]["exact"] = "75/7";
  const auto result = run(before_);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("rate 10.71 -> 10.00 GB/s (-6.7 %), exactly 75/7 -> 10"));
  EXPECT_THAT(read_file(batch_.out() + "/report.md"),
              HasSubstr("| rate | 10.71 -> 10.00 GB/s (-6.7 %) | 75/7 -> 10 |"));
  const auto regression = batch_.report()["regressions"][0];
  EXPECT_EQ(regression["before"]["exact"], "75/7");
  EXPECT_EQ(regression["after"]["value"], 10);
  EXPECT_NEAR(regression["change"], 10 / (75.0 / 7) - 1, 1e-12);
  EXPECT_EQ(regression["says"], "10.71 -> 10.00 GB/s (-6.7 %)");
}

TEST_F(BatchBaselineLong, SaysWhoMadeIt) {
  EXPECT_THAT(run(before_).err, Not(HasSubstr("another build")));
  before_["program"] = "an older one";
  EXPECT_THAT(run(before_).err, HasSubstr("the baseline was made by another build of forestcoll"));
  before_.erase("program");  // as reports were
  EXPECT_EQ(run(before_).code, 0);
  before_["program"] = 7;
  EXPECT_THAT(run(before_).err, AllOf(HasSubstr("/program"), HasSubstr("[J07]")));
}

TEST_F(BatchBaselineLong, AnItemThatFailsNowIsOneAndAPreviousFailureIsNot) {
  batch_.add("a.json", "{");
  EXPECT_EQ(run(before_).code, 1);
  EXPECT_EQ(batch_.report()["regressions"][0]["what"], "failed");
  const auto failed = batch_.report();
  batch_.add("a.json", pair_topology("10"));
  EXPECT_EQ(run(failed).code, 0);
}

TEST_F(BatchBaselineLong, AnItemThatIsMissingFailsAndANewOneDoesNot) {
  before_["items"].push_back(before_["items"][0]);
  before_["items"][1]["input"] = "gone.json";
  before_["items"][0]["collective"] = "allgather";
  const auto result = run(before_, {"--junit", batch_ / "junit.xml"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(
      result.err,
      AllOf(HasSubstr("missing gone.json allreduce"),
            HasSubstr("new     a.json allreduce (azure, k auto): item is not in the baseline"),
            HasSubstr("2 missing, 1 new")));
  EXPECT_THAT(read_file(batch_ / "junit.xml"),
              AllOf(HasSubstr("tests=\"3\""), HasSubstr("failures=\"2\""),
                    HasSubstr("<system-out>new: the item is not in the baseline</system-out>")));
  EXPECT_THAT(read_file(batch_.out() + "/report.md"),
              HasSubstr("| new | a.json | allreduce | item | is not in the baseline | missing -> "
                        "there |"));
  const auto report = batch_.report();
  expect_valid(report, "forestcoll-batch.schema.json");
  EXPECT_EQ(report["new_items"], nlohmann::json::parse(R"([{"input": "a.json",
    "collective": "allreduce", "target": "azure", "asked_k": "auto"}])"));
  EXPECT_THAT(report["other_differences"], IsEmpty());
  EXPECT_EQ(run(before_, {"--fail-on", "worse"}).code, 0);
  EXPECT_EQ(run(before_, {"--allow", "item"}).code, 0);
  // What a shard does not have is in others.
  EXPECT_EQ(run(before_, {"--shard", "1/2"}).code, 0);
}

TEST_F(BatchBaselineLong, MustBeAReport) {
  auto other_version = before_, no_item = before_;
  other_version["version"] = 5;
  no_item["items"].push_back(nlohmann::json{{"input", "x"}});
  for (const auto& [json, message] :
       {std::pair<nlohmann::json, std::string>{other_version, "expected a report"},
        {nlohmann::json::array(), "expected a report"},
        {no_item, "/items/1: expected an item"}}) {
    const auto result = run(json);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr(message), HasSubstr("[J07]")));
  }
}

TEST_F(BatchBaselineLong, AMissingOneIsAnError) {
  const auto result = batch_.run({"--baseline", batch_ / "nothing.json"});
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("nothing.json: --baseline: cannot read"),
                                HasSubstr("the first run has none to name")));
}

TEST(BatchMerge, RefusesWhatIsNoWhole) {
  const BatchDirectories batch;
  for (int i = 1; i <= 4; ++i) {
    batch.add(std::to_string(i) + ".json", pair_topology(std::to_string(i)));
  }
  const auto merge = [&](const std::vector<std::string>& words, const std::string& message) {
    const auto result = run(joined({"batch", "merge"}, words));
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_NE(result.code, 0);
    return result;
  };
  fs::create_directories(batch.out());
  merge({batch.out()}, "there is no report of a shard");
  merge({batch / "nowhere"}, "cannot read");
  ASSERT_EQ(batch.run({"--shard", "1/2"}).code, 0);
  merge({batch.out()}, "shard 2 of 2 has no report");
  merge({batch.out(), batch.out()}, "name it with -o");
  merge({batch.out(), batch.out(), "-o", batch / "all"}, "the same shard as");
  ASSERT_EQ(batch.run({"--shard", "3/3"}).code, 0);
  merge({batch.out()}, "one of 3 shards");
  fs::remove(batch.out() + "/report.3-of-3.json");
  ASSERT_EQ(batch.run({"--shard", "2/2"}).code, 0);
  // An output that was changed after its shard had ended.
  const auto part = nlohmann::json::parse(read_file(batch.out() + "/report.1-of-2.json"));
  const std::string path = part["items"][0]["outputs"][0]["path"];
  const std::string text = read_file(batch.out() + "/" + path);
  std::ofstream(batch.out() + "/" + path) << text << " ";
  merge({batch.out(), "-o", batch / "all"}, "not what the report says");
  std::ofstream(batch.out() + "/" + path) << text;
  EXPECT_EQ(run({"batch", "merge", batch.out(), "-o", batch / "all"}).code, 0);
  // A shard of an older program.
  auto older = part;
  older["program"] = "an older one";
  std::ofstream(batch.out() + "/report.1-of-2.json") << older;
  merge({batch.out(), "-o", batch / "other"}, "made by another program than");
  EXPECT_FALSE(fs::exists(batch / "other"));
  std::ofstream(batch.out() + "/report.1-of-2.json") << part;
  // The same work by two shards, after a topology changed its cost.
  auto twice = part;
  std::ofstream(batch.out() + "/report.2-of-2.json") << twice;
  merge({batch.out()}, "two shards made the same");
}

}  // namespace
}  // namespace forestcoll::testing
