// Matrices of an all-to-all-v: what is read, and one error of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "forestcoll/demand.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;

TEST(ParseDemand, ReadsCsvAndJson) {
  for (const char* text :
       {"# bytes\n0, 1,2\r\n\n3,40,5\n 6 ,7,0", "[[0, 1, 2], [3, 40, 5], [6, 7, 0]]"}) {
    const auto parsed = parse_demand(text, "d", 3);
    ASSERT_TRUE(parsed) << to_string(parsed.errors().front());
    EXPECT_EQ(parsed->total, 64);
    EXPECT_EQ(parsed->demand.total(), 24);  // without what ranks have for themselves
    EXPECT_EQ(parsed->demand(Rank(0), Rank(2)), 2);
    EXPECT_EQ(parsed->demand(Rank(2), Rank(0)), 6);
    EXPECT_EQ(parsed->demand(Rank(1), Rank(1)), 0);  // crosses no link
  }
}

TEST(ParseDemand, RowsCanBeZero) {
  const auto parsed = parse_demand("0,0\n1099511627775,0\n", "d", 2);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->demand(Rank(1), Rank(0)), 1099511627775);
}

struct Malformed {
  std::string name, text;
  Code code = {};
  std::string where, message;
};

class ParseDemandErrors : public ::testing::TestWithParam<Malformed> {};

TEST_P(ParseDemandErrors, NameCodeAndPlace) {
  const auto parsed = parse_demand(GetParam().text, "d.csv", 2);
  ASSERT_FALSE(parsed);
  const Diagnostic& error = parsed.errors().front();
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_EQ(error.file, "d.csv");
  EXPECT_EQ(error.where, GetParam().where);
  EXPECT_THAT(error.message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ParseDemandErrors,
    ::testing::Values(Malformed{"NotJson", "[[0, 1], [2, 0]", Code::E01, "1:16", ""},
                      Malformed{"AnObject", R"({"bytes": 3})", Code::A03, "", "an array of rows"},
                      Malformed{"FlatJson", "[0, 1, 2, 0]", Code::A03, "/0", "found 0"},
                      Malformed{"Empty", "", Code::A04, "", "expected 2 rows, found 0"},
                      Malformed{"RowMissing", "0,1\n", Code::A04, "", "expected 2 rows, found 1"},
                      Malformed{"ShortRow", "0,1\n2\n", Code::A04, "line 2", "found 1"},
                      Malformed{"LongRow", "[[0,1],[2,0,3]]", Code::A04, "/1", "found 3"},
                      Malformed{"Text", "0,x\n2,0\n", Code::A05, "line 1, column 2", "\"x\""},
                      Malformed{"Blank", "0,\n2,0\n", Code::A05, "line 1, column 2", "\"\""},
                      Malformed{"Negative", "0,1\n-2,0\n", Code::A05, "line 2, column 1", "\"-2\""},
                      Malformed{"Fraction", "[[0, 1.5], [2, 0]]", Code::A05, "/0/1", "1.5"},
                      Malformed{"AString", R"([[0, "1"], [2, 0]])", Code::A05, "/0/1", "1"},
                      Malformed{"BeyondAnInteger", "0,9223372036854775808\n2,0\n", Code::A05,
                                "line 1, column 2", "9223372036854775808"},
                      Malformed{"AByteOrderMark",
                                "\xEF\xBB\xBF"
                                "0,1\n2,0\n",
                                Code::A03, "1:1", "byte-order mark"},
                      Malformed{"TooMuchTogether", "0,1099511627775\n1,0\n", Code::A06,
                                "line 2, column 1", "2^40"}),
    [](const auto& test) { return test.param.name; });

TEST(ParseDemandErrors, AreReportedTogether) {
  const auto parsed = parse_demand("a,1\n2,b\n", "d", 2);
  ASSERT_FALSE(parsed);
  ASSERT_EQ(parsed.errors().size(), 1U);
  EXPECT_THAT(parsed.errors().front().message, ::testing::HasSubstr("(2 such amounts in all)"));
}

TEST(ParseDemandErrors, OfAWrongShapeAreCounted) {
  for (const char* text : {"0,1,2\n0,1,2\n0,x,2\n", "0,1\n2,0\n", "0\n0,1\n0\n"}) {
    const auto parsed = parse_demand(text, "d", 3);
    ASSERT_EQ(parsed.has_value(), false) << text;
    EXPECT_EQ(parsed.errors().size(), 1U) << text;
  }
  const auto parsed = parse_demand("0,1\n0,1,2\n0\n", "d", 3);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.errors().front().where, "line 1");
  EXPECT_EQ(parsed.errors().front().message,
            "expected 3 amounts, found 2; 2 rows in all do not fit");
}

}  // namespace
}  // namespace forestcoll::testing
