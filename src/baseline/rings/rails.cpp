#include "baseline/rings/rails.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

constexpr int kExitSteps = 1 << 14;  ///< of the search for the exits of one box

using RankOrder = std::vector<Rank>;
/// By rail, then by box: the ranks of the box, from the one where the ring enters.
using Visits = std::vector<std::vector<RankOrder>>;

/// One way round a box.
struct Tour {
  std::size_t ring = 0;  ///< of the box, that it is made of
  RankOrder order;
};

class Rails {
 public:
  Rails(const Request& request, BoxRings& rings)
      : request_(request),
        rings_(rings),
        doors_(rings.doors_by_rail()),
        rails_(doors_.front().size()) {
    measure();
  }

  Expected<std::vector<Ring>> join() {
    FORESTCOLL_CHECK(rails_ > 0, "some switches lead out of every box");
    if (request_.options.graph != nullptr && names_nics(*request_.options.graph)) {
      return close(as_given(), given_exits());
    }
    auto next = by_the_next_nic();
    auto same = exchanged();
    const bool exchange =
        same && (!next || request_.options.cross_nic || arcs_between(*same) < arcs_between(*next));
    if (exchange) return close(*same, exits(Exit::by_itself));
    if (next) return close(*next, exits(Exit::by_itself));
    return close(relayed(), exits(Exit::by_the_first));
  }

 private:
  /// Which rank of a box hands what leaves it to the network: the last one of the ring, or the
  /// first, which the last one sends it to.
  enum class Exit { by_itself, by_the_first };

  [[nodiscard]] std::vector<Exit> exits(Exit exit) const { return std::vector<Exit>(rails_, exit); }

  [[nodiscard]] std::size_t boxes() const { return rings_.boxes().size(); }
  [[nodiscard]] std::size_t after(std::size_t box) const { return (box + 1) % boxes(); }
  [[nodiscard]] const std::vector<Rank>& members(std::size_t box) const {
    return rings_.boxes().members[box];
  }

  static bool names_nics(const NcclGraph& graph) {
    return std::all_of(graph.channels.begin(), graph.channels.end(),
                       [](const NcclChannel& channel) { return channel.net_in.has_value(); });
  }

  // From every rank to the doors of the next box.
  void measure() {
    arcs_.resize(request_.network.ranks.size());
    for (std::size_t b = 0; b < boxes(); ++b) {
      for (const Rank r : members(b)) {
        for (std::size_t c = 0; c < rails_; ++c) {
          arcs_[r.index()].push_back(
              rings_.finder().arcs(r, doors_[after(b)][c], Through::switches));
        }
      }
    }
  }
  [[nodiscard]] std::int32_t arcs(Rank from, std::size_t rail) const {
    return arcs_[from.index()][rail];
  }

  // Over all rails and boxes.
  [[nodiscard]] std::int64_t arcs_between(const Visits& visits) const {
    std::int64_t sum = 0;
    for (const auto& ring : visits) {
      for (std::size_t b = 0; b < boxes(); ++b) {
        const Rank entry = ring[after(b)].front();
        const auto& doors = doors_[after(b)];
        const auto rail = std::find(doors.begin(), doors.end(), entry) - doors.begin();
        sum += arcs(ring[b].back(), static_cast<std::size_t>(rail));
      }
    }
    return sum;
  }

