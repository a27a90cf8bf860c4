// Every two accesses to a chunk, at least one of them writing, are a question to the clocks. Most
// answers are near at hand, though: B's own threadblock, or one that has signalled to it.
//
// A write must be over in memory, a read only in time (clocks.hpp). Packets are no concern of
// this file: their flags order them.
#include "audit/plan_run/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "audit/plan_run/clocks.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMaxQueries = 20'000'000;
constexpr const char* kNotRelaxed = "use signal and wait instead of rlxsignal and rlxwait";

// Must the access of `before` be over when `after` begins?
struct Query {
  std::int32_t before = -1, after = -1;
  Buffer buffer = Buffer::input;  // of the chunk: its rank's, for the report
  std::int32_t rank = -1;
  std::int64_t offset = 0;
  bool before_writes = false, after_writes = false;
};

class PlanRaces {
 public:
  PlanRaces(const PlanFile& plan, const PlanGraph& graph, const MemoryMap& memory,
            std::span<const std::int32_t> order, Findings& findings)
      : plan_(plan), graph_(graph), memory_(memory), order_(order), findings_(findings) {}

  void run() {
    index_messages();
    index_beginnings();
    collect_queries();
    if (overflow_) {
      findings_.add(Rule::too_large, Place{},
                    "too many accesses to the same chunks for this verifier to compare");
    }
    answer();
  }

 private:
  using Kind = PlanGraph::Kind;
  [[nodiscard]] const PlanGraph::Node& node(std::int32_t n) const {
    return graph_.nodes[static_cast<std::size_t>(n)];
  }

  // The sync that a node of a threadblock comes after: all accesses have one before them.
  [[nodiscard]] std::int32_t epoch(std::int32_t n) const {
    return epoch_[static_cast<std::size_t>(n)];
  }

