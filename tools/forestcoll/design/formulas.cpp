// `forestcoll design formulas`: published figures of wirings beside the exact ones.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "design/each_at_once.hpp"
#include "forestcoll/design.hpp"

namespace forestcoll::cli {
namespace {

struct FormulaStudy {
  std::size_t nodes = 0, ports = 0;
  std::vector<FormulaCheck> checks;  //< the smallest first
};

using VerdictCounts = std::map<FormulaVerdict, std::size_t>;

// Of one construction.
struct FormulaCounts {
  std::size_t wirings = 0;
  VerdictCounts steps, time;
};

std::map<std::string, FormulaCounts> counts_of(const FormulaStudy& study) {
  std::map<std::string, FormulaCounts> all;
  for (const FormulaCheck& check : study.checks) {
    FormulaCounts& of = all[check.construction];
    ++of.wirings;
    ++of.steps[check.of_steps];
    ++of.time[check.of_time];
  }
  return all;
}

bool differs(const FormulaCheck& check) {
  const auto as_said = [](FormulaVerdict verdict) {
    return verdict == FormulaVerdict::none || verdict == FormulaVerdict::equal;
  };
  return !as_said(check.of_steps) || !as_said(check.of_time);
}

constexpr FormulaVerdict kAllVerdicts[] = {FormulaVerdict::equal, FormulaVerdict::bound,
                                           FormulaVerdict::other, FormulaVerdict::impossible,
                                           FormulaVerdict::none};

Json counts_json(const VerdictCounts& counts) {
  Json json = Json::object();
  for (const FormulaVerdict verdict : kAllVerdicts) {
    const auto found = counts.find(verdict);
    json[std::string(to_string(verdict))] = found == counts.end() ? 0 : found->second;
  }
  return json;
}

Json check_json(const FormulaCheck& check) {
  Json published = Json::object();
  if (check.published.steps) published["step_count"] = *check.published.steps;
  if (check.published.bfb) published["bfb"] = exact(*check.published.bfb);
  return {{"wiring", check.expression},
          {"construction", check.construction},
          {"compute_nodes", check.nodes},
          {"published", std::move(published)},
          {"step_count", check.steps},
          {"relative_time", {{"bfb", exact(check.bfb)}, {"allgather", exact(check.allgather)}}},
          {"of_steps", to_string(check.of_steps)},
          {"of_time", to_string(check.of_time)}};
}

std::string table_of(const FormulaStudy& study) {
  std::string text =
      fmt::format("up to {} of {}: formulas of {}\n", counted(study.nodes, "node"),
                  counted(study.ports, "port"), fmt::format("{} topologies", study.checks.size()));
  text += fmt::format("{:<16}{:>8}{:>28}{:>34}\n", "", "", "steps", "time of BFB");
  text +=
      fmt::format("{:<16}{:>8}{:>8}{:>8}{:>12}{:>10}{:>8}{:>8}{:>12}\n", "construction", "number",
                  "equal", "bound", "impossible", "equal", "bound", "other", "impossible");
  for (auto& [construction, counts] : counts_of(study)) {
    VerdictCounts steps = counts.steps, time = counts.time;
    text += fmt::format("{:<16}{:>8}{:>8}{:>8}{:>12}{:>10}{:>8}{:>8}{:>12}\n", construction,
                        counts.wirings, steps[FormulaVerdict::equal], steps[FormulaVerdict::bound],
                        steps[FormulaVerdict::impossible], time[FormulaVerdict::equal],
                        time[FormulaVerdict::bound], time[FormulaVerdict::other],
                        time[FormulaVerdict::impossible]);
  }
  return text +
         "equal: what is computed. bound: BFB takes less. other: BFB takes more, but not the "
         "optimal\nforest. impossible: no schedule takes so little, by the diameter or by a cut; "
         "the formula\nis wrong. `--json` and `--csv` list the topologies.\n";
}

Json study_json(const FormulaStudy& study) {
  Json constructions = Json::array(), differences = Json::array();
  for (const auto& [construction, counts] : counts_of(study)) {
    constructions.push_back({{"construction", construction},
                             {"wiring_count", counts.wirings},
                             {"step_verdicts", counts_json(counts.steps)},
                             {"time_verdicts", counts_json(counts.time)}});
  }
  for (const FormulaCheck& check : study.checks) {
    if (differs(check)) differences.push_back(check_json(check));
  }
  return {{"format", "forestcoll-design-formulas"}, {"version", 2},
          {"max_compute_nodes", study.nodes},       {"ports", study.ports},
          {"wiring_count", study.checks.size()},    {"constructions", std::move(constructions)},
          {"differences", std::move(differences)}};
}

std::string study_csv(const FormulaStudy& study) {
  std::string text =
      "wiring,construction,nodes,published_steps,steps,of_steps,published_bfb,bfb,of_time,"
      "allgather\n";
  for (const FormulaCheck& check : study.checks) {
    text += fmt::format(
        "\"{}\",{},{},{},{},{},{},{},{},{}\n", check.expression, check.construction, check.nodes,
        check.published.steps ? std::to_string(*check.published.steps) : "", check.steps,
        to_string(check.of_steps), check.published.bfb ? check.published.bfb->to_string() : "",
        check.bfb.to_string(), to_string(check.of_time), check.allgather.to_string());
  }
  return text;
}

struct FormulaArguments {
  FormulaRequest request;
  std::string csv;
  bool json = false;
  int threads = 0;
};

Expected<FormulaStudy> study_formulas(const FormulaArguments& options, const Console& console) {
  const auto names = at_work("listing the topologies", console,
                             [&] { return formula_candidates(options.request); });
  if (!names) return names.errors();
  FormulaStudy study{options.request.most_nodes, options.request.ports, {}};
  study.checks.resize(names->size());
  each_at_once(names->size(), options.threads, "checking", console,
               [&](std::size_t i) { study.checks[i] = check_formula((*names)[i]); });
  return study;
}

Expected<ExitCode> run_formulas(const FormulaArguments& options, const Console& console) {
  if (const auto done = refuse_clashes({}, {{"the report", "-"}, {"--csv", options.csv}}); !done) {
    return done.errors();
  }
  const auto study = study_formulas(options, console);
  if (!study) return study.errors();
  if (!options.csv.empty()) {
    if (const auto done = write_output(options.csv, study_csv(*study)); !done) return done.errors();
  }
  return finish(write_output(
      "-", options.json ? report_text(study_json(*study), console) : table_of(*study)));
}

}  // namespace

Command add_design_formulas(CLI::App& program) {
  auto options = std::make_shared<FormulaArguments>();
  CLI::App* command = design_group(program).add_subcommand(
      "formulas", "Compare published formulas of direct-connect topologies with exact figures");
  const OptionGroup general(*command);
  general.option("-n,--nodes", options->request.most_nodes, "N", "Every size up to this")
      ->required();
  general.option("--ports,--degree", options->request.ports, "D", "Of each node")->required();
  general.flag("--json", options->json,
               "Report as JSON (format forestcoll-design-formulas, version 2)");
  add_json_version_option(*command);
  general.option("--csv", options->csv, "FILE", "Write all figures, exactly");
  add_jobs_option(*command, options->threads, "Topologies at a time (default: all processors)");
  command->footer(
      "Every construction of every size has its published steps and time of the breadth-first\n"
      "broadcast schedule (Zhao et al., NSDI 2025) beside the exact ones. Where they differ, the\n"
      "diameter and the exact optimum of allgather say which is right.\n"
      "\n"
      "Examples:\n"
      "  forestcoll design formulas --nodes 64 --ports 4\n"
      "  forestcoll design formulas --nodes 256 --ports 2 --csv formulas.csv\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot write, 70 "
      "internal\n"
      "error.");
  return {command, [options](const Console& console) { return run_formulas(*options, console); }};
}

}  // namespace forestcoll::cli
