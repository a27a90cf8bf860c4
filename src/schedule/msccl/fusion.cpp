// Forwarding in one step (rcs, rrs).
//
// A rank that receives chunks and sends just these on can do so in one step, without memory and a
// flag in between. It can if nothing else is sent: the message received is the last that the rank
// needed (so it is all that the message sent waits for), with the same chunks. Relays make chains
// of messages that run up a tree, down one, or, where the same chunks go up and down, up to the
// root and down again.
//
// A chain may visit a rank once only. Where it does so twice, going up and coming back, one
// threadblock might send to the rank that it receives from: with many parts, each end would wait
// for the other to receive. Such a chain ends at the root.
//
// Order. A chain is one event: its parts flow through all of its steps. So the steps of all
// threadblocks follow one order of chains, in which a chain comes after all chains that any of its
// messages waits for. Such an order exists. Down a tree, a message waits for the one message that
// brought its chunks; contracting paths of that forest leaves a forest. Up a tree, a chain passes a
// rank only as the last of its additions: what the chain waits for comes from subtrees that the
// chain does not touch, and is not waited for by them. And the messages down wait for those up of
// the same chunks, never the other way round; a chain that does both has all its messages from one
// tree of each phase that carry the same chunks, and no other chunks depend on these.
// Among possible orders we take one that is close to the order of messages: by the level of the
// chain, which is that of its first message or, where the chain waits for others, above theirs.
//
// No deadlock with one operation in flight: number operations by (chain, part, place in the
// chain). Program order leads to a later part of the same step or to a later chain, because a chain
// visits a threadblock once; a flag leads to a later chain; a message to the next place in the same
// chain and part; credit, from a reception to the next operation on the connection, to a later part
// or chain. All of these grow, so there is no cycle.
#include "schedule/msccl/fusion.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/check.hpp"

namespace forestcoll::schedule {
namespace {

// The message that `sent` could be fused with, or none.
MessageId predecessor(const IdVector<MessageId, Message>& messages, const Waits& waits,
                      MessageId sent) {
  const auto awaited = waits.at_sender(sent);
  if (awaited.size() != 1) return {};
  const Message& before = messages[awaited.front()];
  const Message& after = messages[sent];
  const bool same = before.first_chunk == after.first_chunk && before.count == after.count &&
                    before.stream == after.stream && before.src != after.dst;
  return same ? awaited.front() : MessageId();
}

// Whether the chain that the message is in visits each rank once.
bool visits_ranks_once(const IdVector<MessageId, Message>& messages, const Fusion& fusion,
                       MessageId m) {
  while (fusion.received_as[m].valid()) m = fusion.received_as[m];
  std::set<Rank> visited = {messages[m].src};
  for (; m.valid(); m = fusion.sent_as[m]) {
    if (!visited.insert(messages[m].dst).second) return false;
  }
  return true;
}

void join(Fusion& fusion, const Relay& relay) {
  FORESTCOLL_CHECK(
      !fusion.sent_as[relay.received].valid() && !fusion.received_as[relay.sent].valid(),
      "a message is received in one relay at most, and sent in one");
  fusion.sent_as[relay.received] = relay.sent;
  fusion.received_as[relay.sent] = relay.received;
}

void part(Fusion& fusion, const Relay& relay) {
  fusion.sent_as[relay.received] = {};
  fusion.received_as[relay.sent] = {};
}

class ChainOrder {
 public:
  ChainOrder(const IdVector<MessageId, Message>& messages, const Waits& waits, const Fusion& fusion)
      : messages_(messages), waits_(waits), chain_of_(messages.size()) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const MessageId m(i);
      if (fusion.received_as[m].valid()) continue;
      for (MessageId part = m; part.valid(); part = fusion.sent_as[part]) {
        chain_of_[part] = heads_.size();
      }
      heads_.push_back(m);
    }
  }

  // For every message, the place of its chain. Chains are numbered by their first messages.
  [[nodiscard]] IdVector<MessageId, std::int32_t> turns() {
    const std::vector<std::int32_t> levels = find_levels();
    std::vector<std::size_t> order(heads_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t chain) { return levels[chain]; });
    std::vector<std::int32_t> place(heads_.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::int32_t>(i);
    IdVector<MessageId, std::int32_t> turn(chain_of_.size());
    for (std::size_t m = 0; m < turn.size(); ++m) {
      turn[MessageId(m)] = place[chain_of_[MessageId(m)]];
    }
    return turn;
  }

