// What a test cannot go on without.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::test {

/// The value of a result; where there is none, an empty one, and the test fails with the first
/// error, after `what`.
template <class T>
T valid(Expected<T> result, std::string_view what = "") {
  if (result) return *std::move(result);
  ADD_FAILURE() << what << to_string(result.errors().front());
  return {};
}

}  // namespace forestcoll::test
