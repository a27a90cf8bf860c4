// Colours: the picture of a fabric has a colour for each kind of link. Here it is drawn of a copy
// whose links have the names of those who use them as kinds.
#include "bound/job_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "common/job/figures.hpp"
#include "common/report/flags.hpp"
#include "common/report/html_page.hpp"
#include "common/report/time_report.hpp"
#include "forestcoll/convert.hpp"
#include "forestcoll/palette.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

constexpr double kPageWidth = 960, kBarHeight = 16, kTextSize = 12, kMargin = 4;
constexpr std::size_t kMostBytesShown = 300;  // of a line: what is longer is cut
constexpr double kLeastLoad = 1e-9;           // of a link: less is noise of floating point
constexpr const char* kUnused = "unused";

std::string_view light(Ink ink) {
  return color_of(ink).light;
}

// A, B, …, Z, A1, …
std::string letter_of(std::size_t operation) {
  constexpr std::size_t kLetters = 26;
  std::string letter(1, static_cast<char>('A' + operation % kLetters));
  return operation < kLetters ? letter : letter + std::to_string(operation / kLetters);
}

std::string lettered_name(const JobStep& step, std::size_t operation) {
  return letter_of(operation) + " " + step.operations[operation].name;
}

// Bars with words beside them, as SVG.
class BarChart {
 public:
  void text(double x, double y, std::string_view words, Ink ink = Ink::text, bool bold = false) {
    out_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\"{}>{}</text>\n", x, y,
        kTextSize, light(ink), bold ? " font-weight=\"bold\"" : "", xml_escaped(words));
  }
  void box(double x, double y, double width, std::string_view fill, std::string_view tip) {
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\" "
        "stroke=\"{}\" stroke-width=\"0.6\"><title>{}</title></rect>\n",
        x, y, width, kBarHeight, fill, light(Ink::faint), xml_escaped(tip));
  }
  [[nodiscard]] std::string svg(double height, std::string_view label) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
        "aria-label=\"{}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
        "<style>{}</style>\n{}</svg>\n",
        kPageWidth, height, xml_escaped(label), dark_style(), out_);
  }

 private:
  std::string out_;
};

// Cut where it would be wider.
std::string fitted(std::string words, double width) {
  if (text_width(words, kTextSize) <= width) return words;
  while (!words.empty() && text_width(words + "…", kTextSize) > width) {
    do words.pop_back();
    while (!words.empty() && (static_cast<unsigned char>(words.back()) & 0xC0U) == 0x80U);
    if (!words.empty() && (static_cast<unsigned char>(words.back()) & 0x80U) != 0) words.pop_back();
  }
  return words + "…";
}

// A step's length: seconds of all its repetitions, or, unless all steps have bytes, seconds of a
// gigabyte each: bars are on one axis.
struct StepLength {
  double at_once = 0, in_turn = 0;
  std::string words;
};

StepLength length_of(const JobStep& step, const StepBound& bound, bool timed) {
  const StepFigures figures(step, bound);
  const bool several = step.operations.size() > 1;
  StepLength length;
  if (!timed) {
    length.at_once = figures.time_of_last() / bound.together.reached.to_double();
    length.in_turn = 1 / bound.in_turn.to_double();
    length.words = fmt::format("{} GB/s", number(bound.together.reached.to_double()));
    if (several) {
      length.words += fmt::format("; one after the other {}", number(bound.in_turn.to_double()));
    }
    return length;
  }
  const auto times = static_cast<double>(step.repeat);
  length.at_once = times * figures.seconds_at_once();
  length.in_turn = times * figures.seconds_in_turn();
  length.words = time_in_words(length.at_once);
  if (several) length.words += "; one after the other " + time_in_words(length.in_turn);
  return length;
}

// A bar for each step; behind it, as an outline, its operations one after the other.
std::string step_bars(const Job& job, const std::vector<StepBound>& bounds, const Fabric& fabric) {
  constexpr double kRow = 58, kTextRoom = 300;
  const bool timed = all_have_bytes(job, bounds);
  std::vector<StepLength> lengths;
  double longest = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    lengths.push_back(length_of(job.steps[i], bounds[i], timed));
    longest = std::max({longest, lengths.back().at_once, lengths.back().in_turn});
  }
  BarChart out;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const JobStep& step = job.steps[i];
    const double top = kRow * static_cast<double>(i) + kMargin;
    const double scale = (kPageWidth - kTextRoom) / longest;
    const double wide = lengths[i].at_once * scale, behind = lengths[i].in_turn * scale;
    const std::string times = step.repeat > 1 ? fmt::format(", {} times", step.repeat) : "";
    out.text(kMargin, top + kTextSize, fitted(step.name + times, kPageWidth - 2 * kMargin),
             Ink::text, true);
    const double bar = top + kTextSize + kMargin;
    if (behind > wide) out.box(kMargin, bar, behind, light(Ink::paper), "one after the other");
    out.box(kMargin, bar, std::max(1.0, wide), round_color(0).light, "at once");
    out.text(std::max(wide, behind) + 2 * kMargin + 2, bar + kTextSize, lengths[i].words);
    const auto lines = binding_lines(step, bounds[i], fabric);
    std::string limits;
    for (const BindingLine& line : lines) {
      if (limits.size() > kMostBytesShown) break;
      limits += (limits.empty() ? "limited by " : "; ") + line.links;
      if (!line.fillers.empty()) limits += fmt::format(" ({})", line.fillers);
    }
    out.text(kMargin, bar + kBarHeight + kTextSize + 2, fitted(limits, kPageWidth - 2 * kMargin),
             Ink::faint);
  }
  return out.svg(kRow * static_cast<double>(bounds.size()) + 2 * kMargin, "time of each step");
}

