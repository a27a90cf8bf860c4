// A schedule orders accesses to a chunk along the way of its data: a rank sends its part of a sum,
// and the result comes back when the part has arrived, was added and went on. So chunks of memory
// that messages or copies join are one *datum*, and a datum has few steps.
//
// Among the steps of one datum, every message and flag is an edge, and so is program order. A flag
// that waits for a step of other data waits for all steps before it in that threadblock, so it is
// an edge from the last of these that is of the datum; and all steps after the one that has the
// flag have waited, too. As in races.cpp, all of A comes before all of B along a path with some
// edge that is not a message. For sets of such A's as bits,
//   full[B]  = union of reach[previous], reach[waited for] and full[sender]
//   reach[B] = full[B], B itself and reach[sender]
#include "audit/msccl/data_order.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <numeric>

namespace forestcoll::audit {
namespace {

// Of rows of bits, for one datum at a time.
constexpr std::size_t kRowBytes = std::size_t{1} << 26;
constexpr std::size_t kMostWords = 16;

// Steps before one of a datum whose flags are looked at.
constexpr std::int32_t kFlagsBack = 32;

bool accesses(const StepGraph::Node& node) {
  return node.step->operation->reads_source || node.step->operation->writes;
}

/// Which chunks of memory hold the same data at some time.
class Data {
 public:
  Data(const StepGraph& graph, const MemoryMap& memory) : graph_(graph), memory_(memory) {
    joined_.resize(memory.total());
    std::iota(joined_.begin(), joined_.end(), std::uint32_t{0});
    for (std::size_t s = 0; s < graph.steps.size(); ++s) join_by(static_cast<std::int32_t>(s));
  }

  /// One chunk for all that are joined.
  std::uint32_t of(std::size_t location) {
    auto at = static_cast<std::uint32_t>(location);
    while (joined_[at] != at) at = joined_[at] = joined_[joined_[at]];
    return at;
  }

  /// Where the first chunk lies that a step reads, or else writes. All others that it accesses are
  /// joined with these. REQUIRES: it accesses any.
  [[nodiscard]] std::size_t place(std::int32_t step) const {
    return graph_.node(step).step->operation->reads_source ? source(step) : destination(step);
  }

 private:
  [[nodiscard]] std::size_t source(std::int32_t step) const {
    const Step& s = *graph_.node(step).step;
    return memory_.locate(graph_.block_of(step).rank, s.source, s.source_offset);
  }
  [[nodiscard]] std::size_t destination(std::int32_t step) const {
    const Step& s = *graph_.node(step).step;
    return memory_.locate(graph_.block_of(step).rank, s.destination, s.destination_offset);
  }

  void join_by(std::int32_t step) {
    const StepGraph::Node& node = graph_.node(step);
    if (!accesses(node)) return;
    const Operation& operation = *node.step->operation;
    if (operation.reads_source && operation.writes) {
      join(source(step), destination(step), node.step->count);
    }
    if (node.message_from >= 0) join(place(step), place(node.message_from), node.step->count);
  }

  void join(std::size_t a, std::size_t b, std::int32_t count) {
    for (std::int32_t i = 0; i < count && a != b; ++i) joined_[of(a++)] = of(b++);
  }

  const StepGraph& graph_;
  const MemoryMap& memory_;
  std::vector<std::uint32_t> joined_;
};

/// The steps of one datum, and which of some of them come before which.
class DatumOrder {
 public:
  DatumOrder(const StepGraph& graph, std::span<const std::int32_t> positions)
      : graph_(graph), positions_(positions) {}

  /// Begins with a datum's steps, in the order of their numbers.
  void begin(std::span<const std::int32_t> steps) {
    steps_ = steps;
    in_time_.resize(steps.size());
    std::iota(in_time_.begin(), in_time_.end(), std::size_t{0});
    std::sort(in_time_.begin(), in_time_.end(),
              [&](std::size_t a, std::size_t b) { return position(a) < position(b); });
  }

