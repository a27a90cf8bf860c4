// Wirings of expressions, and their figures.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "forestcoll/design.hpp"
#include "forestcoll/generate.hpp"

namespace forestcoll::test {

inline Wiring wired_as(const std::string& expression) {
  const auto wiring = make_wiring(expression);
  if (!wiring) {
    ADD_FAILURE() << to_string(wiring.errors().front());
    return {};
  }
  return *wiring;
}

inline WiringFigures figures_of(const Wiring& wiring) {
  const auto figures = wiring_figures(wiring);
  if (!figures) {
    ADD_FAILURE() << to_string(figures.errors().front());
    return {};
  }
  return *figures;
}

}  // namespace forestcoll::test
