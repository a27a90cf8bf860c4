// `forestcoll design formulas`: published figures of wirings beside the exact ones.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/jobs_option.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "design/each_at_once.hpp"
#include "design/formulas/formulas_report.hpp"

namespace forestcoll::cli {
namespace {

struct FormulaArguments {
  FormulaRequest request;
  std::string csv;
  bool json = false;
  int threads = 0;
};

Expected<FormulaStudy> study_formulas(const FormulaArguments& options, const Console& console) {
  const auto names =
      at_work("listing the wirings", console, [&] { return formula_candidates(options.request); });
  if (!names) return names.errors();
  FormulaStudy study{options.request.most_nodes, options.request.ports, {}};
  study.checks.resize(names->size());
  each_at_once(names->size(), options.threads, "checking", console,
               [&](std::size_t i) { study.checks[i] = check_formula((*names)[i]); });
  return study;
}

ExitCode run_formulas(const FormulaArguments& options, const Console& console) {
  if (const auto done = refuse_clashes({}, {{"the report", "-"}, {"--csv", options.csv}}); !done) {
    return fail(done.errors(), console);
  }
  const auto study = study_formulas(options, console);
  if (!study) return fail(study.errors(), console);
  if (!options.csv.empty()) {
    if (const auto done = write_output(options.csv, to_csv(*study)); !done) {
      return fail(done.errors(), console);
    }
  }
  return finish(write_output("-", options.json ? to_text(to_json(*study)) : table_of(*study)),
                console);
}

}  // namespace

Command add_design_formulas(CLI::App& program) {
  auto options = std::make_shared<FormulaArguments>();
  CLI::App* command = design_group(program).add_subcommand(
      "formulas", "Hold the published formulas of wirings against what is computed");
  command->add_option("-n,--nodes", options->request.most_nodes, "Every size up to this")
      ->required()
      ->type_name("N");
  command->add_option("--ports,--degree", options->request.ports, "Of each node")
      ->required()
      ->type_name("D");
  command->add_flag("--json", options->json,
                    "Report as JSON (format forestcoll-design-formulas, version 1)");
  command->add_option("--csv", options->csv, "Write all figures, exactly")->type_name("FILE");
  add_jobs_option(*command, options->threads, "Wirings at a time (default: all processors)");
  command->footer(
      "Every construction of every size has its published steps and time of the breadth-first\n"
      "broadcast schedule (Zhao et al., NSDI 2025) beside the exact ones. Where they differ, the\n"
      "diameter and the exact optimum of allgather say which is right.\n"
      "\n"
      "Examples:\n"
      "  forestcoll design formulas --nodes 64 --ports 4\n"
      "  forestcoll design formulas --nodes 256 --ports 2 --csv formulas.csv\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot write, 70 a\n"
      "bug of ours.");
  return {command, [options](const Console& console) { return run_formulas(*options, console); }};
}

}  // namespace forestcoll::cli
