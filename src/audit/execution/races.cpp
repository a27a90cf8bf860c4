// Which pairs to ask about: with the accesses to a chunk in a linear order of happens-before, each
// read must come after the last write, each write after the last write and all reads since. All
// other pairs then follow. Many are answered at a glance, most others among the few operations of
// the same data (data_order.hpp), and what is left among all events (event_order.hpp).
#include "audit/execution/races.hpp"

#include <algorithm>
#include <utility>

#include "audit/execution/data_order.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMaxPairs = 40'000'000;

class RaceSearch {
 public:
  RaceSearch(const Execution& execution, const MemoryMap& memory)
      : execution_(execution), memory_(memory) {}

  Races run(Findings& findings) {
    collect();
    if (overflow_) {
      findings.add(Rule::too_large, Place{},
                   "too many accesses to the same chunks for this verifier to compare");
    }
    answer_along_the_data();
    answer_by_all_events();
    return std::move(found_);
  }

 private:
  struct User {
    std::int32_t operation = -1;
    std::int32_t strand = 0;  // which chunk of the operation
  };
  struct Reader {
    User user;
    std::int32_t next = -1;
  };

  void collect() {
    last_write_.assign(memory_.total(), User{});
    first_reader_.assign(memory_.total(), -1);
    Access access;
    for (const std::int32_t operation : execution_.operations) {
      execution_.access(operation, access);
      find_overlaps(operation, access);
      for_each_chunk(access, access.reads, memory_,
                     [&](const Operand& chunk, std::size_t at, int strand) {
                       if (!chunk.packets) read({operation, strand}, chunk, at);
                     });
      for_each_chunk(access, access.writes, memory_,
                     [&](const Operand& chunk, std::size_t at, int strand) {
                       if (!chunk.packets) write({operation, strand}, chunk, at);
                     });
    }
    last_write_ = {};
    first_reader_ = {};
    readers_ = {};
  }

  void read(User user, const ChunkRef& chunk, std::size_t at) {
    ask(last_write_[at], user, chunk, true, false);
    readers_.push_back({user, first_reader_[at]});
    first_reader_[at] = static_cast<std::int32_t>(readers_.size() - 1);
  }

  void write(User user, const ChunkRef& chunk, std::size_t at) {
    ask(last_write_[at], user, chunk, true, true);
    for (std::int32_t r = first_reader_[at]; r >= 0;) {
      const Reader& reader = readers_[static_cast<std::size_t>(r)];
      ask(reader.user, user, chunk, false, true);
      r = reader.next;
    }
    first_reader_[at] = -1;
    last_write_[at] = user;
  }

  [[nodiscard]] std::size_t locate(const Operand& part) const {
    return memory_.locate(part.rank, part.buffer, part.offset);
  }

  // A step's own chunks are moved in any order, so its source and destination must not be shifted
  // against each other within one buffer.
  void find_overlaps(std::int32_t operation, const Access& access) {
    const auto count = static_cast<std::size_t>(access.count);
    for (std::size_t w = 0; w < access.writes.size(); ++w) {
      if (access.writes[w].packets) continue;
      const auto shift_to = [&, destination = locate(access.writes[w])](const Operand& other) {
        const std::size_t at = locate(other);
        return std::max(at, destination) - std::min(at, destination);
      };
      for (const Operand& read : access.reads) {
        const std::size_t shift = read.packets ? 0 : shift_to(read);
        if (shift == 0 || shift >= count) continue;
        found_.overlaps.push_back({operation, access.writes[w], shift, false});
      }
      for (std::size_t other = 0; other < w; ++other) {
        if (shift_to(access.writes[other]) >= count) continue;
        found_.overlaps.push_back({operation, access.writes[w], 0, true});
      }
    }
  }

  void ask(User before, User after, const ChunkRef& chunk, bool before_writes, bool after_writes) {
    if (before.operation < 0 || before.operation == after.operation) return;
    if (is_of_one_chain(before, after)) return;
    const Race race{before.operation, after.operation, chunk, before_writes, after_writes, false};
    if (!open_.empty() && open_.back().before == race.before && open_.back().after == race.after) {
      if (before_writes && !open_.back().before_writes) open_.back() = race;
      return;
    }
    if (is_near(execution_.events, query(race))) return;
    if (open_.size() == kMaxPairs) {
      overflow_ = true;
      return;
    }
    open_.push_back(race);
  }

  [[nodiscard]] bool is_of_one_chain(User before, User after) const {
    if (execution_.chain.empty() || before.strand > after.strand) return false;
    return execution_.chain[static_cast<std::size_t>(before.operation)] ==
           execution_.chain[static_cast<std::size_t>(after.operation)];
  }

  [[nodiscard]] OrderQuery query(const Race& race) const {
    return execution_.query(race.before, race.after);
  }

  void answer_along_the_data() {
    std::vector<AccessPair> pairs;
    pairs.reserve(open_.size());
    for (const auto& [before, after, chunk, b, a, t] : open_) {
      pairs.push_back({before, after, memory_.locate(chunk.rank, chunk.buffer, chunk.offset)});
    }
    keep_open(ordered_by_data(execution_, memory_, pairs));
  }

  void keep_open(const std::vector<bool>& answers) {
    std::size_t left = 0;
    for (std::size_t q = 0; q < open_.size(); ++q) {
      if (!answers[q]) open_[left++] = open_[q];
    }
    open_.resize(left);
  }

  [[nodiscard]] std::vector<bool> by_all_events(const EventOrder& events) const {
    std::vector<OrderQuery> queries;
    queries.reserve(open_.size());
    for (const Race& race : open_) queries.push_back(query(race));
    return happens_before(events, queries);
  }

  // A read is over once it is over in time.
  void answer_by_all_events() {
    keep_open(by_all_events(execution_.events));
    if (execution_.relaxed) {
      const std::vector<bool> in_time = by_all_events(*execution_.relaxed);
      for (std::size_t q = 0; q < open_.size(); ++q) open_[q].in_time = in_time[q];
      std::erase_if(open_, [](const Race& race) { return race.in_time && !race.before_writes; });
    }
    // Once for successive chunks of two operations.
    const auto are_one = [](const Race& a, const Race& b) {
      return a.before == b.before && a.after == b.after;
    };
    open_.erase(std::unique(open_.begin(), open_.end(), are_one), open_.end());
    found_.races = std::move(open_);
  }

  const Execution& execution_;
  const MemoryMap& memory_;
  std::vector<User> last_write_;
  std::vector<std::int32_t> first_reader_;
  std::vector<Reader> readers_;
  std::vector<Race> open_;  // not yet seen to be ordered
  bool overflow_ = false;
  Races found_;
};

}  // namespace

Races find_races(const Execution& execution, const MemoryMap& memory, Findings& findings) {
  return RaceSearch(execution, memory).run(findings);
}

}  // namespace forestcoll::audit
