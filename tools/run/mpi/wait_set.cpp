#include "run/mpi/wait_set.hpp"

#include <thread>

namespace forestcoll::run {

const std::vector<WaitSet::Done>& WaitSet::wait(Watchdog::Guard& guard) {
  const std::size_t count = requests_.size();
  indices_.resize(count);
  statuses_.resize(count);
  int ended = 0;
  const auto look = [&](auto some) {
    some(static_cast<int>(count), requests_.data(), &ended, indices_.data(), statuses_.data());
  };
  guard.while_waiting([&] {
    if (guard.nap().count() == 0) return look(MPI_Waitsome);
    for (look(MPI_Testsome); ended == 0; look(MPI_Testsome)) {
      std::this_thread::sleep_for(guard.nap());
    }
  });
  done_.clear();
  for (int i = 0; i < ended; ++i) {
    const auto at = static_cast<std::size_t>(i);
    Done done;
    done.token = tokens_[static_cast<std::size_t>(indices_[at])];
    MPI_Get_count(&statuses_[at], MPI_BYTE, &done.bytes);
    done.source = statuses_[at].MPI_SOURCE;
    done_.push_back(done);
  }
  forget_ended();
  return done_;
}

void WaitSet::cancel_all() {
  for (MPI_Request& request : requests_) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  requests_.clear();
  tokens_.clear();
}

void WaitSet::forget_ended() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    tokens_[kept] = tokens_[i];
    ++kept;
  }
  requests_.resize(kept);
  tokens_.resize(kept);
}

}  // namespace forestcoll::run
