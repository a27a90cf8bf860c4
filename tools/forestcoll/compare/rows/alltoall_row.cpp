#include "compare/rows/alltoall_row.hpp"

#include <utility>

#include "common/report/figures/alltoall_report.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/baseline.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kOurAlltoall = "paths near the optimum, this program";

AlltoallCompileOptions options_of_row(const RowsRequest& request, const std::string& name,
                                      AlltoallFormat format) {
  AlltoallCompileOptions options;
  if (name != kOurs) options.algorithm = name;
  options.format = format;
  options.proof = request.alltoall_proof;
  options.xml.protocol = "Simple";
  return options;
}

}  // namespace

Expected<Comparison> alltoall_optimum_of(const Fabric& fabric, const RowsRequest& request,
                                         const Console& console) {
  const ParsedDemand& demand = *request.demand;
  auto optimum = alltoall_optimum(fabric.network, demand.demand, {.threads = request.threads});
  if (!optimum) return optimum.errors();
  const auto rates = rates_of(optimum->proof, demand.demand, demand.total);
  if (!rates) return rates.errors();
  Comparison comparison{
      .figures = {figures_of(*rates),
                  reached_by_default(fabric, demand, SynthArguments().target, console)}};
  comparison.optimum = rates->algbw_at_most;
  comparison.bottleneck.sending = optimum->proof.cut;
  comparison.alltoall = AlltoallLimit{demand.demand, std::move(optimum->proof)};
  return comparison;
}

void describe_alltoall(const std::string& name, ComparedRow& row) {
  row.simulated = Simulated::flows;
  row.title = kOurAlltoall;
  if (name == kOurs) return;
  const BaselineInfo& info = *find_alltoall_baseline(name);
  row.title = info.title;
  row.source = info.source;
}

Expected<std::vector<AlltoallCompilation>> alltoall_flows(const Fabric& fabric,
                                                          const RowsRequest& request,
                                                          const std::string& name) {
  auto made = compile_alltoalls(fabric, *request.demand,
                                options_of_row(request, name, AlltoallFormat::flows));
  if (!made || made->front().verdict.ok) return made;
  return made->front().verdict.findings.front();
}

Expected<AlltoallCompilation> alltoall_program(const Fabric& fabric, const RowsRequest& request,
                                               const std::string& name, std::int64_t k) {
  auto options = options_of_row(request, name, AlltoallFormat::msccl);
  options.k = k;
  auto made = compile_alltoall(fabric, *request.demand, options);
  if (!made || made->verdict.ok) return made;
  return made->verdict.findings.front();
}

}  // namespace forestcoll::cli
