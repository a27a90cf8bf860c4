// The form of the text: what is XML, and yet fails or is misread in the runtimes' own parser.
#include "audit/checking.hpp"

namespace audit_test {
namespace {

TEST(Lexical, GoodTextPasses) {
  EXPECT_TRUE(check_text(good()).ok);
  EXPECT_TRUE(check_text("\n\n" + good()).ok);
  EXPECT_TRUE(check_text("<!-- k=1 by hand -->\n" + good()).ok);
  EXPECT_TRUE(check_text(replaced(good(), "hasdep=\"0\"/>", "hasdep=\"0\" />")).ok);
  EXPECT_TRUE(check_text(replaced(good(), "hasdep=\"0\"/>", "hasdep=\"0\"></step>")).ok);
  EXPECT_TRUE(check_text(replaced(good(), "id=\"0\"", "id=\"0\"  colour=\"red\"")).ok);
  std::string windows;
  for (const char c : good()) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_TRUE(check_text(windows).ok);
}

TEST(Lexical, Prolog) {
  EXPECT_TRUE(finds(check_text("<?xml version=\"1.0\"?>\n" + good()), Code::V02, "prolog", "1:1"));
}
TEST(Lexical, ByteOrderMark) {
  const auto marked = check_text("\xEF\xBB\xBF" + good());
  EXPECT_TRUE(finds(marked, Code::V02, "byte-order mark"));
  EXPECT_EQ(marked.faults, std::vector{forestcoll::Fault::refused});
}
TEST(Lexical, Tab) {
  EXPECT_TRUE(finds(check_text(replaced(good(), "  <gpu", "\t<gpu")), Code::V02, "tab", "2:1"));
}
TEST(Lexical, Text) {
  EXPECT_TRUE(
      finds(check_text(replaced(good(), "  <gpu", "hello <gpu")), Code::V02, "text between"));
}
TEST(Lexical, LineBreakBetweenAttributes) {
  EXPECT_TRUE(finds(check_text(replaced(good(), " send=", "\nsend=")), Code::V02, "line break"));
}
TEST(Lexical, SingleQuotes) {
  EXPECT_TRUE(finds(check_text(replaced(good(), "\"allgather\"", "'allgather'")), Code::V02,
                    "single quotes", "1:"));
}
TEST(Lexical, CommentThatBeginsWithAnAttribute) {
  EXPECT_TRUE(finds(check_text("<!--k=1 by hand -->\n" + good()), Code::V02, "first word"));
}
TEST(Lexical, TheFirstWordOfACommentEndsAtALineBreakToo) {
  EXPECT_TRUE(check_text("<!--\nk=1\n-->\n" + good()).ok);
  EXPECT_TRUE(check_text("<!--by/k=1-->\n" + good()).ok);
  EXPECT_TRUE(finds(check_text("<!--\tk=1 -->\n" + good()), Code::V02, "first word"));
}
TEST(Lexical, Declaration) {
  EXPECT_TRUE(finds(check_text("<!DOCTYPE algo>\n" + good()), Code::V02, "declaration"));
}
// A threadblock has four attributes, and there are sixteen places.
std::string with_more(int before, int behind) {
  std::string front, back;
  for (int i = 0; i < before; ++i) front += fmt::format(" a{}=\"1\"", i);
  for (int i = 0; i < behind; ++i) back += fmt::format(" b{}=\"1\"", i);
  return replaced(replaced(good(), "<tb", "<tb" + front), "chan=\"0\"", "chan=\"0\"" + back);
}

TEST(Lexical, SeventeenAttributes) {
  EXPECT_TRUE(finds(check_text(with_more(13, 0)), Code::V02, "with it chan", "3:"));
  EXPECT_TRUE(check_text(with_more(12, 0)).ok);
  EXPECT_TRUE(check_text(with_more(12, 30)).ok);  // nobody reads what is dropped
}

TEST(Lexical, SpacesTakeThePlacesOfAttributes) {
  const auto spaced = [](std::size_t spaces) {
    return replaced(good(), "<tb id", "<tb" + std::string(spaces, ' ') + "id");
  };
  EXPECT_TRUE(check_text(spaced(13)).ok);
  EXPECT_TRUE(finds(check_text(spaced(14)), Code::V02, "with it chan", "3:"));
  // Ten attributes in ten places; two spaces between each two make nineteen.
  std::string wide;
  for (const char c : good()) wide += c == ' ' ? "  " : std::string(1, c);
  EXPECT_TRUE(finds(check_text(wide), Code::V02, "with it minBytes", "1:"));
}

struct WhiteSpace {
  const char* name;
  const char* text;
};

class WhiteSpaceTest : public testing::TestWithParam<WhiteSpace> {};

TEST_P(WhiteSpaceTest, BesideAnEqualsSign) {
  const std::string space = GetParam().text;
  for (const auto& [from, to] :
       {std::pair("cnt=", "cnt" + space + "="), std::pair("cnt=", "cnt=" + space),
        std::pair("coll=", "coll" + space + "=" + space)}) {
    EXPECT_TRUE(finds(check_text(replaced(good(), from, to)), Code::V02, "beside the '='"));
  }
  // And what follows is still looked at.
  const std::string tabbed = replaced(good(), "  <gpu", "\t<gpu");
  EXPECT_TRUE(finds(check_text(replaced(tabbed, "coll=", "coll=" + space)), Code::V02,
                    "tab between elements", ":1"));
}

TEST_P(WhiteSpaceTest, InAClosingTag) {
  for (const std::string tag : {"</tb", "</gpu", "</algo"}) {
    EXPECT_TRUE(finds(check_text(replaced(good(), tag, tag + GetParam().text)), Code::V02,
                      "white space in a closing tag"));
  }
}

INSTANTIATE_TEST_SUITE_P(Lexical, WhiteSpaceTest,
                         testing::Values(WhiteSpace{"Space", " "}, WhiteSpace{"Tab", "\t"},
                                         WhiteSpace{"LineBreak", "\n"},
                                         WhiteSpace{"Return", "\r\n"}),
                         [](const auto& space) { return std::string(space.param.name); });

class Entity : public testing::TestWithParam<Edit> {};

// The runtimes take what stands between the quotes as it is.
TEST_P(Entity, IsNotDecoded) {
  const Edit& e = GetParam();
  EXPECT_TRUE(finds(check_text(replaced(good(), e.from, e.to)), e.code, e.words, e.where));
}

INSTANTIATE_TEST_SUITE_P(
    Lexical, Entity,
    testing::Values(
        Edit{"Number", "cnt=\"1\"", "cnt=\"&#49;\"", Code::V03, "found \"&#49;\"", "step 0"},
        Edit{"Type", "type=\"s\"", "type=\"&#115;\"", Code::V04, "found \"&#115;\"", "step 0"},
        Edit{"Buffer", "srcbuf=\"o\"", "srcbuf=\"&#x6F;\"", Code::V03, "found \"&#x6F;\"",
             "step 0"},
        Edit{"Protocol", "proto=\"Simple\"", "proto=\"S&#105;mple\"", Code::V04, "&#105;",
             "line 1"},
        Edit{"Collective", "coll=\"allgather\"", "coll=\"&#97;llgather\"", Code::V04, "&#97;",
             "line 1"}),
    name_of);

TEST(Lexical, NamesMayHoldEntities) {
  EXPECT_TRUE(check_text(replaced(good(), "\"test\"", "\"a &amp; b\"")).ok);
}

TEST(Lexical, LongWords) {
  const std::string word(254, 'w');
  EXPECT_TRUE(finds(check_text(replaced(good(), "<tb", "<tb " + word + "=\"1\"")), Code::V02,
                    "word of 254 bytes"));
  EXPECT_TRUE(finds(check_text(replaced(good(), "  <gpu", "<" + word + "></" + word + "><gpu")),
                    Code::V02, "word of 254 bytes"));
  EXPECT_TRUE(finds(check_text("<!--" + word + " -->" + good()), Code::V02, "word of 257 bytes"));
  EXPECT_TRUE(check_text(replaced(good(), "<tb", "<tb " + word.substr(1) + "=\"1\"")).ok);
}

TEST(Lexical, ElementsInsideAStep) {
  EXPECT_TRUE(finds(check_text(replaced(good(), "hasdep=\"0\"/>", "hasdep=\"0\"><a/></step>")),
                    Code::V02, "<a>, inside a <step>", "rank 0, threadblock 0, step 0"));
  EXPECT_TRUE(check_text(replaced(good(), "hasdep=\"0\"/>", "hasdep=\"0\"><!-- a --></step>")).ok);
  EXPECT_TRUE(check_text(replaced(good(), "  <gpu", "<a><b c=\"1\"/></a><gpu")).ok);
}

TEST(Lexical, LongAttribute) {
  EXPECT_TRUE(finds(check_text(replaced(good(), "\"test\"", "\"" + std::string(255, 'x') + "\"")),
                    Code::V02, "255 bytes"));
  EXPECT_TRUE(check_text(replaced(good(), "\"test\"", "\"" + std::string(254, 'x') + "\"")).ok);
}
TEST(Lexical, DoubledAttribute) {
  EXPECT_TRUE(finds(check_text(replaced(good(), "chan=\"0\"", "chan=\"0\" chan=\"0\"")), Code::V02,
                    "twice"));
}
TEST(Lexical, OctalAndHexadecimal) {
  EXPECT_TRUE(finds(check_text(replaced(good(), "cnt=\"1\"", "cnt=\"01\"")), Code::V02, "octal",
                    "rank 0, threadblock 0, step 0 (line 4)"));
  EXPECT_TRUE(finds(check_text(replaced(good(), "cnt=\"1\"", "cnt=\"0x1\"")), Code::V02,
                    "hexadecimal for the runtimes: 1"));
  // 010 chunks are eight of them.
  EXPECT_TRUE(finds(check_text(replaced(good(), "cnt=\"1\"", "cnt=\"010\"")), Code::V08, "cnt 8"));
}
TEST(Lexical, SecondElement) {
  EXPECT_TRUE(finds(check_text(good() + "<algo/>"), Code::V02, "second element"));
}

}  // namespace
}  // namespace audit_test
