// A schedule orders accesses to a chunk along the way of its data: a rank sends its part of a sum,
// and the result comes back when the part has arrived, was added and went on. A datum has few
// operations, and most pairs are ordered by way of them alone.
#include "audit/execution/data_order.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "audit/common/lists.hpp"
#include "audit/execution/datum_order.hpp"

namespace forestcoll::audit {
namespace {

// Chunks of memory that operations and messages join are one *datum*.
class Data {
 public:
  Data(const Execution& execution, const MemoryMap& memory);

  // One chunk for all that are joined, as `MemoryMap::locate` numbers it.
  [[nodiscard]] std::uint32_t of(std::size_t location) {
    auto at = static_cast<std::uint32_t>(location);
    while (joined_[at] != at) at = joined_[at] = joined_[joined_[at]];
    return at;
  }

  // Calls visit(location) for a chunk of every datum that the operation accesses.
  template <class Visit>
  void for_each(const Access& access, Visit&& visit) const {
    const std::size_t operands = access.pairwise ? access.reads.size() : 1;
    for (std::size_t o = 0; o < operands; ++o) {
      const std::size_t first = place(access, o);
      for (std::size_t i = 0; i < static_cast<std::size_t>(access.count); ++i) visit(first + i);
    }
  }

 private:
  [[nodiscard]] std::size_t locate(const Operand& part) const {
    return memory_.locate(part.rank, part.buffer, part.offset);
  }
  // The first chunk that it reads, or else writes. All others of its operation are joined with it.
  [[nodiscard]] std::size_t place(const Access& access, std::size_t operand = 0) const {
    return locate(access.reads.empty() ? access.writes[operand] : access.reads[operand]);
  }
  void join_operands(const Access& access);
  void join(std::size_t a, std::size_t b, std::int64_t count);

  const MemoryMap& memory_;
  std::vector<std::uint32_t> joined_;
};

Data::Data(const Execution& execution, const MemoryMap& memory)
    : memory_(memory), joined_(memory.total()) {
  std::iota(joined_.begin(), joined_.end(), std::uint32_t{0});
  std::vector<std::uint32_t> places(static_cast<std::size_t>(execution.count));
  Access access;
  for (const std::int32_t operation : execution.operations) {
    execution.access(operation, access);
    join_operands(access);
    const std::size_t own = place(access);
    places[static_cast<std::size_t>(operation)] = static_cast<std::uint32_t>(own);
    if (access.sender < 0) continue;
    join(own, places[static_cast<std::size_t>(access.sender)], access.count);
  }
}

void Data::join_operands(const Access& access) {
  if (access.pairwise) {
    for (std::size_t i = 0; i < access.writes.size(); ++i) {
      join(locate(access.reads[i]), locate(access.writes[i]), access.count);
    }
    return;
  }
  const std::size_t all = place(access);
  for (const Operand& read : access.reads) join(all, locate(read), access.count);
  for (const Operand& write : access.writes) join(all, locate(write), access.count);
}

void Data::join(std::size_t a, std::size_t b, std::int64_t count) {
  for (std::int64_t i = 0; i < count && a != b; ++i) joined_[of(a++)] = of(b++);
}

// Pairs that a sweep answers about as fast as a path does.
constexpr std::size_t kFewPairs = 128;
constexpr int kMostInVain = 4;  // paths that answer no more than that

class DataOrder {
 public:
  DataOrder(const Execution& execution, const MemoryMap& memory, std::span<const AccessPair> pairs)
      : execution_(execution),
        data_(execution, memory),
        pairs_(pairs),
        number_(memory.total(), -1) {
    // Only what somebody asks about has a number.
    for (const AccessPair& pair : pairs) {
      std::int32_t& number = number_[data_.of(pair.location)];
      if (number < 0) number = count_++;
    }
  }

