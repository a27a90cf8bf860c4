// Work on other machines, over MPI: rank 0 finds, plans and reports, and hands items to whoever has
// room, itself among them. All ranks must see the same directories.
#pragma once

#include <memory>

#include "batch/workers/process.hpp"
#include "batch/workers/runner.hpp"

namespace forestcoll::cli::batch {

/// MPI, from its beginning to its end.
class Mpi {
 public:
  Mpi();
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  ~Mpi();  // NOLINT(performance-trivially-destructible): it ends MPI where that is built in

  /// Whether this program was built with MPI; if not, nothing else here may be called.
  [[nodiscard]] static bool is_built_in();
  [[nodiscard]] int rank() const;
  /// Processes of this run on this machine, which share its memory.
  [[nodiscard]] int processes_here() const;

  /// For rank 0: children here, and work for the others, with the limits on each. Its end sends
  /// the others home.
  [[nodiscard]] std::unique_ptr<Runner> run_on_all(const RunnerLimits& limits,
                                                   const sigset_t& mask) const;
  /// For the others: works until rank 0 sends them home.
  void serve(const RunnerLimits& limits, SignalGate& gate) const;
};

}  // namespace forestcoll::cli::batch
