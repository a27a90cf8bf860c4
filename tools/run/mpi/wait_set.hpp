// What a rank waits for: requests of MPI that are under way.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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
  /// What has ended, by the number of the set that it was in.
  using Ended = std::vector<std::pair<std::size_t, Done>>;

  void add(MPI_Request request, std::int64_t token) {
    requests_.push_back(request);
    tokens_.push_back(token);
  }
  [[nodiscard]] bool empty() const { return requests_.empty(); }
  /// Gives up receives that nobody will send any more.
  void cancel_all();

  /// Blocks until at least one request of these sets has ended: in MPI_Waitsome, or asleep between
  /// looks where the guard says so. The watchdog may look meanwhile.
  /// REQUIRES: not all are empty.
  friend Ended wait_any(std::span<WaitSet* const> sets, Watchdog::Guard& guard);

 private:
  std::vector<MPI_Request> requests_;
  std::vector<std::int64_t> tokens_;
};

[[nodiscard]] WaitSet::Ended wait_any(std::span<WaitSet* const> sets, Watchdog::Guard& guard);

}  // namespace forestcoll::run
