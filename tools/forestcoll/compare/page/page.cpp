#include "compare/page/page.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "common/report/flags.hpp"
#include "common/report/html_page.hpp"
#include "common/report/report.hpp"
#include "compare/page/page_text.hpp"
#include "compare/tables/write.hpp"
#include "forestcoll/convert.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll::cli {
namespace {

constexpr int kWideChart = 1000, kNarrowChart = 360;

// JSON between script tags: no text in it may end them.
std::string embedded(const Json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

Expected<std::string> picture(const Comparison& comparison) {
  DrawOptions options;
  options.sending = comparison.bottleneck.sending;
  return readable_picture(comparison.fabric->topology, options);
}

std::string paragraphs(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += "<p>" + xml_escaped(sentence) + "</p>";
  return text;
}

// Every {{name}} of the template becomes its value; values are not looked into.
std::string fill(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string filled;
  while (true) {
    const std::size_t begin = text.find("{{");
    filled += text.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    const std::size_t end = text.find("}}", begin);
    filled += values.at(text.substr(begin + 2, end - begin - 2));
    text.remove_prefix(end + 2);
  }
}

}  // namespace

Page to_page(const Comparison& comparison) {
  Page page;
  auto drawn = picture(comparison);
  if (!drawn) {
    page.warnings = drawn.errors();
    for (Diagnostic& warning : page.warnings) warning.severity = Severity::warning;
  }
  const std::string name = xml_escaped(comparison.fabric->topology.name);
  const std::string& collective = comparison.collective_name;
  const bool chart = has_times(comparison);
  page.html =
      fill(kPageTemplate,
           {{"title", fmt::format("{}, {}: forestcoll compare", name, collective)},
            {"palette", std::string(kPagePalette)},
            {"style", std::string(kPageStyle)},
            {"script", std::string(kPageScript)},
            {"collective", collective},
            {"topology", name},
            {"verdict", paragraphs(who_wins(comparison))},
            {"chart-wide", chart ? to_chart(comparison, kWideChart, false) : ""},
            {"chart-narrow", chart ? to_chart(comparison, kNarrowChart, false) : ""},
            {"drawing", drawn ? *drawn
                              : fmt::format("<p>Not drawn: {}.</p>",
                                            xml_escaped(with_flags(drawn.errors()[0].message)))},
            {"footer",
             fmt::format("Made by forestcoll {}. All figures are simulated, except those called "
                         "measured.",
                         kVersion)},
            {"data", embedded(page_data(comparison))}});
  return page;
}

}  // namespace forestcoll::cli
