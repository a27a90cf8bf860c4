#include "common/files/links.hpp"

#include <system_error>

namespace forestcoll::cli {
namespace {

constexpr int kMostLinks = 40;  // in a row, as many as the kernel follows

}  // namespace

std::filesystem::path end_of_links(const std::filesystem::path& path) {
  std::filesystem::path end = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const auto next = std::filesystem::read_symlink(end, error);
    if (error) return end;
    end = end.parent_path() / next;  // an absolute target stands alone
  }
  return path;
}

}  // namespace forestcoll::cli
