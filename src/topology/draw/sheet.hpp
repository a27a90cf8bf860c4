// A picture with every node, line and text in its place, before it is written down.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/palette.hpp"

namespace forestcoll::topology {

/// Pixels; y upwards.
struct Spot {
  double x = 0, y = 0;
};

struct Size {
  double width = 0, height = 0;
};

enum class Shape {
  gpu,
  nic,
  switch_node,
  box,
  dot,  ///< a GPU among so many that its name stands in no picture
};

struct SheetNode {
  std::vector<std::string> lines;  ///< what is written on it
  std::string tip;                 ///< shown over it
  Spot at;
  Size size;
  Shape shape = Shape::gpu;
  bool several = false;  ///< stands for several
  bool broken = false;   ///< disabled
  bool strong = false;   ///< the root of a tree
};

struct SheetText {
  std::vector<std::string> lines;
  Spot at;  ///< of its middle
};

/// A Bézier curve through 3n + 1 points.
struct SheetLine {
  std::vector<Spot> points;
  Color color;
  double width = 1;
  bool dashed = false;
  bool arrow_at_begin = false, arrow_at_end = false;
  SheetText label;  ///< may have no lines
  std::string tip;
};

/// Around a box, with the box's name at its lower left, or above it where it is round.
struct SheetFrame {
  std::string name;
  Spot centre;
  Size size;
  bool round = false;
};

/// Of the legend: a line of this colour and what it is.
struct SheetKey {
  Color color;
  std::string text;
};

/// Lines are drawn below nodes, in their order, and frames below lines.
struct Sheet {
  std::string name;  ///< the title
  std::string note;  ///< below it
  std::vector<SheetKey> keys;
  std::string caption;  ///< in the bottleneck's colour
  std::vector<SheetFrame> frames;
  std::vector<SheetLine> lines;
  std::vector<SheetNode> nodes;
  std::vector<SheetText> texts;  ///< in the background: numbers beside a grid
  double most_width = 0;         ///< shown no wider; 0: as wide as it is
};

inline constexpr double kNodeFont = 11, kBoxFont = 13, kLabelFont = 10, kFrameFont = 12,
                        kTitleFont = 17;
inline constexpr double kLineHeight = 1.25;  ///< of the font's size

/// The area of a text in a font of `size`.
[[nodiscard]] Size area_of(const std::vector<std::string>& lines, double size);

/// A straight line from the border of one node towards another one, and to its border; `gap` stays
/// free at both ends.
[[nodiscard]] std::vector<Spot> line_between(const SheetNode& from, const SheetNode& to,
                                             double gap = 0);

/// Gives every label a place along its line where it covers no node, no name of a frame and no
/// other label; a label without such a place loses its text, which its tip still has. Returns how
/// many those are. Cost: O(labels · (nodes + labels)).
std::size_t place_labels(Sheet& sheet);

/// The head above a picture: title, note, legend and caption, in lines that fit a width.
struct Head {
  struct Line {
    double x = 0, y = 0;  ///< of its base line; y downwards from the top
    std::string text;
    std::size_t key = kNoKey;  ///< a key, whose line stands before the text
    char style = 'n';          ///< 't' title, 'n' note, 'k' key, 'c' caption
  };
  static constexpr std::size_t kNoKey = static_cast<std::size_t>(-1);
  std::vector<Line> lines;
  Size size;
};
[[nodiscard]] Head head_of(const Sheet& sheet, double width);

/// The lower left and the upper right corner of all that is drawn below the head.
[[nodiscard]] std::pair<Spot, Spot> corners_of(const Sheet& sheet);

/// SVG with its colours for dark screens, one line per element. Same input, same bytes.
[[nodiscard]] std::string to_svg(const Sheet& sheet);
/// A Graphviz graph in which everything has its place (layout nop2); light colours.
[[nodiscard]] std::string to_dot(const Sheet& sheet);

}  // namespace forestcoll::topology
