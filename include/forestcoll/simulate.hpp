// How long a schedule takes on a fabric, by simulation: a model, not a measurement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// What one protocol of the runtime costs. The initial values cost nothing at all: only links,
/// latencies of the topology and waiting for one another are left.
struct ProtocolParameters {
  double step_us = 0;             ///< of a threadblock for one operation, however small
  double message_us = 0;          ///< from the end of a send until the receiver sees it, in a box
  double network_message_us = 0;  ///< the same between two boxes
  double efficiency = 1;          ///< the part of what a link carries that is data
  /// What one threadblock sends or copies at most, and adds up at most, GB/s.
  double threadblock_gbs = std::numeric_limits<double>::infinity();
  double reduction_gbs = std::numeric_limits<double>::infinity();
  double pass_bytes = 2097152;  ///< of every chunk that one pass over the program carries
  std::int32_t slots = 2;       ///< operations in flight on a connection
};

/// The figures of one kind of GPU.
struct SimulationParameters {
  std::string name = "ideal";
  std::string source = {};  ///< where the figures come from, in words
  double hop_us = 0;        ///< for each link that a message crosses, beside the link's own latency
  double link_latency_part = 1;  ///< of that latency; 0 to see what it costs
  /// Of a GPU, that can be resident at once: a forest's messages share them, a program says itself
  /// how many it has.
  double threadblocks = std::numeric_limits<double>::infinity();
  /// The part of what links carry that is data where switches copy and combine (NVLS).
  double in_network_efficiency = 1;
  ProtocolParameters simple = {};
  ProtocolParameters ll = {.efficiency = 0.5, .pass_bytes = 32768, .slots = 8};
  ProtocolParameters ll128 = {.efficiency = 0.9375, .pass_bytes = 245760, .slots = 8};

  /// "Simple", "LL" or "LL128".
  [[nodiscard]] const ProtocolParameters& of_protocol(std::string_view protocol) const {
    if (protocol == "LL") return ll;
    return protocol == "LL128" ? ll128 : simple;
  }
};

/// What the runtimes give a connection in Simple, bytes, where `NCCL_BUFFSIZE` does not say
/// otherwise. Half of it is what a pass carries of a chunk.
inline constexpr std::int64_t kDefaultBufferBytes = std::int64_t{4} << 20;
/// The same GPU with `NCCL_BUFFSIZE` set; 0: not set.
[[nodiscard]] SimulationParameters with_buffers(SimulationParameters parameters,
                                                std::int64_t buffer_bytes);

/// "ideal", and the GPUs of which figures are built in, "a100" first.
[[nodiscard]] std::vector<std::string> simulation_gpus();
/// Capital letters do not count. Errors: M03, no such GPU.
[[nodiscard]] Expected<SimulationParameters> find_simulation_parameters(std::string_view name);
/// Reads {"format": "forestcoll-simulation-parameters", "version": 1, …}; keys that are left out
/// keep their ideal values. Errors: M02, with the place of what is wrong.
[[nodiscard]] Expected<SimulationParameters> parse_simulation_parameters(std::string_view json,
                                                                         std::string_view file);

/// What a schedule takes for one size.
struct SimulatedTime {
  double bytes = 0;  ///< of the whole collective's buffer
  double seconds = 0;
  double algbw = 0, busbw = 0;  ///< GB/s, as nccl-tests defines them
  bool is_estimate = false;     ///< see `SimulationOptions::few_passes`
};

/// How busy a link is at the largest size.
struct LinkUse {
  std::string src, dst;
  double busy = 0;  ///< the part of the time that it carries data at its full bandwidth, 0 … 1
};

/// The same of a capacity that links share.
struct LimitUse {
  std::size_t limit = 0;  ///< of `Network::limits`, of the topology that is simulated
  double busy = 0;        ///< the part of the time that its links take all of it, 0 … 1
};

