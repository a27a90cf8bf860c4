// Letters between ranks: how one of them writes and reads the memory of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/mpi/wait_set.hpp"

namespace forestcoll::run {

/// What a letter asks of the rank that gets it.
struct Letter {
  enum class Kind : std::int64_t {
    put,          ///< write the data into a buffer
    put_packets,  ///< the same into packets, of which readers wait
    signal,       ///< count one up at a semaphore
    request,      ///< send what a buffer holds
    reply         ///< that
  };
  Kind kind = Kind::put;
  std::int64_t call = 0;     ///< in which it was sent
  std::int64_t buffer = 0;   ///< of data; of a signal: the channel
  std::int64_t begin = 0;    ///< of the data in the buffer, in bytes
  std::int64_t bytes = 0;    ///< of the data, or asked for
  std::int64_t block = 0;    ///< of a request and its reply: the threadblock that waits,
  std::int64_t operand = 0;  ///< for which of its operands,
  std::int64_t part = 0;     ///< and where in it, in bytes
};

/// A rank's post. Letters of one rank to another arrive in the order in which they were sent. A
/// letter counts as sent once the other rank has begun to take it (MPI_Issend).
class Mail {
 public:
  /// `most`: bytes of data in one letter. Tokens in `waits` up to `last_token` are the post's.
  Mail(std::int64_t most, MPI_Comm communicator, WaitSet& waits);
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;
  ~Mail();

  static constexpr std::int64_t kLastToken = std::int64_t{1} << 40;

  /// Copies the data. When it has been sent, `end` gives `owner` back. REQUIRES: at most `most`.
  void send(int to, const Letter& letter, const std::byte* data, std::int64_t owner);
  [[nodiscard]] std::int64_t most() const { return most_; }

  [[nodiscard]] static bool is_letter(std::int64_t token) { return token < kFirstSend; }
  /// The letter of which `waits` gave the token back, and its data, until `take_next`.
  [[nodiscard]] Letter open(std::int64_t token) const;
  [[nodiscard]] const std::byte* data(std::int64_t token) const;
  /// Makes room for the next letter of the same rank.
  void take_next(std::int64_t token) { receive(static_cast<int>(token)); }
  /// The owner of what was sent with this token.
  [[nodiscard]] std::int64_t end(std::int64_t token);

 private:
  static constexpr std::int64_t kFirstSend = std::int64_t{1} << 20;  // below: the sender's rank
  static constexpr int kTag = 0;

  struct Sending {
    std::vector<std::byte> bytes;
    std::int64_t owner = 0;
  };
  void receive(int from);

  std::int64_t most_;
  MPI_Comm communicator_;
  WaitSet& waits_;
  std::vector<std::vector<std::byte>> boxes_;  // by sender
  std::vector<Sending> sending_;
  std::vector<std::size_t> free_;  // of them
};

}  // namespace forestcoll::run
