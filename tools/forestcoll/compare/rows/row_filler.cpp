#include "compare/rows/row_filler.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "compare/rows/program_rows.hpp"
#include "compare/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

Diagnostic too_many(std::size_t edges, std::size_t most) {
  return make_error(Code::N07,
                    fmt::format("{} tree edges are too many to be simulated here", edges),
                    fmt::format("up to {} are; compare fewer GPUs with --ranks", most));
}

}  // namespace

void RowFiller::set_rate(ComparedRow& row, const Ratio& algbw) const {
  const auto busbw = checked_mul(
      algbw,
      busbw_factor(request_.collective, static_cast<std::int64_t>(fabric_.network.ranks.size())));
  if (!busbw) {
    row.error = inexact("its exact busbw does not fit 64 bits");
    return;
  }
  row.algbw = algbw;
  row.busbw = *busbw;
  row.optimum_fraction = share(algbw, optimum_);
}

void RowFiller::describe_forest(ComparedRow& row,
                                const std::optional<IdVector<ArcId, Ratio>>& loads) const {
  const CollectiveForest& forest = *row.forest;
  row.shape = shape_of(forest);
  if (loads) set_links(row, *loads);
  const std::size_t edges = edge_count(forest);
  if (edges <= scale::kMostEdgesLowered) {
    set_program(row);
  } else if (request_.by_size || request_.programs) {
    row.program_times_error = too_many(edges, scale::kMostEdgesLowered);
  }
  if (!request_.trees &&
      request_.measured_sizes.find(row.algorithm) == request_.measured_sizes.end()) {
    return;
  }
  if (edges > scale::kMostEdgesSimulated) {
    row.times_error = too_many(edges, scale::kMostEdgesSimulated);
    return;
  }
  simulate(row, to_symmetric_forest_json(forest, fabric_.topology));
}

// Of these very trees, lowered by default.
bool RowFiller::wants_program(const ComparedRow& row) const {
  return request_.by_size ? row.algorithm == kOursByRate : request_.programs;
}

void RowFiller::set_links(ComparedRow& row, const IdVector<ArcId, Ratio>& loads) const {
  const Network& network = fabric_.links();
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
  set_limits(row);
}

void RowFiller::set_limits(ComparedRow& row) const {
  const Network& network = fabric_.links();
  for (std::size_t l = 0; l < network.limits.size(); ++l) {
    double taken = 0;
    for (const auto& [arc, weight] : network.limits[l].uses) {
      taken +=
          static_cast<double>(weight) * static_cast<double>(network.capacity[arc]) * row.busy[arc];
    }
    const double busy = taken / static_cast<double>(network.limits[l].capacity);
    if (busy > 0 && (!row.busiest_limit || busy > row.busiest_limit->busy)) {
      row.busiest_limit = {l, busy};
    }
  }
}

// These very trees, lowered as `synth` does for the target.
void RowFiller::set_program(ComparedRow& row) const {
  LowerOptions options;
  options.target = request_.target;
  options.max_threadblocks =
      std::min(options.max_threadblocks, default_sms(request_.target, fabric_.gpu));
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

void RowFiller::set_program_size(ComparedRow& row, const Verdict& verdict) {
  row.program = ProgramSize{verdict.chunks, verdict.threadblocks, verdict.channels, verdict.steps};
}

void RowFiller::simulate_program(ComparedRow& row, const std::string& xml) const {
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
Expected<Verdict> RowFiller::verdict_on(const std::string& text, const std::string& file) const {
  const std::vector<std::string> targets = verify_targets();
  auto first = verify(text, file, &fabric_.topology, {.target = targets.front()});
  if (!first || first->ok || first->format != "msccl-xml") return first;
  for (const std::string& target : targets) {
    auto other = verify(text, file, &fabric_.topology, {.target = target});
    if (other && other->ok) return other;
  }
  return first;
}

void RowFiller::judge(ComparedRow& row, const std::string& text) const {
  const auto verdict = verdict_on(text, row.algorithm);
  if (!verdict) {
    row.error = verdict.errors().front();
  } else if (!verdict->ok) {
    row.error = verdict->findings.front();
  } else if (verdict->format.starts_with("nccl")) {
    row.error = make_error(Code::N08, verdict->format + " holds no schedule",
                           "give rings of NCCL with --nccl-graph, or a schedule");
  } else if (verdict->collective_name != request_.collective_name) {
    row.error = make_error(Code::N08,
                           fmt::format("the schedule is for {}, and {} is compared",
                                       verdict->collective_name, request_.collective_name),
                           fmt::format("compare with -c {}", verdict->collective_name));
  } else if (request_.root && verdict->root && *verdict->root != *request_.root) {
    row.error = make_error(Code::N08, "the schedule has another root", "name its root with --root");
  } else if (!verdict->algbw) {
    row.error = inexact("its exact rate on this fabric does not fit 64 bits");
  } else {
    set_rate(row, *verdict->algbw);
    describe_file(row, *verdict, text);
  }
}

void RowFiller::describe_file(ComparedRow& row, const Verdict& verdict,
                              const std::string& text) const {
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

IdVector<ArcId, Ratio> RowFiller::loads_of(const Verdict& verdict) const {
  std::map<std::string, NodeId> node_of;
  const auto& nodes = fabric_.topology.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) node_of.emplace(nodes[NodeId(i)].id, NodeId(i));
  IdVector<ArcId, Ratio> loads(fabric_.links().graph.arc_count(), Ratio(0));
  for (const LinkLoad& load : verdict.loads) {
    loads[fabric_.links().graph.find(node_of.at(load.src), node_of.at(load.dst))] = load.load;
  }
  return loads;
}

void RowFiller::simulate(ComparedRow& row, const std::string& text) const {
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

Expected<std::vector<SimulatedTime>> RowFiller::times_at(
    const Simulator& simulator, const std::vector<std::int64_t>& sizes) const {
  if (sizes.empty()) return std::vector<SimulatedTime>();
  SimulationOptions options;
  options.threads = request_.threads;
  options.progress = progress_;
  options.stop = request_.stop;
  auto simulation = simulator.run(sizes, request_.parameters, options);
  if (!simulation) return simulation.errors();
  return std::move(simulation->times);
}

}  // namespace forestcoll::cli
