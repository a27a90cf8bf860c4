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
// That is one bit for each A. Most pairs need less: take one path of the datum, and for each step
// the first place on it that the step leads to, and the last one that leads to the step. A comes
// before B if the first place of A is no later than the last one of B.
#include "audit/msccl/data_order.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace forestcoll::audit {
namespace {

// Of rows of bits, for one datum at a time.
constexpr std::size_t kRowBytes = std::size_t{1} << 26;
constexpr std::size_t kMostWords = 16;

// Steps before one of a datum whose flags are looked at.
constexpr std::int32_t kFlagsBack = 32;

// Pairs that a sweep answers about as fast as a path does.
constexpr std::size_t kFewPairs = 128;
constexpr int kMostInVain = 4;  // paths that answer no more than that

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

/// What a step waits for: the step and its threadblock, or -1.
struct Flag {
  std::int32_t step = -1, threadblock = -1;
};

std::vector<Flag> flags_of(const StepGraph& graph) {
  std::vector<Flag> flags;
  flags.reserve(graph.steps.size());
  for (const StepGraph::Node& node : graph.steps) {
    const std::int32_t on = node.depends_on;
    flags.push_back({on, on < 0 ? -1 : graph.node(on).threadblock});
  }
  return flags;
}

/// The steps of one datum, and which of some of them come before which.
class DatumOrder {
 public:
  DatumOrder(const StepGraph& graph, std::span<const std::int32_t> positions,
             std::span<const Flag> flags)
      : graph_(graph), positions_(positions), flags_(flags), within_(graph.blocks.size()) {}

  /// Begins with a datum's steps, in the order of their numbers.
  void begin(std::span<const std::int32_t> steps) {
    for (const std::int32_t step : steps_) within(step) = {};
    steps_ = steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Range& range = within(steps[i]);
      if (range.begin == range.end) range.begin = i;
      range.end = i + 1;
    }
    in_time_.resize(steps.size());
    std::iota(in_time_.begin(), in_time_.end(), std::size_t{0});
    std::sort(in_time_.begin(), in_time_.end(),
              [&](std::size_t a, std::size_t b) { return position(a) < position(b); });
    edges_.clear();
    first_edge_.assign(1, 0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      find_edges(i);
      first_edge_.push_back(edges_.size());
    }
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
  [[nodiscard]] bool is_swept(std::int32_t before, std::int32_t after) const {
    const std::size_t bit = find(columns_, before);
    return (full_[find(steps_, after) * words_ + bit / 64] >> (bit % 64) & 1) != 0;
  }

  /// Chooses a path from `before` to `after`, two of the steps, and finds for each step where on it
  /// the step leads to, and from where on it the step is reached. False if there is no such path.
  bool follow(std::int32_t before, std::int32_t after) {
    if (!choose_path(find(steps_, before), find(steps_, after))) return false;
    find_ways_to_the_path();
    find_ways_from_the_path();
    return true;
  }

  /// Whether a way from one step to the other joins the path that was chosen.
  [[nodiscard]] bool is_ordered_on_the_path(std::int32_t before, std::int32_t after) const {
    const Ways& a = to_[find(steps_, before)];
    const Ways& b = from_[find(steps_, after)];
    return a.full <= b.any || a.any <= b.full;
  }

 private:
  /// Steps of the datum that follow one another in a threadblock.
  struct Range {
    std::size_t begin = 0, end = 0;
  };
  /// A step that comes before another one.
  struct Edge {
    std::size_t from = 0;
    bool is_message = false;
  };
  /// Places on the path: of all ways, and of those with an edge that is not a message.
  struct Ways {
    std::int32_t any = 0, full = 0;
  };
  static constexpr std::int32_t kNowhere = std::numeric_limits<std::int32_t>::max();

  [[nodiscard]] std::int32_t position(std::size_t i) const {
    return positions_[static_cast<std::size_t>(steps_[i])];
  }