  /// How many steps can be asked about at once.
  [[nodiscard]] std::size_t most_columns() const {
    return 64 * std::clamp<std::size_t>(kRowBytes / (16 * steps_.size()), 1, kMostWords);
  }

  /// Finds what comes after each of `columns`: some of the steps, in the order of their numbers.
  void sweep(std::span<const std::int32_t> columns) {
    columns_ = columns;
    words_ = (columns.size() + 63) / 64;
    full_.assign(steps_.size() * words_, 0);
    reach_.assign(steps_.size() * words_, 0);
    for (const std::size_t i : in_time_) visit(i);
  }

  /// REQUIRES: `before` is one of the columns, `after` one of the steps.
  [[nodiscard]] bool is_ordered(std::int32_t before, std::int32_t after) const {
    const std::size_t bit = find(columns_, before);
    return (full_[find(steps_, after) * words_ + bit / 64] >> (bit % 64) & 1) != 0;
  }

 private:
  [[nodiscard]] std::int32_t position(std::size_t i) const {
    return positions_[static_cast<std::size_t>(steps_[i])];
  }

  static std::size_t find(std::span<const std::int32_t> sorted, std::int32_t step) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), step) -
                                    sorted.begin());
  }

  void visit(std::size_t i) {
    const std::int32_t step = steps_[i];
    const StepGraph::Node& node = graph_.node(step);
    std::uint64_t* full = row(full_, i);
    std::uint64_t* reach = row(reach_, i);
    // What flags of the steps before it waited for, it need not wait for again.
    std::int32_t known = graph_.block_of(step).begin;
    if (i > 0 && steps_[i - 1] >= known) {
      join(full, row(reach_, i - 1));
      known = steps_[i - 1] + 1;
    }
    for (std::int32_t s = step; s >= std::max(known, step - kFlagsBack); --s) {
      wait_for(graph_.node(s).depends_on, full);
    }
    if (node.message_from >= 0) {
      const std::size_t sender = find(steps_, node.message_from);
      join(full, row(full_, sender));
      join(reach, row(reach_, sender));
    }
    join(reach, full);
    const std::size_t own = find(columns_, step);
    if (own < columns_.size() && columns_[own] == step)
      reach[own / 64] |= std::uint64_t{1} << own % 64;
  }

  // The last step of the datum that is the one waited for, or before it in its threadblock.
  void wait_for(std::int32_t step, std::uint64_t* full) {
    if (step < 0) return;
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), step);
    if (after == steps_.begin()) return;
    if (graph_.node(*(after - 1)).threadblock != graph_.node(step).threadblock) return;
    join(full, row(reach_, static_cast<std::size_t>(after - steps_.begin()) - 1));
  }

  std::uint64_t* row(std::vector<std::uint64_t>& rows, std::size_t i) const {
    return rows.data() + i * words_;
  }

  void join(std::uint64_t* into, const std::uint64_t* from) const {
    for (std::size_t w = 0; w < words_; ++w) into[w] |= from[w];
  }

  const StepGraph& graph_;
  const std::span<const std::int32_t> positions_;  ///< in time, by step
  std::span<const std::int32_t> steps_, columns_;
  std::vector<std::size_t> in_time_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> full_, reach_;
};

