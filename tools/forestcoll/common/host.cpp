#include "common/host.hpp"

#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

thread_local Host* current_host = nullptr;

}  // namespace

Host::Host(std::map<std::string, std::string> in_memory, std::stop_token asked)
    : files(std::move(in_memory)),
      stop(std::move(asked)),
      before_(std::exchange(current_host, this)) {}

Host::~Host() {
  current_host = before_;
}

Host* Host::current() {
  return current_host;
}

std::stop_token stop_of_host() {
  return current_host == nullptr ? std::stop_token() : current_host->stop;
}

Expected<void> refuse_stopped() {
  if (!stop_of_host().stop_requested()) return {};
  return make_error(Code::R01, "asked to stop before the end");
}

}  // namespace forestcoll::cli
