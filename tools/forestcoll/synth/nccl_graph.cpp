#include "forestcoll/nccl_graph.hpp"

#include <fmt/format.h>

#include <string>

#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/limits.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/nccl_files.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/text.hpp"
#include "synth/ways.hpp"

namespace forestcoll::cli {
namespace {

bool is_hopper_or_later(const std::string& gpu) {
  return gpu == "h100" || gpu == "h200" || gpu == "b200" || gpu == "gb200";
}

std::string gain_in_words(const NcclGraphs& graphs) {
  if (graphs.own.empty()) return "NCCL's own search finds no rings here";
  if (graphs.algbw <= graphs.own_algbw) {
    return "gains nothing on this fabric beside NCCL's own rings: leave NCCL_GRAPH_FILE unset";
  }
  const double gain = (graphs.algbw / graphs.own_algbw).to_double() - 1;
  return fmt::format("NCCL's own reach {} GB/s: these are {:.1f} % faster",
                     number(graphs.own_algbw), 100 * gain);
}

void report(const NcclGraphs& graphs, const Fabric& fabric, const Console& console) {
  const NcclGraph& rings = graphs.graphs.front();
  note(console, fmt::format("{}: {} of {} GB/s in a box of {}, from {}", fabric.topology.name,
                            counted(static_cast<std::size_t>(graphs.rings), "ring"),
                            number(graphs.ring_speed), counted(graphs.gpus, "GPU"), graphs.origin));
  note(console, fmt::format("  {} of {} GB/s for rings, as many for trees",
                            counted(rings.channels.size(), "channel"), number(rings.speed_intra)));
  note(console, fmt::format("  an allgather on these rings: {} GB/s by the links; {}",
                            number(graphs.algbw), gain_in_words(graphs)));
  if (graphs.nics > 0) {
    note(console, fmt::format("  {} of a box are numbered in the order of the topology: compare "
                              "with a dump of NCCL_GRAPH_DUMP_FILE",
                              counted(graphs.nics, "NIC")));
  }
  if (!graphs.own.empty() && graphs.algbw <= graphs.own_algbw) return;
  note(console,
       "  next: NCCL_GRAPH_FILE names the file on all ranks, whose communicators have all "
       "GPUs of their boxes");
}

Json json_of(const NcclGraphs& graphs, const Fabric& fabric) {
  Json json = {{"format", "forestcoll-nccl-graph"},
               {"version", 2},
               {"topology", fabric.topology.name},
               {"compute_nodes_per_box", graphs.gpus},
               {"nics_per_box", graphs.nics},
               {"rings_per_box", graphs.rings},
               {"ring_bandwidth", exact(graphs.ring_speed)},
               {"origin", graphs.origin},
               {"channels", graphs.graphs.front().channels.size()},
               {"algbw", exact(graphs.algbw)}};
  json["own_algbw"] = graphs.own.empty() ? Json(nullptr) : exact(graphs.own_algbw);
  return json;
}

// NCCL's search for rings knows no limits: where these hold its rings up, a file would promise more
// than it reaches.
Expected<NcclGraphs> make_graphs(const Fabric& fabric, const BaselineOptions& options) {
  const auto on = [&](const Network& network) {
    return make_nccl_graphs(fabric.topology, network, options, is_hopper_or_later(fabric.gpu.name));
  };
  auto graphs = on(fabric.network);
  if (!graphs || fabric.network.limits.empty()) return graphs;
  Network free = fabric.network;
  free.limits.clear();
  const auto without = on(free);
  if (without && without->algbw == graphs->algbw && without->own_algbw == graphs->own_algbw) {
    return graphs;
  }
  return refuse_limits(fabric.topology, "--format nccl-graph").errors();
}

}  // namespace

Expected<ExitCode> write_nccl_graph(const SynthArguments& arguments, const Console& console) {
  if (const auto done = refuse_with_nccl_file(arguments); !done) return done.errors();
  const auto fabric =
      load_fabric(arguments.topology, arguments.reading, arguments.failures, console);
  if (!fabric) return fabric.errors();
  report_reading(*fabric, arguments.reading, console);
  const BaselineOptions options{.graph = nullptr,
                                .cross_nic = arguments.baseline.cross_nic,
                                .nccl_constants = arguments.baseline.nccl_constants};
  const auto graphs =
      at_work("packing rings", console, [&] { return make_graphs(*fabric, options); });
  if (!graphs) return graphs.errors();
  const std::string text = to_nccl_graph_xml(*graphs, fabric->topology);
  if (const auto done = write_output(arguments.output, text); !done) return done.errors();
  report(*graphs, *fabric, console);
  if (!arguments.json) return ExitCode::done;
  return finish(write_output("-", report_text(json_of(*graphs, *fabric), console)));
}

}  // namespace forestcoll::cli
