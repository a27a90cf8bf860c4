#include "common/report/findings/exceptions.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/report/report.hpp"

namespace forestcoll::cli {
namespace {

// The standard library says so by a code; oneTBB, which has none, in words alone.
bool is_about_threads(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr) return system->code() == std::errc::resource_unavailable_try_again;
  return std::string_view(error.what()).starts_with("pthread_create has failed");
}

}  // namespace

ExitCode report_exception(const std::exception& error,
                          const std::function<bool(const std::string& option)>& has_option) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    std::fputs("forestcoll: out of memory; no file is left half-written\n  use ", stderr);
    constexpr std::array<std::pair<const char*, const char*>, 2> kSmaller = {
        {{"-k", "a smaller -k, "}, {"--ranks", "fewer --ranks, "}}};
    for (const auto& [option, words] : kSmaller) {
      if (has_option(option)) std::fputs(words, stderr);
    }
    std::fputs("a smaller fabric, or a machine with more memory\n", stderr);
    return ExitCode::does_not_fit;
  }
  if (is_about_threads(error)) {
    const char* fewer = has_option("--in-process") ? "leave --in-process out, or "
                        : has_option("-j")         ? "use -j 1, or "
                                                   : "";
    say(fmt::format(
        "forestcoll: the system gives no more threads ({}); no file is left half-written\n"
        "  {}raise the limits on processes and memory (ulimit -u, ulimit -v)\n",
        error.what(), fewer));
    return ExitCode::does_not_fit;
  }
  say(fmt::format("forestcoll: internal error: {}; please report it\n", error.what()));
  return ExitCode::internal;
}

}  // namespace forestcoll::cli
