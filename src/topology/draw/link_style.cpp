#include "topology/draw/link_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>

#include "topology/draw/labels.hpp"
#include "topology/model/link_kind.hpp"

namespace forestcoll {
namespace topology {
namespace {

// Where there are more lines than this, they are thinner.
constexpr std::size_t kMostWideLines = 200;
constexpr double kThinnest = 0.8, kThickest = 3.4;

// The colour that a kind has unless another one of the same fabric took it.
std::size_t usual_color(std::string_view kind) {
  constexpr std::size_t kNetwork = 0, kScaleUp = 1, kPcie = 2, kThird = 3, kHost = 4, kCpu = 5;
  switch (medium_of(kind)) {
    case Medium::nvlink:
    case Medium::xgmi:
      return kScaleUp;
    case Medium::pcie:
      return kPcie;
    case Medium::cpu:
      return kCpu;
    case Medium::infiniband:
    case Medium::ethernet:
      return kNetwork;
    case Medium::unknown:
      break;
  }
  constexpr std::array<std::pair<std::string_view, std::size_t>, 14> kNames = {
      {{"y", kScaleUp},
       {"column", kScaleUp},
       {"dim1", kScaleUp},
       {"level1", kScaleUp},
       {"z", kThird},
       {"dim2", kThird},
       {"level2", kThird},
       {"local", kThird},
       {"pod", kThird},
       {"dim3", kHost},
       {"level3", kHost},
       {"host", kHost},
       {"dim4", kPcie},
       {"level4", kPcie}}};
  const auto* at =
      std::ranges::find(kNames, kind, &std::pair<std::string_view, std::size_t>::first);
  return at == kNames.end() ? kNetwork : at->second;
}

// "25 GB/s", "300 GB/s = 12 × 25", "16 to 50 GB/s".
std::string range(const std::set<std::pair<Ratio, std::int64_t>>& links) {
  const auto& [least, cables] = *links.begin();
  const Ratio& most = links.rbegin()->first;
  if (least != most) return fmt::format("{} to {} GB/s", short_number(least), short_number(most));
  const auto single = checked_div(least, Ratio(cables));
  if (links.size() > 1 || cables == 1 || !single) return short_number(least) + " GB/s";
  return fmt::format("{} GB/s = {} × {}", short_number(least), cables, short_number(*single));
}

}  // namespace

}  // namespace topology

std::map<std::string, Color> link_colors(const Topology& topology) {
  std::set<std::string> kinds;
  for (const TopologyLink& link : topology.links) kinds.insert(link.kind);
  std::map<std::string, Color> colors;
  std::set<std::size_t> taken;
  const auto take = [&](const std::string& kind, std::size_t color) {
    colors.emplace(kind, link_color(color));
    taken.insert(color % kLinkColors);
  };
  std::vector<std::string> late;
  for (const std::string& kind : kinds) {
    if (taken.contains(topology::usual_color(kind))) {
      late.push_back(kind);
    } else {
      take(kind, topology::usual_color(kind));
    }
  }
  for (const std::string& kind : late) {
    std::size_t color = 0;
    while (color < kLinkColors && taken.contains(color)) ++color;
    take(kind, color == kLinkColors ? topology::usual_color(kind) : color);
  }
  return colors;
}

namespace topology {

LinkStyle::LinkStyle(const Topology& topology, const DrawOptions& options, const Ratio& widest,
                     std::size_t lines)
    : topology_(topology),
      options_(options),
      widest_(widest.to_double()),
      colors_(link_colors(topology)) {
  crowd_ = std::max(1.0, static_cast<double>(lines) / static_cast<double>(kMostWideLines));
}

Color LinkStyle::color(const std::string& kind) const {
  return colors_.at(kind);
}

double LinkStyle::width(const Ratio& bandwidth) const {
  if (widest_ <= 0) return kThinnest;
  return kThinnest +
         (kThickest - kThinnest) / std::sqrt(crowd_) * std::sqrt(bandwidth.to_double() / widest_);
}

void LinkStyle::mark(SheetLine& line, std::optional<std::size_t> forward,
                     std::optional<std::size_t> backward) const {
  constexpr double kFaintWidth = 1, kStrongWidth = 2.6;
  if (options_.hops.empty()) return;
  line.label.lines.clear();
  line.arrow_at_begin = backward.has_value();
  line.arrow_at_end = forward.has_value();
  if (!forward && !backward) {
    line.color = color_of(Ink::frame);
    line.width = kFaintWidth;
    return;
  }
  const std::size_t round =
      std::min(forward.value_or(kMostWideLines), backward.value_or(kMostWideLines));
  line.color = round_color(round);
  line.width = kStrongWidth;
  line.tip = fmt::format("round {}: {}", round + 1, line.tip);
}

std::vector<SheetKey> LinkStyle::keys() const {
  std::vector<SheetKey> keys;
  if (!options_.hops.empty()) {
    std::size_t last = 0;
    for (const DrawnHop& hop : options_.hops) last = std::max(last, hop.round);
    for (std::size_t round = 0; round <= last; ++round) {
      keys.push_back({round_color(round), fmt::format("round {}", round + 1)});
    }
    return keys;
  }
  std::map<std::string, std::set<std::pair<Ratio, std::int64_t>>> bandwidths;
  for (const TopologyLink& link : topology_.links) {
    if (link.enabled) bandwidths[link.kind].emplace(link.bandwidth, link.count);
  }
  for (const auto& [kind, values] : bandwidths) {
    keys.push_back(
        {color(kind), fmt::format("{} {}", kind.empty() ? "links" : kind, range(values))});
  }
  return keys;
}

void LinkStyle::set_head(Sheet& sheet) const {
  sheet.name = options_.title.empty() ? topology_.name : options_.title;
  sheet.note += (sheet.note.empty() || options_.note.empty() ? "" : "; ") + options_.note;
  sheet.caption = options_.caption;
  sheet.keys = keys();
  sheet.most_width = static_cast<double>(options_.width);
}

void add_round(Rounds& rounds, std::size_t from, std::size_t to, std::size_t round) {
  const auto [at, is_new] = rounds.emplace(std::pair(from, to), round);
  if (!is_new) at->second = std::min(at->second, round);
}

std::optional<std::size_t> round_of(const Rounds& rounds, std::size_t from, std::size_t to) {
  const auto at = rounds.find({from, to});
  if (at == rounds.end()) return std::nullopt;
  return at->second;
}

}  // namespace topology
}  // namespace forestcoll