 private:
  // Of each chain: that of its first message, and above those of all chains that it waits for; so
  // additions to one sum, which follow one another, are on different levels.
  [[nodiscard]] std::vector<std::int32_t> find_levels() {
    find_successors();
    std::vector<std::int32_t> levels;
    std::vector<std::size_t> ready;
    for (std::size_t c = 0; c < heads_.size(); ++c) {
      levels.push_back(messages_[heads_[c]].level);
      if (missing_[c] == 0) ready.push_back(c);
    }
    std::size_t done = 0;
    for (; !ready.empty(); ++done) {
      const std::size_t chain = ready.back();
      ready.pop_back();
      for (const std::size_t after : successors_[chain]) {
        levels[after] = std::max(levels[after], levels[chain] + 1);
        if (--missing_[after] == 0) ready.push_back(after);
      }
    }
    FORESTCOLL_CHECK(done == heads_.size(), "chains are in some order");
    return levels;
  }

  void find_successors() {
    successors_.resize(heads_.size());
    missing_.assign(heads_.size(), 0);
    for (std::size_t i = 0; i < chain_of_.size(); ++i) {
      const MessageId m(i);
      for (const auto& list : {waits_.at_sender(m), waits_.at_receiver(m)}) {
        for (const MessageId awaited : list) {
          if (chain_of_[awaited] == chain_of_[m]) continue;
          successors_[chain_of_[awaited]].push_back(chain_of_[m]);
          ++missing_[chain_of_[m]];
        }
      }
    }
  }

  const IdVector<MessageId, Message>& messages_;
  const Waits& waits_;
  IdVector<MessageId, std::size_t> chain_of_;
  std::vector<MessageId> heads_;
  std::vector<std::vector<std::size_t>> successors_;
  std::vector<std::int64_t> missing_;
};

}  // namespace

std::vector<RelayGroup> find_relays(const IdVector<MessageId, Message>& messages, const Ends& ends,
                                    const Waits& waits, const IdVector<LaneId, PlacedLane>& lanes) {
  IdVector<MessageId, LaneId> lane_of(ends.at_ranks().size());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    for (const MessageId m : lanes[LaneId(i)].lane.messages) lane_of[m] = LaneId(i);
  }
  std::map<std::pair<LaneId, LaneId>, std::vector<Relay>> groups;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MessageId sent(i);
    const MessageId received = predecessor(messages, waits, sent);
    if (!received.valid()) continue;
    const LaneId recv = lane_of[ends.received(received)], send = lane_of[ends.sent(sent)];
    if (lanes[recv].channel == lanes[send].channel) {
      groups[{recv, send}].push_back({received, sent});
    }
  }
  std::vector<RelayGroup> result;
  for (auto& [pair, relays] : groups) {
    const auto within = std::count_if(relays.begin(), relays.end(), [&](const Relay& relay) {
      return messages[relay.received].reduces == messages[relay.sent].reduces;
    });
    result.push_back(
        {pair.first, pair.second, std::move(relays), static_cast<std::size_t>(within)});
  }
  return result;
}

IdVector<Rank, std::int64_t> fewest_steps(const IdVector<MessageId, Message>& messages,
                                          const Waits& waits, std::size_t ranks, bool forwards) {
  IdVector<Rank, std::int64_t> steps(ranks, 0);
  IdVector<MessageId, char> goes_on(messages.size(), 0);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MessageId m(i);
    ++steps[messages[m].src];
    ++steps[messages[m].dst];
    const MessageId received = forwards ? predecessor(messages, waits, m) : MessageId();
    if (!received.valid() || goes_on[received] != 0) continue;
    goes_on[received] = 1;
    --steps[messages[m].src];
  }
  return steps;
}

Fusion fuse(const IdVector<MessageId, Message>& messages, const Waits& waits,
            const std::vector<Relay>& relays) {
  Fusion fusion;
  fusion.sent_as.resize(messages.size());
  fusion.received_as.resize(messages.size());
  std::vector<Relay> turns;  // at roots
  for (const Relay& relay : relays) {
    if (messages[relay.received].reduces != messages[relay.sent].reduces) {
      turns.push_back(relay);
    } else {
      join(fusion, relay);
    }
  }
  for (const Relay& relay : turns) {
    join(fusion, relay);
    if (!visits_ranks_once(messages, fusion, relay.received)) part(fusion, relay);
  }
  fusion.turn = ChainOrder(messages, waits, fusion).turns();
  return fusion;
}

IdVector<Rank, std::int64_t> fewest_steps(const IdVector<MessageId, Message>& messages,
                                          const Fusion& fusion, std::size_t ranks) {
  IdVector<Rank, std::int64_t> steps(ranks, 0);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MessageId m(i);
    ++steps[messages[m].dst];
    if (!fusion.received_as[m].valid()) ++steps[messages[m].src];
  }
  return steps;
}

}  // namespace forestcoll::schedule
