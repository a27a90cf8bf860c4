// What all pictures have in common: colours for light and dark screens, and how wide text gets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forestcoll {

/// The same ink on a light and on a dark screen, as CSS has colours.
struct Color {
  std::string_view light, dark;
};

/// What is drawn in a picture of a fabric, but links.
enum class Ink {
  paper,
  text,
  faint,    ///< text and lines in the background
  outline,  ///< of nodes
  frame,    ///< around boxes
  gpu,      ///< areas of nodes
  nic,
  switch_node,
  box,
  bottleneck,
  broken,  ///< what is disabled
};

[[nodiscard]] Color color_of(Ink ink);

/// Colours of links, 0 … kLinkColors − 1, then again from 0.
inline constexpr std::size_t kLinkColors = 6;
[[nodiscard]] Color link_color(std::size_t number);

/// Colours of the rounds of a schedule, in their order, 0 … kRoundColors − 1, then again from 0.
inline constexpr std::size_t kRoundColors = 8;
[[nodiscard]] Color round_color(std::size_t number);

/// CSS that turns every colour above into its dark one where the reader prefers dark screens.
[[nodiscard]] std::string dark_style();

/// Pixels: how wide text may get in a sans-serif font of `size` pixels. Widths are those of DejaVu
/// Sans, which is wider than Helvetica, Arial and Roboto. Cost: O(length).
[[nodiscard]] double text_width(std::string_view text, double size);

}  // namespace forestcoll
