#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace forestcoll::base {

void fail(const char* file, int line, const char* what) {
  std::fprintf(stderr,
               "forestcoll: internal error at %s:%d: %s\n"
               "This is a bug in forestcoll; please report it with the input that led here.\n",
               file, line, what);
  std::fflush(stderr);
  std::abort();
}

}  // namespace forestcoll::base
