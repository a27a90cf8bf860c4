// Mutants of the text of a right schedule: every rule on the form of a file, broken in every place.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "audit/builders.hpp"
#include "audit/msccl/loader.hpp"

namespace audit_test {

struct TextMutant {
  std::string rule;
  std::string text;
  std::string target = "azure";
  int sms = 108;
};

/// Of a text as to_xml() writes it.
class TextMutants {
 public:
  explicit TextMutants(std::string text) : text_(std::move(text)) {}

  std::vector<TextMutant> all() {
    for (std::size_t at = 0; (at = text_.find("=\"", at)) != std::string::npos; ++at) {
      const std::size_t begin = text_.rfind(' ', at) + 1;
      const std::size_t end = text_.find('"', at + 2);
      around_equals(at);
      around_attribute(begin, end + 1);
      value(at + 2, end);
    }
    for (std::size_t at = 0; (at = text_.find('<', at)) != std::string::npos; ++at) {
      text_[at + 1] == '/' ? closing_tag(at) : opening_tag(at);
      between(at);
    }
    lines();
    whole();
    return std::move(mutants_);
  }

 private:
  void replace(const std::string& rule, std::size_t begin, std::size_t end, const std::string& by) {
    std::string text = text_;
    mutants_.push_back({rule, text.replace(begin, end - begin, by)});
  }
  void insert(const std::string& rule, std::size_t at, const std::string& text) {
    replace(rule, at, at, text);
  }

  void around_equals(std::size_t at) {
    for (const char* white : {" ", "\t", "\n", "\r\n", "  "}) {
      insert("white space before =", at, white);
      insert("white space behind =", at + 1, white);
      replace("white space on both sides of =", at, at + 1, std::string(white) + "=" + white);
    }
  }

  void around_attribute(std::size_t begin, std::size_t end) {
    const std::string attribute = text_.substr(begin, end - begin);
    const std::string name = attribute.substr(0, attribute.find('='));
    std::string single = attribute;
    std::ranges::replace(single, '"', '\'');
    replace("single quotes", begin, end, single);
    for (const char* white : {"\t", "\n", "\r\n", "\r"}) {
      replace("line break or tab between attributes", begin - 1, begin, white);
      insert("space and line break or tab between attributes", begin, white);
    }
    for (const std::size_t spaces : {1, 3, 6, 7, 12, 16}) {
      insert("more spaces between attributes", begin, std::string(spaces, ' '));
    }
    for (const int more : {1, 6, 7, 12, 13, 17}) {
      std::string unknown;
      for (int i = 0; i < more; ++i) unknown += fmt::format("x{}=\"1\" ", i);
      insert("more attributes in front", begin, unknown);
    }
    replace("lost attribute", begin, end, "");
    replace("lost attribute and its space", begin - 1, end, "");
    insert("doubled attribute", begin, attribute + " ");
    insert("another value in front", begin, name + "=\"1\" ");
    insert("another value behind", end, " " + name + "=\"2\"");
    replace("a name in capitals", begin, begin + 1,
            std::string(1, static_cast<char>(text_[begin] ^ ' ')));
    replace("no space between attributes", begin - 1, begin, "");
    const std::size_t close = text_.find_first_of("/>", end);
    if (close == end) return;
    std::string moved = text_;
    moved.insert(close, " " + attribute);
    mutants_.push_back({"another order of attributes", moved.erase(begin, end + 1 - begin)});
  }

  void value(std::size_t begin, std::size_t end) {
    const std::string old = text_.substr(begin, end - begin);
    const auto is = [&](const std::string& rule, const std::string& by) {
      replace(rule, begin, end, by);
    };
    is("entity", fmt::format("&#{};{}", static_cast<int>(old[0]), old.substr(1)));
    is("entity",
       fmt::format("{}&#x{:x};", old.substr(0, old.size() - 1), static_cast<unsigned>(old.back())));
    is("empty value", "");
    is("white space in front of a value", " " + old);
    is("white space behind a value", old + " ");
    is("line break in a value", old + "\n");
    is("letters behind a value", old + "x");
    replace("lost quotes", begin - 1, end + 1, old);
    replace("lost second quote", begin - 1, end + 1, "\"" + old);
    if (old.find_first_not_of("-0123456789") != std::string::npos) return;
    const long number = std::stol(old);
    const std::string sign = number < 0 ? "-" : "";
    is("leading zero", fmt::format("{}0{}", sign, std::labs(number)));
    is("octal", fmt::format("{}0{:o}", sign, std::labs(number)));
    is("octal for another number", fmt::format("{}010", sign));
    is("hexadecimal", fmt::format("{:#x}", number));
    is("sign", "+" + old);
    for (const int bits : {8, 16, 32, 63}) {
      is("beyond the bits",
         fmt::format("{}", static_cast<std::int64_t>(static_cast<std::uint64_t>(number) +
                                                     (std::uint64_t{1} << bits))));
    }
    is("beyond 64 bits", "1" + std::string(25, '0'));
    for (const char* small : {"-2", "-1", "0", "72", "128", "32768"}) is("another number", small);
  }

