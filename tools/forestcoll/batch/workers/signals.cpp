#include "batch/workers/signals.hpp"

#include <array>
#include <cerrno>
#include <ctime>

namespace forestcoll::cli::batch {
namespace {

constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

SignalGate::SignalGate() {
  sigemptyset(&awaited_);
  for (const int number : kStopSignals) sigaddset(&awaited_, number);
  sigaddset(&awaited_, SIGCHLD);
  // Where it is ignored, the system takes children away before they are waited for.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_before_);
  pthread_sigmask(SIG_BLOCK, &awaited_, &before_);
}

SignalGate::~SignalGate() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  sigaction(SIGCHLD, &child_before_, nullptr);
}

void SignalGate::wait(std::chrono::milliseconds at_most) {
  timespec time = {};
  time.tv_sec = at_most.count() / 1000;
  time.tv_nsec = at_most.count() % 1000 * 1'000'000;
  const int number = sigtimedwait(&awaited_, nullptr, &time);
  if (number > 0 && number != SIGCHLD && stop_signal_ == 0) stop_signal_ = number;
}

void SignalGate::let_through() {
  sigset_t stopping;
  sigemptyset(&stopping);
  for (const int number : kStopSignals) {
    sigaddset(&stopping, number);
    sigdelset(&awaited_, number);  // what is waited for is taken away, blocked or not
  }
  pthread_sigmask(SIG_UNBLOCK, &stopping, nullptr);
}

}  // namespace forestcoll::cli::batch