struct Simulation {
  std::string schedule;  ///< "msccl-xml", "mscclpp-plan", "forestcoll-forest" or "forestcoll-flows"
  std::string collective;
  std::string protocol;  ///< "Simple", "LL" or "LL128"
  std::int64_t ranks = 0;
  std::vector<SimulatedTime> times;  ///< in the order of the sizes
  std::vector<LinkUse> links;        ///< that carry something, by (src, dst)
  std::vector<LimitUse> limits;      ///< of which links take something, by number
  std::int64_t events = 0;           ///< operations that were simulated, over all sizes
};

/// Passes that were simulated from beginning to end, by their bytes: what further sizes are
/// extrapolated from. Of one simulator, one set of parameters and one tolerance.
struct KnownRuns {
  struct Run {
    double seconds = 0;
    double activities = 0;           ///< that were simulated
    std::vector<double> link_bytes;  ///< by link, for each byte of the buffer
  };
  std::map<double, Run> by_bytes;
};

struct SimulationOptions {
  /// Fraction of the work done, 0 … 1; called by one thread at a time.
  std::function<void(double)> progress = {};
  std::stop_token stop = {};  ///< asks to give up as soon as possible
  /// Transfers that are all but this part of their bytes from their end when another one ends, end
  /// with it: times are at most this part too short.
  double tolerance = 1e-3;
  /// Simulate every pass over the program, however many; else the time of many passes is
  /// extrapolated once further passes are found to take the same time each.
  bool every_pass = false;
  /// Tell the time by what so many passes take and fewer, two and a sixteenth of all at least; but
  /// simulate all of what has less than four times as many. 0: simulate what it takes. Two passes
  /// mostly tell it within a fifth, four within a tenth, eight within a twentieth.
  double few_passes = 0;
  /// Of every size; where it takes longer nobody wants to know how long, and its time is infinite.
  /// Where that is extrapolated, it is also given up when a tenth less than what passes have added
  /// so far is too long (a quarter less, before there are three numbers of passes to compare); of
  /// an estimate, by a margin in which one in twenty would have been shorter.
  double most_seconds = std::numeric_limits<double>::infinity();
  std::int64_t max_events = 200'000'000;  ///< over all sizes; M06 beyond
  int threads = 0;                        ///< sizes at a time; 0: as many as there are processors
  /// Of earlier calls, and to be added to; may be null. Times do not depend on it.
  KnownRuns* known = nullptr;
};

/// A schedule on a fabric, read and verified, ready to be simulated again and again.
class Simulator {
 public:
  class Model;  // defined with the library's sources
  explicit Simulator(std::shared_ptr<const Model> model);

  /// What a rank sends on average, in bytes, where the schedule says so: an all-to-all-v.
  [[nodiscard]] std::optional<std::int64_t> own_bytes() const;

  /// Discrete events at the level of flows. An operation of a threadblock begins once the one
  /// before it has ended, its flag and message are there and its connection has room; it costs
  /// `step_us`, then local work or a flow over the route of (sender, receiver); flows share links
  /// max–min fairly, none above what a threadblock moves. The receiver sees the message after
  /// `message_us`, the latencies of the links and `hop_us` for each. All threadblocks run over
  /// their programs pass by pass, with at most `slots` operations in flight on a connection.
  /// A forest does not say which threadblock does what: every tree edge sends piece after piece as
  /// they arrive, with two in flight, a tree of multiplicity m counting as m flows. As many
  /// threadblocks copy and add as keep up with the links, so neither `threadblock_gbs` nor
  /// `reduction_gbs` counts; where a GPU has more pieces to begin than `threadblocks`, these share
  /// the steps. A plan runs once, its pipelines round by round.
  /// Flows of an all-to-all run once, too: what a rank sends over the same links in a round is one
  /// message, which begins once its data is there and moves once earlier rounds have left its first
  /// link and its last one. The amounts of an all-to-all-v grow and shrink with the size.
  ///
  /// Where a message needs more than 32 passes, T(P) of P passes is T(Q) plus (P − Q) times what a
  /// pass adds between Q/4 and Q. Q, from 32 on, is doubled until what a pass adds is the same over
  /// the last three doublings, within 0.3 %, or 0.75 % from 64 passes on, and no less than the
  /// busiest link needs for it. Some never come to that: from 64 passes and a million
  /// operations on, what is extrapolated may be 3 % of the time apart by these three. No time is
  /// below `least_seconds`.
  ///
  /// `sizes` are bytes of the whole buffer. Errors: M01 where a size is not positive, M05 where
  /// the schedule gets stuck with so few slots, M06 beyond max_events, R01 where it was asked to
  /// stop. Cost: about a µs for each operation of each pass simulated.
  [[nodiscard]] Expected<Simulation> run(const std::vector<std::int64_t>& sizes,
                                         const SimulationParameters& parameters,
                                         const SimulationOptions& options = {}) const;

