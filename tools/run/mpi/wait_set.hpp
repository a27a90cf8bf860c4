// What a rank waits for: requests of MPI that are under way.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/mpi/watchdog.hpp"

namespace forestcoll::run {

/// Requests, each with a number by which its owner knows it again.
class WaitSet {
 public:
  struct Done {
    std::int64_t token = 0;
    int bytes = 0;  ///< of a receive
    int source = 0;
  };

  void add(MPI_Request request, std::int64_t token) {
    requests_.push_back(request);
    tokens_.push_back(token);
  }
  [[nodiscard]] bool empty() const { return requests_.empty(); }
  /// Blocks until at least one has ended: in MPI_Waitsome, or asleep between looks where the guard
  /// says so. The watchdog may look meanwhile.
  /// REQUIRES: not empty.
  [[nodiscard]] const std::vector<Done>& wait(Watchdog::Guard& guard);
  /// Gives up receives that nobody will send any more.
  void cancel_all();

 private:
  void forget_ended();

  std::vector<MPI_Request> requests_;
  std::vector<std::int64_t> tokens_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Done> done_;
};

}  // namespace forestcoll::run
