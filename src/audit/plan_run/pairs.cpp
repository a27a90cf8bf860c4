#include "audit/plan_run/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace forestcoll::audit {
namespace {

using Nodes = PlanPairs::Nodes;

class Connector {
 public:
  Connector(const PlanPairs& pairs, const PlanFile& plan, PlanGraph& graph, Findings& findings)
      : pairs_(pairs), plan_(plan), graph_(graph), findings_(findings) {}

  void run() {
    pair_channels();
    pair_barriers();
    pair_semaphores();
  }

 private:
  void edge(std::int32_t from, std::int32_t to) { graph_.edges.emplace_back(from, to); }
  PlanGraph::Node& node(std::int32_t n) { return graph_.nodes[static_cast<std::size_t>(n)]; }
  [[nodiscard]] Place place(std::int32_t n) const { return graph_.place(n); }
  std::int32_t add_barrier(std::int32_t rank) {
    PlanGraph::Node node;
    node.kind = PlanGraph::Kind::barrier;
    node.rank = rank;
    return graph_.add(node);
  }

  // The i-th wait is for the i-th signal. `peer`: that hears a signal as a message; −1: none.
  void pair_uses(const Nodes& signals, const Nodes& waits, const std::string& what,
                 std::int32_t peer = -1) {
    for (std::size_t i = 0; i < std::max(signals.size(), waits.size()); ++i) {
      if (i >= waits.size()) {
        findings_.add(Rule::unmatched, place(signals[i].node),
                      fmt::format("signal {} of {} is never waited for, so the next call takes it "
                                  "for its own",
                                  i, what));
        return;
      }
      if (i >= signals.size()) {
        findings_.add(
            Rule::unmatched, place(waits[i].node),
            fmt::format("waits for signal {} of {}, but there are {}", i, what, signals.size()));
        return;
      }
      const auto [signal, wait] = std::pair(signals[i].node, waits[i].node);
      if (signals[i].loop != waits[i].loop) {
        findings_.add(Rule::unmatched, place(wait),
                      fmt::format("waits in another pipeline than {} signals in, or one of the two "
                                  "in none ({})",
                                  to_string(place(signal)), what));
        return;
      }
      if (node(signal).relaxed) node(wait).relaxed = true;
      edge(signal, wait);
      if (peer >= 0) graph_.messages.push_back({signal, wait, peer});
    }
  }

  void pair_channels() {
    for (const auto& [key, here] : pairs_.channels) {
      const auto& [kind, from, to, ordinal] = key;
      const auto there = pairs_.channels.find({kind, to, from, ordinal});
      const Nodes none;
      pair_uses(
          here.signals, there == pairs_.channels.end() ? none : there->second.waits,
          fmt::format("{} channel {} from rank {} to rank {}", to_string(kind), ordinal, from, to),
          here.peer);
      if (there == pairs_.channels.end()) {
        pair_uses(none, here.waits,
                  fmt::format("{} channel {} from rank {} to rank {}", to_string(kind), ordinal, to,
                              from));
      }
    }
  }

  void pair_barriers() {
    for (const auto& [key, arrivals] : pairs_.arrivals) {
      std::map<std::int32_t, std::vector<PlanPairs::Arrival>> by_block;
      for (const PlanPairs::Arrival& arrival : arrivals) by_block[arrival.block].push_back(arrival);
      const auto blocks = std::ssize(by_block);
      const auto& first = by_block.begin()->second;
      for (const auto& [block, own] : by_block) {
        const bool alike =
            own.size() == first.size() &&
            std::equal(own.begin(), own.end(), first.begin(), [](const auto& a, const auto& b) {
              return a.loop == b.loop && a.participants == b.participants;
            });
        if (alike && own.front().participants == blocks) continue;
        findings_.add(Rule::dependency, place(own.front().arrived),
                      fmt::format("barrier {} is for {} threadblocks; {} use it, {} times here and "
                                  "{} in threadblock {}",
                                  key.second, own.front().participants, blocks, own.size(),
                                  first.size(), place(first.front().arrived).threadblock));
        return;
      }
      for (std::size_t round = 0; round < first.size(); ++round) {
        const std::int32_t all = add_barrier(key.first);
        for (const auto& [block, own] : by_block) {
          edge(own[round].arrived, all);
          edge(all, own[round].left);
        }
      }
    }
  }

  [[nodiscard]] bool by_one_block(const Nodes& uses) {
    return std::ranges::all_of(uses, [&](const PlanPairs::InLoop& use) {
      return node(use.node).block == node(uses.front().node).block;
    });
  }

  void pair_semaphores() {
    for (const auto& [key, uses] : pairs_.semaphores) {
      const auto first = plan_.gpus[static_cast<std::size_t>(key.first)]
                             .semaphores[static_cast<std::size_t>(key.second)];
      if (first != 0 || !by_one_block(uses.signals) || !by_one_block(uses.waits)) {
        const Nodes& any = uses.waits.empty() ? uses.signals : uses.waits;
        findings_.add(Rule::unsupported, place(any.front().node),
                      "this verifier follows semaphores that begin at 0 and have one threadblock "
                      "that releases and one that acquires");
        continue;
      }
      pair_uses(uses.signals, uses.waits, fmt::format("semaphore {}", key.second));
    }
  }

  const PlanPairs& pairs_;
  const PlanFile& plan_;
  PlanGraph& graph_;
  Findings& findings_;
};

}  // namespace

void PlanPairs::connect(const PlanFile& plan, PlanGraph& graph, Findings& findings) const {
  Connector(*this, plan, graph, findings).run();
}

}  // namespace forestcoll::audit
