#include "compare/row_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "common/report/share.hpp"
#include "compare/alltoall_row.hpp"
#include "compare/branching_row.hpp"
#include "compare/link_loads.hpp"
#include "compare/program_rows.hpp"
#include "compare/words.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/stopwatch.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {
namespace {

// Beyond these, text and simulation of a single forest would take minutes and gigabytes.
constexpr std::size_t kMostEdgesSimulated = 2'500'000;
constexpr std::int64_t kMostEvents = 50'000'000;
constexpr std::size_t kMostEdgesLowered = 200'000;

constexpr const char* kOurTitle = "ForestColl, this program";
constexpr const char* kOurSource =
    "Zhao et al., \"ForestColl: Throughput-Optimal Collective Communications on Heterogeneous "
    "Network Fabrics\", NSDI 2026";

// Of NVLSTree.
constexpr const char* kNoExecutor =
    "; no time as a program: no executor runs it between boxes, as that of MSCCL++ combines for "
    "two "
    "GPUs at least, not for the one that goes on";

std::size_t edge_count(const CollectiveForest& forest) {
  std::size_t edges = 0;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase) edges += (*phase)->tree_count() * ((*phase)->rank_count() - 1);
  }
  return edges;
}

Diagnostic inexact(std::string message) {
  return make_error(Code::E14, std::move(message),
                    "round the bandwidths to a coarser grid with --quantize");
}

class RowMaker {
 public:
  RowMaker(const Fabric& fabric, const RowsRequest& request, const Ratio& optimum,
           const RowProgress& progress)
      : fabric_(fabric), request_(request), optimum_(optimum), progress_(progress) {}

  ComparedRow of_algorithm(const std::string& name) {
    ComparedRow row;
    row.algorithm = name;
    if (request_.demand) {
      make_alltoall(row);
    } else if (name == ours || name == kOursByRate) {
      make_ours(row);
    } else if (is_selector(name) || is_exchange(name)) {
      make_from_programs(row, request_, ranks());
      if (!row.error) set_rate(row, row.algbw);
      return row;
    } else {
      make_from_baseline(row);
    }
    const bool is_timed = request_.by_size && !request_.demand && name != kOursByRate;
    if (is_timed && !row.error) add_program_times(row, request_, ranks());
    return row;
  }

  ComparedRow of_schedule(const std::string& path, const Expected<std::string>& text) {
    ComparedRow row;
    row.algorithm = display_name(path);
    row.title = "Schedule from the file " + row.algorithm;
    if (!text) {
      row.error = text.errors().front();
      return row;
    }
    judge(row, *text);
    if (row.error) return row;
    simulate(row, *text);
    return row;
  }

 private:
  [[nodiscard]] std::int64_t ranks() const {
    return static_cast<std::int64_t>(fabric_.network.ranks.size());
  }

  // Of an allreduce without trees.
  [[nodiscard]] bool is_exchange(const std::string& name) const {
    return request_.collective == Collective::allreduce && find_exchange(name) != nullptr;
  }

  void make_ours(ComparedRow& row) {
    row.title = kOurTitle;
    row.source = kOurSource;
    Stopwatch watch;
    auto found =
        synthesize(fabric_.network, {.collective = request_.collective, .root = request_.root});
    row.seconds = watch.restart();
    if (!found) {
      row.error = found.errors().front();
      return;
    }
    const auto loads = link_loads(found->forest, fabric_.network);
    const auto algbw = loads ? rate_at(*loads) : std::nullopt;
    if (!algbw) {
      row.error = inexact("its exact rate does not fit 64 bits");
      return;
    }
    CollectiveForest without = found->forest;
    without.algbw = *algbw;
    if (auto branching = better_branching(fabric_, without)) {
      row.seconds = *row.seconds + watch.restart();
      row.note = without_switches(without);
      describe_branching(row, *std::move(branching));
      if (!row.error) take_faster_times(row, without);
      return;
    }
    set_rate(row, *algbw);
    row.forest = std::move(found->forest);
    if (!row.error) describe_forest(row, loads);
  }

  // Links and times as they are seen in the text; it is the same checker's rate that other rows
  // have from their loads.
  void describe_branching(ComparedRow& row, BranchingForest forest) {
    forest.optimum = std::max(optimum_, forest.algbw);  // that of two phases may be exceeded
    const std::string text = to_forest_json(forest, fabric_.topology);
    row.branching = std::move(forest);
    judge(row, text);
    if (row.error) return;
    row.shape = shape_of(*row.branching);
    row.program_error = no_copies_in_xml();
    if (request_.programs || request_.by_size) row.program_times_error = row.program_error;
    simulate(row, text);
  }

