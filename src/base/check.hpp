// Checks of our own promises, by level. A failure is a bug of ours: it prints the place and stops
// the process by abort(); the command line makes an exit code of 70 of that.
//
// contracts  (0)  always on, constant cost
// proofs     (1)  polynomially dearer; in the sanitizer build
#pragma once

#ifndef FORESTCOLL_CHECK_LEVEL
#define FORESTCOLL_CHECK_LEVEL 0
#endif

namespace forestcoll::base {

inline constexpr bool kCheckProofs = FORESTCOLL_CHECK_LEVEL >= 1;

/// Prints "forestcoll: internal error at FILE:LINE: WHAT" and aborts.
[[noreturn]] void fail(const char* file, int line, const char* what);

}  // namespace forestcoll::base

#define FORESTCOLL_CHECK(condition, what) \
  ((condition) ? void() : ::forestcoll::base::fail(__FILE__, __LINE__, what))
