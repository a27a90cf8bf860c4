#include "run/mpi/wait_set.hpp"

#include <thread>

namespace forestcoll::run {
namespace {

// Blocks until some have ended; how many, whose indices and statuses come first.
int wait_some(std::vector<MPI_Request>& requests, std::vector<int>& indices,
              std::vector<MPI_Status>& statuses, Watchdog::Guard& guard) {
  int ended = 0;
  const auto look = [&](auto some) {
    some(static_cast<int>(requests.size()), requests.data(), &ended, indices.data(),
         statuses.data());
  };
  guard.while_waiting([&] {
    if (guard.nap().count() == 0) return look(MPI_Waitsome);
    for (look(MPI_Testsome); ended == 0; look(MPI_Testsome)) {
      std::this_thread::sleep_for(guard.nap());
    }
  });
  return ended;
}

}  // namespace

WaitSet::Ended wait_any(std::span<WaitSet* const> sets, Watchdog::Guard& guard) {
  std::vector<MPI_Request> requests;
  std::vector<std::pair<std::size_t, std::int64_t>> owners;  // set and token
  for (std::size_t s = 0; s < sets.size(); ++s) {
    requests.insert(requests.end(), sets[s]->requests_.begin(), sets[s]->requests_.end());
    for (const std::int64_t token : sets[s]->tokens_) owners.emplace_back(s, token);
  }
  std::vector<int> indices(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  const int count = wait_some(requests, indices, statuses, guard);
  WaitSet::Ended ended;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto& [set, token] = owners[static_cast<std::size_t>(indices[at])];
    WaitSet::Done done{token, 0, statuses[at].MPI_SOURCE};
    MPI_Get_count(&statuses[at], MPI_BYTE, &done.bytes);
    ended.emplace_back(set, done);
  }
  for (WaitSet* set : sets) {
    set->requests_.clear();
    set->tokens_.clear();
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] != MPI_REQUEST_NULL) {
      sets[owners[i].first]->add(requests[i], owners[i].second);
    }
  }
  return ended;
}

void WaitSet::cancel_all() {
  for (MPI_Request& request : requests_) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  requests_.clear();
  tokens_.clear();
}

}  // namespace forestcoll::run
