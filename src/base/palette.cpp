// One table of colours for all pictures, and widths of characters.
#include "forestcoll/palette.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace forestcoll {
namespace {

// By Ink. Every light colour stands once in this file: dark mode finds elements by it.
constexpr std::array<Color, 11> kInks = {{{"#ffffff", "#151a21"},
                                          {"#1b2430", "#e7ebf1"},
                                          {"#6b7685", "#98a3b3"},
                                          {"#4d5866", "#93a0b0"},
                                          {"#b4bfcc", "#4a5665"},
                                          {"#eaf2fb", "#1f3147"},
                                          {"#fbf3e0", "#3a3120"},
                                          {"#e6e9ed", "#343d49"},
                                          {"#eef6ee", "#20352a"},
                                          {"#d7263d", "#ff6b7d"},
                                          {"#9aa5b1", "#66717f"}}};

// They stay apart in grey and for the colour-blind; red is the bottleneck's.
constexpr std::array<Color, kLinkColors> kLinks = {{{"#2b6cb0", "#6aa5e3"},
                                                    {"#2f855a", "#5dbb8a"},
                                                    {"#b7791f", "#e0b15c"},
                                                    {"#805ad5", "#b39af0"},
                                                    {"#0987a0", "#4cc3da"},
                                                    {"#5a6470", "#a9b4c2"}}};

// From the first round to later ones: neighbours differ in hue and in lightness.
constexpr std::array<Color, kRoundColors> kRounds = {{{"#c2410c", "#ff9d5c"},
                                                      {"#1d4ed8", "#7aa7ff"},
                                                      {"#15803d", "#5fd38d"},
                                                      {"#9d2bb0", "#de8ff0"},
                                                      {"#a16207", "#e6c35c"},
                                                      {"#0e7490", "#5cd0e6"},
                                                      {"#be185d", "#ff8fbf"},
                                                      {"#4d5b1f", "#b5d96a"}}};

/// Widths in thousandths of the font's size.
double width_of(unsigned char c) {
  constexpr double kNarrow = 320, kHalf = 400, kLetter = 620, kCapital = 700, kWide = 980;
  constexpr std::string_view kNarrows = "ijlI.,:;'|! ", kHalves = "frt()[]/-\"", kWides = "mwMW@%";
  if (kNarrows.find(static_cast<char>(c)) != std::string_view::npos) return kNarrow;
  if (kHalves.find(static_cast<char>(c)) != std::string_view::npos) return kHalf;
  if (kWides.find(static_cast<char>(c)) != std::string_view::npos) return kWide;
  if (c >= 'A' && c <= 'Z') return kCapital;
  return c < 0x80 ? kLetter : 900;
}

}  // namespace

Color color_of(Ink ink) {
  return kInks.at(static_cast<std::size_t>(ink));
}

Color link_color(std::size_t number) {
  return kLinks.at(number % kLinkColors);
}

Color round_color(std::size_t number) {
  return kRounds.at(number % kRoundColors);
}

std::string dark_style() {
  std::string css = "@media (prefers-color-scheme:dark){\n";
  const auto add = [&](const Color& color) {
    fmt::format_to(std::back_inserter(css),
                   "[fill=\"{0}\"]{{fill:{1}}}[stroke=\"{0}\"]{{stroke:{1}}}\n", color.light,
                   color.dark);
  };
  for (const Color& color : kInks) add(color);
  for (const Color& color : kLinks) add(color);
  for (const Color& color : kRounds) add(color);
  return css + "}\n";
}

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) width += width_of(byte);  // bytes that continue a character
  }
  return width * size / 1000;
}

}  // namespace forestcoll