/// Lists of numbers, one after the other.
class Lists {
 public:
  /// `for_each(add)` calls add(list, number) for all that shall be in them, twice alike.
  template <class ForEach>
  Lists(std::size_t lists, ForEach&& for_each) : begin_(lists + 1, 0) {
    for_each([&](std::size_t list, std::int32_t) { ++begin_[list + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    numbers_.resize(begin_.back());
    std::vector<std::size_t> next = begin_;
    for_each([&](std::size_t list, std::int32_t number) { numbers_[next[list]++] = number; });
  }

  [[nodiscard]] std::span<const std::int32_t> operator[](std::size_t list) const {
    return std::span(numbers_).subspan(begin_[list], begin_[list + 1] - begin_[list]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::int32_t> numbers_;
};

class DataOrder {
 public:
  DataOrder(const StepGraph& graph, const MemoryMap& memory, std::span<const std::int32_t> order,
            std::span<const AccessPair> pairs)
      : graph_(graph), data_(graph, memory), pairs_(pairs), number_(memory.total(), -1) {
    // Only what somebody asks about has a number.
    for (const AccessPair& pair : pairs) {
      std::int32_t& number = number_[data_.of(pair.location)];
      if (number < 0) number = count_++;
    }
    positions_.resize(graph.steps.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      positions_[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    }
  }

  std::vector<bool> run() {
    const auto count = static_cast<std::size_t>(count_);
    const Lists steps(count, [&](auto&& add) { for_each_step(add); });
    const Lists pairs(count, [&](auto&& add) {
      for (std::size_t p = 0; p < pairs_.size(); ++p) {
        add(static_cast<std::size_t>(number_[data_.of(pairs_[p].location)]),
            static_cast<std::int32_t>(p));
      }
    });
    std::vector<char> answers(pairs_.size(), 0);
    const auto answer_some = [&](const tbb::blocked_range<std::size_t>& data) {
      DatumOrder order(graph_, positions_);
      for (std::size_t d = data.begin(); d < data.end(); ++d) {
        order.begin(steps[d]);
        answer(order, pairs[d], answers);
      }
    };
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count), answer_some);
    return {answers.begin(), answers.end()};
  }

 private:
  // Calls add(datum, step) once for each datum that a step accesses, the steps in order.
  template <class Add>
  void for_each_step(Add&& add) {
    std::vector<std::int32_t> last(static_cast<std::size_t>(count_), -1);
    for (std::size_t s = 0; s < graph_.steps.size(); ++s) {
      const auto step = static_cast<std::int32_t>(s);
      if (!accesses(graph_.node(step))) continue;
      const std::size_t place = data_.place(step);
      for (std::size_t i = 0; i < static_cast<std::size_t>(graph_.node(step).step->count); ++i) {
        const std::int32_t number = number_[data_.of(place + i)];
        if (number < 0) continue;
        const auto datum = static_cast<std::size_t>(number);
        if (last[datum] != step) add(datum, last[datum] = step);
      }
    }
  }

  void answer(DatumOrder& order, std::span<const std::int32_t> pairs,
              std::vector<char>& answers) const {
    std::vector<std::int32_t> columns;
    for (const std::int32_t p : pairs) columns.push_back(pair(p).before);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const std::size_t most = order.most_columns();
    for (std::size_t first = 0; first < columns.size(); first += most) {
      const auto some = std::span(columns).subspan(first, std::min(most, columns.size() - first));
      order.sweep(some);
      for (const std::int32_t p : pairs) {
        if (pair(p).before < some.front() || some.back() < pair(p).before) continue;
        answers[static_cast<std::size_t>(p)] =
            order.is_ordered(pair(p).before, pair(p).after) ? 1 : 0;
      }
    }
  }

  [[nodiscard]] const AccessPair& pair(std::int32_t p) const {
    return pairs_[static_cast<std::size_t>(p)];
  }

  const StepGraph& graph_;
  Data data_;
  const std::span<const AccessPair> pairs_;
  std::vector<std::int32_t> number_;  ///< of the datum, by its one chunk; -1: nobody asks
  std::int32_t count_ = 0;
  std::vector<std::int32_t> positions_;  ///< in time, by step
};

}  // namespace

std::vector<bool> ordered_by_data(const StepGraph& graph, const MemoryMap& memory,
                                  std::span<const std::int32_t> order,
                                  std::span<const AccessPair> pairs) {
  if (pairs.empty()) return {};
  return DataOrder(graph, memory, order, pairs).run();
}

}  // namespace forestcoll::audit
