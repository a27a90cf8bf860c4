// Shares of an optimum are the same in all that the program writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/compare.hpp"

namespace forestcoll::testing {
namespace {

// Four boxes of four GPUs, every GPU with a NIC of an eighth of its bandwidth.
std::string four_boxes() {
  return R"({"format": "forestcoll-topology", "version": 1,
 "templates": {"box": {
   "nodes": [{"id": "gpu[0-3]", "type": "compute"}, {"id": "sw", "type": "switch"}],
   "links": [{"src": "gpu[0-3]", "dst": "sw", "bandwidth": 100}]}},
 "boxes": [{"id": "n[0-3]", "template": "box"}],
 "nodes": [{"id": "leaf[0-1]", "type": "switch"}],
 "links": [{"src": "n[0-3]/gpu[0,2]", "dst": "leaf0", "bandwidth": 12.5},
           {"src": "n[0-3]/gpu[1,3]", "dst": "leaf1", "bandwidth": 12.5}]})";
}

TEST(SharesOfReports, AreTheSameInEveryFormOfCompare) {
  const Scratch scratch;
  const std::vector<std::string> words = {"compare",
                                          scratch.write("four.json", four_boxes()),
                                          "--trees",
                                          "--algorithms",
                                          "ring,nccl-ring",
                                          "--sizes",
                                          "1M"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run_well(more).out;
  };
  const auto report = nlohmann::json::parse(with({"--json"}));
  EXPECT_EQ(row(report, "nccl-ring")["algbw"]["exact"], "80/3");
  EXPECT_EQ(row(report, "nccl-ring")["optimum_fraction"].get<double>(), 0.8);
  EXPECT_EQ(row(report, "ring")["optimum_fraction"].get<double>(), 0.2);
  EXPECT_THAT(with({"--csv"}), HasSubstr(",0.8,"));
  for (const char* form : {"--markdown", "--latex", "-q"}) {
    const std::string text = with({form});
    EXPECT_THAT(text, HasSubstr(form == std::string("--latex") ? " 80 \\%" : " 80 %")) << form;
    EXPECT_THAT(text, HasSubstr(form == std::string("--latex") ? " 20 \\%" : " 20 %")) << form;
  }
}

TEST(SharesOfReports, AreTheSameInBatchAsInSynth) {
  const BatchDirectories batch;
  batch.add("a100.json", read_file(topology("dgx-a100-x2")));
  const auto made = batch.run({"-c", "allreduce", "-k", "1"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto synth = run({"synth", topology("dgx-a100-x2"), "-k", "1"});
  const std::string share_of_one_tree = "98.9 %";
  EXPECT_THAT(synth.err, HasSubstr(", " + share_of_one_tree + " of the optimum"));
  EXPECT_THAT(made.err, HasSubstr(" GB/s, " + share_of_one_tree + " of the optimum, height"));
  EXPECT_THAT(read_file(batch.out() + "/report.md"), HasSubstr("| " + share_of_one_tree + " |"));
}

}  // namespace
}  // namespace forestcoll::testing
