#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "baseline/boxes.hpp"
#include "baseline/makers.hpp"
#include "baseline/tree_table.hpp"
#include "baseline/trees/balance_parts.hpp"

namespace forestcoll::baseline {
namespace {

constexpr std::array<std::int64_t, 7> kPartCounts = {1, 2, 3, 4, 6, 8, 12};

/// Ranks that switches join, and how far they are from one another.
class Neighbours {
 public:
  Neighbours(const Request& request, const Network& network)
      : ranks_(network.ranks.size()), out_(ranks_), into_(ranks_) {
    const Boxes boxes = group_boxes(request.topology, network);
    PathFinder finder(network, boxes.box_of);
    for (std::size_t u = 0; u < ranks_; ++u) {
      for (std::size_t v = 0; v < ranks_; ++v) {
        if (u == v || finder.arcs(Rank(u), Rank(v), Through::switches) == 0) continue;
        out_[u].push_back(v);
        into_[v].push_back({u, finder.find(Rank(u), Rank(v), Through::switches),
                            finder.width(Rank(u), Rank(v), Through::switches)});
      }
    }
    for (std::size_t root = 0; root < ranks_; ++root) measure(root);
  }

  struct Link {
    std::size_t from;
    Path path;
    Capacity width;
  };
  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<Link>& into(std::size_t v) const { return into_[v]; }
  [[nodiscard]] std::int32_t distance(std::size_t root, std::size_t v) const {
    return distance_[root][v];
  }

 private:
  void measure(std::size_t root) {
    std::vector<std::int32_t> distance(ranks_, -1);
    std::vector<std::size_t> queue = {root};
    distance[root] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const std::size_t next : out_[queue[at]]) {
        if (distance[next] >= 0) continue;
        distance[next] = distance[queue[at]] + 1;
        queue.push_back(next);
      }
    }
    FORESTCOLL_CHECK(queue.size() == ranks_, "all ranks reach one another");
    distance_.push_back(std::move(distance));
  }

  std::size_t ranks_;
  std::vector<std::vector<std::size_t>> out_;
  std::vector<std::vector<Link>> into_;
  std::vector<std::vector<std::int32_t>> distance_;  ///< by root
};

// Tree number root · k + j takes the j-th part of the root's data.
ImplicitForest with_parts(const Neighbours& near, std::int64_t k) {
  const std::size_t n = near.ranks();
  TreeTable table(n);
  for (std::size_t root = 0; root < n; ++root) {
    for (std::int64_t j = 0; j < k; ++j) table.begin_tree(Rank(root));
  }
  for (std::size_t v = 0; v < n; ++v) {
    std::vector<std::int64_t> width;
    std::vector<std::size_t> hop;
    for (const auto& link : near.into(v)) {
      width.push_back(link.width);
      hop.push_back(table.hop(link.path));
    }
    std::int32_t farthest = 0;
    for (std::size_t root = 0; root < n; ++root) {
      farthest = std::max(farthest, near.distance(root, v));
    }
    for (std::int32_t t = 1; t <= farthest; ++t) {
      std::vector<Job> jobs;
      std::vector<std::size_t> roots;
      for (std::size_t root = 0; root < n; ++root) {
        if (near.distance(root, v) != t) continue;
        roots.push_back(root);
        jobs.emplace_back();
        for (std::size_t i = 0; i < near.into(v).size(); ++i) {
          if (near.distance(root, near.into(v)[i].from) == t - 1) jobs.back().options.push_back(i);
        }
      }
      balance_parts(jobs, width, k);
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        std::size_t tree = roots[i] * static_cast<std::size_t>(k);
        for (std::size_t o = 0; o < jobs[i].options.size(); ++o) {
          for (std::int64_t part = 0; part < jobs[i].parts[o]; ++part) {
            table.add(tree++, Rank(v), hop[jobs[i].options[o]]);
          }
        }
      }
    }
  }
  ImplicitForest implicit = table.take();
  implicit.note = fmt::format("k = {}: the linear programs in multiples of 1/{}", k, k);
  return implicit;
}

}  // namespace

Expected<BaselineResult> bfb(const Request& request) {
  const auto few = refuse_many_ranks(request, "breadth-first broadcast");
  if (!few) return few.errors();
  std::optional<Neighbours> forward, backward;
  const auto neighbours = [&](const Network& network) -> const Neighbours& {
    auto& known = &network == &request.network ? forward : backward;
    if (!known) known.emplace(request, network);
    return *known;
  };
  std::optional<BaselineResult> best;
  for (const std::int64_t k : kPartCounts) {
    auto result = carry_out(request, [&](const Network& network) -> Expected<ImplicitForest> {
      return with_parts(neighbours(network), k);
    });
    if (!result && best) break;  // finer parts are beyond exact arithmetic
    if (!result) return result;
    if (!best || result->algbw > best->algbw) best = *std::move(result);
  }
  return *std::move(best);
}

}  // namespace forestcoll::baseline
