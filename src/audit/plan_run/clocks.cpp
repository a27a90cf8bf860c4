// An access of node A is over once one of its releases has happened: the next point at which its
// threadblock is in step, or, for what a port channel carries, the next signal or flush. Releases
// lie on chains (a threadblock's syncs, a channel's signals), so "A's access is over before B
// begins" is "B knows of its release": the clock of B at the release's column is at least its
// position. Clocks are swept for a block of columns at a time, to bound memory.
//
// Relaxed signals and packets carry no clocks but those of the ranks' beginnings: what a rank's
// memory held before its call is settled before its first operation, and needs no release.
#include "audit/plan_run/clocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

namespace forestcoll::audit {
namespace {

constexpr std::size_t kClockBytes = std::size_t{128} << 20;
constexpr std::size_t kMaxColumns = 64;

// One of the releases of a query's first access.
struct Open {
  std::int32_t column, position;
  std::uint32_t query;
};

class PlanClocks {
 public:
  PlanClocks(const PlanGraph& graph, std::span<const std::int32_t> order, PlanOrder by)
      : graph_(graph), order_(order), by_(by), slot_(static_cast<std::size_t>(graph.columns), -1) {}

  std::vector<bool> answer(std::span<const PlanQuery> queries) {
    const std::vector<Open> open = releases_of(queries);
    std::vector<bool> answers(queries.size(), false);
    for (std::size_t first = 0; first < open.size();) {
      const std::size_t last = choose_columns(open, first);
      sweep();
      for (std::size_t i = first; i < last; ++i) {
        const auto column =
            static_cast<std::size_t>(slot_[static_cast<std::size_t>(open[i].column)]);
        const auto after = static_cast<std::size_t>(queries[open[i].query].after);
        if (clocks_[after * width_ + column] >= open[i].position) answers[open[i].query] = true;
      }
      first = last;
    }
    return answers;
  }

 private:
  [[nodiscard]] const PlanGraph::Node& node(std::int32_t n) const {
    return graph_.nodes[static_cast<std::size_t>(n)];
  }

  // By column. A query has up to two; it holds if either is known.
  [[nodiscard]] std::vector<Open> releases_of(std::span<const PlanQuery> queries) const {
    std::vector<Open> open;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const std::int32_t before = queries[q].before;
      const bool start = node(before).kind == PlanGraph::Kind::start;
      const auto releases = start ? std::array<std::int32_t, 2>{before, -1}
                                  : graph_.released_by[static_cast<std::size_t>(before)];
      for (const std::int32_t release : releases) {
        if (release < 0) continue;
        open.push_back(
            {node(release).column, node(release).position, static_cast<std::uint32_t>(q)});
      }
    }
    std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) {
      return std::tie(a.column, a.query, a.position) < std::tie(b.column, b.query, b.position);
    });
    return open;
  }

  // As many columns, from that of `first` on, as one sweep takes; returns where the next begin.
  std::size_t choose_columns(const std::vector<Open>& open, std::size_t first) {
    width_ = 0;
    std::fill(slot_.begin(), slot_.end(), -1);
    const std::size_t most =
        std::clamp<std::size_t>(kClockBytes / (2 * graph_.nodes.size()), 8, kMaxColumns);
    std::size_t last = first;
    for (; last < open.size(); ++last) {
      std::int32_t& slot = slot_[static_cast<std::size_t>(open[last].column)];
      if (slot >= 0) continue;
      if (width_ == most) break;
      slot = static_cast<std::int32_t>(width_++);
    }
    return last;
  }

  void sweep() {
    clocks_.assign(graph_.nodes.size() * width_, -1);
    std::vector<std::size_t> beginnings;
    for (const std::int32_t start : graph_.start) {
      const std::int32_t own = slot_[static_cast<std::size_t>(node(start).column)];
      if (own >= 0) beginnings.push_back(static_cast<std::size_t>(own));
    }
    for (const std::int32_t n : order_) {
      std::int16_t* clock = clocks_.data() + static_cast<std::size_t>(n) * width_;
      for (const std::int32_t before : graph_.predecessors(n)) {
        const std::int16_t* other = clocks_.data() + static_cast<std::size_t>(before) * width_;
        switch (carries(before, n)) {
          case PlanGraph::Carries::everything:
            for (std::size_t i = 0; i < width_; ++i) clock[i] = std::max(clock[i], other[i]);
            break;
          case PlanGraph::Carries::beginnings:
            for (const std::size_t i : beginnings) clock[i] = std::max(clock[i], other[i]);
            break;
          case PlanGraph::Carries::nothing:
            break;
        }
      }
      if (node(n).column < 0) continue;
      const std::int32_t own = slot_[static_cast<std::size_t>(node(n).column)];
      if (own >= 0) clock[own] = static_cast<std::int16_t>(node(n).position);
    }
  }

  [[nodiscard]] PlanGraph::Carries carries(std::int32_t from, std::int32_t to) const {
    const PlanGraph::Carries carried = graph_.carries(from, to);
    const bool counts = by_ == PlanOrder::time && carried == PlanGraph::Carries::beginnings;
    return counts ? PlanGraph::Carries::everything : carried;
  }

  const PlanGraph& graph_;
  std::span<const std::int32_t> order_;
  PlanOrder by_;
  std::vector<std::int32_t> slot_;  // of a column in the clocks of this sweep; −1: none
  std::size_t width_ = 0;
  std::vector<std::int16_t> clocks_;
};

}  // namespace

std::vector<bool> known_before(const PlanGraph& graph, std::span<const std::int32_t> order,
                               std::span<const PlanQuery> queries, PlanOrder by) {
  return PlanClocks(graph, order, by).answer(queries);
}

}  // namespace forestcoll::audit