  void opening_tag(std::size_t at) {
    const std::size_t end = text_.find('>', at);
    const std::size_t name_end = text_.find(' ', at);
    insert("white space in front of a name", at + 1, " ");
    for (const char* white : {"\t", "\n"})
      replace("break behind a name", name_end, name_end + 1, white);
    replace("a name in capitals", at + 1, at + 2,
            std::string(1, static_cast<char>(text_[at + 1] ^ ' ')));
    insert("a long name", name_end, std::string(255, 'x'));
    const bool single = text_[end - 1] == '/';
    const std::size_t close = single ? end - 1 : end;
    for (const char* white : {" ", "   ", "\t", "\n"})
      insert("white space at the end of a tag", close, white);
    insert("an attribute without value", close, " x");
    insert("a long attribute", close, " x=\"" + std::string(255, 'x') + "\"");
    insert("a long name", close, " " + std::string(254, 'x') + "=\"1\"");
    if (!single) return;
    insert("white space within />", end, " ");
    replace("step with a closing tag", close, end + 1, "></step>");
    replace("step with a closing tag", close, end + 1, "> </step>");
    replace("step with a comment in it", close, end + 1, "><!-- a --></step>");
    replace("step with an element in it", close, end + 1, "><x/></step>");
    replace("step with text in it", close, end + 1, ">x</step>");
    replace("step that does not end", close, end + 1, ">");
  }

  void closing_tag(std::size_t at) {
    const std::size_t end = text_.find('>', at);
    for (const char* white : {" ", "\t", "\n", "\r\n"}) {
      insert("white space in a closing tag", end, white);
      insert("white space in front of a closing name", at + 2, white);
    }
    insert("attribute in a closing tag", end, " x=\"1\"");
    insert("slash in a closing tag", end, "/");
    replace("another closing name", at + 2, at + 3, "x");
    replace("lost closing tag", at, end + 1, "");
    insert("doubled closing tag", at, text_.substr(at, end + 1 - at));
  }

  void between(std::size_t at) {
    for (const char* white : {"\t", "\f", "\v", "\xC2\xA0", "x", "\"", ">", "&amp;"}) {
      insert("text between elements", at, white);
    }
    for (const char* white : {" ", "\n", "\r", "\r\n\r\n"}) insert("more white space", at, white);
    for (const char* comment :
         {"<!-- a -->", "<!---->", "<!-- a=1 -->", "<!--a b=1-->", "<!--\na=1\n-->", "<!--a/b=1-->",
          "<!-- <step a='1'> -->", "<!-- a\n--><!-- b -->"}) {
      insert("comment", at, comment);
    }
    for (const char* comment : {"<!--a=1-->", "<!--a=1 b -->", "<!--\ta=1 -->", "<!--=-->"}) {
      insert("comment that begins with an attribute", at, comment);
    }
    insert("comment with a long word", at, "<!--" + std::string(300, 'x') + "-->");
    insert("comment that does not end", at, "<!-- a ");
    for (const char* element : {"<x/>", "<x a=\"1\" />", "<x></x>", "<x><y a=\"1\"><z/></y></x>"}) {
      insert("unknown element", at, element);
    }
    for (const char* other :
         {"<?xml version=\"1.0\"?>", "<!DOCTYPE algo>", "<![CDATA[x]]>", "<?x?>", "<!x>"}) {
      insert("prolog or declaration", at, other);
    }
  }

  void lines() {
    std::vector<std::pair<std::size_t, std::size_t>> lines;
    for (std::size_t at = 0; at < text_.size(); at = lines.back().second) {
      lines.emplace_back(at, text_.find('\n', at) + 1);
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto [begin, end] = lines[i];
      replace("lost line", begin, end, "");
      insert("doubled line", begin, text_.substr(begin, end - begin));
      if (i == 0) continue;
      const std::size_t before = lines[i - 1].first;
      replace("swapped lines", before, end,
              text_.substr(begin, end - begin) + text_.substr(before, begin - before));
    }
  }

  void whole() {
    for (std::size_t length = 0; length < text_.size(); length += 7) {
      replace("cut", length, text_.size(), "");
    }
    insert("byte-order mark", 0, "\xEF\xBB\xBF");
    insert("second algo", text_.size(), "<algo/>");
    insert("second algo", text_.size(), text_);
    insert("first element is another", 0, "<x/>");
    insert("zero byte", text_.size(), std::string(1, '\0'));
    std::string windows, tabs, wide;
    for (const char c : text_) {
      windows += c == '\n' ? "\r\n" : std::string(1, c);
      tabs += c == ' ' ? '\t' : c;
      wide += c == ' ' ? "  " : std::string(1, c);
    }
    mutants_.push_back({"line ends of Windows", windows});
    mutants_.push_back({"tabs for all spaces", tabs});
    mutants_.push_back({"two spaces for all", wide});
    std::mt19937 random(7);
    const std::string signs = " \t\n\r\"'<>/=&!-x0179\xFF";
    for (int i = 0; i < 1500; ++i) {
      const std::size_t at = random() % text_.size();
      const std::string sign(1, signs[random() % signs.size()]);
      if (random() % 2 == 0) {
        insert("random sign inserted", at, sign);
      } else {
        replace("random sign", at, at + 1, sign);
      }
    }
  }

  std::string text_;
  std::vector<TextMutant> mutants_;
};

}  // namespace audit_test
