#include "run/mpi/mail.hpp"

#include <cstring>

namespace forestcoll::run {

Mail::Mail(std::int64_t most, MPI_Comm communicator, WaitSet& waits)
    : most_(most), communicator_(communicator), waits_(waits) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(communicator_, &rank);
  MPI_Comm_size(communicator_, &ranks);
  boxes_.resize(static_cast<std::size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    if (from == rank) continue;
    boxes_[static_cast<std::size_t>(from)].resize(sizeof(Letter) + static_cast<std::size_t>(most));
    receive(from);
  }
}

Mail::~Mail() {
  waits_.cancel_all();
}

void Mail::receive(int from) {
  std::vector<std::byte>& box = boxes_[static_cast<std::size_t>(from)];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(box.data(), static_cast<int>(box.size()), MPI_BYTE, from, kTag, communicator_,
            &request);
  waits_.add(request, from);
}

void Mail::send(int to, const Letter& letter, const std::byte* data, std::int64_t owner) {
  if (free_.empty()) {
    free_.push_back(sending_.size());
    sending_.emplace_back();
  }
  const std::size_t slot = free_.back();
  free_.pop_back();
  Sending& sending = sending_[slot];
  sending.owner = owner;
  const auto bytes = data == nullptr ? 0 : static_cast<std::size_t>(letter.bytes);
  sending.bytes.resize(sizeof letter + bytes);
  std::memcpy(sending.bytes.data(), &letter, sizeof letter);
  if (bytes > 0) std::memcpy(sending.bytes.data() + sizeof letter, data, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Issend(sending.bytes.data(), static_cast<int>(sending.bytes.size()), MPI_BYTE, to, kTag,
             communicator_, &request);
  waits_.add(request, kFirstSend + static_cast<std::int64_t>(slot));
}

Letter Mail::open(std::int64_t token) const {
  Letter letter;
  std::memcpy(&letter, boxes_[static_cast<std::size_t>(token)].data(), sizeof letter);
  return letter;
}

const std::byte* Mail::data(std::int64_t token) const {
  return boxes_[static_cast<std::size_t>(token)].data() + sizeof(Letter);
}

std::int64_t Mail::end(std::int64_t token) {
  const auto slot = static_cast<std::size_t>(token - kFirstSend);
  free_.push_back(slot);
  return sending_[slot].owner;
}

}  // namespace forestcoll::run
