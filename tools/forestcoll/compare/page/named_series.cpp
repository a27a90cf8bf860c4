// Which lines of a chart have names.
#include <algorithm>
#include <map>
#include <utility>

#include "compare/page/chart.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll::cli {
namespace {

// So many lines have a name and a colour; nobody follows more.
constexpr std::size_t kMostNamed = 6;

}  // namespace

bool is_runtimes_choice(std::string_view algorithm) {
  return algorithm == kNcclPick || algorithm == kMscclppPick;
}

void choose_named(std::vector<ChartSeries>& series) {
  std::map<double, double> best;
  for (const ChartSeries& one : series) {
    for (const ChartPoint& point : one.points) {
      best[point.bytes] = std::max(best[point.bytes], point.value);
    }
  }
  std::vector<std::pair<double, std::size_t>> order;
  std::size_t ours = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    double score = is_runtimes_choice(series[i].name) ? 2 : 0;  // of others at most 1
    for (const ChartPoint& point : series[i].points) {
      score = std::max(score, point.value / best.at(point.bytes));
    }
    if (series[i].slot == 0) {
      ++ours;
    } else {
      order.emplace_back(-score, i);
    }
  }
  std::ranges::stable_sort(order, {}, &std::pair<double, std::size_t>::first);
  const std::size_t room = kMostNamed - std::min(ours, kMostNamed - 1);
  for (std::size_t k = room; k < order.size(); ++k) series[order[k].second].named = false;
}

}  // namespace forestcoll::cli
