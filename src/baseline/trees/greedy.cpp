#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "baseline/makers.hpp"
#include "baseline/tree_table.hpp"
#include "baseline/trees/free_links.hpp"
#include "baseline/trees/time_steps.hpp"

namespace forestcoll::baseline {
namespace {

/// A set of roots.
using Chunks = std::vector<std::uint64_t>;

void insert(Chunks& chunks, Rank root) {
  chunks[root.index() / 64] |= std::uint64_t{1} << (root.index() % 64);
}

class Greedy {
 public:
  explicit Greedy(const Network& network)
      : links_(network),
        table_(network.ranks.size()),
        ranks_(network.ranks.size()),
        holders_(ranks_, 1),
        promised_(ranks_, Chunks((ranks_ + 63) / 64, 0)) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      table_.begin_tree(Rank(r));
      insert(promised_[r], Rank(r));
    }
  }

  ImplicitForest build() {
    return built_in_steps(table_, ranks_, [&](std::size_t step) { return match_all(step); });
  }

 private:
  // One time step: receivers in turn, each time beginning with another one.
  std::size_t match_all(std::size_t first) {
    links_.next_step();
    there_ = promised_;
    std::vector<bool> done(ranks_, false);
    std::size_t sent = 0;
    for (bool any = true; any;) {
      any = false;
      for (std::size_t i = 0; i < ranks_; ++i) {
        const std::size_t v = (first + i) % ranks_;
        if (done[v]) continue;
        done[v] = !match(Rank(v));
        any = any || !done[v];
        sent += done[v] ? 0 : 1;
      }
    }
    return sent;
  }

  // The nearest rank that has something for `receiver` sends the rarest of it.
  bool match(Rank receiver) {
    Rank chunk;
    Path path = links_.take_nearest(receiver, true, [&](Rank sender) {
      chunk = rarest(there_[sender.index()], promised_[receiver.index()]);
      return chunk.valid();
    });
    if (path.empty()) return false;
    insert(promised_[receiver.index()], chunk);
    ++holders_[chunk.index()];
    table_.add(chunk.index(), receiver, table_.hop(std::move(path)));
    return true;
  }

  [[nodiscard]] Rank rarest(const Chunks& there, const Chunks& here) const {
    Rank best;
    for (std::size_t word = 0; word < there.size(); ++word) {
      for (std::uint64_t bits = there[word] & ~here[word]; bits != 0; bits &= bits - 1) {
        const Rank chunk(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
        if (!best.valid() || holders_[chunk.index()] < holders_[best.index()]) best = chunk;
      }
    }
    return best;
  }

  FreeLinks links_;
  TreeTable table_;
  std::size_t ranks_;
  std::vector<std::size_t> holders_;  ///< by chunk: ranks that have it or will
  std::vector<Chunks> promised_;      ///< by rank: what it has or gets in this time step
  std::vector<Chunks> there_;         ///< by rank: what it had when the time step began
};

}  // namespace

Expected<BaselineResult> greedy(const Request& request) {
  const auto few = refuse_many_ranks(request, "the greedy matching");
  if (!few) return few.errors();
  return carry_out(request, [](const Network& network) -> Expected<ImplicitForest> {
    return Greedy(network).build();
  });
}

}  // namespace forestcoll::baseline
