// A rank's threadblock goes through the levels of its group of trees. On each it sends what is due,
// all puts at once, then tells the receivers; then it waits for what others send it on this level,
// all of it, and adds it up. A message of level L carries only data of messages below L, and every
// rank sends its messages of a level before it waits for any, so no circle of waits can close.
//
// The threads of a block are in step only where a `nop` says so: between waiting and touching what
// was waited for, and between touching data and telling of it.
#include "schedule/mscclpp/blocks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace forestcoll::schedule {
namespace {

using Kind = PlanOperation::Kind;

// A place in some rank's memory.
struct Location {
  Buffer buffer = Buffer::input;
  std::int64_t index = 0;
};

// Where data of a segment lies on a rank, as the collective has it.
class Addresses {
 public:
  explicit Addresses(const PlanContext& context)
      : collective_(context.forest.collective), k_(context.forest.k), in_place_(context.in_place) {}

  // What the rank contributes, or as a root spreads.
  [[nodiscard]] Location source(const Segment& segment) const {
    if (collective_ != Collective::allgather) return {Buffer::input, segment.first};
    if (in_place_) return {Buffer::output, segment.first};
    return {Buffer::input, segment.first - segment.root.value * k_};
  }
  // Where the result belongs.
  [[nodiscard]] Location result(const Segment& segment) const {
    if (collective_ == Collective::allgather) return {Buffer::output, segment.first};
    if (in_place_) return {Buffer::input, segment.first};
    if (collective_ != Collective::reduce_scatter) return {Buffer::output, segment.first};
    return {Buffer::output, segment.first - segment.root.value * k_};
  }
  // Where a rank keeps a partial sum whose first operand arrived in that slot of its scratch.
  [[nodiscard]] Location sum(const Segment& segment, Rank rank, std::int64_t slot) const {
    if (in_place_ || collective_ == Collective::allreduce || rank == segment.root) {
      return result(segment);
    }
    return {Buffer::scratch, slot};
  }
  [[nodiscard]] bool copies_own() const {
    return !in_place_ &&
           (collective_ == Collective::allgather || collective_ == Collective::broadcast);
  }

 private:
  Collective collective_;
  std::int64_t k_;
  bool in_place_;
};

// A channel of a rank's threadblock: its kind, and its number among those of the kind.
using Channel = std::pair<PlanChannel, std::int32_t>;

// Writes one rank's threadblock.
class BlockWriter {
 public:
  BlockWriter(const PlanContext& context, const Addresses& addresses, Rank rank, PlanGpu& gpu)
      : context_(context), addresses_(addresses), rank_(rank), gpu_(gpu) {}

  void begin(std::int64_t count) { block_.count = count; }
  void send(const Transfer& transfer, Location to) { sends_.push_back({transfer, to}); }
  // `slot`: of the scratch, where it arrives to be added.
  void receive(const Transfer& transfer, std::int64_t slot) {
    receives_.push_back({transfer, {Buffer::scratch, slot}});
  }
  void own(std::int32_t segment) { owned_.push_back(segment); }

  void finish() {
    write_loop();
    write_handshakes();
    gpu_.threadblocks.push_back(std::move(block_));
  }

 private:
  struct Due {
    Transfer transfer;
    Location at;
  };

