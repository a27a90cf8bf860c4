// Shares of an optimum: exact in words, the nearest double in reports.
#include "common/report/share.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "cli/batch.hpp"
#include "cli/compare.hpp"

namespace forestcoll::testing {
namespace {

using cli::percent;
using cli::share;
using cli::share_lost;
using ::testing::HasSubstr;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Share, IsRoundedDownExactly) {
  EXPECT_EQ(percent(Ratio(80, 3), Ratio(100, 3)), "80 %");
  EXPECT_EQ(percent(Ratio(1200, 7), Ratio(520, 3)), "98.9 %");
  EXPECT_EQ(percent(Ratio(2, 3), Ratio(1)), "66.66 %");
  EXPECT_EQ(percent(Ratio(0), Ratio(7)), "0 %");
  EXPECT_EQ(percent(Ratio(14, 9), Ratio(1)), "155.55 %");
  for (std::int64_t h = 1; h < 10'000; ++h) {
    const Ratio part(h, 10'000), third(1, 3);
    const std::string text = percent(part * third, third);
    EXPECT_EQ(parse_ratio(text.substr(0, text.size() - 2)), Ratio(h, 100));
    EXPECT_EQ(percent(share(part, Ratio(1))), text);
  }
}

TEST(Share, IsWholeOnlyWhereNothingIsMissing) {
  EXPECT_EQ(percent(Ratio(5, 3), Ratio(5, 3)), "100 %");
  EXPECT_EQ(percent(Ratio(kLargest - 1), Ratio(kLargest)), "99.99 %");
  EXPECT_EQ(percent(Ratio(kLargest), Ratio(kLargest - 1)), "100.01 %");
  // Numerator and denominator of the quotient have 126 bits each.
  EXPECT_EQ(percent(Ratio(kLargest, kLargest - 1), Ratio(kLargest - 1, kLargest - 2)), "99.99 %");
  EXPECT_EQ(percent(Ratio(kLargest, kLargest - 2), Ratio(kLargest, kLargest - 2)), "100 %");
  EXPECT_EQ(percent(share(Ratio(kLargest - 1), Ratio(kLargest))), "99.99 %");
  EXPECT_EQ(percent(share(Ratio(kLargest), Ratio(kLargest - 1))), "100.01 %");
  EXPECT_EQ(percent(1.0), "100 %");
}

TEST(Share, IsTheNearestDouble) {
  EXPECT_EQ(share(Ratio(80, 3), Ratio(100, 3)), 0.8);
  EXPECT_EQ(share_lost(Ratio(4, 5), Ratio(1)), 0.2);
  EXPECT_EQ(share(Ratio(kLargest - 1), Ratio(kLargest)), std::nextafter(1.0, 0.0));
  EXPECT_EQ(share(Ratio(kLargest), Ratio(1, 2)), std::ldexp(1.0, 64));
  EXPECT_EQ(share(Ratio(0), Ratio(3)), 0);
  // A division of doubles that are exact is rounded once.
  std::mt19937_64 random(1);
  const auto draw = [&] { return static_cast<std::int64_t>(random() % 90'000'000) + 1; };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t a = draw(), b = draw(), c = draw(), d = draw();
    EXPECT_EQ(share(Ratio(a, b), Ratio(c, d)),
              static_cast<double>(a * d) / static_cast<double>(b * c));
  }
}

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

TEST(Share, IsTheSameInEveryFormOfCompare) {
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
    const auto result = run(more);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
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

TEST(Share, IsTheSameInBatchAsInSynth) {
  const BatchDirectories batch;
  batch.add("a100.json", read_file(topology("dgx-a100-x2")));
  const auto made = batch.run({"-c", "allreduce", "-k", "1"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto synth = run({"synth", topology("dgx-a100-x2"), "-k", "1"});
  const std::string share_of_one_tree = "98.9 %";
  EXPECT_THAT(synth.err, HasSubstr(", " + share_of_one_tree + " of the optimum"));
  EXPECT_THAT(made.err, HasSubstr(" GB/s, " + share_of_one_tree + ", height"));
  EXPECT_THAT(read_file(batch.out() + "/report.md"), HasSubstr("| " + share_of_one_tree + " |"));
}

}  // namespace
}  // namespace forestcoll::testing