  // Behind one switch, ranks can be visited in any order.
  [[nodiscard]] bool any_order(std::size_t b) {
    const auto& all = members(b);
    if (all.size() < 3) return false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const std::size_t d : {std::size_t{1}, all.size() / 2}) {
        if (rings_.finder().arcs(all[i], all[(i + d) % all.size()], Through::box) != 2)
          return false;
      }
    }
    return true;
  }

  // All ways round box `b` from `entry`; those of a ring as it is come first.
  std::vector<Tour> tours(std::size_t b, Rank entry, bool free) {
    std::vector<Tour> all;
    const BoxOrders& orders = rings_.orders(b);
    for (std::size_t o = 0; o < orders.size(); ++o) all.push_back({o, turned(orders[o], entry)});
    if (!free) return all;
    const RankOrder first = all.front().order;
    for (std::size_t last = first.size() - 2; last > 0; --last) {
      RankOrder order = first;
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(last),
                  order.begin() + static_cast<std::ptrdiff_t>(last) + 1, order.end());
      all.push_back({0, std::move(order)});
    }
    return all;
  }

  // Rail c all along: out by the NIC of another rank, a different one for each rail.
  std::optional<Visits> by_the_next_nic() {
    Visits visits(rails_);
    for (std::size_t b = 0; b < boxes(); ++b) {
      const bool free = any_order(b);
      std::vector<std::vector<Tour>> choices;
      for (std::size_t c = 0; c < rails_; ++c) {
        choices.push_back(tours(b, doors_[b][c], free));
        std::erase_if(choices.back(),
                      [&](const Tour& tour) { return arcs(tour.order.back(), c) == 0; });
      }
      const auto chosen = choose(choices, rings_.orders(b).size());
      if (chosen.empty()) return std::nullopt;
      for (std::size_t c = 0; c < rails_; ++c) {
        visits[c].push_back(std::move(choices[c][chosen[c]].order));
      }
    }
    return visits;
  }

  // One tour per rail, no two with the same exit, the rings used as evenly as can be found.
  std::vector<std::size_t> choose(const std::vector<std::vector<Tour>>& choices,
                                  std::size_t orders) {
    for (std::size_t most = (rails_ - 1) / orders + 1;; most *= 2) {
      chosen_.clear();
      used_.assign(orders, 0);
      exits_.clear();
      steps_ = kExitSteps;
      if (choose_next(choices, std::min(most, rails_))) return chosen_;
      if (most >= rails_) return {};
    }
  }

  bool choose_next(const std::vector<std::vector<Tour>>& choices, std::size_t most) {
    const std::size_t c = chosen_.size();
    if (c == choices.size()) return true;
    for (std::size_t i = 0; i < choices[c].size() && steps_ > 0; ++i) {
      const Tour& tour = choices[c][i];
      if (used_[tour.ring] >= most ||
          std::find(exits_.begin(), exits_.end(), tour.order.back()) != exits_.end()) {
        continue;
      }
      --steps_;
      ++used_[tour.ring];
      exits_.push_back(tour.order.back());
      chosen_.push_back(i);
      if (choose_next(choices, most)) return true;
      chosen_.pop_back();
      exits_.pop_back();
      --used_[tour.ring];
    }
    return false;
  }

  // Rails c and c ± 1 change places from box to box, or of an odd number all in turn; with an odd
  // number of boxes, another rail helps out in the last.
  std::optional<Visits> exchanged() {
    const bool is_odd = boxes() % 2 == 1;
    if (rails_ < 2 || (is_odd && rails_ == 2)) return std::nullopt;
    for (std::size_t b = 0; b < boxes(); ++b) {
      for (std::size_t c = 0; c < rails_; ++c) {
        if (arcs(doors_[b][c], c) == 0) return std::nullopt;
      }
    }
    Visits visits(rails_);
    for (std::size_t b = 0; b < boxes(); ++b) {
      const bool free = any_order(b);
      std::vector<std::size_t> used(rings_.orders(b).size(), 0);
      for (std::size_t c = 0; c < rails_; ++c) {
        auto tour = tour_between(b, doors_[b][entry_rail(c, b)], doors_[b][entry_rail(c, after(b))],
                                 free, used);
        if (!tour) return std::nullopt;
        visits[c].push_back(*std::move(tour));
      }
    }
    return visits;
  }

  [[nodiscard]] std::size_t entry_rail(std::size_t c, std::size_t b) const {
    const bool is_last = b + 1 == boxes();
    if (is_last && boxes() % 2 == 1) return (c + 2) % rails_;
    if (b % 2 == 0) return c;
    return rails_ % 2 == 1 ? (c + 1) % rails_ : c ^ 1U;
  }

  std::optional<RankOrder> tour_between(std::size_t b, Rank entry, Rank exit, bool free,
                                        std::vector<std::size_t>& used) {
    std::optional<Tour> best;
    for (Tour& tour : tours(b, entry, free)) {
      if (tour.order.back() != exit) continue;
      if (!best || used[tour.ring] < used[best->ring]) best = std::move(tour);
    }
    if (!best) return std::nullopt;
    ++used[best->ring];
    return std::move(best->order);
  }

  [[nodiscard]] Visits as_given() const {
    Visits visits(rings_.orders(0).size());
    for (std::size_t c = 0; c < visits.size(); ++c) {
      for (std::size_t b = 0; b < boxes(); ++b) visits[c].push_back(rings_.orders(b)[c]);
    }
    return visits;
  }

  // With PXN a channel that leaves by the NIC by which it enters leaves through its first rank.
  [[nodiscard]] std::vector<Exit> given_exits() const {
    const NcclGraph& graph = *request_.options.graph;
    std::vector<Exit> exits;
    for (const NcclChannel& channel : graph.channels) {
      const bool by_the_first = graph.pxn && channel.net_in == channel.net_out;
      exits.push_back(by_the_first ? Exit::by_the_first : Exit::by_itself);
    }
    return exits;
  }

  [[nodiscard]] Visits relayed() const {
    Visits visits(rails_);
    for (std::size_t c = 0; c < rails_; ++c) {
      for (std::size_t b = 0; b < boxes(); ++b) {
        const BoxOrders& orders = rings_.orders(b);
        visits[c].push_back(turned(orders[c % orders.size()], doors_[b][c]));
      }
    }
    return visits;
  }

  Expected<std::vector<Ring>> close(const Visits& visits, const std::vector<Exit>& exits) {
    std::vector<Ring> rings;
    for (std::size_t c = 0; c < visits.size(); ++c) {
      const auto& orders = visits[c];
      Ring ring;
      for (std::size_t b = 0; b < boxes(); ++b) {
        const RankOrder& order = orders[b];
        for (std::size_t i = 0; i < order.size(); ++i) {
          const bool leaves = i + 1 == order.size();
          const Rank to = leaves ? orders[after(b)].front() : order[i + 1];
          ring.order.push_back(order[i]);
          ring.paths.push_back(leaves ? path_out(order, to, exits[c]) : rings_.step(order[i], to));
          if (ring.paths.back().empty()) return no_path(order[i], to);
        }
      }
      rings.push_back(std::move(ring));
    }
    return rings;
  }

  Path path_out(const RankOrder& order, Rank to, Exit exit) {
    PathFinder& finder = rings_.finder();
    if (exit == Exit::by_the_first && order.size() > 1) {
      Path path = rings_.step(order.back(), order.front());
      const Path on = finder.take(order.front(), to, Through::switches);
      if (!path.empty() && !on.empty()) {
        // What passes a switch on the way to the first rank and from there does not go to it.
        const auto turn = std::ranges::find_first_of(path, on);
        const auto on_from = std::ranges::find(on, *turn);
        path.erase(turn, path.end());
        path.insert(path.end(), on_from, on.end());
        return path;
      }
    }
    Path path = finder.take(order.back(), to, Through::switches);
    return path.empty() ? finder.take(order.back(), to, Through::ranks) : path;
  }

  [[nodiscard]] Diagnostic no_path(Rank from, Rank to) const {
    return make_error(Code::B08,
                      fmt::format("no switches lead from {} to {}, its neighbour on a ring",
                                  name_of(request_.topology, from), name_of(request_.topology, to)),
                      "give rings that follow the links of this topology");
  }

  const Request& request_;
  BoxRings& rings_;
  std::vector<std::vector<Rank>> doors_;  ///< by box, then by rail
  std::size_t rails_ = 0;
  std::vector<std::vector<std::int32_t>> arcs_;  ///< by rank and rail of the next box; 0: no path
  // Of the choice at hand.
  std::vector<std::size_t> chosen_, used_;
  std::vector<Rank> exits_;
  int steps_ = 0;
};

}  // namespace

Expected<std::vector<Ring>> join_boxes(const Request& request, BoxRings& boxes) {
  return Rails(request, boxes).join();
}

}  // namespace forestcoll::baseline
