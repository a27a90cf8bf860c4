#include "simulate/sources/program_source.hpp"

#include <utility>

#include "simulate/fabric/graph_maker.hpp"
#include "simulate/sources/program_graph.hpp"

namespace forestcoll::simulate {

using audit::StepGraph;

ProgramSource::ProgramSource(audit::Program program, Fabric& fabric, audit::Findings& findings)
    : program_(std::move(program)), steps_(build_step_graph(program_, findings)) {
  bool has_routes = true;
  for (const StepGraph::Block& block : steps_.blocks) {
    route_.push_back(-1);
    if (block.sends_to < 0) continue;
    const StepGraph::Block& other = steps_.blocks[static_cast<std::size_t>(block.sends_to)];
    route_.back() = fabric.between(Rank(block.rank), Rank(other.rank), findings);
    has_routes = has_routes && route_.back() >= 0;
  }
  if (has_routes) classes_ = program_classes(steps_, route_, fabric);
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
  return protocol_of(as_set, program_.protocol).pass_bytes * static_cast<double>(program_.chunks);
}

ClassGraph ProgramSource::make(const ProgramClasses& classes, const Fabric& fabric,
                               const SimulationParameters& parameters, double bytes) const {
  const SimulationParameters as_set = with_buffers(parameters, program_.buffer_bytes);
  return program_graph(steps_, route_, classes,
                       GraphMaker(fabric, as_set, protocol_of(as_set, program_.protocol)),
                       bytes / static_cast<double>(program_.chunks));
}

ClassGraph ProgramSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                               double bytes) const {
  return make(classes_, fabric, parameters, bytes);
}

ClassGraph ProgramSource::make_each(const Fabric& fabric, const SimulationParameters& parameters,
                                    double bytes) const {
  return make(each_by_itself(steps_, route_, fabric), fabric, parameters, bytes);
}

}  // namespace forestcoll::simulate
