// What `forestcoll simulate` says of a simulation, of one schedule or of a step of a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/job/request.hpp"
#include "common/report/report.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {

inline constexpr const char* kModelLine = "model, not measurement";

struct SimulateArguments {
  std::string schedule;
  std::string topology;
  ReadingOptions reading;
  Failures failures;
  JobArguments groups;
  std::string sizes = "1K:4G:4";
  bool sizes_given = false;
  std::string gpu;         // empty: the fabric's own
  std::string parameters;  // a file
  int threads = 0;         // as many as there are processors
  bool every_pass = false;
  bool json = false;
};

/// What the simulation reckons with, and why, in words.
struct Figures {
  SimulationParameters parameters;
  std::string chosen;
};

/// Under a progress bar.
[[nodiscard]] Expected<Simulation> simulate(const Simulator& simulator,
                                            const std::vector<std::int64_t>& sizes,
                                            const Figures& figures,
                                            const SimulateArguments& options,
                                            const Console& console);

[[nodiscard]] std::string time_text(double seconds);
/// The head of a report: what its times are.
[[nodiscard]] std::string simulated_with(const Figures& figures);
[[nodiscard]] std::string busiest_lines(const Simulation& simulation, const Topology& topology);

[[nodiscard]] Json times_json(const Simulation& simulation);
/// "links", and "shared_limits" where the topology has any.
void put_uses(Json& json, const Simulation& simulation, const Topology& topology);
[[nodiscard]] Json json_of(const Figures& figures);

}  // namespace forestcoll::cli
