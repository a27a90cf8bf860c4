#include "forestcoll/xml_text.hpp"

namespace forestcoll {

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += byte < 0x20 || byte == 0x7f ? '?' : c;
    }
  }
  return escaped;
}

}  // namespace forestcoll
