// Happens-before, exactly.
//
// The order is weakest where every chunk is an operation of its own (m = 1), so that is where it is
// checked. Call a step's j-th chunk its strand j. Strand j of a receive comes after strand j of its
// send, but other strands of the two are not ordered by that message alone. Program order and flags
// order whole steps. So A happens before B in one of two ways:
// - along a path with some program-order or flag edge: then all strands of A come before all of B;
// - along a chain of messages only (A sends to a step that forwards … to B): then strand a of A
// comes
//   before strand b of B exactly if a ≤ b. Every step receives one message and sends one, so chains
//   are disjoint lists.
// The first is answered by clocks. For a set of threadblocks, full[B][t] is the last step of t that
// comes before all of B, and reach[B][t] the same with B itself and its chain counted in:
//   full[B]  = max(reach[previous], reach[depended on], full[sender])
//   reach[B] = max(full[B], B, reach[sender])
// That a later message may reuse a slot of the connection orders nothing and is left out.
//
// Which pairs to ask about: with the accesses to a chunk in a linear order of happens-before, each
// read must come after the last write, each write after the last write and all reads since. All
// other pairs then follow. Most are answered among the few steps of the same data (data_order.hpp).
// For the others clocks are swept, a block of threadblocks at a time to bound memory.
#include "audit/msccl/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "audit/msccl/data_order.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kClockBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxColumns = 64;
constexpr std::int32_t kLookBack = 8;
constexpr std::size_t kMaxQueries = 40'000'000;

struct Access {
  std::int32_t step = -1;
  std::int32_t strand = 0;
};

// Must `before` happen before `after`?
struct Query {
  std::int32_t before = -1, after = -1;
  Buffer buffer = Buffer::input;  // the chunk, as `after` calls it
  std::int32_t offset = 0;
  bool after_writes = false, before_writes = false;
};

class RaceCheck {
 public:
  RaceCheck(const StepGraph& graph, const MemoryMap& memory, std::span<const std::int32_t> order,
            Findings& findings)
      : graph_(graph), memory_(memory), order_(order), findings_(findings) {}

  void run() {
    find_chains();
    collect_queries();
    answer_along_the_data();
    sort_queries();
    for (std::size_t first = 0; first < queries_.size();) first = answer_block(first);
  }

 private:
  [[nodiscard]] std::int32_t block(std::int32_t step) const {
    return graph_.node(step).threadblock;
  }

  void find_chains() {
    chain_.assign(graph_.steps.size(), -1);
    position_.assign(graph_.steps.size(), 0);
    std::int32_t chains = 0;
    for (const std::int32_t step : order_) {
      const auto s = static_cast<std::size_t>(step);
      const std::int32_t from = graph_.node(step).message_from;
      chain_[s] = from < 0 ? chains++ : chain_[static_cast<std::size_t>(from)];
      position_[s] = from < 0 ? 0 : position_[static_cast<std::size_t>(from)] + 1;
    }
  }

  // The cheap answers: same threadblock, same chain, a flag close by.
  [[nodiscard]] bool obviously_ordered(Access before, Access after) const {
    if (block(before.step) == block(after.step)) return true;
    const auto a = static_cast<std::size_t>(before.step);
    const auto b = static_cast<std::size_t>(after.step);
    if (chain_[a] == chain_[b] && before.strand <= after.strand) return true;
    const std::int32_t begin = graph_.block_of(after.step).begin;
    for (std::int32_t s = after.step; s >= std::max(begin, after.step - kLookBack); --s) {
      const std::int32_t on = graph_.node(s).depends_on;
      if (on >= before.step && block(on) == block(before.step)) return true;
    }
    return false;
  }

  void ask(Access before, Access after, Buffer buffer, std::int32_t offset, bool before_writes,
           bool after_writes) {
    if (before.step < 0 || before.step == after.step || obviously_ordered(before, after)) return;
    if (queries_.size() > kMaxQueries) {
      overflow_ = true;
      return;
    }
    if (!queries_.empty() && queries_.back().before == before.step &&
        queries_.back().after == after.step) {
      return;
    }
    queries_.push_back({before.step, after.step, buffer, offset, after_writes, before_writes});
  }