  // For each pair of threadblocks what the second has heard of the first, and when.
  void index_messages() {
    epoch_.assign(graph_.nodes.size(), 0);
    std::vector<std::int32_t> current(graph_.nodes.size(), 0);  // by block
    // Nodes of a block are numbered in program order.
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const PlanGraph::Node& at = graph_.nodes[n];
      if (at.block < 0) continue;
      auto& epoch = current[static_cast<std::size_t>(at.block)];
      if (at.kind == Kind::sync) epoch = at.position;
      epoch_[n] = epoch;
    }
    for (const auto& [from, to] : graph_.edges) {
      const PlanGraph::Node& sender = node(from);
      const PlanGraph::Node& receiver = node(to);
      if (sender.block < 0 || receiver.block < 0 || sender.block == receiver.block) continue;
      if (graph_.carries(from, to) != PlanGraph::Carries::everything) continue;
      heard_[key(sender.block, receiver.block)].push_back({epoch(to), epoch(from)});
      if (sender.kind == Kind::signal_effect) {
        heard_of_[{from, receiver.block}] = epoch(to);
      }
    }
    for (auto& [pair, list] : heard_) std::sort(list.begin(), list.end());
  }

  static std::uint64_t key(std::int32_t from, std::int32_t to) {
    return static_cast<std::uint64_t>(from) << 32 |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(to));
  }

  // Whether `after` comes after the sync at `position` of `block`, by a message straight from it.
  [[nodiscard]] bool heard_straight(std::int32_t block, std::int32_t position,
                                    std::int32_t after) const {
    const auto found = heard_.find(key(block, node(after).block));
    if (found == heard_.end()) return false;
    // Waits of earlier epochs are over; the last of them knows most.
    auto it = std::lower_bound(found->second.begin(), found->second.end(),
                               std::pair(epoch(after), std::int32_t{-1}));
    return it != found->second.begin() && std::prev(it)->second >= position;
  }

  [[nodiscard]] bool obviously_ordered(std::int32_t before, std::int32_t after) const {
    const auto& releases = graph_.released_by[static_cast<std::size_t>(before)];
    for (const std::int32_t release : releases) {
      if (release < 0) continue;
      const PlanGraph::Node& at = node(release);
      if (at.kind == Kind::sync) {
        if (at.block == node(after).block && at.position <= epoch(after)) return true;
        if (heard_straight(at.block, at.position, after)) return true;
      } else {
        const auto found = heard_of_.find({release, node(after).block});
        if (found != heard_of_.end() && found->second < epoch(after)) return true;
      }
    }
    return false;
  }

  void ask(std::int32_t before, std::int32_t after, const ChunkRef& chunk, bool before_writes,
           bool after_writes) {
    if (before < 0 || before == after || obviously_ordered(before, after)) return;
    if (!queries_.empty() && queries_.back().before == before && queries_.back().after == after) {
      Query& same = queries_.back();
      if (before_writes && !same.before_writes) {
        same = {before, after, chunk.buffer, chunk.rank, chunk.offset, true, after_writes};
      }
      return;
    }
    if (queries_.size() == kMaxQueries) {
      overflow_ = true;
      return;
    }
    queries_.push_back(
        {before, after, chunk.buffer, chunk.rank, chunk.offset, before_writes, after_writes});
  }

  void collect_queries() {
    std::vector<std::int32_t> last_write(memory_.total(), -1), first_reader(memory_.total(), -1);
    std::vector<std::pair<std::int32_t, std::int32_t>> readers;  // node, next
    for (const std::int32_t n : order_) {
      if (node(n).kind != Kind::data && node(n).kind != Kind::effect) continue;
      const PlanAccess access = access_of(plan_, graph_, n);
      check_overlap(n, access);
      check_lifetime(n, access);
      for (PlanPart chunk : access.reads) {
        if (chunk.packets) continue;
        for (std::int64_t strand = 0; strand < access.count; ++strand, ++chunk.offset) {
          const std::size_t at = memory_.locate(chunk.rank, chunk.buffer, chunk.offset);
          ask(last_write[at], n, chunk, true, false);
          readers.emplace_back(n, first_reader[at]);
          first_reader[at] = static_cast<std::int32_t>(readers.size() - 1);
        }
      }
      for (PlanPart chunk : access.writes) {
        if (chunk.packets) continue;
        for (std::int64_t strand = 0; strand < access.count; ++strand, ++chunk.offset) {
          const std::size_t at = memory_.locate(chunk.rank, chunk.buffer, chunk.offset);
          ask(last_write[at], n, chunk, true, true);
          for (std::int32_t r = first_reader[at]; r >= 0;) {
            const auto& [reader, next] = readers[static_cast<std::size_t>(r)];
            ask(reader, n, chunk, false, true);
            r = next;
          }
          first_reader[at] = -1;
          last_write[at] = n;
        }
      }
    }
  }

  [[nodiscard]] std::string chunk_name(std::int32_t n, const ChunkRef& chunk) const {
    std::string text = memory_.name(chunk.buffer, chunk.offset);
    if (chunk.rank != node(n).rank) text += fmt::format(" of rank {}", chunk.rank);
    return text;
  }

  // Within one operation, the threads move chunks in any order.
  void check_overlap(std::int32_t n, const PlanAccess& access) {
    const auto count = static_cast<std::size_t>(access.count);
    const auto at = [&](const PlanPart& chunk) {
      return memory_.locate(chunk.rank, chunk.buffer, chunk.offset);
    };
    const auto report = [&](const ChunkRef& chunk, std::string message) {
      Place place = graph_.place(n);
      place.chunk = chunk_name(n, chunk);
      findings_.add(Rule::race, place, std::move(message));
    };
    for (std::size_t w = 0; w < access.writes.size(); ++w) {
      if (access.writes[w].packets) continue;
      const std::size_t destination = at(access.writes[w]);
      for (const PlanPart& read : access.reads) {
        if (read.packets) continue;
        const std::size_t source = at(read);
        const std::size_t shift = std::max(source, destination) - std::min(source, destination);
        if (shift == 0 || shift >= count) continue;
        report(access.writes[w],
               fmt::format("source and destination overlap, {} chunks apart", shift));
      }
      for (std::size_t other = 0; other < w; ++other) {
        const std::size_t second = at(access.writes[other]);
        if (std::max(second, destination) - std::min(second, destination) >= count) continue;
        report(access.writes[w], "two destinations of one operation overlap");
      }
    }
  }

  // Other ranks' memory is theirs to give: from the beginning to the end of their call. A port
  // channel may still be reading its source when the call that gave it the put has ended.
  void check_lifetime(std::int32_t n, const PlanAccess& access) {
    std::array<const std::vector<PlanPart>*, 2> sides = {&access.reads, &access.writes};
    for (std::size_t side = 0; side < sides.size(); ++side) {
      for (const PlanPart& chunk : *sides[side]) {
        if (chunk.packets) continue;
        const bool away = chunk.rank != node(n).rank;
        const bool writes = side == 1;
        if (away && !begun_straight(chunk.rank, n)) {
          ask_release(graph_.start[static_cast<std::size_t>(chunk.rank)], n, chunk, writes);
        }
        const std::int32_t end = graph_.end[static_cast<std::size_t>(chunk.rank)];
        if ((away || node(n).kind == Kind::effect) && !ended_straight(n, chunk.rank)) {
          ask(n, end, chunk, writes, true);
        }
      }
    }
  }

  // A message from any threadblock of the rank shows that it has begun.
  [[nodiscard]] bool begun_straight(std::int32_t rank, std::int32_t n) const {
    const auto block = begun_.find(node(n).block);
    if (block == begun_.end()) return false;
    const auto found = block->second.find(rank);
    return found != block->second.end() && found->second < epoch(n);
  }

  // For each threadblock the epoch in which it first hears of a rank, and in which it last tells
  // one of itself.
  void index_beginnings() {
    for (const auto& [from, to] : graph_.edges) {
      const PlanGraph::Node& sender = node(from);
      const PlanGraph::Node& receiver = node(to);
      if (sender.block < 0 || receiver.block < 0 || sender.rank == receiver.rank) continue;
      auto& first = begun_[receiver.block].try_emplace(sender.rank, epoch(to)).first->second;
      first = std::min(first, epoch(to));
      if (graph_.carries(from, to) != PlanGraph::Carries::everything) continue;
      auto& last = told_[sender.block].try_emplace(receiver.rank, epoch(from)).first->second;
      last = std::max(last, epoch(from));
      if (sender.kind == Kind::signal_effect) told_by_.emplace(from, receiver.rank);
    }
  }

  [[nodiscard]] bool ended_straight(std::int32_t n, std::int32_t rank) const {
    for (const std::int32_t release : graph_.released_by[static_cast<std::size_t>(n)]) {
      if (release < 0) continue;
      const PlanGraph::Node& at = node(release);
      if (at.kind == Kind::sync) {
        if (at.rank == rank) return true;
        const auto block = told_.find(at.block);
        if (block == told_.end()) continue;
        const auto last = block->second.find(rank);
        if (last != block->second.end() && last->second >= at.position) return true;
      } else {
        const auto told = told_by_.find(release);
        if (told != told_by_.end() && told->second == rank) return true;
      }
    }
    return false;
  }

  // The release itself is given: the start of a rank.
  void ask_release(std::int32_t start, std::int32_t n, const ChunkRef& chunk, bool writes) {
    if (!queries_.empty() && queries_.back().before == start && queries_.back().after == n) return;
    if (queries_.size() == kMaxQueries) {
      overflow_ = true;
      return;
    }
    queries_.push_back({start, n, chunk.buffer, chunk.rank, chunk.offset, true, writes});
  }

  // --- Clocks, for what is left.

  void answer() {
    std::vector<PlanQuery> asked;
    asked.reserve(queries_.size());
    for (const Query& query : queries_) asked.push_back({query.before, query.after});
    const std::vector<bool> data = known_before(graph_, order_, asked, PlanOrder::data);
    // Only where it can matter: a second sweep costs as much as the first.
    const bool relaxed = std::any_of(graph_.edges.begin(), graph_.edges.end(), [&](const auto& e) {
      return graph_.carries(e.first, e.second) == PlanGraph::Carries::beginnings;
    });
    const bool all = std::find(data.begin(), data.end(), false) == data.end();
    const std::vector<bool> time =
        relaxed && !all ? known_before(graph_, order_, asked, PlanOrder::time) : data;
    for (std::size_t q = 0; q < queries_.size(); ++q) {
      const bool enough = queries_[q].before_writes ? data[q] : time[q];
      if (!enough) report(queries_[q], time[q]);
    }
  }

  // `in_time`: relaxed signals order the two in time, but not their data.
  void report(const Query& query, bool in_time) {
    const ChunkRef chunk{query.rank, query.buffer, query.offset};
    const auto add = [&](std::int32_t n, std::string message, std::string remedy) {
      Place place = graph_.place(n);
      place.chunk = chunk_name(n, chunk);
      findings_.add(Rule::race, place, std::move(message), std::move(remedy));
    };
    if (node(query.before).kind == Kind::start) {
      add(query.after,
          fmt::format("{} the chunk, and nothing shows that rank {} has begun its call",
                      query.after_writes ? "writes" : "reads", query.rank),
          "let that rank signal first that it is ready");
    } else if (node(query.after).kind == Kind::end) {
      add(query.before,
          fmt::format("{} the chunk, and {} keeps rank {} from ending its call before that",
                      query.before_writes ? "writes" : "reads",
                      in_time ? "only a relaxed signal, which orders no data," : "nothing",
                      query.rank),
          in_time ? kNotRelaxed : "let it wait for a signal that comes afterwards");
    } else {
      add(query.after,
          fmt::format("{} the chunk, and {} ({}) {} it; {} orders the two",
                      query.after_writes ? "writes" : "reads",
                      to_string(graph_.place(query.before)), graph_.op(plan_, query.before).name,
                      query.before_writes ? "writes" : "reads",
                      in_time ? "only a relaxed signal, which orders no data," : "nothing"),
          in_time ? kNotRelaxed
                  : "put a nop between them in one threadblock, a signal and a wait between two");
    }
  }

  const PlanFile& plan_;
  const PlanGraph& graph_;
  const MemoryMap& memory_;
  std::span<const std::int32_t> order_;
  Findings& findings_;
  std::vector<std::int32_t> epoch_;  // of each node: the last sync of its block before it
  // By (sender's block, receiver's): the epochs of waits, and of the signals that they are for.
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::int32_t, std::int32_t>>> heard_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> heard_of_;  // signal effect, block
  std::unordered_map<std::int32_t, std::map<std::int32_t, std::int32_t>> begun_, told_;
  std::unordered_map<std::int32_t, std::int32_t> told_by_;  // signal effect → rank
  std::vector<Query> queries_;
  bool overflow_ = false;
};

}  // namespace

void check_plan_races(const PlanFile& plan, const PlanGraph& graph, const MemoryMap& memory,
                      std::span<const std::int32_t> order, Findings& findings) {
  PlanRaces(plan, graph, memory, order, findings).run();
}

}  // namespace forestcoll::audit
