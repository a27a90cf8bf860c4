// `forestcoll compare`: ours beside the schedules that others use, on one fabric.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/host.hpp"
#include "common/job/report.hpp"
#include "common/job/request.hpp"
#include "common/limits.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/time_report.hpp"
#include "common/synthesis/request/options.hpp"
#include "compare/arguments.hpp"
#include "compare/comparison.hpp"
#include "compare/groups.hpp"
#include "compare/make_comparison.hpp"
#include "compare/measured/overlay.hpp"
#include "compare/page/page.hpp"
#include "compare/tables/write.hpp"
#include "compare/tables/write_several.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {
namespace {

constexpr int kChartWidth = 960;
constexpr const char *kSizes = "1K:4G:4", *kSizesOfSeveral = "64K,16M,1G";

// As they are asked for; else those of the GPU that the fabric names.
Expected<void> choose_parameters(const CompareArguments& options, const Fabric& fabric,
                                 RowsRequest& request) {
  ChosenGpu gpu{options.gpu, "as asked for"};
  if (options.gpu.empty()) gpu = fabric.gpu;
  auto parameters = find_simulation_parameters(gpu.name);
  request.gpu_chosen = gpu.reason;
  if (!options.parameters.empty()) {
    const auto text = read_input(options.parameters);
    if (!text) return text.errors();
    parameters = parse_simulation_parameters(*text, display_name(options.parameters));
    request.gpu_chosen = "from " + display_name(options.parameters);
  }
  if (!parameters) return parameters.errors();
  request.parameters = *std::move(parameters);
  return {};
}

// A size of a list that makes no sense keeps none of the others from being simulated.
void choose_sizes(const std::string& text, RowsRequest& request) {
  auto all = parse_sizes(text);
  if (all) {
    request.sizes = *std::move(all);
    return;
  }
  std::istringstream parts(text.find(',') != std::string::npos ? text : "");
  std::set<std::int64_t> sizes;
  for (std::string part; std::getline(parts, part, ',');) {
    const auto size = parse_sizes(part);
    if (size) {
      sizes.insert(size->begin(), size->end());
    } else {
      request.refused_sizes.push_back({part, size.errors().front()});
    }
  }
  // As a whole it makes none: a range, or too long a list.
  if (request.refused_sizes.empty()) {
    request.refused_sizes.push_back({text, all.errors().front()});
  } else {
    request.sizes.assign(sizes.begin(), sizes.end());
  }
}

// A picture or a page on standard output stands alone there, unless a report is asked for.
bool prints_report(const CompareArguments& options) {
  const bool asked = options.json || options.csv || options.markdown || options.latex;
  return asked || (options.svg != "-" && options.html != "-");
}

Expected<void> refuse_files(const CompareArguments& options, const RowsRequest& request) {
  std::vector<NamedFile> inputs = {{"--box file", options.reading.dump.box},
                                   {"--parameters file", options.parameters},
                                   {"--nccl-graph file", options.nccl_graph},
                                   {"--demand file", options.demand}};
  for (const std::string& topology : options.topologies) {
    inputs.push_back({"topology file", topology});
  }
  for (const std::string& schedule : options.schedules) {
    inputs.push_back({"--schedule file", schedule});
  }
  for (const std::string& measured : options.measured) {
    inputs.push_back({"--measured file", measured_path(request, measured)});
  }
  return refuse_clashes(inputs, {{"--table", options.table},
                                 {"--svg", options.svg},
                                 {"--html", options.html},
                                 {"the report", prints_report(options) ? "-" : ""}});
}

std::string report(const Comparison& comparison, const CompareArguments& options,
                   const Console& console) {
  if (options.json) return report_text(to_json(comparison, true), console);
  if (options.csv) return to_csv(comparison);
  if (options.markdown) return to_markdown(comparison);
  if (options.latex) return to_latex(comparison);
  return to_terminal(comparison);
}

Diagnostic nothing_to_draw() {
  return make_error(Code::N09, "--svg: no algorithm has times, so there is nothing to draw",
                    "the report says why, for each of them");
}

Expected<void> write_files(const Comparison& comparison, const CompareArguments& options,
                           const Console& console) {
  if (!options.table.empty()) {
    if (const auto done = write_output(options.table, to_terminal(comparison)); !done) {
      return done.errors();
    }
  }
  if (!options.svg.empty()) {
    if (!has_times(comparison)) return nothing_to_draw();
    if (const auto done = write_output(options.svg, to_chart(comparison, kChartWidth, true));
        !done) {
      return done.errors();
    }
  }
  if (options.html.empty()) return {};
  const Page page = at_work("drawing the page", console, [&] { return to_page(comparison); });
  print(page.warnings, console);
  return write_output(options.html, page.html);
}

// A fabric, and what was compared on it, which refers to it.
struct ComparedFabric {
  std::unique_ptr<Fabric> fabric;
  Comparison comparison;
};

// What is asked of every topology.
Expected<RowsRequest> request_of(const CompareArguments& options) {
  RowsRequest request;
  request.collective = *collective_of(options.collective);
  request.schedules = options.schedules;
  if (!options.target.empty()) {
    if (default_target(request.collective) != request.target) {
      return make_error(
          Code::S04,
          fmt::format("--target: a {} has plans of MSCCL++ alone, and no XML", options.collective),
          "leave --target out");
    }
    request.target = options.target;
  }
  auto names = find_algorithms(options);
  if (!names) return names.errors();
  request.algorithms = *std::move(names);
  if (const auto done = refuse_files(options, request); !done) return done.errors();
  choose_sizes(!options.sizes.empty() ? options.sizes
               : are_several(options) ? kSizesOfSeveral
                                      : kSizes,
               request);
  request.threads = options.threads;
  request.trees = options.trees;
  request.stop = stop_of_host();
  return request;
}

Expected<ComparedFabric> compare_on(const std::string& topology, const CompareArguments& options,
                                    RowsRequest request, const Console& console) {
  auto loaded = load_fabric(topology, options.reading, options.failures, console);
  if (!loaded) return loaded.errors();
  auto kept = std::make_unique<Fabric>(*std::move(loaded));
  Fabric& fabric = *kept;
  report_reading(fabric, options.reading, console);
  report_latencies(fabric.topology, console);
  if (const auto done = refuse_without_owner(fabric.network, request.collective); !done) {
    return done.errors();
  }
  const auto root = find_root(fabric.topology, request.collective, options.root);
  if (!root) return root.errors();
  request.root = *root;
  request.collective_name = options.collective;
  if (is_personalized(request.collective)) {
    auto demand = read_demand(fabric.network, request.collective, *root, options.demand);
    if (!demand) return demand.errors();
    request.collective_name =
        demand->demand.is_of_blocks() ? to_string(request.collective) : kUnequalAlltoall;
    request.demand = *std::move(demand);
  }
  const Demand* asked = request.demand ? &request.demand->demand : nullptr;
  if (auto done = divide_limits(fabric, {request.collective, request.root, asked}, console);
      !done) {
    return done.errors();
  }
  // Programs know equal amounts alone.
  request.by_size = !options.trees && request.collective_name != kUnequalAlltoall;
  const auto chosen = choose_parameters(options, fabric, request);
  if (!chosen) return chosen.errors();
  const auto ranks = static_cast<std::int64_t>(fabric.topology.ranks.size());
  std::vector<Overlay> overlays;
  for (const std::string& measured : options.measured) {
    auto overlay = read_overlay(request, ranks, measured);
    if (!overlay) return overlay.errors();
    print(overlay->measured.warnings, console);
    ask_for_sizes(request, *overlay);
    overlays.push_back(*std::move(overlay));
  }
  auto comparison = make_comparison(fabric, request, console);
  if (!comparison) return comparison.errors();
  for (const Overlay& overlay : overlays) add_measured(*comparison, overlay);
  return ComparedFabric{std::move(kept), *std::move(comparison)};
}

// Of several topologies.
std::string report(const std::vector<NamedComparison>& all, const CompareArguments& options,
                   const Console& console) {
  if (options.json) return report_text(to_json(all), console);
  if (options.csv) return to_csv(all);
  return options.markdown ? to_markdown(all) : to_terminal(all);
}

// The operation of all groups, and what is asked of it.
Expected<GroupsRequest> request_of_groups(const CompareArguments& options, const Fabric& fabric,
                                          RowsRequest rows, const Console& console) {
  auto job = job_of(options.groups, {options.failures, options.collective, options.root},
                    fabric.network.ranks.size(), console);
  if (!job) return job.errors();
  if (const auto done = choose_parameters(options, fabric, rows); !done) return done.errors();
  const auto sizes = read_sizes("--sizes", options.sizes.empty() ? kSizesOfSeveral : options.sizes);
  if (!sizes) return sizes.errors();
  return GroupsRequest{job->steps.front().operations.front(),
                       rows.algorithms,
                       *sizes,
                       rows.parameters,
                       rows.gpu_chosen,
                       options.target,
                       has_relays(options.failures),
                       options.threads};
}

std::string report(const GroupsComparison& comparison, const GroupsRequest& request,
                   const Fabric& fabric, const CompareArguments& options, const Console& console) {
  if (options.json) return report_text(groups_to_json(comparison, request, fabric), console);
  if (options.csv) return groups_to_csv(comparison, request, fabric);
  if (options.markdown) return groups_to_markdown(comparison, request, fabric);
  if (options.latex) return groups_to_latex(comparison, request, fabric);
  return groups_in_words(comparison, request, fabric);
}

Expected<void> write_files(const GroupsComparison& comparison, const GroupsRequest& request,
                           const Fabric& fabric, const CompareArguments& options) {
  if (!options.table.empty()) {
    const auto done = write_output(options.table, groups_in_words(comparison, request, fabric));
    if (!done) return done.errors();
  }
  if (!options.svg.empty()) {
    if (!has_times(comparison)) return nothing_to_draw();
    const auto done =
        write_output(options.svg, groups_to_chart(comparison, request, fabric, kChartWidth));
    if (!done) return done.errors();
  }
  if (options.html.empty()) return {};
  return write_output(options.html, groups_to_page(comparison, request, fabric, kChartWidth));
}

Expected<ExitCode> run_compare_groups(const CompareArguments& options, const Console& console) {
  auto rows = request_of(options);
  if (!rows) return rows.errors();
  auto fabric = load_fabric(options.topologies.front(), options.reading, options.failures, console);
  if (!fabric) return fabric.errors();
  report_reading(*fabric, options.reading, console);
  report_latencies(fabric->topology, console);
  note_what_does_not_count(*fabric, console);
  if (!options.gpu.empty()) fabric->gpu = {options.gpu, "as asked for"};
  const auto request = request_of_groups(options, *fabric, *std::move(rows), console);
  if (!request) return request.errors();
  const auto comparison = compare_groups(*fabric, *request, console);
  if (!comparison) {
    constexpr std::array kRemedies = {Remedy{Code::O08, "choose other groups"}};
    return with_remedies(comparison.errors(), kRemedies);
  }
  if (const auto done = write_files(*comparison, *request, *fabric, options); !done) {
    return done.errors();
  }
  if (!prints_report(options)) return ExitCode::done;
  return finish(write_output("-", report(*comparison, *request, *fabric, options, console)));
}

// A name after --csv that is no topology was to be the report's.
Expected<void> refuse_report_names(const CompareArguments& options) {
  const std::array<std::tuple<bool, const char*, const char*>, 4> forms = {
      {{options.csv, "--csv", ".csv"},
       {options.json, "--json", ".json"},
       {options.markdown, "--markdown", ".md"},
       {options.latex, "--latex", ".tex"}}};
  if (!are_several(options)) return {};
  for (const std::string& name : options.topologies) {
    for (const auto& [is_asked, option, ending] : forms) {
      if (!is_asked || !name.ends_with(ending) || std::filesystem::exists(name)) continue;
      return make_error(Code::S05, fmt::format("{}: there is no such topology", name),
                        fmt::format("{} prints to standard output: write > {}", option, name));
    }
  }
  return {};
}

Expected<ExitCode> run_compare(const CompareArguments& options, const Console& console) {
  if (const auto done = refuse_report_names(options); !done) return done.errors();
  if (const auto done = refuse_with_groups(options); !done) return done.errors();
  if (const auto done = refuse_misplaced_demand(options.collective, options.demand); !done) {
    return done.errors();
  }
  if (options.groups.given()) return run_compare_groups(options, console);
  if (const auto done = refuse_with_several(options); !done) return done.errors();
  auto request = request_of(options);
  if (!request) return request.errors();
  const auto rings = read_rings(options.nccl_graph);
  if (!rings) return rings.errors();
  request->baseline = {.graph = *rings ? &**rings : nullptr,
                       .cross_nic = options.cross_nic,
                       .nccl_constants = options.nccl_constants};
  std::vector<ComparedFabric> all;
  for (const std::string& topology : options.topologies) {
    auto compared = compare_on(topology, options, *request, console);
    if (!compared) return compared.errors();
    all.push_back(*std::move(compared));
  }
  if (are_several(options)) {
    std::vector<NamedComparison> named;
    for (std::size_t i = 0; i < all.size(); ++i) {
      named.push_back({display_name(options.topologies[i]), &all[i].comparison});
    }
    return finish(write_output("-", report(named, options, console)));
  }
  const Comparison& comparison = all.front().comparison;
  const auto written = write_files(comparison, options, console);
  if (!written) return written.errors();
  if (!prints_report(options)) return ExitCode::done;
  return finish(write_output("-", report(comparison, options, console)));
}

}  // namespace

Command add_compare(CLI::App& program) {
  auto options = std::make_shared<CompareArguments>();
  CLI::App* command = program.add_subcommand(
      "compare", "Compare our schedules with those of NCCL and of the literature");
  add_compare_options(*command, *options);
  return {command, [options](const Console& console) { return run_compare(*options, console); },
          [](const std::vector<std::string>& unknown) {
            return explain_operations(unknown, "forestcoll simulate DIR/job.json TOPOLOGY");
          }};
}

}  // namespace forestcoll::cli
