#include "topology/readers/xml.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/words.hpp"

namespace forestcoll::importing {
namespace {

// The walk is a loop: the depth of a file is not to be trusted to the stack.
bool too_deep(const pugi::xml_node& root, pugi::xml_node& deepest) {
  std::size_t depth = 0;
  pugi::xml_node at = root;
  while (true) {
    if (at.first_child()) {
      at = at.first_child();
      if (++depth > kMaxDepth) {
        deepest = at;
        return true;
      }
      continue;
    }
    while (at != root && !at.next_sibling()) {
      at = at.parent();
      --depth;
    }
    if (at == root) return false;
    at = at.next_sibling();
  }
}

void wrong(const Context& context, const pugi::xml_node& node, const char* name,
           std::string_view expected) {
  const pugi::xml_attribute found = node.attribute(name);
  context.findings.error(Code::I03, context.place(offset_of(node)),
                         fmt::format("<{}>: expected {} in {}, found {}", node.name(), expected,
                                     name, found ? quote(found.value()) : "no such attribute"),
                         "Dump the topology anew, or correct the file.");
}

// False, and an error, where it is not well-formed XML or nested too deep.
bool load_xml(const Context& context, pugi::xml_document& document) {
  const pugi::xml_parse_result result = document.load_buffer(
      context.text.data(), context.text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
    context.findings.error(Code::I02, context.place(offset),
                           fmt::format("not well-formed XML: {}", result.description()),
                           "Is the file cut off? Dump it anew.");
    return false;
  }
  for (pugi::xml_node more = document.document_element().next_sibling(); more;
       more = more.next_sibling()) {
    if (more.type() != pugi::node_element) continue;
    context.findings.error(Code::I02, context.place(offset_of(more)),
                           fmt::format("not well-formed XML: <{}> begins after the end of <{}>",
                                       more.name(), document.document_element().name()),
                           "Are these several files in one? Give each by itself.");
    return false;
  }
  pugi::xml_node deepest;
  if (too_deep(document, deepest)) {
    context.findings.error(Code::I09, context.place(offset_of(deepest)),
                           fmt::format("elements nested deeper than {}", kMaxDepth),
                           "Dump the topology anew: no machine is like that.");
    return false;
  }
  return true;
}

}  // namespace

pugi::xml_node load_root(const Context& context, pugi::xml_document& document, const char* name,
                         std::string_view expected, std::string remedy) {
  if (!load_xml(context, document)) return {};
  const pugi::xml_node root = document.child(name);
  if (!root) {
    context.findings.error(Code::I01, "",
                           fmt::format("expected {}: no <{}> element", expected, name),
                           std::move(remedy));
  }
  return root;
}

std::size_t offset_of(const pugi::xml_node& node) {
  const std::ptrdiff_t offset = node.offset_debug();
  return offset < 0 ? 0 : static_cast<std::size_t>(offset);
}

std::optional<std::int64_t> integer(const Context& context, const pugi::xml_node& node,
                                    const char* name) {
  const std::string_view text = node.attribute(name).value();
  if (const auto value = number_in<std::int64_t>(text)) return value;
  wrong(context, node, name, "an integer");
  return std::nullopt;
}

std::optional<Ratio> number(const Context& context, const pugi::xml_node& node, const char* name) {
  const auto value = parse_ratio(node.attribute(name).value());
  if (value && *value >= Ratio(0)) return value;
  wrong(context, node, name, "a number");
  return std::nullopt;
}

}  // namespace forestcoll::importing
