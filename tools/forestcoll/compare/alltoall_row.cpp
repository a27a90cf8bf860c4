#include "compare/alltoall_row.hpp"

#include <utility>

#include "common/report/alltoall_report.hpp"
#include "forestcoll/alltoall_baseline.hpp"
#include "forestcoll/alltoall_optimum.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kOurAlltoall = "paths near the optimum, this program";

Expected<AlltoallCompilation> compile_row(const Fabric& fabric, const RowsRequest& request,
                                          const std::string& name, AlltoallCompileOptions options) {
  if (name != ours) options.algorithm = name;
  options.proof = request.alltoall_proof;
  options.xml.protocol = "Simple";
  auto made = compile_alltoall(fabric, *request.demand, options);
  if (!made || made->verdict.ok) return made;
  return made->verdict.findings.front();
}

}  // namespace

Expected<Comparison> alltoall_optimum_of(const Fabric& fabric, const RowsRequest& request) {
  const ParsedDemand& demand = *request.demand;
  auto optimum = alltoall_optimum(fabric.network, demand.demand, {.threads = request.threads});
  if (!optimum) return optimum.errors();
  const auto rates = rates_of(optimum->proof, demand.demand, demand.total);
  if (!rates) return rates.errors();
  Comparison comparison;
  comparison.optimum = rates->algbw_at_most;
  comparison.bottleneck.sending = optimum->proof.cut;
  comparison.alltoall = AlltoallLimit{demand.demand, std::move(optimum->proof)};
  return comparison;
}

void describe_alltoall(const std::string& name, ComparedRow& row) {
  row.simulated = Simulated::flows;
  row.title = kOurAlltoall;
  if (name == ours) return;
  const BaselineInfo& info = *find_alltoall_baseline(name);
  row.title = info.title;
  row.source = info.source;
}

Expected<AlltoallCompilation> alltoall_flows(const Fabric& fabric, const RowsRequest& request,
                                             const std::string& name) {
  return compile_row(fabric, request, name, {.format = AlltoallFormat::flows});
}

Expected<AlltoallCompilation> alltoall_flows_for(const Fabric& fabric, const RowsRequest& request,
                                                 std::int64_t bytes, std::int64_t k) {
  return compile_row(fabric, request, ours,
                     {.k = k, .bytes = bytes, .format = AlltoallFormat::flows});
}

Expected<AlltoallCompilation> alltoall_program(const Fabric& fabric, const RowsRequest& request,
                                               const std::string& name, std::int64_t k) {
  return compile_row(fabric, request, name, {.k = k, .format = AlltoallFormat::msccl});
}

}  // namespace forestcoll::cli
