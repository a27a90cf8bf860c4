#include "simulate/sources/program_source.hpp"

#include <utility>

#include "simulate/fabric/graph_maker.hpp"
#include "simulate/sources/program_graph.hpp"

namespace forestcoll::simulate {

using audit::StepGraph;

namespace {

// By threadblock, the rank that it sends to.
std::vector<std::int32_t> peers_of(const audit::Program& program) {
  std::vector<std::int32_t> peers;
  for (const audit::Gpu& gpu : program.gpus) {
    for (const audit::Threadblock& block : gpu.threadblocks) peers.push_back(block.send_peer);
  }
  return peers;
}

}  // namespace

ProgramSource::ProgramSource(audit::Program program, Fabric& fabric, audit::Findings& findings,
                             const Images& images)
    : program_(std::move(program)), steps_(build_step_graph(program_, findings, images.seen)) {
  const std::vector<std::int32_t> peers = peers_of(program_);
  bool has_routes = true;
  for (std::size_t b = 0; b < peers.size(); ++b) {
    const StepGraph::Block& block = steps_.blocks[b];
    route_.push_back(
        block.sends_to < 0 ? -1 : fabric.between(Rank(block.rank), Rank(peers[b]), findings));
    has_routes = has_routes && (block.sends_to < 0 || route_.back() >= 0);
  }
  if (!has_routes) return;
  if (images.count == 1) {
    classes_ = program_classes(steps_, route_, fabric);
  } else if (auto classes = classes_of_images(steps_, peers, images, fabric, findings)) {
    classes_ = *std::move(classes);
  }
}

std::int64_t ProgramSource::simulated_steps() const {
  std::int64_t steps = 0;
  for (const std::int32_t b : classes_.first) {
    const StepGraph::Block& block = steps_.blocks[index(b)];
    steps += block.end - block.begin;
  }
  return steps;
}

double ProgramSource::full_pass(const SimulationParameters& parameters) const {
  const SimulationParameters as_set = with_buffers(parameters, program_.buffer_bytes);
  return as_set.of_protocol(program_.protocol).pass_bytes * static_cast<double>(program_.chunks);
}

double ProgramSource::activities(const SimulationParameters& parameters, double bytes) const {
  const SimulationParameters as_set = with_buffers(parameters, program_.buffer_bytes);
  const double chunk_bytes = bytes / static_cast<double>(program_.chunks);
  return activity_count(steps_, classes_,
                        passes_of_chunk(as_set.of_protocol(program_.protocol), chunk_bytes));
}

ClassGraph ProgramSource::make(const FlowClasses& classes, const Fabric& fabric,
                               const SimulationParameters& parameters, double bytes) const {
  const SimulationParameters as_set = with_buffers(parameters, program_.buffer_bytes);
  return program_graph(steps_, route_, classes,
                       GraphMaker(fabric, as_set, as_set.of_protocol(program_.protocol)),
                       bytes / static_cast<double>(program_.chunks));
}

ClassGraph ProgramSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                               double bytes) const {
  return make(classes_, fabric, parameters, bytes);
}

ClassGraph ProgramSource::make_each(const Fabric& fabric, const SimulationParameters& parameters,
                                    double bytes) const {
  return make(each_by_itself(route_, fabric), fabric, parameters, bytes);
}

}  // namespace forestcoll::simulate
