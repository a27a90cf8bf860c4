#include "compare/rows/alltoall_row.hpp"

#include <utility>

#include "common/limits.hpp"
#include "common/report/alltoall_report.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/baseline.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kOurPaths = "paths near the optimum, this program";

CompileOptions options_of_row(const RowsRequest& request, const std::string& name, Format format) {
  CompileOptions options;
  options.synthesis.collective = request.collective;
  options.synthesis.root = request.root;
  options.synthesis.packing.threads = request.threads;
  options.format = format;
  options.demand = request.demand;
  options.proof = request.alltoall_proof;
  if (name != kOurs) options.paths_of = name;
  options.lowering.target = request.target;
  options.lowering.placement = Placement::out_of_place;
  return options;
}

}  // namespace

Expected<Comparison> alltoall_optimum_of(const Fabric& fabric, const RowsRequest& request,
                                         const Console& console) {
  const ParsedDemand& demand = *request.demand;
  auto optimum = alltoall_optimum(fabric.network, demand.demand, {.threads = request.threads});
  if (!optimum) return optimum.errors();
  const auto proof = fabric.optimum ? proof_within_limits(*fabric.optimum, demand.demand)
                                    : Expected<AlltoallProof>(optimum->proof);
  if (!proof) return proof.errors();
  const auto rates = rates_of(*proof, demand);
  if (!rates) return rates.errors();
  const bool is_xml = program_format(request.collective) == Format::msccl;
  const std::string target = is_xml ? request.target : default_target(request.collective);
  Comparison comparison{
      .figures = {figures_of(*rates), reached_by_default(fabric, request.collective, request.root,
                                                         target, console, demand)}};
  comparison.optimum = rates->algbw_at_most;
  comparison.is_by_lengths = fabric.optimum.has_value();
  if (!fabric.optimum) comparison.bottleneck.sending = optimum->proof.cut;
  comparison.alltoall = AlltoallLimit{demand, std::move(optimum->proof)};
  return comparison;
}

void describe_alltoall(const std::string& name, ComparedRow& row) {
  row.simulated = Simulated::flows;
  row.title = kOurPaths;
  if (name == kOurs) return;
  const BaselineInfo& info = *find_alltoall_baseline(name);
  row.title = info.title;
  row.source = info.source;
}

Expected<std::vector<Compilation>> alltoall_flows(const Fabric& fabric, const RowsRequest& request,
                                                  const std::string& name) {
  auto made = compile_alltoalls(fabric, options_of_row(request, name, Format::flows));
  if (!made || made->front().verdict.ok) return made;
  return made->front().verdict.findings.front();
}

Expected<Compilation> alltoall_program(const Fabric& fabric, const RowsRequest& request,
                                       const std::string& name, std::int64_t k) {
  auto options = options_of_row(request, name, program_format(request.collective));
  options.tree_count = TreeCount::as_given;
  options.synthesis.trees_per_root = {TreesPerRoot::Mode::fixed, k};
  auto made = compile(fabric, options);
  if (!made || made->verdict.ok) return made;
  return made->verdict.findings.front();
}

}  // namespace forestcoll::cli