  // Where trees that branch are slower for a size, those over GPUs are what one would take.
  void take_faster_times(ComparedRow& row, const CollectiveForest& without) const {
    if (row.times.empty() || edge_count(without) > kMostEdgesSimulated) return;
    const auto simulator = prepare_simulation(to_symmetric_forest_json(without, fabric_.topology),
                                              row.algorithm, fabric_.topology);
    const auto others = simulator ? times_at(*simulator, request_.sizes) : simulator.errors();
    if (!others) return;
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < row.times.size(); ++i) {
      if ((*others)[i].seconds >= row.times[i].seconds) continue;
      row.times[i] = (*others)[i];
      taken.push_back(bytes_in_words(row.times[i].bytes));
    }
    if (taken.empty()) return;
    row.note +=
        fmt::format("; times over GPUs alone, which are less, at {}", fmt::join(taken, ", "));
  }

  void make_alltoall(ComparedRow& row) {
    describe_alltoall(row.algorithm, row);
    Stopwatch watch;
    const auto all = alltoall_flows(fabric_, request_, row.algorithm);
    row.seconds = watch.restart();
    if (!all) {
      row.error = all.errors().front();
      return;
    }
    const AlltoallCompilation& made = all->front();
    set_rate(row, made.algbw);
    if (row.error) return;
    row.parts = made.routes.k;
    set_links(row, loads_of(made.verdict));
    set_alltoall_program(row);
    simulate(row, made.text);
    for (std::size_t i = 1; i < all->size(); ++i) take_faster_times(row, (*all)[i].text);
  }

  // What `synth --sizes` writes for each size: in few rounds, or with the stops of others, where
  // that is faster.
  void take_faster_times(ComparedRow& row, const std::string& text) const {
    if (row.times.empty() && row.at_measured.empty()) return;
    const auto simulator = prepare_simulation(text, row.algorithm, fabric_.topology);
    if (!simulator) return;
    for (auto* times : {&row.times, &row.at_measured}) {
      std::vector<std::int64_t> sizes;
      for (const SimulatedTime& time : *times) {
        sizes.push_back(static_cast<std::int64_t>(time.bytes));
      }
      const auto others = times_at(*simulator, sizes);
      if (!others) continue;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if ((*others)[i].seconds < (*times)[i].seconds) (*times)[i] = (*others)[i];
      }
    }
  }

  void set_alltoall_program(ComparedRow& row) const {
    const auto made = alltoall_program(fabric_, request_, row.algorithm, *row.parts);
    if (!made) {
      row.program_error = made.errors().front();
      if (request_.programs) row.program_times_error = row.program_error;
      return;
    }
    set_program_size(row, made->verdict);
    if (request_.programs) simulate_program(row, made->text);
  }

  void make_from_baseline(ComparedRow& row) {
    const BaselineInfo& info = *find_baseline(row.algorithm);
    row.title = info.title;
    row.source = info.source;
    Stopwatch watch;
    auto made = make_baseline(row.algorithm, fabric_.topology, fabric_.network, request_.collective,
                              request_.root, request_.baseline);
    row.seconds = watch.restart();
    if (!made) {
      row.error = made.errors().front();
      return;
    }
    row.note = made->note;
    set_rate(row, made->algbw);
    row.forest = std::move(made->forest);
    if (row.error) return;
    if (row.forest) {
      row.forest->optimum = optimum_;
      describe_forest(row, link_loads(*row.forest, fabric_.network));
    } else if (made->branching) {
      describe_branching(row, *std::move(made->branching));
      if (!request_.trees && has_several_boxes(fabric_.topology)) row.note += kNoExecutor;
    } else {
      row.times_error = make_error(Code::N06, "no trees describe it", "");
    }
  }

  // GB/s: what the most loaded link allows.
  [[nodiscard]] std::optional<Ratio> rate_at(const IdVector<ArcId, Ratio>& loads) const {
    const Network& network = fabric_.network;
    std::optional<Ratio> rate;
    for (std::size_t a = 0; a < loads.size(); ++a) {
      const ArcId arc(a);
      if (loads[arc] == Ratio(0)) continue;
      const auto bandwidth = checked_mul(Ratio(network.capacity[arc]), network.unit);
      const auto allowed = bandwidth ? checked_div(*bandwidth, loads[arc]) : std::nullopt;
      if (!allowed) return std::nullopt;
      if (!rate || *allowed < *rate) rate = allowed;
    }
    return rate;
  }

  void set_rate(ComparedRow& row, const Ratio& algbw) const {
    const auto busbw = checked_mul(algbw, busbw_factor(request_.collective, ranks()));
    if (!busbw) {
      row.error = inexact("its exact busbw does not fit 64 bits");
      return;
    }
    row.algbw = algbw;
    row.busbw = *busbw;
    row.optimum_fraction = share(algbw, optimum_);
  }

  // Shape, links, program and times, all from the trees.
  void describe_forest(ComparedRow& row, const std::optional<IdVector<ArcId, Ratio>>& loads) {
    const CollectiveForest& forest = *row.forest;
    row.shape = shape_of(forest);
    if (loads) set_links(row, *loads);
    const std::size_t edges = edge_count(forest);
    if (edges <= kMostEdgesLowered) {
      set_program(row);
    } else if (request_.by_size || request_.programs) {
      row.program_times_error = too_many(edges, kMostEdgesLowered);
    }
    if (!request_.trees &&
        request_.measured_sizes.find(row.algorithm) == request_.measured_sizes.end()) {
      return;
    }
    if (edges > kMostEdgesSimulated) {
      row.times_error = too_many(edges, kMostEdgesSimulated);
      return;
    }
    simulate(row, to_symmetric_forest_json(forest, fabric_.topology));
  }

  // Of these very trees, lowered by default.
  [[nodiscard]] bool wants_program(const ComparedRow& row) const {
    return request_.by_size ? row.algorithm == kOursByRate : request_.programs;
  }

  static Diagnostic too_many(std::size_t edges, std::size_t most) {
    return make_error(Code::N07,
                      fmt::format("{} tree edges are too many to be simulated here", edges),
                      fmt::format("up to {} are; compare fewer GPUs with --ranks", most));
  }

  void set_links(ComparedRow& row, const IdVector<ArcId, Ratio>& loads) const {
    const Network& network = fabric_.network;
    row.busy = IdVector<ArcId, double>(loads.size(), 0.0);
    ArcId busiest;
    for (std::size_t a = 0; a < loads.size(); ++a) {
      const ArcId arc(a);
      const Ratio bandwidth = Ratio(network.capacity[arc]) * network.unit;
      row.busy[arc] = loads[arc].to_double() * row.algbw.to_double() / bandwidth.to_double();
      if (!busiest.valid() || row.busy[arc] > row.busy[busiest]) busiest = arc;
    }
    if (!busiest.valid()) return;
    const auto& nodes = fabric_.topology.nodes;
    row.busiest = BusiestLink{nodes[network.graph.tail(busiest)].id,
                              nodes[network.graph.head(busiest)].id, loads[busiest],
                              Ratio(network.capacity[busiest]) * network.unit, row.busy[busiest]};
  }

  // These very trees, lowered as `synth` does by default.
  void set_program(ComparedRow& row) const {
    LowerOptions options;
    options.boxes = boxes_of_nodes(fabric_.topology);
    const auto schedule = lower(*row.forest, options);
    if (!schedule) {
      row.program_error = schedule.errors().front();
      if (wants_program(row)) row.program_times_error = row.program_error;
      return;
    }
    row.program = ProgramSize{schedule->chunks, schedule->max_threadblocks(), schedule->channels,
                              schedule->max_steps()};
    if (!wants_program(row)) return;
    const auto protocol = choose_protocol("", false, request_.collective, fabric_.topology);
    XmlOptions xml;
    if (protocol) xml.protocol = *protocol;  // LL where Simple hangs
    simulate_program(row, to_msccl_xml(*schedule, *row.forest, fabric_.topology, xml));
  }

  static void set_program_size(ComparedRow& row, const Verdict& verdict) {
    row.program =
        ProgramSize{verdict.chunks, verdict.threadblocks, verdict.channels, verdict.steps};
  }

  void simulate_program(ComparedRow& row, const std::string& xml) const {
    if (request_.sizes.empty()) return;
    const auto simulator = prepare_simulation(xml, row.algorithm, fabric_.topology);
    auto times = simulator ? times_at(*simulator, request_.sizes) : simulator.errors();
    if (times) {
      row.program_times = *std::move(times);
    } else {
      row.program_times_error = times.errors().front();
    }
  }

  // By the first runtime that takes the file, or else by the first of all.
  [[nodiscard]] Expected<Verdict> verdict_on(const std::string& text,
                                             const std::string& file) const {
    const std::vector<std::string> targets = verify_targets();
    auto first = verify(text, file, &fabric_.topology, {.target = targets.front()});
    if (!first || first->ok || first->format != "msccl-xml") return first;
    for (const std::string& target : targets) {
      auto other = verify(text, file, &fabric_.topology, {.target = target});
      if (other && other->ok) return other;
    }
    return first;
  }

  // A file is what the independent checker says that it is.
  void judge(ComparedRow& row, const std::string& text) {
    const auto verdict = verdict_on(text, row.algorithm);
    if (!verdict) {
      row.error = verdict.errors().front();
    } else if (!verdict->ok) {
      row.error = verdict->findings.front();
    } else if (verdict->collective_name != request_.collective_name) {
      row.error = make_error(Code::N08,
                             fmt::format("the schedule is for {}, and {} is compared",
                                         verdict->collective_name, request_.collective_name),
                             fmt::format("compare with -c {}", verdict->collective_name));
    } else if (request_.root && verdict->root && *verdict->root != *request_.root) {
      row.error =
          make_error(Code::N08, "the schedule has another root", "name its root with --root");
    } else if (!verdict->algbw) {
      row.error = inexact("its exact rate on this fabric does not fit 64 bits");
    } else {
      set_rate(row, *verdict->algbw);
      describe_file(row, *verdict, text);
    }
  }

  void describe_file(ComparedRow& row, const Verdict& verdict, const std::string& text) {
    set_links(row, loads_of(verdict));
    if (verdict.threadblocks > 0) {
      row.simulated = Simulated::program;
      set_program_size(row, verdict);
      return;
    }
    if (request_.demand) {
      row.simulated = Simulated::flows;
      row.parts = verdict.chunks / verdict.ranks;
      return;
    }
    auto forest = parse_forest(text, row.algorithm, fabric_.topology);
    if (!forest) return;  // a symmetric forest: its rate and links are known, its trees are not
    row.shape = shape_of(*forest);
    row.forest = *std::move(forest);
  }

  [[nodiscard]] IdVector<ArcId, Ratio> loads_of(const Verdict& verdict) const {
    std::map<std::string, NodeId> node_of;
    const auto& nodes = fabric_.topology.nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) node_of.emplace(nodes[NodeId(i)].id, NodeId(i));
    IdVector<ArcId, Ratio> loads(fabric_.network.graph.arc_count(), Ratio(0));
    for (const LinkLoad& load : verdict.loads) {
      loads[fabric_.network.graph.find(node_of.at(load.src), node_of.at(load.dst))] = load.load;
    }
    return loads;
  }

  void simulate(ComparedRow& row, const std::string& text) const {
    const auto more = request_.measured_sizes.find(row.algorithm);
    const bool measured = more != request_.measured_sizes.end();
    if (request_.sizes.empty()) row.times_error = request_.refused_sizes.front().error;
    if (request_.sizes.empty() && !measured) return;
    const auto simulator = prepare_simulation(text, row.algorithm, fabric_.topology);
    if (!simulator) {
      row.times_error = simulator.errors().front();
      return;
    }
    if (request_.trees || row.simulated != Simulated::trees) {
      if (auto times = times_at(*simulator, request_.sizes)) {
        row.times = *std::move(times);
      } else {
        row.times_error = times.errors().front();
      }
    }
    if (!measured) return;
    if (auto times = times_at(*simulator, more->second)) row.at_measured = *std::move(times);
  }

  [[nodiscard]] Expected<std::vector<SimulatedTime>> times_at(
      const Simulator& simulator, const std::vector<std::int64_t>& sizes) const {
    if (sizes.empty()) return std::vector<SimulatedTime>();
    SimulationOptions options;
    options.max_events = kMostEvents;
    options.threads = request_.threads;
    options.progress = progress_;
    auto simulation = simulator.run(sizes, request_.parameters, options);
    if (!simulation) return simulation.errors();
    return std::move(simulation->times);
  }

  const Fabric& fabric_;
  const RowsRequest& request_;
  const Ratio& optimum_;
  const RowProgress& progress_;
};

}  // namespace

ComparedRow algorithm_row(const Fabric& fabric, const RowsRequest& request, const Ratio& optimum,
                          const std::string& name, const RowProgress& progress) {
  return RowMaker(fabric, request, optimum, progress).of_algorithm(name);
}

ComparedRow schedule_row(const Fabric& fabric, const RowsRequest& request, const Ratio& optimum,
                         const std::string& path, const Expected<std::string>& text,
                         const RowProgress& progress) {
  return RowMaker(fabric, request, optimum, progress).of_schedule(path, text);
}

}  // namespace forestcoll::cli
