#include "support/svg_picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "forestcoll/palette.hpp"

namespace forestcoll::test {
namespace {

SvgText text_of(const pugi::xml_node& node) {
  constexpr double kSureWidth = 0.92, kAscent = 0.72, kDescent = 0.2, kDefaultSize = 12;
  SvgText text{node.child_value(), node.attribute("class").value()};
  const double size = node.attribute("font-size").as_double(kDefaultSize);
  const double width = text_width(text.text, size) * kSureWidth;
  const double x = node.attribute("x").as_double(), y = node.attribute("y").as_double();
  const std::string anchor = node.attribute("text-anchor").as_string("start");
  text.left = anchor == "middle" ? x - width / 2 : anchor == "end" ? x - width : x;
  text.right = text.left + width;
  text.top = y - size * kAscent;
  text.bottom = y + size * kDescent;
  return text;
}

class Reader {
 public:
  explicit Reader(const pugi::xml_node& svg) : style_(svg.child("style").child_value()) {
    std::istringstream box(svg.attribute("viewBox").value());
    double left = 0, top = 0;
    box >> left >> top >> picture_.width >> picture_.height;
    visit(svg);
    compare();
  }

  SvgPicture picture() { return std::move(picture_); }

 private:
  void visit(const pugi::xml_node& node) {
    const std::string name = node.name(), classes = node.attribute("class").value();
    if (name == "text") picture_.texts.push_back(text_of(node));
    if (classes.starts_with("node")) picture_.nodes.emplace_back(node.child("title").child_value());
    if (classes.starts_with("link")) ++picture_.links;
    if (classes == "link broken") ++picture_.broken;
    for (const char* attribute : {"fill", "stroke"}) {
      const std::string color = node.attribute(attribute).value();
      if (!color.starts_with("#")) continue;
      if (style_.find("[" + std::string(attribute) + "=\"" + color + "\"]") == std::string::npos) {
        picture_.no_dark.push_back(color);
      }
    }
    for (const auto child : node.children()) visit(child);
  }

  void compare() {
    const auto& texts = picture_.texts;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const SvgText& a = texts[i];
      if (a.left < 0 || a.right > picture_.width || a.top < 0 || a.bottom > picture_.height) {
        picture_.outside.push_back(a.text);
      }
      for (std::size_t j = 0; j < i; ++j) {
        const SvgText& b = texts[j];
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) {
          picture_.overlaps.push_back(b.text + " and " + a.text);
        }
      }
    }
  }

  std::string style_;
  SvgPicture picture_;
};

}  // namespace

SvgPicture read_svg(const std::string& text) {
  pugi::xml_document document;
  const auto result = document.load_string(text.c_str());
  EXPECT_TRUE(result) << result.description();
  EXPECT_STREQ(document.first_child().name(), "svg");
  return Reader(document.first_child()).picture();
}

}  // namespace forestcoll::test