  void collect_queries() {
    last_write_.assign(memory_.total(), Access{});
    first_reader_.assign(memory_.total(), -1);
    for (const std::int32_t number : order_) {
      const Step& step = *graph_.node(number).step;
      const Operation& operation = *step.operation;
      if (operation.reads_source && operation.writes) check_overlap(number);
      for (std::int32_t strand = 0; strand < step.count; ++strand) {
        if (operation.reads_source) {
          read({number, strand}, step.source, step.source_offset + strand);
        }
        if (operation.writes) {
          write({number, strand}, step.destination, step.destination_offset + strand);
        }
      }
    }
    if (overflow_) {
      findings_.add(Rule::too_large, Place{},
                    "too many accesses to the same chunks for this verifier to compare");
    }
    last_write_ = {};
    first_reader_ = {};
    readers_ = {};
  }

  // A step's own chunks are moved in any order, so its source and destination must not be shifted
  // against each other within one buffer.
  void check_overlap(std::int32_t number) {
    const Step& step = *graph_.node(number).step;
    const std::int32_t rank = graph_.block_of(number).rank;
    const std::size_t source = memory_.locate(rank, step.source, step.source_offset);
    const std::size_t destination = memory_.locate(rank, step.destination, step.destination_offset);
    const std::size_t shift = std::max(source, destination) - std::min(source, destination);
    if (shift == 0 || shift >= static_cast<std::size_t>(step.count)) return;
    findings_.add(Rule::race, graph_.place(number),
                  fmt::format("src and dst overlap, {} chunks apart{}: parts of the source are "
                              "overwritten before they are read",
                              shift, mode_text()));
  }

  [[nodiscard]] std::string_view mode_text() const {
    return memory_.placement() == Placement::in_place ? " (in place)" : " (out of place)";
  }

  void read(Access access, Buffer buffer, std::int32_t offset) {
    const std::size_t at = memory_.locate(graph_.block_of(access.step).rank, buffer, offset);
    ask(last_write_[at], access, buffer, offset, true, false);
    readers_.push_back({access, first_reader_[at]});
    first_reader_[at] = static_cast<std::int32_t>(readers_.size() - 1);
  }

  void write(Access access, Buffer buffer, std::int32_t offset) {
    const std::size_t at = memory_.locate(graph_.block_of(access.step).rank, buffer, offset);
    ask(last_write_[at], access, buffer, offset, true, true);
    for (std::int32_t r = first_reader_[at]; r >= 0;) {
      const Reader& reader = readers_[static_cast<std::size_t>(r)];
      ask(reader.access, access, buffer, offset, false, true);
      r = reader.next;
    }
    first_reader_[at] = -1;
    last_write_[at] = access;
  }

  // Leaves those that the way of the data does not answer.
  void answer_along_the_data() {
    std::vector<AccessPair> pairs;
    pairs.reserve(queries_.size());
    for (const Query& query : queries_) {
      const std::int32_t rank = graph_.block_of(query.after).rank;
      pairs.push_back(
          {query.before, query.after, memory_.locate(rank, query.buffer, query.offset)});
    }
    const std::vector<bool> ordered = ordered_by_data(graph_, memory_, order_, pairs);
    std::size_t left = 0;
    for (std::size_t q = 0; q < queries_.size(); ++q) {
      if (!ordered[q]) queries_[left++] = queries_[q];
    }
    queries_.resize(left);
  }

  void sort_queries() {
    const auto key = [this](const Query& q) {
      return std::tuple(block(q.before), q.after, q.before, q.offset);
    };
    std::sort(queries_.begin(), queries_.end(),
              [&](const Query& a, const Query& b) { return key(a) < key(b); });
  }

