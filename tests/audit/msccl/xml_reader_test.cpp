// What is read <gpu> by <gpu>, beside what the whole text says.
#include "audit/msccl/xml_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "audit/builders.hpp"
#include "audit/checking.hpp"

namespace audit_test {
namespace {

using namespace forestcoll::audit;  // NOLINT(google-build-using-namespace)

struct Read {
  bool ok = false;
  std::vector<std::int32_t> ids, lines, steps;  // of each <gpu>; its line, its steps
  std::vector<std::string> findings;
};

Read read(const std::string& text) {
  Findings findings("m.xml");
  const auto program =
      read_msccl_xml(text, "m.xml", LineIndex(text), *find_target_rules("azure"), findings);
  Read result;
  result.ok = program.has_value();
  for (const auto& finding : program ? findings.sorted(100) : program.errors()) {
    result.findings.push_back(finding.message);
  }
  if (!program) return result;
  for (const auto& gpu : program->gpus) {
    result.ids.push_back(gpu.id);
    result.lines.push_back(gpu.line);
    result.steps.push_back(0);
    for (const auto& tb : gpu.threadblocks) {
      result.steps.back() += static_cast<std::int32_t>(tb.steps.size());
      for (const auto& step : tb.steps) EXPECT_GT(step.line, tb.line);
      EXPECT_GT(tb.line, gpu.line);
    }
  }
  return result;
}

std::string ring() {
  return to_xml(small_schedules().front().second);
}

// The text with something put in front of the second <gpu>.
std::string with(const std::string& more) {
  std::string text = ring();
  return text.insert(text.find("<gpu ", text.find("<gpu ") + 1), more);
}

TEST(XmlReader, LinesAreThoseOfTheFile) {
  const std::string text = ring();
  const Read all = read(text);
  ASSERT_TRUE(all.ok);
  ASSERT_GT(all.ids.size(), 1U);
  for (std::size_t i = 0; i < all.ids.size(); ++i) {
    EXPECT_EQ(all.ids[i], static_cast<std::int32_t>(i));
    const std::size_t at = text.find("<gpu id=\"" + std::to_string(i) + "\"");
    EXPECT_EQ(all.lines[i], static_cast<std::int32_t>(LineIndex(text).line(at)));
  }
}

TEST(XmlReader, WhatOnlyLooksLikeAGpuIsNone) {
  const Read plain = read(ring());
  for (const char* more :
       {"<!-- <gpu id=\"9\"></gpu> -->", "<!-- </gpu> -->", "<other a=\"<gpu id='9'></gpu>\"/>",
        "<other><gpu id=\"9\"></gpu></other>", "<other a='</gpu>'/>", "<gpus id=\"9\"></gpus>"}) {
    const Read read_with = read(with(more));
    EXPECT_TRUE(read_with.ok) << more;
    EXPECT_EQ(read_with.ids, plain.ids) << more;
    EXPECT_EQ(read_with.steps, plain.steps) << more;
  }
}

TEST(XmlReader, AGpuWithoutThreadblocksOrAFurtherOneIsRead) {
  for (const char* more : {"<gpu id=\"9\"/>", "<gpu id=\"9\"></gpu>", "<gpu id=\"9\" />"}) {
    const Read read_with = read(with(more));
    ASSERT_TRUE(read_with.ok) << more;
    EXPECT_THAT(read_with.ids, ::testing::Contains(9)) << more;
  }
}

TEST(XmlReader, WhatIsNotWellFormedIsSaidOfTheWhole) {
  for (const char* more : {"<gpu id=\"9\">", "</gpu>", "<gpu id=\"9\"><tb></gpu>", "<gpu "}) {
    const Read read_with = read(with(more));
    EXPECT_FALSE(read_with.ok) << more;
    EXPECT_THAT(read_with.findings, ::testing::ElementsAre(::testing::HasSubstr("well-formed")))
        << more;
  }
}

TEST(XmlReader, ASecondAlgorithmIsStillFound) {
  const Read twice = read(ring() + "<algo/>");
  EXPECT_TRUE(twice.ok);
  EXPECT_THAT(twice.findings, ::testing::Contains(::testing::HasSubstr("a second element")));
}

}  // namespace
}  // namespace audit_test