  std::vector<bool> run() {
    const auto count = static_cast<std::size_t>(count_);
    const Lists<> operations(count, [&](auto&& add) { for_each_operation(add); });
    const Lists<> pairs(count, [&](auto&& add) {
      for (std::size_t p = 0; p < pairs_.size(); ++p) {
        add(static_cast<std::size_t>(number_[data_.of(pairs_[p].location)]),
            static_cast<std::int32_t>(p));
      }
    });
    std::vector<char> answers(pairs_.size(), 0);
    const auto answer_some = [&](const tbb::blocked_range<std::size_t>& data) {
      DatumOrder order(execution_);
      for (std::size_t d = data.begin(); d < data.end(); ++d) {
        if (d > data.begin() && std::ranges::equal(operations[d], operations[d - 1]) &&
            answer_alike(pairs[d], pairs[d - 1], answers)) {
          continue;
        }
        order.begin(operations[d]);
        answer(order, pairs[d], answers);
      }
    };
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count), answer_some);
    return {answers.begin(), answers.end()};
  }

 private:
  // Calls add(datum, operation) once for each datum that an operation accesses, by number.
  template <class Add>
  void for_each_operation(Add&& add) {
    std::vector<std::int32_t> last(static_cast<std::size_t>(count_), -1);
    Access access;
    for (std::int32_t operation = 0; operation < execution_.count; ++operation) {
      execution_.access(operation, access);
      if (access.reads.empty() && access.writes.empty()) continue;
      data_.for_each(access, [&](std::size_t location) {
        const std::int32_t number = number_[data_.of(location)];
        if (number < 0) return;
        const auto datum = static_cast<std::size_t>(number);
        if (last[datum] != operation) add(datum, last[datum] = operation);
      });
    }
  }

  // As those of another datum that goes through the same operations; false where they are not the
  // same.
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

  void answer(DatumOrder& order, std::span<const std::int32_t> pairs,
              std::vector<char>& answers) const {
    std::vector<std::int32_t> open(pairs.begin(), pairs.end());
    for (int in_vain = 0; in_vain < kMostInVain && open.size() >= kFewPairs;) {
      const std::size_t asked = open.size();
      const auto one = asked * static_cast<std::size_t>(in_vain) / kMostInVain;
      if (order.follow(query(open[one]))) {
        std::erase_if(open, [&](std::int32_t p) {
          const bool holds = order.holds_by_the_path(query(p));
          if (holds) answers[static_cast<std::size_t>(p)] = 1;
          return holds;
        });
      }
      if (asked - open.size() < kFewPairs) ++in_vain;
    }
    answer_by_sweeps(order, open, answers);
  }

  void answer_by_sweeps(DatumOrder& order, std::span<const std::int32_t> pairs,
                        std::vector<char>& answers) const {
    std::vector<std::int32_t> columns;
    for (const std::int32_t p : pairs) {
      for (const std::int32_t over : query(p).over) {
        if (over >= 0) columns.push_back(over);
      }
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const std::size_t most = order.most_columns();
    for (std::size_t first = 0; first < columns.size(); first += most) {
      const auto some = std::span(columns).subspan(first, std::min(most, columns.size() - first));
      order.sweep(some);
      for (const std::int32_t p : pairs) {
        const OrderQuery asked = query(p);
        for (const std::int32_t over : asked.over) {
          if (over < some.front() || some.back() < over) continue;
          if (order.is_swept(over, asked.begins)) answers[static_cast<std::size_t>(p)] = 1;
        }
      }
    }
  }

  [[nodiscard]] const AccessPair& pair(std::int32_t p) const {
    return pairs_[static_cast<std::size_t>(p)];
  }
  [[nodiscard]] OrderQuery query(std::int32_t p) const {
    return execution_.query(pair(p).before, pair(p).after);
  }

  const Execution& execution_;
  Data data_;
  const std::span<const AccessPair> pairs_;
  std::vector<std::int32_t> number_;  ///< of the datum, by its one chunk; -1: nobody asks
  std::int32_t count_ = 0;
};

}  // namespace

std::vector<bool> ordered_by_data(const Execution& execution, const MemoryMap& memory,
                                  std::span<const AccessPair> pairs) {
  if (pairs.empty()) return {};
  return DataOrder(execution, memory, pairs).run();
}

}  // namespace forestcoll::audit
