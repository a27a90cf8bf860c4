// A model simulated at several sizes, each once, as many at a time as there are threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "forestcoll/simulate.hpp"
#include "simulate/model.hpp"

namespace forestcoll::simulate {

/// A schedule simulated from beginning to end.
struct SizeRun {
  enum class End { complete, late, stuck, stopped, too_many };
  End end = End::stopped;
  double seconds = 0;
  double activities = 0;
  std::vector<double> link_bytes;  ///< by link, for each byte of the buffer
};

class SizeRuns {
 public:
  SizeRuns(const Simulator::Model& model, const SimulationParameters& parameters,
           const SimulationOptions& options)
      : model_(model),
        parameters_(parameters),
        options_(options),
        full_pass_(model.full_pass(parameters)) {}

  /// Bytes of the whole buffer that go through in one pass.
  [[nodiscard]] double full_pass() const { return full_pass_; }
  /// Runs the model at all of these sizes, in bytes. What comes out does not depend on the number
  /// of threads. REQUIRES: they are positive, no two are the same, and none has been run.
  void prepare(std::vector<double> sizes);
  /// The run at this size; made now if it has not been. `followed`: runs of so many times its
  /// activities in all must follow for its time to be of use, so without room for them it is not
  /// begun.
  [[nodiscard]] const SizeRun& at(double bytes, double followed = 0);
  /// Activities that ended, each time counted, over all runs.
  [[nodiscard]] std::int64_t events() const { return events_; }

 private:
  [[nodiscard]] SizeRun simulate(double bytes, double followed = 0);
  [[nodiscard]] bool claim(double activities, double followed);
  void report(double passes);
  [[nodiscard]] double passes(double bytes) const {
    return std::max(1.0, std::ceil(bytes / full_pass_));
  }

  const Simulator::Model& model_;
  const SimulationParameters& parameters_;
  const SimulationOptions& options_;
  double full_pass_;
  std::map<double, SizeRun> runs_;
  std::mutex mutex_;  // of what follows, while runs are made
  std::int64_t events_ = 0;
  double claimed_ = 0;                  // activities of all runs begun
  double expected_ = 0, reported_ = 0;  // passes
};

}  // namespace forestcoll::simulate
