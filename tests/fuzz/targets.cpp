#include "fuzz/targets.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "forestcoll/chakra_job.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/health.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "topology/import/fitting_options.hpp"

namespace fuzz {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void check(const forestcoll::Diagnostics& list) {
  for (const auto& each : list) {
    require(each.code.has_value(), "a diagnostic has a code");
    require(!each.message.empty(), "a diagnostic has a message");
    require(!to_string(each).empty(), "a diagnostic can be told");
  }
}

void judge(std::string_view text, const std::string& target,
           const forestcoll::Topology* topology = nullptr) {
  forestcoll::VerifyOptions options;
  options.target = target;
  const auto verdict = forestcoll::verify(text, "fuzz", topology, options);
  if (!verdict) {
    require(!verdict.errors().empty(), "a failure has an error");
    return check(verdict.errors());
  }
  require(verdict->ok == (verdict->finding_count == 0), "right is without findings");
  require(verdict->findings.size() <= options.max_findings, "findings are capped");
  require(!verdict->outcome.empty(), "a verdict has an outcome");
  check(verdict->findings);
}

}  // namespace

void schedule_xml(std::string_view text) {
  for (const std::string& target : forestcoll::verify_targets()) judge(text, target);
}

void execution_plan(std::string_view text) {
  judge(text, "azure");
}

void forest_json(std::string_view text) {
  judge(text, "azure");
}

void nccl_file(std::string_view text) {
  judge(text, "azure");
  const auto document = forestcoll::generate("ring", {{"nodes", "4"}});
  require(document.has_value(), "a generator works");
  const auto parsed = forestcoll::parse_topology(to_topology_json(*document), "ring");
  require(parsed.has_value(), "a generated file is valid");
  judge(text, "azure", &parsed->topology);
}

void topology_json(std::string_view text) {
  forestcoll::TopologyOptions options;
  options.max_nodes = 2000;
  const auto parsed = forestcoll::parse_topology(text, "fuzz", options);
  if (!parsed) return check(parsed.errors());
  check(parsed->warnings);
  const auto network = forestcoll::to_digraph(parsed->topology);
  if (!network) check(network.errors());
}

void health(std::string_view text) {
  for (const char* name : {"dgx-a100", "dgx-1v", "mi300x"}) {
    const auto document = forestcoll::generate(name, {{"boxes", "2"}});
    require(document.has_value(), "a generator works");
    const auto parsed = forestcoll::parse_topology(to_topology_json(*document), name);
    require(parsed.has_value(), "a generated file is valid");
    const auto report = forestcoll::read_health(parsed->topology, text, "fuzz", "box1");
    if (!report) {
      check(report.errors());
      continue;
    }
    check(report->warnings);
    if (report->failures.empty()) continue;
    const auto left = forestcoll::degrade(parsed->topology, report->failures);
    if (left) continue;
    check(left.errors());
    for (const auto& error : left.errors()) {
      const auto code = *error.code;
      require(code == forestcoll::Code::E07 || code == forestcoll::Code::E08 ||
                  code == forestcoll::Code::E09,
              "what is dropped is there");
    }
  }
}

void machine(std::string_view text) {
  for (const char* boxes : {"1", "3"}) {
    const auto made = forestcoll::generate_machine(text, "fuzz", {{"boxes", boxes}});
    if (!made) {
      check(made.errors());
      continue;
    }
    check(made->warnings);
    topology_json(to_topology_json(made->document));
  }
}

namespace {

constexpr std::size_t kJobRanks = 8;

// Groups are of ranks that there are, each in one.
void check(const forestcoll::Groups& groups) {
  std::vector<bool> seen(kJobRanks, false);
  for (const auto& group : groups) {
    for (const forestcoll::Rank rank : group) {
      require(rank.valid() && rank.index() < kJobRanks, "a group has ranks of the fabric");
      require(!seen[rank.index()], "a rank is in one group");
      seen[rank.index()] = true;
    }
  }
}

}  // namespace

