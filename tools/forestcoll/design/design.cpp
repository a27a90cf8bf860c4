// `forestcoll design`: the commands that look for fabrics.
#include <CLI/CLI.hpp>

#include "command.hpp"

namespace forestcoll::cli {

CLI::App& design_group(CLI::App& program) {
  const auto present =
      program.get_subcommands([](const CLI::App* app) { return app->get_name() == "design"; });
  if (!present.empty()) return *present.front();
  CLI::App* design = program.add_subcommand("design", "Find the best wiring, or the best cluster");
  design->require_subcommand(1);
  design->footer(
      "Examples:\n"
      "  forestcoll design direct --nodes 64 --ports 4\n"
      "  forestcoll design search 'torus(8,8)' --moves 2000\n"
      "  forestcoll design cluster --gpus 1024 --costs docs/costs-example.json\n"
      "\n"
      "`forestcoll design COMMAND --help` explains a command.");
  return *design;
}

}  // namespace forestcoll::cli