  static std::size_t find(std::span<const std::int32_t> sorted, std::int32_t step) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), step) -
                                    sorted.begin());
  }

  [[nodiscard]] std::span<const Edge> edges(std::size_t i) const {
    return std::span(edges_).subspan(first_edge_[i], first_edge_[i + 1] - first_edge_[i]);
  }

  void find_edges(std::size_t i) {
    const std::int32_t step = steps_[i];
    // What flags of the steps before it waited for, it need not wait for again.
    std::int32_t known = graph_.block_of(step).begin;
    if (i > 0 && steps_[i - 1] >= known) {
      edges_.push_back({i - 1});
      known = steps_[i - 1] + 1;
    }
    for (std::int32_t s = step; s >= std::max(known, step - kFlagsBack); --s) {
      const Flag& flag = flags_[static_cast<std::size_t>(s)];
      if (flag.step >= 0) wait_for(flag);
    }
    const std::int32_t sender = graph_.node(step).message_from;
    if (sender >= 0) edges_.push_back({find(steps_, sender), true});
  }

  // The last step of the datum that is the one waited for, or before it in its threadblock.
  void wait_for(const Flag& flag) {
    const Range& range = within_[static_cast<std::size_t>(flag.threadblock)];
    std::size_t end = range.end;
    while (end > range.begin && steps_[end - 1] > flag.step) --end;
    if (end > range.begin) edges_.push_back({end - 1});
  }

  Range& within(std::int32_t step) {
    return within_[static_cast<std::size_t>(graph_.node(step).threadblock)];
  }

  void visit(std::size_t i) {
    std::uint64_t* full = row(full_, i);
    std::uint64_t* reach = row(reach_, i);
    for (const Edge& edge : edges(i)) {
      join(full, row(edge.is_message ? full_ : reach_, edge.from));
      if (edge.is_message) join(reach, row(reach_, edge.from));
    }
    join(reach, full);
    const std::size_t own = find(columns_, steps_[i]);
    if (own < columns_.size() && columns_[own] == steps_[i])
      reach[own / 64] |= std::uint64_t{1} << own % 64;
  }

  std::uint64_t* row(std::vector<std::uint64_t>& rows, std::size_t i) const {
    return rows.data() + i * words_;
  }

  void join(std::uint64_t* into, const std::uint64_t* from) const {
    for (std::size_t w = 0; w < words_; ++w) into[w] |= from[w];
  }

  // Back from `after`, by steps that `before` leads to.
  bool choose_path(std::size_t before, std::size_t after) {
    is_reached_.assign(steps_.size(), 0);
    is_reached_[before] = 1;
    for (const std::size_t i : in_time_) {
      for (const Edge& edge : edges(i)) is_reached_[i] |= is_reached_[edge.from];
    }
    if (is_reached_[after] == 0) return false;
    path_.assign(1, after);
    while (path_.back() != before) {
      for (const Edge& edge : edges(path_.back())) {
        if (is_reached_[edge.from] == 0) continue;
        path_.push_back(edge.from);
        break;
      }
    }
    std::reverse(path_.begin(), path_.end());
    return true;
  }

  void find_ways_to_the_path() {
    to_.assign(steps_.size(), {kNowhere, kNowhere});
    for (std::size_t p = 0; p < path_.size(); ++p) to_[path_[p]].any = static_cast<std::int32_t>(p);
    for (std::size_t n = in_time_.size(); n-- > 0;) {
      const Ways& onward = to_[in_time_[n]];
      for (const Edge& edge : edges(in_time_[n])) {
        Ways& to = to_[edge.from];
        to.any = std::min(to.any, onward.any);
        to.full = std::min(to.full, edge.is_message ? onward.full : onward.any);
      }
    }
  }

  void find_ways_from_the_path() {
    from_.assign(steps_.size(), {-1, -1});
    for (std::size_t p = 0; p < path_.size(); ++p)
      from_[path_[p]].any = static_cast<std::int32_t>(p);
    for (const std::size_t i : in_time_) {
      Ways& from = from_[i];
      for (const Edge& edge : edges(i)) {
        const Ways& back = from_[edge.from];
        from.any = std::max(from.any, back.any);
        from.full = std::max(from.full, edge.is_message ? back.full : back.any);
      }
    }
  }

  const StepGraph& graph_;
  const std::span<const std::int32_t> positions_;  ///< in time, by step
  const std::span<const Flag> flags_;              ///< by step
  std::span<const std::int32_t> steps_, columns_;
  std::vector<Range> within_;  ///< where a threadblock's steps stand among those of the datum
  std::vector<std::size_t> in_time_, first_edge_;
  std::vector<Edge> edges_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> full_, reach_;
  std::vector<char> is_reached_;
  std::vector<std::size_t> path_;
  std::vector<Ways> to_, from_;
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
    const std::vector<Flag> flags = flags_of(graph_);
    std::vector<char> answers(pairs_.size(), 0);
    const auto answer_some = [&](const tbb::blocked_range<std::size_t>& data) {
      DatumOrder order(graph_, positions_, flags);
      for (std::size_t d = data.begin(); d < data.end(); ++d) {
        if (d > data.begin() && std::ranges::equal(steps[d], steps[d - 1]) &&
            answer_alike(pairs[d], pairs[d - 1], answers)) {
          continue;
        }
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

  // As those of another datum that goes through the same steps; false where they are not the same.
  bool answer_alike(std::span<const std::int32_t> pairs, std::span<const std::int32_t> answered,
                    std::vector<char>& answers) const {
    const auto are_same = [&](std::int32_t p, std::int32_t q) {
      return pair(p).before == pair(q).before && pair(p).after == pair(q).after;
    };
    if (!std::ranges::equal(pairs, answered, are_same)) return false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      answers[static_cast<std::size_t>(pairs[i])] = answers[static_cast<std::size_t>(answered[i])];
    }
    return true;
  }

  // One path, through the place where the data is complete, say, answers most pairs at once.
  void answer(DatumOrder& order, std::span<const std::int32_t> pairs,
              std::vector<char>& answers) const {
    std::vector<std::int32_t> open(pairs.begin(), pairs.end());
    for (int in_vain = 0; in_vain < kMostInVain && open.size() >= kFewPairs;) {
      const std::size_t asked = open.size();
      const AccessPair& one = pair(open[asked * static_cast<std::size_t>(in_vain) / kMostInVain]);
      if (order.follow(one.before, one.after)) {
        std::erase_if(open, [&](std::int32_t p) {
          const bool is_ordered = order.is_ordered_on_the_path(pair(p).before, pair(p).after);
          if (is_ordered) answers[static_cast<std::size_t>(p)] = 1;
          return is_ordered;
        });
      }
      if (asked - open.size() < kFewPairs) ++in_vain;
    }
    answer_by_sweeps(order, open, answers);
  }

  void answer_by_sweeps(DatumOrder& order, std::span<const std::int32_t> pairs,
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
            order.is_swept(pair(p).before, pair(p).after) ? 1 : 0;
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
