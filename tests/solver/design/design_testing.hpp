// Wirings of expressions, and their figures.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "forestcoll/design.hpp"
#include "forestcoll/generate.hpp"
#include "support/valid.hpp"

namespace forestcoll::test {

inline Wiring wired_as(const std::string& expression) {
  return test::valid(make_wiring(expression));
}

inline WiringFigures figures_of(const Wiring& wiring) {
  return test::valid(wiring_figures(wiring));
}

}  // namespace forestcoll::test
