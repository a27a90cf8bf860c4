#include "run/mpi/watchdog.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace forestcoll::run {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{250};
constexpr std::chrono::milliseconds kForTheOthers{1500};

}  // namespace

Watchdog::Watchdog(int seconds, std::chrono::microseconds nap) : seconds_(seconds), nap_(nap) {
  if (seconds_ > 0) thread_ = std::thread([this] { look(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  end_.notify_one();
  thread_.join();
}

void Watchdog::look() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  std::uint64_t seen = progress_;
  Clock::time_point since = Clock::now();
  while (!end_.wait_for(lock, kBetweenLooks, [this] { return is_over_; })) {
    if (describe_ == nullptr || progress_ != seen) {
      seen = progress_;
      since = Clock::now();
      continue;
    }
    if (Clock::now() - since < std::chrono::seconds(seconds_)) continue;
    const std::string text = describe_();
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
    std::this_thread::sleep_for(kForTheOthers);
    std::_Exit(1);
  }
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
