#include "common/options/size_options.hpp"

#include <fmt/format.h>

#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {

Expected<std::int64_t> read_size(const std::string& option, const std::string& text) {
  if (const auto size = parse_size(text)) return *size;
  return make_error(Code::S03,
                    fmt::format("{}: expected a number of bytes, found \"{}\"", option, text),
                    "write a number, or one with K, M, G or T such as 64M");
}

Expected<std::vector<std::int64_t>> read_sizes(const std::string& option, const std::string& text) {
  auto sizes = parse_sizes(text);
  if (sizes) return sizes;
  const Diagnostic& error = sizes.errors().front();
  return make_error(Code::S03, option + ": " + error.message, error.remedy);
}

}  // namespace forestcoll::cli
