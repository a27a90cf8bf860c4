// The XML that `synth` writes, as the tests read it.
#pragma once

#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <string>

namespace forestcoll::testing {

/// The element of the algorithm, in `document`, which it stays part of.
inline pugi::xml_node algorithm(pugi::xml_document& document, const std::string& text) {
  EXPECT_TRUE(document.load_string(text.c_str()));
  return document.child("algo");
}

}  // namespace forestcoll::testing
