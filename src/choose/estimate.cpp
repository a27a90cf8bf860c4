// The α–β model, on the graph of steps.
//
// A step costs its threadblock a fixed time and its bytes over what one threadblock can move; a
// message takes a fixed time and the latency of its links. The longest chain of these, with
// unlimited links, is how long a pass takes to come through (`pass`); with empty messages it is the
// latency alone. The links need bytes / (algbw · efficiency) for the data of a pass, whatever the
// order. A pass takes the longer of the two; while the next one is already on its way.
#include "forestcoll/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>
#include <vector>

#include "base/check.hpp"

namespace forestcoll {
namespace {

constexpr std::array<ProtocolModel, 3> kModels = {{
    {"Simple", 4.0, 1.0, 1.0, 22.0, 2097152.0},
    {"LL", 1.0, 0.5, 0.5, 6.0, 32768.0},
    {"LL128", 1.5, 0.7, 0.9375, 20.0, 245760.0},
}};

/// One pass, step by step, each as soon as what it waits for is there.
class Pass {
 public:
  Pass(const Schedule& schedule, const PairLatencies& latencies, const ProtocolModel& protocol,
       double chunk_bytes)
      : latencies_(latencies), protocol_(protocol), chunk_bytes_(chunk_bytes) {
    for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
      first_of_rank_.push_back(blocks_.size());
      for (const Threadblock& block : schedule.programs[Rank(r)].threadblocks) {
        blocks_.push_back({&block, Rank(r), std::vector<double>(block.steps.size(), -1)});
      }
    }
  }

  /// Seconds until the last step ends.
  [[nodiscard]] double run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Block& block : blocks_) {
        while (block.next < block.steps->steps.size() && advance(block)) moved = true;
      }
    }
    double end = 0;
    for (const Block& block : blocks_) {
      FORESTCOLL_CHECK(block.next == block.steps->steps.size(), "the schedule comes to an end");
      end = std::max(end, block.now);
    }
    return end;
  }
  /// Seconds that the busiest threadblock works, after `run`.
  [[nodiscard]] double busiest() const {
    double most = 0;
    for (const Block& block : blocks_) most = std::max(most, block.busy);
    return most;
  }

 private:
  struct Block {
    const Threadblock* steps;
    Rank rank;
    std::vector<double> ends;  // of the steps that are done
    std::size_t next = 0;
    double now = 0, busy = 0;
  };
  using Connection = std::tuple<Rank, Rank, std::int32_t>;

  bool advance(Block& block) {
    const Step& step = block.steps->steps[block.next];
    double start = block.now;
    if (step.depends_on) {
      const Block& other = blocks_[first_of_rank_[block.rank.index()] +
                                   static_cast<std::size_t>(step.depends_on->threadblock)];
      const double end = other.ends[static_cast<std::size_t>(step.depends_on->step)];
      if (end < 0) return false;
      start = std::max(start, end);
    }
    if (receives(step.operation)) {
      auto& arrivals = arrivals_[{block.steps->recv_peer, block.rank, block.steps->channel}];
      if (arrivals.empty()) return false;
      start = std::max(start, arrivals.front());
      arrivals.pop_front();
    }
    finish(block, step, start);
    return true;
  }

  void finish(Block& block, const Step& step, double start) {
    double cost = 0;
    if (step.operation != Operation::nop) {
      const double bytes = static_cast<double>(step.count) * chunk_bytes_;
      cost = protocol_.step_us * 1e-6 + bytes / (protocol_.threadblock_gbs * 1e9);
    }
    block.now = start + cost;
    block.busy += cost;
    block.ends[block.next++] = block.now;
    if (!sends(step.operation)) return;
    const auto latency = latencies_.find({block.rank, block.steps->send_peer});
    const double links = latency == latencies_.end() ? 0 : latency->second;
    arrivals_[{block.rank, block.steps->send_peer, block.steps->channel}].push_back(
        block.now + (protocol_.message_us + links) * 1e-6);
  }

  const PairLatencies& latencies_;
  const ProtocolModel& protocol_;
  double chunk_bytes_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> first_of_rank_;
  std::map<Connection, std::deque<double>> arrivals_;
};

}  // namespace

const std::array<ProtocolModel, 3>& protocol_models() {
  return kModels;
}

PairLatencies pair_latencies(const CollectiveForest& forest, const Topology& topology) {
  std::map<std::pair<NodeId, NodeId>, double> of_link;
  for (const TopologyLink& link : topology.links) {
    if (!link.enabled) continue;
    of_link[{link.src, link.dst}] = link.latency.to_double();
    if (link.full_duplex) of_link[{link.dst, link.src}] = link.latency.to_double();
  }
  PairLatencies result;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    const Forest& trees = **phase;
    for (std::size_t t = 0; t < trees.tree_count(); ++t) {
      for (std::size_t v = 0; v < trees.rank_count(); ++v) {
        const Rank parent = trees.parent(TreeId(t), Rank(v));
        if (!parent.valid()) continue;
        const auto path = trees.path(TreeId(t), Rank(v));
        double sum = 0;
        for (std::size_t i = 0; i + 1 < path.size(); ++i) sum += of_link[{path[i], path[i + 1]}];
        const auto ends =
            trees.is_in_forest() ? std::pair(Rank(v), parent) : std::pair(parent, Rank(v));
        double& slowest = result[ends];
        slowest = std::max(slowest, sum);
      }
    }
  }
  return result;
}

double estimated_seconds(const Schedule& schedule, const PairLatencies& latencies, double algbw,
                         const ProtocolModel& protocol, double bytes) {
  const double chunk_bytes =
      bytes / static_cast<double>(std::max<std::int64_t>(1, schedule.chunks));
  const double passes = std::max(1.0, std::ceil(chunk_bytes / protocol.bytes_per_pass));
  const double links = bytes / passes / (algbw * 1e9 * protocol.efficiency);
  const double latency = Pass(schedule, latencies, protocol, 0).run();
  Pass pass(schedule, latencies, protocol, chunk_bytes / passes);
  const double through = pass.run();
  return std::max(through, latency + links) + (passes - 1) * std::max(pass.busiest(), links);
}

}  // namespace forestcoll
