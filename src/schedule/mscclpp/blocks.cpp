// A rank's threadblock goes through the levels of its trees. On each it sends what is due,
// all puts at once, then tells the receivers; then it waits for what others send it on this level,
// all of it, and adds it up. A message of level L carries only data of messages below L, and every
// rank sends its messages of a level before it waits for any, so no circle of waits can close.
//
// The threads of a block are in step only where a `nop` says so: between waiting and touching what
// was waited for, and between touching data and telling of it.
//
// For any buffers of callers, addresses of others' inputs and outputs are of no use: the executor
// takes them for as far into their allocations as its own are, and ports send from where an
// allocation begins. So all that is sent arrives in scratch, from which a rank copies what it is to
// keep and sends on what others are to have, and what goes through a port is copied there first.
//
// A relay, outside of the group, sends what arrived in its scratch on from there, as it is.
//
// One threadblock could begin the next round only once it is done with the last level of this one,
// so all ranks would wait for one another on every level. So levels may be dealt to several, a
// pipeline: then one round is on its way up while the next one begins. What a rank receives of a
// segment, adds up and sends on is done by one of them, that of the level at which it has all. A
// rank has to do with a segment twice only in an allreduce, and its broadcast reaches the rank only
// after the rank's partial sum was read and sent, so they need no order between them.
#include "schedule/mscclpp/blocks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "schedule/mscclpp/class_plan.hpp"

namespace forestcoll::schedule {
namespace {

using Kind = PlanOperation::Kind;

// Where data of a segment lies on a rank, as the collective has it.
class Addresses {
 public:
  explicit Addresses(const PlanContext& context)
      : collective_(context.forest().collective), in_place_(context.in_place) {}

  // What the rank contributes, or as a root spreads.
  [[nodiscard]] Location source(const Segment& segment) const {
    if (collective_ != Collective::allgather) return {Buffer::input, segment.first};
    if (in_place_) return {Buffer::output, segment.first};
    return {Buffer::input, segment.own};
  }
  // Where the result belongs.
  [[nodiscard]] Location result(const Segment& segment) const {
    if (collective_ == Collective::allgather) return {Buffer::output, segment.first};
    if (in_place_) return {Buffer::input, segment.first};
    if (collective_ != Collective::reduce_scatter) return {Buffer::output, segment.first};
    return {Buffer::output, segment.own};
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
  bool in_place_;
};

// Writes one rank's threadblock, if there is anything for it.
class BlockWriter {
 public:
  BlockWriter(const PlanContext& context, const Addresses& addresses, Rank rank, PlanGpu& gpu)
      : context_(context),
        addresses_(addresses),
        rank_(rank),
        gpu_(gpu),
        builder_(context.box_of, rank, gpu) {}

  void begin(std::int64_t count) { builder_.block.count = count; }
  // `from`: where what is passed on has come; none: what this rank has of the segment. `block`: of
  // the other rank, which gets it.
  void send(const Transfer& transfer, std::int32_t block, std::optional<Location> from,
            Location to) {
    (void)builder_.channel_to(transfer.dst, block);
    sends_.push_back({transfer, block, to, from});
  }
  // `slot`: of the scratch, where it arrives to be added or passed on, or for any buffers.
  void receive(const Transfer& transfer, std::int32_t block, std::int64_t slot) {
    (void)builder_.channel_to(transfer.src, block);
    receives_.push_back({transfer, block, {Buffer::scratch, slot}, std::nullopt});
  }
  void own(std::int32_t segment) { owned_.push_back(segment); }

  void finish(std::int32_t list, std::int32_t place) {
    if (sends_.empty() && receives_.empty() && owned_.empty()) return;
    write_loop();
    write_handshakes();
    if (context_.first_ranks != nullptr) note_channels(list, place);
    gpu_.threadblocks.push_back(std::move(builder_.block));
  }

 private:
  struct Due {
    Transfer transfer;
    std::int32_t block = 0;  // of the other rank
    Location at;
    std::optional<Location> from;
  };

  [[nodiscard]] const Segment& segment(std::int32_t number) const {
    return context_.segments[static_cast<std::size_t>(number)];
  }

  // Where this rank's data of a segment is at the moment.
  [[nodiscard]] Location current(std::int32_t number) const {
    const auto known = held_.find(number);
    return known != held_.end() ? known->second : addresses_.source(segment(number));
  }