  [[nodiscard]] const Segment& segment(std::int32_t number) const {
    return context_.segments[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] PlanChannel kind_to(Rank peer) const {
    return kind_between(context_.box_of, rank_, peer);
  }

  Channel channel_to(Rank peer) {
    const PlanChannel kind = kind_to(peer);
    const auto [known, added] = channels_.try_emplace(peer, Channel(kind, 0));
    if (added) {
      auto& peers = gpu_.peers[static_cast<std::size_t>(kind)];
      auto& own = block_.channels[static_cast<std::size_t>(kind)];
      known->second.second = static_cast<std::int32_t>(own.size());
      own.push_back(static_cast<std::int32_t>(peers.size()));
      peers.push_back(peer);
    }
    return known->second;
  }

  // The remote buffer's number in this threadblock's list.
  std::int32_t remote(Rank peer, Buffer buffer) {
    const PlanChannel kind = kind_to(peer);
    auto& own = block_.remote_buffers[static_cast<std::size_t>(kind)];
    const auto [known, added] = remotes_.try_emplace({peer, buffer}, 0);
    if (!added) return known->second;
    const auto same = [&](const PlanRemoteBuffer& each) {
      return each.rank == peer && each.buffer == buffer;
    };
    auto& all = gpu_.remote_buffers;
    auto at = std::find_if(all.begin(), all.end(), same);
    if (at == all.end()) at = all.insert(all.end(), {peer, buffer, kind});
    known->second = static_cast<std::int32_t>(own.size());
    own.push_back(static_cast<std::int32_t>(at - all.begin()));
    return known->second;
  }

  // Where this rank's data of a segment is at the moment.
  [[nodiscard]] Location current(std::int32_t number) const {
    const auto known = held_.find(number);
    return known != held_.end() ? known->second : addresses_.source(segment(number));
  }

  void write_loop() {
    // Every rank begins with the next one: puts to the same rank would share its link.
    const auto by_distance = [this](const Due& a, const Due& b) {
      return std::tuple(a.transfer.level, distance(a.transfer.dst), a.transfer.segment) <
             std::tuple(b.transfer.level, distance(b.transfer.dst), b.transfer.segment);
    };
    const auto by_segment = [](const Due& a, const Due& b) {
      return std::tuple(a.transfer.level, a.transfer.segment, a.transfer.src) <
             std::tuple(b.transfer.level, b.transfer.segment, b.transfer.src);
    };
    std::sort(sends_.begin(), sends_.end(), by_distance);
    std::sort(receives_.begin(), receives_.end(), by_segment);
    copy_own();
    std::size_t s = 0, r = 0;
    while (s < sends_.size() || r < receives_.size()) {
      const std::int32_t level =
          std::min(s < sends_.size() ? sends_[s].transfer.level : INT32_MAX,
                   r < receives_.size() ? receives_[r].transfer.level : INT32_MAX);
      const std::size_t first_send = s, first_receive = r;
      while (s < sends_.size() && sends_[s].transfer.level == level) ++s;
      while (r < receives_.size() && receives_[r].transfer.level == level) ++r;
      send_all(std::span(sends_).subspan(first_send, s - first_send));
      receive_all(std::span(receives_).subspan(first_receive, r - first_receive));
    }
  }

  // Ranks from this one on to `to`.
  [[nodiscard]] std::size_t distance(Rank to) const {
    const std::size_t ranks = context_.box_of.size();
    return (to.index() + ranks - rank_.index()) % ranks;
  }

  void add(PlanOperation operation) { block_.loop.push_back(std::move(operation)); }

  // Threads must be in step before what follows, if they may not be.
  void in_step() {
    if (!in_step_) add({});
    in_step_ = true;
  }

  void copy_own() {
    if (!addresses_.copies_own()) return;
    for (const std::int32_t number : owned_) {
      PlanOperation copy;
      copy.kind = Kind::copy;
      copy.sources.push_back(local(addresses_.source(segment(number))));
      copy.destinations.push_back(local(addresses_.result(segment(number))));
      add(std::move(copy));
    }
    in_step_ = true;  // nothing here reads what was copied
  }

  static PlanSlice local(Location at) { return {at.buffer, -1, at.index}; }

  void send_all(std::span<const Due> due) {
    if (due.empty()) return;
    in_step();
    // A put takes its sources from one buffer, and goes through one kind of channel.
    std::map<std::pair<PlanChannel, Buffer>, PlanOperation> puts;
    std::vector<Channel> told;
    for (const Due& each : due) {
      const Rank to = each.transfer.dst;
      const Location from = current(each.transfer.segment);
      const Channel via = channel_to(to);
      PlanOperation& put = puts[{via.first, from.buffer}];
      put.kind = Kind::put;
      put.channel = via.first;
      if (via.first == PlanChannel::port) put.channels.push_back(via.second);
      put.sources.push_back(local(from));
      put.destinations.push_back({each.at.buffer, remote(to, each.at.buffer), each.at.index});
      told.push_back(via);
      if (put.sources.size() == kMaxOperationChannels) {
        add(std::move(put));
        put = {};
      }
    }
    for (auto& [key, put] : puts) {
      if (!put.sources.empty()) add(std::move(put));
    }
    add({});
    on_channels(Kind::signal, std::move(told), block_.loop);
    in_step_ = true;  // what was told of is not touched again before more arrives
  }

  void receive_all(std::span<const Due> due) {
    if (due.empty()) return;
    std::vector<Channel> heard;
    for (const Due& each : due) heard.push_back(channel_to(each.transfer.src));
    on_channels(Kind::wait, std::move(heard), block_.loop);
    in_step_ = false;
    std::map<std::int32_t, std::vector<std::int64_t>> slots;  // by segment
    for (const Due& each : due) {
      if (each.transfer.reduces) {
        slots[each.transfer.segment].push_back(each.at.index);
      } else {
        held_[each.transfer.segment] = addresses_.result(segment(each.transfer.segment));
      }
    }
    if (slots.empty()) return;
    in_step();
    for (const auto& [number, arrived] : slots) reduce(number, arrived);
    in_step_ = false;
  }

  // Adds what arrived in these slots, in the order of the ranks that it came from.
  void reduce(std::int32_t number, const std::vector<std::int64_t>& slots) {
    for (std::size_t i = 0; i < slots.size();) {
      PlanOperation sum;
      sum.kind = Kind::reduce;
      if (i > 0) add({});  // the sum so far is read again
      const Location from = current(number);
      sum.sources.push_back(local(from));
      const bool begun = held_.contains(number);
      const Location to = begun ? from : addresses_.sum(segment(number), rank_, slots[i]);
      held_[number] = to;
      for (; i < slots.size() && sum.sources.size() < kMaxOperationChannels; ++i) {
        sum.sources.push_back({Buffer::scratch, -1, slots[i]});
      }
      sum.destinations.push_back(local(to));
      add(std::move(sum));
    }
  }

  // One operation on each of these channels, once, by kind of channel.
  static void on_channels(Kind kind, std::vector<Channel> channels,
                          std::vector<PlanOperation>& out) {
    std::sort(channels.begin(), channels.end());
    channels.erase(std::unique(channels.begin(), channels.end()), channels.end());
    for (std::size_t i = 0; i < channels.size(); ++i) {
      const bool fits = i > 0 && channels[i].first == channels[i - 1].first &&
                        out.back().channels.size() < kMaxOperationChannels;
      if (!fits) {
        PlanOperation& next = out.emplace_back();
        next.kind = kind;
        next.channel = channels[i].first;
      }
      out.back().channels.push_back(channels[i].second);
    }
  }

  // Before: who is written to first says that it is ready. In an allreduce the sum itself shows
  // that all ranks have begun. After: who was written to last through a port says that all has
  // arrived, which shows the sender that its memory is no longer read.
  void write_handshakes() {
    const bool reduces = context_.forest.reduce.has_value();
    const bool spreads = context_.forest.broadcast.has_value();
    const auto channels_of = [&](const std::vector<Due>& list, bool of_reduce, bool to) {
      std::vector<Channel> channels;
      for (const Due& each : list) {
        if (each.transfer.reduces != of_reduce) continue;
        channels.push_back(channel_to(to ? each.transfer.dst : each.transfer.src));
      }
      return channels;
    };
    const auto ports = [](std::vector<Channel> channels) {
      std::erase_if(channels, [](const Channel& each) { return each.first != PlanChannel::port; });
      return channels;
    };
    on_channels(Kind::signal, channels_of(receives_, reduces, false), block_.before);
    on_channels(Kind::wait, channels_of(sends_, reduces, true), block_.before);
    if (!block_.before.empty()) block_.before.emplace_back();
    const auto arrived = ports(channels_of(receives_, !spreads, false));
    if (!arrived.empty()) block_.after.emplace_back();
    on_channels(Kind::signal, arrived, block_.after);
    on_channels(Kind::wait, ports(channels_of(sends_, !spreads, true)), block_.after);
  }

  const PlanContext& context_;
  const Addresses& addresses_;
  Rank rank_;
  PlanGpu& gpu_;
  PlanThreadblock block_;
  std::vector<Due> sends_, receives_;
  std::vector<std::int32_t> owned_;
  std::map<Rank, Channel> channels_;
  std::map<std::pair<Rank, Buffer>, std::int32_t> remotes_;
  std::map<std::int32_t, Location> held_;  // of each segment, once something has arrived
  bool in_step_ = true;
};

}  // namespace

void append_threadblocks(const PlanContext& context, std::span<const std::int32_t> group,
                         ExecutionPlan& plan) {
  const Addresses addresses(context);
  std::vector<BlockWriter> writers;
  for (std::size_t r = 0; r < plan.gpus.size(); ++r) {
    writers.emplace_back(context, addresses, Rank(r), plan.gpus[Rank(r)]);
  }
  std::vector<Transfer> transfers;
  for (const std::int32_t number : group) {
    const Segment& segment = context.segments[static_cast<std::size_t>(number)];
    append_transfers(context.forest, segment, number, transfers);
    writers[segment.root.index()].own(number);
  }
  // Two ranks that send to each other in this group get one channel, at both ends the next of
  // theirs: so the n-th at one end leads to the n-th at the other.
  for (const Transfer& transfer : transfers) {
    const Segment& segment = context.segments[static_cast<std::size_t>(transfer.segment)];
    PlanGpu& gpu = plan.gpus[transfer.dst];
    Location to = addresses.result(segment);
    if (transfer.reduces) {
      to = {Buffer::scratch, gpu.scratch_chunks};
      gpu.scratch_chunks += segment.count;
    }
    writers[transfer.src.index()].send(transfer, to);
    writers[transfer.dst.index()].receive(transfer, to.index);
  }
  const std::int64_t count = context.segments[static_cast<std::size_t>(group.front())].count;
  for (BlockWriter& writer : writers) {
    writer.begin(count);
    writer.finish();
  }
}

}  // namespace forestcoll::schedule