// Who uses a link, in one or both directions.
std::string users_of(const TopologyLink& link, const JobStep& step, const StepBound& bound,
                     const Network& network) {
  std::vector<std::size_t> users;
  const ArcId there = network.graph.find(link.src, link.dst);
  const ArcId back = link.full_duplex ? network.graph.find(link.dst, link.src) : ArcId();
  for (std::size_t i = 0; i < bound.together.loads.size(); ++i) {
    const auto& load = bound.together.loads[i];
    const bool uses =
        (there.valid() && load[there] > kLeastLoad) || (back.valid() && load[back] > kLeastLoad);
    if (uses) users.push_back(i);
  }
  if (users.empty()) return kUnused;
  if (users.size() == 1) return lettered_name(step, users.front());
  std::string letters;
  for (const std::size_t i : users) letters += (letters.empty() ? "" : "+") + letter_of(i);
  return "several: " + letters;
}

// The fabric with users as the kinds of its links.
Topology by_users(const JobStep& step, const StepBound& bound, const Fabric& fabric) {
  Topology topology = fabric.topology;
  for (TopologyLink& link : topology.links) {
    link.kind = users_of(link, step, bound, fabric.network);
  }
  return topology;
}

// The colour that the picture gives to the links of an operation, or, where it has none alone,
// another.
std::vector<Color> colors_of(const JobStep& step, const Topology& drawn) {
  const auto drawn_colors = link_colors(drawn);
  std::size_t next = drawn_colors.size();
  std::vector<Color> colors;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const auto known = drawn_colors.find(lettered_name(step, i));
    colors.push_back(known == drawn_colors.end() ? link_color(next++) : known->second);
  }
  return colors;
}

// A bar for each kind of link: what part of it each operation takes.
std::string link_bars(const JobStep& step, const StepBound& bound, const Fabric& fabric,
                      const std::vector<Color>& colors) {
  constexpr double kRow = 22, kNames = 130, kBars = kPageWidth - kNames - kMargin;
  std::vector<std::map<std::string, double>> shares;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    shares.push_back(shares_by_kind(bound, i, fabric));
  }
  BarChart out;
  double top = kMargin;
  for (const auto& [kind, unused] : shares.front()) {
    const std::string name = kind.empty() ? "links" : kind;
    out.text(kMargin, top + kTextSize, fitted(name, kNames - 2 * kMargin));
    out.box(kNames, top, kBars, light(Ink::paper), name + ", unused");
    double at = kNames;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double wide = kBars * shares[i].at(kind);
      if (wide < 0.05) continue;
      out.box(at, top, wide, colors[i].light,
              fmt::format("{}: {:.3g} %", lettered_name(step, i), 100 * shares[i].at(kind)));
      at += wide;
    }
    top += kRow;
  }
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    out.box(kNames, top, kBarHeight, colors[i].light, lettered_name(step, i));
    out.text(kNames + kBarHeight + 2 * kMargin, top + kTextSize,
             fitted(lettered_name(step, i), kBars - kBarHeight - 2 * kMargin));
    top += kRow;
  }
  return out.svg(top + kMargin, "parts of the links by operation");
}

// A line of the report, as HTML.
std::string as_sentence(std::string line) {
  line.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(line.front())));
  return xml_escaped(line) + ".";
}

std::string step_section(const Job& job, const std::vector<StepBound>& bounds,
                         const BesideBounds& beside, std::size_t i, const Fabric& fabric) {
  const JobStep& step = job.steps[i];
  const StepBound& bound = bounds[i];
  const Topology drawn = by_users(step, bound, fabric);
  DrawOptions options;
  options.title = "Links by who uses them";
  const auto picture = readable_picture(drawn, options);
  std::string text = fmt::format("<h2>{}</h2>\n", xml_escaped(step.name));
  text += html_table(table_of_operations(step, bound, fabric));
  text += "<ul>\n";
  for (const BindingLine& line : binding_lines(step, bound, fabric)) {
    text += fmt::format("<li>Limited by {}: {}{}{}.</li>\n", xml_escaped(line.links), line.length,
                        line.fillers.empty() ? "" : ", filled by ", xml_escaped(line.fillers));
  }
  for (const std::string& line : lines_beside(job, bounds, beside, i)) {
    text += fmt::format("<li>{}</li>\n", as_sentence(line));
  }
  text += "</ul>\n" + link_bars(step, bound, fabric, colors_of(step, drawn));
  return text + (picture ? "<div class=\"wide\">" + *picture + "</div>\n"
                         : fmt::format("<p>Not drawn: {}.</p>\n",
                                       xml_escaped(with_flags(picture.errors()[0].message))));
}

}  // namespace

std::string job_page(const Job& job, const std::vector<StepBound>& bounds,
                     const BesideBounds& beside, const Fabric& fabric) {
  const bool has_times = all_have_bytes(job, bounds);
  std::string body = fmt::format(
      "<p>Optima of {} on {} GPUs, of the links alone: latencies do not count. A bar is the time "
      "of a step{}; an outline behind it is that of its operations one after the other.</p>\n",
      job.steps.size() > 1 ? "steps that run one after the other" : "a step",
      fabric.network.ranks.size(), has_times ? "" : " for a gigabyte each");
  body += step_bars(job, bounds, fabric);
  if (has_times && job.steps.size() > 1) {
    body += fmt::format("<p>All steps: {}.</p>\n", time_in_words(seconds_of(job, bounds)));
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    body += step_section(job, bounds, beside, i, fabric);
  }
  return html_page("Collectives at once on " + fabric.topology.name, body);
}

}  // namespace forestcoll::cli
