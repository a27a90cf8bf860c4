#include "run/mpi/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace forestcoll::run {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{250};
constexpr std::chrono::milliseconds kForTheOthers{1500};
constexpr std::chrono::seconds kForRankZero{10};
constexpr std::chrono::milliseconds kBetweenTests{10};
constexpr std::size_t kLines = 16;  // of a message, about

[[noreturn]] void print_and_end(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  std::_Exit(1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string stuck_message(int seconds, const std::vector<std::string>& of_ranks) {
  const auto waiting = static_cast<std::size_t>(
      std::ranges::count_if(of_ranks, [](const std::string& text) { return !text.empty(); }));
  const std::size_t of_each = std::max<std::size_t>(1, kLines / std::max<std::size_t>(1, waiting));
  std::string text =
      fmt::format("forestcoll-run: stuck: no message for {} s; {} of {} ranks wait:\n", seconds,
                  waiting, of_ranks.size());
  std::size_t shown = 0, left = 0;
  for (const std::string& of_rank : of_ranks) {
    std::size_t of_this = 0;
    for (const std::string& line : lines_of(of_rank)) {
      if (of_this == of_each || shown == kLines) {
        ++left;
        continue;
      }
      text += "  " + line + "\n";
      ++of_this;
      ++shown;
    }
  }
  return left == 0 ? text : text + fmt::format("  and {} more threadblocks\n", left);
}

Watchdog::Watchdog(int seconds, std::chrono::microseconds nap) : seconds_(seconds), nap_(nap) {
  if (seconds_ == 0) return;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided == MPI_THREAD_MULTIPLE) MPI_Comm_dup(MPI_COMM_WORLD, &reports_);
  thread_ = std::thread([this] { look(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  end_.notify_one();
  thread_.join();
  if (reports_ != MPI_COMM_NULL) MPI_Comm_free(&reports_);
}

void Watchdog::look() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  std::uint64_t seen = progress_;
  Clock::time_point since = Clock::now();
  while (!end_.wait_for(lock, kBetweenLooks, [this] { return is_over_; })) {
    if (is_told_of_others()) end_stuck(describe_ == nullptr ? std::string() : describe_());
    if (describe_ == nullptr || progress_ != seen) {
      seen = progress_;
      since = Clock::now();
      continue;
    }
    if (Clock::now() - since >= std::chrono::seconds(seconds_)) end_stuck(describe_());
  }
}

bool Watchdog::is_told_of_others() const {
  if (reports_ == MPI_COMM_NULL || rank_ != 0) return false;
  int is_told = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, 0, reports_, &is_told, MPI_STATUS_IGNORE);
  return is_told != 0;
}

void Watchdog::end_stuck(const std::string& here) const {
  if (reports_ == MPI_COMM_NULL) {
    std::fwrite(here.data(), 1, here.size(), stderr);
    std::fflush(stderr);
    std::this_thread::sleep_for(kForTheOthers);
    std::_Exit(1);
  }
  if (rank_ != 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(here.data(), static_cast<int>(here.size()), MPI_CHAR, 0, 0, reports_, &request);
    // Rank 0 ends all; but where it no longer looks, nobody would say anything.
    const auto last = std::chrono::steady_clock::now() + kForRankZero;
    for (int is_sent = 0; std::chrono::steady_clock::now() < last;) {
      if (is_sent == 0) MPI_Test(&request, &is_sent, MPI_STATUS_IGNORE);
      std::this_thread::sleep_for(kBetweenTests);
    }
    print_and_end(here);
  }
  std::this_thread::sleep_for(kForTheOthers);
  std::vector<std::string> texts = texts_of_others();
  texts.front() = here;
  print_and_end(stuck_message(seconds_, texts));
}

std::vector<std::string> Watchdog::texts_of_others() const {
  int ranks = 1;
  MPI_Comm_size(reports_, &ranks);
  std::vector<std::string> texts(static_cast<std::size_t>(ranks));
  while (is_told_of_others()) {
    MPI_Status status;
    int bytes = 0;
    MPI_Probe(MPI_ANY_SOURCE, 0, reports_, &status);
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    std::string text(static_cast<std::size_t>(bytes), '\0');
    MPI_Recv(text.data(), bytes, MPI_CHAR, status.MPI_SOURCE, 0, reports_, MPI_STATUS_IGNORE);
    texts[static_cast<std::size_t>(status.MPI_SOURCE)] = std::move(text);
  }
  return texts;
}

Watchdog::Guard::Guard(Watchdog& dog, std::function<std::string()> describe) : dog_(dog) {
  dog_.mutex_.lock();
  dog_.describe_ = std::move(describe);
  ++dog_.progress_;
}

Watchdog::Guard::~Guard() {
  dog_.describe_ = nullptr;
  dog_.mutex_.unlock();
}

}  // namespace forestcoll::run