  void write_loop() {
    // Every rank begins with the next one: puts to the same rank would share its link.
    std::ranges::stable_sort(sends_, {}, [this](const Due& due) {
      const Transfer& transfer = due.transfer;
      return std::tuple(transfer.level, distance(transfer.dst), place(transfer.segment));
    });
    std::ranges::stable_sort(receives_, {}, [this](const Due& due) {
      const Transfer& transfer = due.transfer;
      return std::tuple(transfer.level, place(transfer.segment), distance(transfer.src));
    });
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

  // Ranks from this one on to `to`, as they see one another alike.
  [[nodiscard]] std::size_t distance(Rank to) const {
    const std::size_t ranks = context_.box_of.size();
    return (seen(to).index() + ranks - seen(rank_).index()) % ranks;
  }
  [[nodiscard]] Rank seen(Rank rank) const { return context_.views.seen(rank_, rank); }
  [[nodiscard]] Place place(std::int32_t number) const {
    return seen_from(rank_, segment(number), context_.views);
  }

  void add(PlanOperation operation) { builder_.block.loop.push_back(std::move(operation)); }

  // Threads must be in step before what follows, if they may not be.
  void in_step() {
    if (!in_step_) add({});
    in_step_ = true;
  }

  void copy_own() {
    for (const std::int32_t number : owned_) {
      copy(addresses_.source(segment(number)), addresses_.result(segment(number)));
    }
    in_step_ = true;  // nothing here reads what was copied
  }

  void send_all(std::span<const Due> due) {
    if (due.empty()) return;
    in_step();
    std::vector<Shipment> shipments;
    std::map<std::int32_t, Location> staged;  // by segment
    for (const Due& each : due) {
      const Location from = sendable(each, staged);
      shipments.push_back({each.transfer.dst, from, each.at, each.block});
    }
    // Parts of a tree are sent at the same time, each over another link first.
    const auto turn = static_cast<std::size_t>(segment(due.front().transfer.segment).turn);
    std::rotate(shipments.begin(),
                shipments.begin() + static_cast<std::ptrdiff_t>(turn % shipments.size()),
                shipments.end());
    if (!staged.empty()) add({});
    builder_.send(shipments);
    in_step_ = true;  // what was told of is not touched again before more arrives
  }

  // Where it is sent from: for any buffers, and through a port, a copy in scratch.
  Location sendable(const Due& due, std::map<std::int32_t, Location>& staged) {
    const Transfer& transfer = due.transfer;
    const Location from = due.from.value_or(current(transfer.segment));
    const bool by_port =
        kind_between(context_.box_of, transfer.src, transfer.dst) == PlanChannel::port;
    if (!context_.any_buffers || !by_port || from.buffer == Buffer::scratch) return from;
    const auto [known, added] = staged.try_emplace(transfer.segment);
    if (added) {
      known->second = {Buffer::scratch, gpu_.scratch_chunks};
      gpu_.scratch_chunks += segment(transfer.segment).count;
      copy(from, known->second);
    }
    return known->second;
  }

  void copy(Location from, Location to) {
    PlanOperation operation;
    operation.kind = Kind::copy;
    operation.sources.push_back(local_slice(from));
    operation.destinations.push_back(local_slice(to));
    add(std::move(operation));
  }

  void receive_all(std::span<const Due> due) {
    if (due.empty()) return;
    std::vector<BlockChannel> heard;
    for (const Due& each : due) heard.push_back(builder_.channel_to(each.transfer.src, each.block));
    append_on_channels(Kind::wait, std::move(heard), builder_.block.loop);
    in_step_ = false;
    std::vector<std::pair<std::int32_t, std::vector<std::int64_t>>> slots;  // by segment
    for (const Due& each : due) {
      if (each.transfer.to_relay) continue;  // it stays where it is until it is sent on
      if (each.transfer.reduces) {
        const bool is_next = slots.empty() || slots.back().first != each.transfer.segment;
        if (is_next) slots.emplace_back(each.transfer.segment, std::vector<std::int64_t>());
        slots.back().second.push_back(each.at.index);
      } else if (context_.any_buffers) {
        held_[each.transfer.segment] = each.at;
        in_step();
        copy(each.at, addresses_.result(segment(each.transfer.segment)));
      } else {
        held_[each.transfer.segment] = addresses_.result(segment(each.transfer.segment));
      }
    }
    if (slots.empty()) return;
    in_step();
    for (const auto& [number, arrived] : slots) reduce(number, arrived);
    in_step_ = false;
  }

  // Adds what arrived in these slots, in the order of the senders' distances.
  void reduce(std::int32_t number, const std::vector<std::int64_t>& slots) {
    for (std::size_t i = 0; i < slots.size();) {
      PlanOperation sum;
      sum.kind = Kind::reduce;
      if (i > 0) add({});  // the sum so far is read again
      const Location from = current(number);
      sum.sources.push_back(local_slice(from));
      const bool begun = held_.contains(number);
      const Location to = begun ? from : addresses_.sum(segment(number), rank_, slots[i]);
      held_[number] = to;
      for (; i < slots.size() && sum.sources.size() < kMaxOperationChannels; ++i) {
        sum.sources.push_back({Buffer::scratch, -1, slots[i]});
      }
      sum.destinations.push_back(local_slice(to));
      add(std::move(sum));
    }
  }

  // Before: who is written to first says that it is ready. In an allreduce the sum itself shows
  // that all of the group have begun, but not that relays have. After: who was written to last
  // through a port says that all has arrived, which shows the sender that its memory is no longer
  // read; to a relay nothing else shows that.
  void write_handshakes() {
    const bool reduces = context_.forest().reduce.has_value();
    const bool spreads = context_.forest().broadcast.has_value();
    const auto begins = [&](const Transfer& transfer) {
      return transfer.reduces == reduces || transfer.to_relay;
    };
    const auto ends = [&](const Transfer& transfer) {
      return transfer.reduces == !spreads || transfer.passes_on >= 0;
    };
    const auto channels_of = [&](const std::vector<Due>& list, const auto& is_meant, bool to) {
      std::vector<BlockChannel> channels;
      for (const Due& each : list) {
        if (!is_meant(each.transfer)) continue;
        const Rank other = to ? each.transfer.dst : each.transfer.src;
        channels.push_back(builder_.channel_to(other, each.block));
      }
      return channels;
    };
    PlanThreadblock& block = builder_.block;
    append_on_channels(Kind::signal, channels_of(receives_, begins, false), block.before);
    append_on_channels(Kind::wait, channels_of(sends_, begins, true), block.before);
    if (!block.before.empty()) block.before.emplace_back();
    const auto arrived = ports_among(channels_of(receives_, ends, false));
    if (!arrived.empty()) block.after.emplace_back();
    append_on_channels(Kind::signal, arrived, block.after);
    append_on_channels(Kind::wait, ports_among(channels_of(sends_, ends, true)), block.after);
  }

  void note_channels(std::int32_t list, std::int32_t place) {
    for (const auto& [other, channel] : builder_.channels()) {
      const auto& [kind, number] = channel;
      const auto& of_gpu = builder_.block.channels[static_cast<std::size_t>(kind)];
      context_.first_ranks->channels[{rank_, other.first, list, place, other.second}] = {
          kind, of_gpu[static_cast<std::size_t>(number)]};
    }
  }

  const PlanContext& context_;
  const Addresses& addresses_;
  Rank rank_;
  PlanGpu& gpu_;
  BlockBuilder builder_;
  std::vector<Due> sends_, receives_;
  std::vector<std::int32_t> owned_;
  std::map<std::int32_t, Location> held_;  // of each segment, once something has arrived
  bool in_step_ = true;
};

}  // namespace

Place seen_from(Rank rank, const Segment& segment, const Views& views) {
  const auto seen = [&](TreeId tree, bool reduces) {
    return tree.valid() ? views.seen(rank, tree, reduces) : tree;
  };
  return {views.seen(rank, segment.root), seen(segment.reduce, true),
          seen(segment.broadcast, false), segment.turn};
}

void append_threadblocks(const PlanContext& context, std::span<const std::int32_t> numbers,
                         std::int32_t list, ExecutionPlan& plan) {
  const Addresses addresses(context);
  const auto depth = static_cast<std::size_t>(context.pipeline_depth);
  std::vector<BlockWriter> writers;  // by rank and place in its pipeline
  for (std::size_t w = 0; w < depth * plan.gpus.size(); ++w) {
    const Rank rank(w / depth);
    writers.emplace_back(context, addresses, rank, plan.gpus[rank]);
  }
  const auto writer_of = [&](Rank rank, std::int32_t place) -> BlockWriter& {
    return writers[depth * rank.index() + static_cast<std::size_t>(place)];
  };
  std::vector<Transfer> transfers;
  std::map<std::int32_t, std::int32_t> levels;  // by segment
  for (const std::int32_t number : numbers) {
    const Segment& segment = context.segments[static_cast<std::size_t>(number)];
    levels[number] = append_transfers(context.group_of(segment), segment, number, transfers);
    if (addresses.copies_own() && context.writes(segment.root)) {
      writer_of(segment.root, 0).own(number);
    }
  }
  // Two threadblocks that send to each other here get one channel, at both ends the next of
  // theirs: so the n-th at one end leads to the n-th at the other.
  std::vector<Location> arrivals;
  for (const Transfer& transfer : transfers) {
    const Segment& segment = context.segments[static_cast<std::size_t>(transfer.segment)];
    PlanGpu& gpu = plan.gpus[transfer.dst];
    Location to = addresses.result(segment);
    if (transfer.reduces || transfer.to_relay || context.any_buffers) {
      to = {Buffer::scratch, gpu.scratch_chunks};
      gpu.scratch_chunks += segment.count;
    }
    std::optional<Location> from;
    if (transfer.passes_on >= 0) from = arrivals[static_cast<std::size_t>(transfer.passes_on)];
    arrivals.push_back(to);
    const std::int32_t of_segment = levels.at(transfer.segment);
    const std::int32_t sender = transfer.level * context.pipeline_depth / of_segment;
    const std::int32_t receiver = transfer.ready * context.pipeline_depth / of_segment;
    if (context.writes(transfer.src)) {
      writer_of(transfer.src, sender).send(transfer, receiver, from, to);
    }
    if (context.writes(transfer.dst)) {
      writer_of(transfer.dst, receiver).receive(transfer, sender, to.index);
    }
  }
  const std::int64_t count = context.segments[static_cast<std::size_t>(numbers.front())].count;
  for (std::size_t w = 0; w < writers.size(); ++w) {
    writers[w].begin(count);
    writers[w].finish(list, static_cast<std::int32_t>(w % depth));
  }
}

}  // namespace forestcoll::schedule
