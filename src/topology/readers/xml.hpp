// XML files: loading them, and values of attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "forestcoll/ratio.hpp"
#include "topology/readers/context.hpp"

namespace forestcoll::importing {

/// Loads the text into `document`; its root, an element `name`. An empty node, and I02 with line
/// and column, where the text is not well-formed XML or nested too deep; and I01, with `expected`
/// and `remedy`, where there is no such element. Cost: O(text).
[[nodiscard]] pugi::xml_node load_root(const Context& context, pugi::xml_document& document,
                                       const char* name, std::string_view expected,
                                       std::string remedy);

/// Where an element stands in the text.
[[nodiscard]] std::size_t offset_of(const pugi::xml_node& node);

/// Base of what reads a file of XML.
class XmlReader : protected FileReader {
 protected:
  using FileReader::FileReader;
  void fail(Code code, const pugi::xml_node& node, std::string message, std::string remedy) {
    FileReader::fail(code, offset_of(node), std::move(message), std::move(remedy));
  }
};

/// An integer attribute in decimal, or nothing and I03 at its element.
[[nodiscard]] std::optional<std::int64_t> integer(const Context& context,
                                                  const pugi::xml_node& node, const char* name);
/// A non-negative number, or nothing and I03.
[[nodiscard]] std::optional<Ratio> number(const Context& context, const pugi::xml_node& node,
                                          const char* name);

}  // namespace forestcoll::importing
