#include "simulate/sources/plan_operations.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace forestcoll::simulate {
namespace {

using Edge = PlanOperations::Edge;
using Node = PlanOperations::Node;

std::size_t at(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

class ControlRemover {
 public:
  explicit ControlRemover(const PlanOperations& all)
      : all_(all), ends_(all.nodes.size()), is_removed_(all.nodes.size(), false) {
    for (const Edge& edge : all.edges) add(edge);
  }

  PlanOperations run() {
    for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
      const Node& node = all_.nodes[n];
      if (!node.moves && node.routes.empty()) remove(static_cast<std::int32_t>(n));
    }
    return rest();
  }

 private:
  struct Ends {
    std::vector<std::int32_t> in, out;  // of edges_
  };
  struct OwnEdge {
    Edge edge;
    bool is_removed = false;
  };

  void add(const Edge& edge) {
    const auto number = static_cast<std::int32_t>(edges_.size());
    edges_.push_back({edge});
    ends_[at(edge.from)].out.push_back(number);
    ends_[at(edge.to)].in.push_back(number);
  }

  std::vector<Edge> present(std::vector<std::int32_t>& numbers) {
    std::erase_if(numbers, [&](std::int32_t e) { return edges_[at(e)].is_removed; });
    std::vector<Edge> edges;
    for (const std::int32_t e : numbers) edges.push_back(edges_[at(e)].edge);
    return edges;
  }

  // A message takes time, and so does what comes a round later; two of them are no one edge.
  static bool can_join(const Edge& before, const Edge& after) {
    const bool both_sent = before.route >= 0 && after.route >= 0;
    return !both_sent && !(before.next_round && after.next_round);
  }

  static Edge joined(const Edge& before, const Edge& after) {
    const Edge& sent = before.route >= 0 ? before : after;
    return {before.from, after.to, sent.route, sent.packets, before.next_round || after.next_round};
  }

  // To where it began, a round later and without a message: which waits for itself anyhow.
  static bool comes_back_at_once(const Edge& before, const Edge& after) {
    return before.route < 0 && after.route < 0 && (before.next_round || after.next_round);
  }

  void remove(std::int32_t n) {
    const std::vector<Edge> in = present(ends_[at(n)].in), out = present(ends_[at(n)].out);
    if (!is_needless(in, out)) return;
    for (const std::vector<std::int32_t>* list : {&ends_[at(n)].in, &ends_[at(n)].out}) {
      for (const std::int32_t e : *list) edges_[at(e)].is_removed = true;
    }
    for (const Edge& before : in) {
      for (const Edge& after : out) {
        if (before.from != after.to) add(joined(before, after));
      }
    }
    is_removed_[at(n)] = true;
  }

  static bool is_needless(const std::vector<Edge>& in, const std::vector<Edge>& out) {
    if (in.size() * out.size() > in.size() + out.size()) return false;
    const auto is_kept = [](const Edge& edge) { return edge.all_rounds; };
    if (std::ranges::any_of(in, is_kept) || std::ranges::any_of(out, is_kept)) return false;
    const auto is_sent = [](const Edge& edge) { return edge.route >= 0; };
    if (in.empty()) return std::ranges::none_of(out, is_sent);
    if (out.empty()) return std::ranges::none_of(in, is_sent);
    for (const Edge& before : in) {
      for (const Edge& after : out) {
        if (!can_join(before, after)) return false;
        if (before.from == after.to && !comes_back_at_once(before, after)) return false;
      }
    }
    return true;
  }

  PlanOperations rest() {
    PlanOperations result;
    std::vector<std::int32_t> number(all_.nodes.size(), -1);
    for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
      if (is_removed_[n]) continue;
      number[n] = static_cast<std::int32_t>(result.nodes.size());
      result.nodes.push_back(all_.nodes[n]);
    }
    for (const OwnEdge& each : edges_) {
      if (each.is_removed) continue;
      Edge edge = each.edge;
      edge.from = number[at(edge.from)];
      edge.to = number[at(edge.to)];
      result.edges.push_back(edge);
    }
    return result;
  }

  const PlanOperations& all_;
  std::vector<OwnEdge> edges_;
  std::vector<Ends> ends_;
  std::vector<bool> is_removed_;
};

}  // namespace

PlanOperations without_control(const PlanOperations& all) {
  return ControlRemover(all).run();
}

}  // namespace forestcoll::simulate
