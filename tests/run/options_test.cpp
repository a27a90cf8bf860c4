// The command line of forestcoll-run.
#include "run/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forestcoll::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Expected<Request> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "forestcoll-run");
  return parse_options(static_cast<int>(words.size()), words.data());
}

TEST(RunOptions, AreThoseOfNcclTests) {
  const auto request = parse({"a.xml", "-b", "1K", "-e", "1M", "-f", "4", "-n", "5", "-w", "1",
                              "-d", "half", "-o", "max"});
  ASSERT_TRUE(request);
  EXPECT_THAT(request->options->sizes, ElementsAre(1024, 4096, 16384, 65536, 262144, 1048576));
  EXPECT_EQ(request->options->iterations, 5);
  EXPECT_EQ(request->options->warmups, 1);
  EXPECT_THAT(request->options->types, ElementsAre(ElementType::half));
  EXPECT_THAT(request->options->ops, ElementsAre(ReduceOp::max));
  const auto steps = parse({"a.xml", "-b", "8", "-e", "32", "-i", "10", "-d", "all", "-o", "all"});
  ASSERT_TRUE(steps);
  EXPECT_THAT(steps->options->sizes, ElementsAre(8, 18, 28));
  EXPECT_EQ(steps->options->types.size(), 10U);
  EXPECT_EQ(steps->options->ops.size(), 4U);
}

TEST(RunOptions, OneSizeWhereNoLargestIsGiven) {
  const auto request = parse({"a.xml", "-b", "4G"});
  ASSERT_TRUE(request);
  EXPECT_THAT(request->options->sizes, ElementsAre(std::int64_t{4} << 30));
}

TEST(RunOptions, WrongOnesAreRefusedInWords) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> wrong = {
      {{}, "required"},
      {{"a.xml", "-b", "some"}, "-b: expected a number of bytes, found \"some\""},
      {{"a.xml", "-b", "1M", "-e", "1K"}, "-e is less than -b"},
      {{"a.xml", "-f", "1"}, "a factor above 1"},
      {{"a.xml", "-b", "1", "-e", "1G", "-i", "1"}, "more than 1024 sizes"},
      {{"a.xml", "-d", "fp4"}, "there is no \"fp4\" here"},
      {{"a.xml", "-o", "avg"}, "no runtime runs a schedule for that"},
      {{"a.xml", "-g", "8"}, "every GPU is a process of its own"},
      {{"a.xml", "-n", "0"}, "--iters"},
      {{"a.xml", "--buffsize", "3"}, "--buffsize: expected 1024 to"},
      {{"a.xml", "--timeout", "-1"}, "--timeout"},
      {{"a.xml", "--unknown"}, "there is no option --unknown"},
      {{"a.xml", "--minbyte=3"}, "there is no option --minbyte; did you mean --minbytes?"},
      {{"a.xml", "-z"}, "there is no option -z"}};
  for (const auto& [words, message] : wrong) {
    const auto request = parse(words);
    ASSERT_FALSE(request) << message;
    EXPECT_EQ(request.errors().front().code, Code::X02);
    EXPECT_THAT(request.errors().front().message, HasSubstr(message));
    EXPECT_FALSE(request.errors().front().remedy.empty());
  }
}

}  // namespace
}  // namespace forestcoll::run
