// A packet is read by looking at it until its flag is that of the call, so no signal is needed, and
// what was there before does not matter. Two things can go wrong. In one call, a packet must be
// written exactly once. And between calls, the next call's must not overwrite one that a slow rank
// still waits for: it would wait for ever.
//
// Let w write packets of rank H's scratch that x, an operation of H, reads, and w be an operation
// of rank V. In call n + 1, w comes after x in call n if V knows in that call before w that H has
// begun it, for H has then ended call n; or if V knew of x before it ended call n. With two halves,
// w must come after x only in call n + 2, and it does if V, before it ends a call, knows that H has
// begun it. (Longer ways over other ranks are not looked for: such plans are refused.) All this is
// order in time: packets carry their own data, and a read that is over in time is over.
//
// What a port channel sends it reads without waiting, some time after it was told to. It has read
// it when the packets are read at their destination, or after a flush.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "audit/plan/kinds.hpp"
#include "audit/plan_run/checks.hpp"

namespace forestcoll::audit {
namespace {

using Kind = PlanGraph::Kind;

bool touches_packets(const PlanFile& plan, const PlanGraph& graph, std::int32_t n) {
  return graph.moves_data(n) && has_packets(graph.op(plan, n).kind);
}

/// For every chunk of memory the node that writes packets there, or −1.
class PacketCells {
 public:
  explicit PacketCells(const MemoryMap& memory) : memory_(memory), nodes_(memory.total(), -1) {}

  /// Visits the chunks of some operands of an access that are packets: visit(cell, chunk).
  template <class Visit>
  void for_each(const Access& access, const std::vector<Operand>& operands, Visit visit) {
    for_each_chunk(access, operands, memory_, [&](const Operand& chunk, std::size_t at, int) {
      if (chunk.packets) visit(nodes_[at], chunk);
    });
  }

 private:
  const MemoryMap& memory_;
  std::vector<std::int32_t> nodes_;
};

// Who hands on what it has read may write it to where it lies as well, through a switch that
// reaches the own rank too: the same packet once more.
std::vector<Operand> new_packets(const PlanFile& plan, const PlanGraph& graph, std::int32_t n,
                                 const Access& access) {
  std::vector<Operand> writes = access.writes;
  const PlanKind kind = graph.op(plan, n).kind;
  if (!waits_for_packets(kind) || adds(kind)) return writes;
  const Operand& read = access.reads.front();
  std::erase_if(writes, [&](const Operand& part) {
    return part.packets && part.rank == read.rank && part.offset == read.offset;
  });
  return writes;
}

class PacketReuse {
 public:
  PacketReuse(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
              const MemoryMap& memory, Findings& findings)
      : plan_(plan),
        graph_(graph),
        execution_(execution),
        memory_(memory),
        findings_(findings),
        writers_(memory),
        readers_(memory) {}

  void run() {
    for (const std::int32_t n : execution_.operations) index(n);
    for (const std::int32_t n : execution_.operations) collect(n);
    std::sort(needs_.begin(), needs_.end());
    needs_.erase(std::unique(needs_.begin(), needs_.end()), needs_.end());
    check_sent();
    plan_.doubles_scratch ? check_two_halves() : check_one_half();
  }

 private:
  // `writer` must not write again before `reader`, in a call of rank `home`, has read.
  struct Need {
    std::int32_t home, rank, writer, reader;
    friend auto operator<=>(const Need&, const Need&) = default;
  };

  [[nodiscard]] const PlanGraph::Node& node(std::int32_t n) const {
    return graph_.nodes[static_cast<std::size_t>(n)];
  }

  void index(std::int32_t n) {
    if (!touches_packets(plan_, graph_, n)) return;
    const Access access = access_of(plan_, graph_, n);
    writers_.for_each(access, new_packets(plan_, graph_, n, access),
                      [&](std::int32_t& w, auto&) { w = n; });
    if (node(n).kind == Kind::effect) return;
    readers_.for_each(access, access.reads, [&](std::int32_t& r, auto&) { r = n; });
  }

  void collect(std::int32_t n) {
    if (!touches_packets(plan_, graph_, n)) return;
    const Access access = access_of(plan_, graph_, n);
    const bool by_port = node(n).kind == Kind::effect;
    const bool as_they_lie = by_port && graph_.op(plan_, n).kind == PlanKind::put_packets;
    const std::vector<std::int32_t> shown = by_port ? shown_by(n, access) : std::vector{n};
    std::size_t strand = 0;  // of a port's put: its one source
    bool reported = false;
    writers_.for_each(access, access.reads, [&](std::int32_t writer, const ChunkRef& chunk) {
      const std::int32_t reader = by_port ? shown[strand++] : n;
      if (reader < 0 && !reported) {
        findings_.add(Rule::race, place_of(graph_, memory_, n, chunk),
                      "nothing shows that the port channel has read the packets that it sends",
                      "flush it, or read them at their destination");
        reported = true;
      }
      if (reader < 0 || writer < 0) return;
      if (as_they_lie && (sent_.empty() || sent_.back() != std::pair(writer, n))) {
        sent_.emplace_back(writer, n);
      }
      const std::int32_t home = node(reader).rank, rank = node(writer).rank;
      if (home != rank) needs_.push_back({home, rank, writer, reader});
    });
  }

