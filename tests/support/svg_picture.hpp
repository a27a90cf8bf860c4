// Reads an SVG file of ours back: its texts with the areas that they cover, its nodes and lines.
#pragma once

#include <string>
#include <vector>

namespace forestcoll::test {

struct SvgText {
  std::string text, classes;
  double left = 0, right = 0, top = 0, bottom = 0;
};

struct SvgPicture {
  double width = 0, height = 0;       ///< of the view box
  std::vector<SvgText> texts;         ///< without titles, which are shown on request alone
  std::vector<std::string> nodes;     ///< the titles of groups of class "node"
  std::size_t links = 0, broken = 0;  ///< groups of class "link", and of class "link broken"
  std::vector<std::string> overlaps;  ///< pairs of texts that cover each other, in words
  std::vector<std::string> outside;   ///< texts that leave the view box
  std::vector<std::string> no_dark;   ///< colours without one for dark screens
};

/// Fails the test where the text is not well-formed XML with an svg at its top. Widths of texts are
/// those of `text_width`, less the little by which it overestimates most fonts.
[[nodiscard]] SvgPicture read_svg(const std::string& text);

}  // namespace forestcoll::test