  // Answers the queries about as many threadblocks as clocks fit for; returns where to go on.
  std::size_t answer_block(std::size_t first) {
    const std::size_t steps = graph_.steps.size();
    width_ = std::clamp<std::size_t>(kClockBytes / (4 * steps), 8, kMaxColumns);
    std::vector<std::int32_t> column(graph_.blocks.size(), -1);
    std::size_t used = 0;
    std::size_t last = first;
    for (; last < queries_.size(); ++last) {
      std::int32_t& c = column[static_cast<std::size_t>(block(queries_[last].before))];
      if (c >= 0) continue;
      if (used == width_) break;
      c = static_cast<std::int32_t>(used++);
    }
    width_ = used;
    sweep(column);
    for (std::size_t q = first; q < last; ++q) {
      const Query& query = queries_[q];
      const auto c =
          static_cast<std::size_t>(column[static_cast<std::size_t>(block(query.before))]);
      const std::int16_t known = full_[static_cast<std::size_t>(query.after) * width_ + c];
      const bool repeated = q > first && queries_[q - 1].before == query.before &&
                            queries_[q - 1].after == query.after;
      if (known < graph_.index(query.before) && !repeated) report(query);
    }
    return last;
  }

  void sweep(const std::vector<std::int32_t>& column) {
    full_.assign(graph_.steps.size() * width_, -1);
    reach_.assign(graph_.steps.size() * width_, -1);
    for (const std::int32_t step : order_) {
      const StepGraph::Node& node = graph_.node(step);
      std::int16_t* full = row(full_, step);
      if (step > graph_.block_of(step).begin) join(full, row(reach_, step - 1));
      if (node.depends_on >= 0) join(full, row(reach_, node.depends_on));
      if (node.message_from >= 0) join(full, row(full_, node.message_from));
      std::int16_t* reach = row(reach_, step);
      join(reach, full);
      if (node.message_from >= 0) join(reach, row(reach_, node.message_from));
      const std::int32_t own = column[static_cast<std::size_t>(node.threadblock)];
      if (own >= 0) reach[own] = static_cast<std::int16_t>(graph_.index(step));
    }
  }

  [[nodiscard]] std::int16_t* row(std::vector<std::int16_t>& clocks, std::int32_t step) const {
    return clocks.data() + static_cast<std::size_t>(step) * width_;
  }

  void join(std::int16_t* into, const std::int16_t* from) const {
    for (std::size_t i = 0; i < width_; ++i) into[i] = std::max(into[i], from[i]);
  }

  void report(const Query& query) {
    Place place = graph_.place(query.after);
    place.chunk = memory_.name(query.buffer, query.offset);
    Place other = graph_.place(query.before);
    other.line = 0;
    const StepGraph::Block& b = graph_.block_of(query.before);
    findings_.add(
        Rule::race, place,
        fmt::format("{} the chunk, and {} {} it; nothing orders the two{}",
                    query.after_writes ? "writes" : "reads", to_string(other),
                    query.before_writes ? "writes" : "reads", mode_text()),
        fmt::format("let one wait for the other, such as this step for threadblock {} step {}",
                    b.id, graph_.index(query.before)));
  }

  struct Reader {
    Access access;
    std::int32_t next = -1;
  };

  const StepGraph& graph_;
  const MemoryMap& memory_;
  std::span<const std::int32_t> order_;
  Findings& findings_;
  std::vector<std::int32_t> chain_, position_;
  std::vector<Access> last_write_;
  std::vector<std::int32_t> first_reader_;
  std::vector<Reader> readers_;
  std::vector<Query> queries_;
  bool overflow_ = false;
  std::size_t width_ = 0;
  std::vector<std::int16_t> full_, reach_;
};

}  // namespace

void check_races(const StepGraph& graph, const MemoryMap& memory,
                 std::span<const std::int32_t> order, Findings& findings) {
  RaceCheck(graph, memory, order, findings).run();
}

}  // namespace forestcoll::audit
