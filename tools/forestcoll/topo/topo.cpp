// `forestcoll topo`: the commands on topology files.
#include <CLI/CLI.hpp>

#include "command.hpp"

namespace forestcoll::cli {

CLI::App& topo_group(CLI::App& program) {
  const auto present =
      program.get_subcommands([](const CLI::App* app) { return app->get_name() == "topo"; });
  if (!present.empty()) return *present.front();
  CLI::App* topo = program.add_subcommand("topo", "Work on topology files");
  topo->require_subcommand(1);
  topo->footer(
      "Examples:\n"
      "  forestcoll topo gen dgx-a100 --boxes 2 --fabric odd-even -o a100.json\n"
      "  forestcoll topo show a100.json --svg a100.svg\n"
      "  forestcoll topo check topologies/*.json\n"
      "  forestcoll topo convert a100.json -o a100.graphml\n"
      "\n"
      "`forestcoll topo COMMAND --help` explains a command.");
  return *topo;
}

}  // namespace forestcoll::cli
