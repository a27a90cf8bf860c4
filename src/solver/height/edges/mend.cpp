#include "solver/height/edges/mend.hpp"

#include <algorithm>

#include "solver/height/edges/moves.hpp"
#include "solver/height/edges/rows.hpp"

namespace forestcoll::solver {
namespace {

class Mend {
 public:
  Mend(const TreeRows& rows, Resources& resources, std::int32_t limit, std::size_t most_trees,
       int chain, Budget& budget)
      : rows_(rows),
        resources_(resources),
        moves_(rows_, resources, most_trees),
        limit_(limit),
        chain_(chain),
        budget_(budget) {}

  bool run() {
    for (bool progress = true; progress && is_overfull() && !budget_.is_over();) {
      progress = false;
      for (std::size_t r = 0; r < resources_.residual.size() && !budget_.is_over(); ++r) {
        if (resources_.residual[ArcId(r)] < 0) progress |= relieve(ArcId(r));
      }
    }
    rows_.join_equal_trees();
    return !is_overfull();
  }

 private:
  [[nodiscard]] bool is_overfull() const {
    return std::any_of(resources_.residual.begin(), resources_.residual.end(),
                       [](Capacity left) { return left < 0; });
  }

  // Asks every user of the resource once. True where one could give way.
  bool relieve(ArcId resource) {
    bool any = false;
    const std::size_t users = moves_.most_users(resource);
    for (std::size_t i = 0; i < users && resources_.residual[resource] < 0; ++i) {
      const auto user = moves_.next_user(resource);
      if (!user || budget_.is_over()) break;
      const std::int64_t before = moves_.steps() + rows_.steps();
      any |= moves_.reroute(*user, amount_by(*user, resource), limit_, {.chain = chain_});
      budget_.spend(moves_.steps() + rows_.steps() - before);
    }
    return any;
  }

  // As many trees as must leave the resource, if this is the only edge that does.
  [[nodiscard]] std::int64_t amount_by(TreeEdge user, ArcId resource) const {
    std::int64_t each = 0;
    rows_.for_each_arc(rows_.route(user), [&](ArcId arc) {
      if (resources_.of[arc] == resource) each += resources_.weight[arc];
    });
    return (-resources_.residual[resource] + each - 1) / each;
  }

  HeightRows rows_;
  Resources& resources_;
  HeightMoves moves_;
  std::int32_t limit_;
  int chain_;
  Budget& budget_;
};

}  // namespace

bool mend_overfull(const TreeRows& rows, Resources& resources, std::int32_t limit,
                   std::size_t most_trees, int chain, Budget& budget) {
  return Mend(rows, resources, limit, most_trees, chain, budget).run();
}

}  // namespace forestcoll::solver
