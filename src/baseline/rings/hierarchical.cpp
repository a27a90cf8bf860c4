#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "baseline/makers.hpp"
#include "baseline/rings/box_rings.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

/// Hops by what they lead into: of each rank, one along its rail and one per ring of its box.
class Levels {
 public:
  Levels(const Request& request, const Network& network, BoxRings& rings)
      : request_(request),
        rings_(rings),
        turned_(&network != &request.network),
        local_(network.ranks.size()) {
    for (const auto& box : boxes().members) {
      for (std::size_t i = 0; i < box.size(); ++i) local_[box[i]] = i;
    }
  }

  Expected<ImplicitForest> build() {
    if (const auto done = find_count(); !done) return done.errors();
    implicit_.hops.resize(local_.size() * (count_ + 1));
    for (std::size_t b = 0; b < boxes().size(); ++b) {
      add_rails(b);
      if (const auto done = add_rings(b); !done) return done.errors();
    }
    for (std::size_t r = 0; r < local_.size(); ++r) {
      for (std::size_t o = 0; o < count_; ++o) implicit_.trees.push_back({Rank(r), 1, 0});
    }
    implicit_.hop_into = [local = local_, count = count_](std::size_t tree, Rank child) {
      const Rank root(tree / count);
      const bool along_rail = local[root] == local[child];
      return child.index() * (count + 1) + (along_rail ? count : tree % count);
    };
    implicit_.note = fmt::format(
        "{} per box ({}), {}", count_ == 1 ? "1 ring" : fmt::format("{} rings", count_),
        rings_.origin(), boxes().size() == 1 ? "one box" : fmt::format("{} boxes", boxes().size()));
    return std::move(implicit_);
  }

 private:
  [[nodiscard]] const Boxes& boxes() const { return rings_.boxes(); }

  Expected<void> find_count() {
    const std::size_t size = boxes().members.front().size();
    count_ = rings_.orders(0).size();
    for (std::size_t b = 0; b < boxes().size(); ++b) {
      count_ = std::min(count_, rings_.orders(b).size());
      const auto& box = boxes().members[b];
      if (box.size() == size) continue;
      return make_error(
          Code::B02,
          fmt::format("the boxes of {} and {} have {} and {} GPUs",
                      name_of(request_.topology, boxes().members.front().front()),
                      name_of(request_.topology, box.front()), size, box.size()),
          "two levels need boxes of one size: choose the GPUs with `ranks`, or compare "
          "with another algorithm");
    }
    return {};
  }

  Hop& rail_into(Rank child) { return implicit_.hops[child.index() * (count_ + 1) + count_]; }
  Hop& ring_into(Rank child, std::size_t ring) {
    return implicit_.hops[child.index() * (count_ + 1) + ring];
  }

  void add_rails(std::size_t b) {
    if (boxes().size() == 1) return;
    const std::size_t next = (b + 1) % boxes().size();
    const auto& from = boxes().members[turned_ ? next : b];
    const auto& to = boxes().members[turned_ ? b : next];
    for (std::size_t i = 0; i < from.size(); ++i) {
      Path path = rings_.finder().take(from[i], to[i], Through::switches);
      if (path.empty()) path = rings_.finder().take(from[i], to[i], Through::ranks);
      FORESTCOLL_CHECK(!path.empty(), "all ranks reach one another");
      rail_into(to[i]) = {std::move(path),
                          static_cast<std::int64_t>((boxes().size() - 1) * count_)};
    }
  }

  Expected<void> add_rings(std::size_t b) {
    for (std::size_t o = 0; o < count_; ++o) {
      auto order = rings_.orders(b)[o];
      if (turned_) std::reverse(order.begin(), order.end());
      for (std::size_t i = 0; order.size() > 1 && i < order.size(); ++i) {
        const Rank from = order[i], to = order[(i + 1) % order.size()];
        Path path = rings_.step(from, to);
        if (path.empty()) {
          return make_error(
              Code::B08,
              fmt::format("no switches lead from {} to {}, its neighbour on a ring",
                          name_of(request_.topology, from), name_of(request_.topology, to)),
              "give rings that follow the links of this topology");
        }
        // All roots but those of the receiver's own rail.
        ring_into(to, o) = {std::move(path),
                            static_cast<std::int64_t>(local_.size() - boxes().size())};
      }
    }
    return {};
  }

  const Request& request_;
  BoxRings& rings_;
  bool turned_;                        ///< the fabric is turned round, and so are the rings
  IdVector<Rank, std::size_t> local_;  ///< the position in its box
  std::size_t count_ = 0;              ///< rings of each box that are used
  ImplicitForest implicit_;
};

}  // namespace

Expected<BaselineResult> hierarchical(const Request& request) {
  const auto make = [&](const Network& network) -> Expected<ImplicitForest> {
    auto rings = BoxRings::make(request, network);
    if (!rings) return rings.errors();
    return Levels(request, network, *rings).build();
  };
  return carry_out(request, make, Reduce::own_trees);
}

}  // namespace forestcoll::baseline
