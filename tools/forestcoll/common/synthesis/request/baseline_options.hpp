// Whose schedule: the options of `synth --algorithm`.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// As written on the command line.
struct BaselineArguments {
  std::string algorithm = "forestcoll";
  std::string nccl_graph;  ///< a file; empty: the rings are searched for
  bool cross_nic = false, nccl_constants = false;
  [[nodiscard]] bool chosen() const { return algorithm != "forestcoll"; }
};
void add_baseline_options(CLI::App& command, BaselineArguments& arguments);

}  // namespace forestcoll::cli
