// In place of mpi.cpp, where the program is built without MPI.
#include "batch/workers/mpi.hpp"

namespace forestcoll::cli::batch {

Mpi::Mpi() = default;
Mpi::~Mpi() = default;

bool Mpi::is_built_in() {
  return false;
}

int Mpi::rank() const {
  return 0;
}

int Mpi::processes_here() const {
  return 1;
}

std::unique_ptr<Runner> Mpi::run_on_all(const RunnerLimits& limits, const sigset_t& mask) const {
  return run_in_children(limits, mask);
}

void Mpi::serve(const RunnerLimits&, SignalGate&) const {}

}  // namespace forestcoll::cli::batch