  /// Seconds that `run` never says less than, with the tolerance that it has by default: what the
  /// busiest link needs, the longest chain of first operations, and all that one threadblock does
  /// in all passes. Cost: a fraction of a pass of `run`.
  [[nodiscard]] double least_seconds(std::int64_t bytes,
                                     const SimulationParameters& parameters) const;

  /// Seconds that the busiest link needs for each byte of the buffer, if it carries nothing but
  /// data. Cost: linear in operations.
  [[nodiscard]] double link_seconds() const;
  /// Of a program of threadblocks, operations that a simulation of every pass has, one of each
  /// class of threadblocks; 0 of all else. Cost: linear in its steps.
  [[nodiscard]] double operations(std::int64_t bytes, const SimulationParameters& parameters) const;

  [[nodiscard]] const std::shared_ptr<const Model>& model() const { return model_; }

 private:
  std::shared_ptr<const Model> model_;
};

/// Reads MSCCL XML, an MSCCL++ plan, forest or flows JSON (told apart by content, as `verify` does)
/// and has it verified. Data takes the paths of forests and flows; where a schedule names none, the
/// fewest hops through switches, spread as `verify` does. XML that says `buffsize` is simulated
/// with these buffers. Errors: M04 where it is for another number of ranks or `verify` rejects it
/// for reasons other than a runtime's limits; those of `verify` and `to_digraph`.
[[nodiscard]] Expected<Simulator> prepare_simulation(std::string_view schedule,
                                                     std::string_view file,
                                                     const Topology& topology);

/// A schedule of one group of several that run at once.
struct GroupRun {
  std::string_view schedule, file;
  const Topology* part = nullptr;  ///< of the whole fabric, as `job_parts` makes them
  double share = 1;                ///< bytes of its buffer for each byte of the largest one
};
/// The same of several schedules at once: times are of all of them, for bytes of the largest
/// buffer. Links are the whole fabric's, and flows of all groups share them; GPUs have threadblocks
/// for all. REQUIRES: at least one. Errors: those of the above, each on its part; M04 where a part
/// has links that the fabric has not.
[[nodiscard]] Expected<Simulator> prepare_simulation(std::span<const GroupRun> groups,
                                                     const Topology& whole);

// A fabric for SimGrid, a simulator that shares no code with ours.

/// A platform of SimGrid, for smpirun: a host for each GPU in rank order, and for every ordered
/// pair the route that `Simulator` gives its messages, with the same share of every link and the
/// same latency. SimGrid has one route for a pair, and a message that is spread over several paths
/// loads each of their links in part; so a link that carries half of every message over it stands
/// there once with twice its bandwidth, and where parts differ, more often in the routes of the
/// larger ones. Pairs that no switches join, which only relays do, get a link that is no
/// bottleneck: for what is not the schedule's own traffic. Errors: those of `to_digraph`. Cost:
/// O(ranks² · (nodes + arcs)).
[[nodiscard]] Expected<std::string> to_simgrid(const Topology& topology);

}  // namespace forestcoll