void job(std::string_view text) {
  const forestcoll::Mesh mesh{{{"tp", 4}, {"dp", 2}}};
  const auto groups = forestcoll::parse_groups(text, kJobRanks, &mesh);
  if (!groups) check(groups.errors());
  const auto operation = forestcoll::parse_operation(text, kJobRanks, &mesh);
  if (!operation) check(operation.errors());
  if (operation) check(operation->groups);
  const auto job = forestcoll::is_chakra_trace(text)
                       ? forestcoll::parse_chakra_job(text, "fuzz", R"({"1":[0,1],"2":[2,3]})",
                                                      "groups", kJobRanks)
                       : forestcoll::parse_job(text, "fuzz", kJobRanks, nullptr);
  if (!job) return check(job.errors());
  for (const forestcoll::JobStep& step : job->steps) {
    require(step.repeat >= 1, "a step is done at least once");
    for (const forestcoll::JobOperation& each : step.operations) {
      check(each.groups);
      require(forestcoll::check_operation(each, kJobRanks).has_value(), "an operation is checked");
    }
  }
}

namespace {

// A machine for the hosts of a cluster's network.
constexpr const char* kBox =
    "<system version='1'><cpu vendor='AuthenticAMD'><pci busid='1' class='0x030200' "
    "link_speed='16 GT/s' link_width='16'><gpu dev='0' sm='80'><nvlink target='2' count='2' "
    "tclass='0x030200'/></gpu></pci><pci busid='2' class='0x030200' link_speed='16 GT/s' "
    "link_width='16'><gpu dev='1' sm='80'><nvlink target='1' count='2' tclass='0x030200'/></gpu>"
    "</pci><nic><net name='mlx5_0' speed='100000'/></nic></cpu></system>";

void import_as(std::string_view text, forestcoll::Source source,
               const forestcoll::ImportOptions& options) {
  const auto imported = forestcoll::import_topology(source, text, "fuzz",
                                                    forestcoll::testing::fitting(source, options));
  if (!imported) {
    require(!imported.errors().empty(), "a failure has an error");
    return check(imported.errors());
  }
  check(imported->warnings);
  topology_json(to_topology_json(imported->document));
}

}  // namespace

void file_of_another_tool(std::string_view text) {
  if (const auto graphs = forestcoll::read_nccl_graph(text, "fuzz"); !graphs)
    check(graphs.errors());
  if (const auto table = forestcoll::read_bandwidths(text, "fuzz"); !table) check(table.errors());
  const auto source = forestcoll::detect_source(text);
  if (!source) return;
  forestcoll::ImportOptions options;
  options.gpu = "h100";
  options.nic_bandwidth = forestcoll::Ratio(25);
  options.uplink_bandwidth = forestcoll::Ratio(50);
  options.box_text = kBox;
  options.box_file = "box";
  import_as(text, *source, options);
  options.pcie_p2p = true;
  import_as(text, *source, options);
  options.pcie_p2p = false;
  options.boxes = 3;
  options.fabric = "fat-tree:2:2";
  import_as(text, *source, options);
}

void importer(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const auto sources = forestcoll::import_sources();
  const auto source = sources[static_cast<unsigned char>(bytes[0]) % sources.size()].source;
  const auto bits = static_cast<unsigned char>(bytes[1]);
  forestcoll::ImportOptions options;
  if ((bits & 1) != 0) options.gpu = "v100";
  if ((bits & 2) != 0) options.pcie_p2p = true;
  if ((bits & 4) != 0) options.split_nvswitch = true;
  if ((bits & 8) != 0) options.compute = "*0*";
  if ((bits & 16) != 0) options.bandwidths = {{"link", 25}, {"nic", 12}, {"xgmi", 3}};
  if ((bits & 32) != 0) options.boxes = 2;
  if ((bits & 32) != 0) options.fabric = (bits & 64) != 0 ? "odd-even" : "rail";
  if ((bits & 128) != 0) options.box_text = kBox;
  options.box_file = "box";
  import_as(bytes.substr(2), source, options);
}

}  // namespace fuzz