  // By which node each chunk is known to have been read by a port channel: the put itself, if it is
  // flushed, else who waits for it at the other end; −1: by none.
  std::vector<std::int32_t> shown_by(std::int32_t n, const Access& access) {
    std::vector<std::int32_t> shown;
    const bool flushed = graph_.released_by[static_cast<std::size_t>(n)][1] >= 0;
    readers_.for_each(access, access.writes,
                      [&](std::int32_t r, auto&) { shown.push_back(flushed ? n : r); });
    return shown;
  }

  // What a put sends as it lies must lie there; a read that waited saw to that.
  void check_sent() {
    std::vector<OrderQuery> queries;
    for (const auto& [before, after] : sent_) queries.push_back(execution_.query(before, after));
    const auto known = happens_before(execution_.events, queries);
    for (std::size_t q = 0; q < sent_.size(); ++q) {
      if (known[q]) continue;
      findings_.add(Rule::race, graph_.place(sent_[q].second),
                    fmt::format("sends the packets as they lie, and nothing shows that {} has "
                                "written them",
                                to_string(graph_.place(sent_[q].first))),
                    "use rppkt, which waits for them, or put a nop before it");
    }
  }

  void check_two_halves() {
    std::vector<OrderQuery> queries;
    std::vector<const Need*> asked;
    for (const Need& need : needs_) {
      if (!asked.empty() && asked.back()->home == need.home && asked.back()->rank == need.rank) {
        continue;
      }
      asked.push_back(&need);
      queries.push_back(execution_.query(graph_.start[static_cast<std::size_t>(need.home)],
                                         graph_.end[static_cast<std::size_t>(need.rank)]));
    }
    const auto known = happens_before(execution_.in_time(), queries);
    for (std::size_t q = 0; q < asked.size(); ++q) {
      if (known[q]) continue;
      report(*asked[q], "two calls later",
             fmt::format("let rank {} wait for something of rank {} in every call", asked[q]->rank,
                         asked[q]->home));
    }
  }

  void check_one_half() {
    std::vector<OrderQuery> begun, read;
    for (const Need& need : needs_) {
      const auto home = static_cast<std::size_t>(need.home);
      const auto rank = static_cast<std::size_t>(need.rank);
      begun.push_back(execution_.query(graph_.start[home], need.writer));
      read.push_back(execution_.query(need.reader, graph_.end[rank]));
    }
    const auto by_beginning = happens_before(execution_.in_time(), begun);
    const auto by_reading = happens_before(execution_.in_time(), read);
    for (std::size_t q = 0; q < needs_.size(); ++q) {
      if (by_beginning[q] || by_reading[q]) continue;
      report(needs_[q], "in the next call", "set use_double_scratch_buffer");
    }
  }

  void report(const Need& need, std::string_view when, std::string remedy) {
    findings_.add(
        Rule::race, graph_.place(need.writer),
        fmt::format("overwrites {} packets that {} ({}) may still wait for: nothing shows rank {} "
                    "how far rank {} is",
                    when, to_string(graph_.place(need.reader)), graph_.op(plan_, need.reader).name,
                    need.rank, need.home),
        std::move(remedy));
  }

  const PlanFile& plan_;
  const PlanGraph& graph_;
  const Execution& execution_;
  const MemoryMap& memory_;
  Findings& findings_;
  PacketCells writers_, readers_;
  std::vector<Need> needs_;
  std::vector<std::pair<std::int32_t, std::int32_t>> sent_;  // by writer: what sends it as it lies
};

}  // namespace

void connect_packets(const PlanFile& plan, const MemoryMap& memory, PlanGraph& graph,
                     Findings& findings) {
  const auto nodes = static_cast<std::int32_t>(graph.nodes.size());
  PacketCells writers(memory);
  for (std::int32_t n = 0; n < nodes; ++n) {
    if (!touches_packets(plan, graph, n)) continue;
    const Access access = access_of(plan, graph, n);
    bool reported = false;
    const auto written = new_packets(plan, graph, n, access);
    writers.for_each(access, written, [&](std::int32_t& writer, const ChunkRef& chunk) {
      if (writer >= 0 && !reported) {
        findings.add(
            Rule::race, place_of(graph, memory, n, chunk),
            fmt::format("writes packets that {} ({}) writes in the same call: readers take "
                        "whichever they see",
                        to_string(graph.place(writer)), graph.op(plan, writer).name),
            "take other chunks of scratch");
        reported = true;
      }
      writer = n;
    });
  }
  for (std::int32_t n = 0; n < nodes; ++n) {
    if (!touches_packets(plan, graph, n)) continue;
    if (graph.nodes[static_cast<std::size_t>(n)].kind == Kind::effect) continue;
    const Access access = access_of(plan, graph, n);
    std::int32_t last = -1;
    bool reported = false;
    writers.for_each(access, access.reads, [&](std::int32_t writer, const ChunkRef& chunk) {
      if (writer < 0 || writer == n) {
        if (!reported) {
          findings.add(Rule::deadlock, place_of(graph, memory, n, chunk),
                       writer == n ? "waits for packets that it is to write itself"
                                   : "waits for packets that nobody writes");
        }
        reported = true;
      } else if (writer != last) {
        graph.edges.emplace_back(writer, n);
        last = writer;
      }
    });
  }
}

void check_packet_reuse(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                        const MemoryMap& memory, Findings& findings) {
  PacketReuse(plan, graph, execution, memory, findings).run();
}

}  // namespace forestcoll::audit
