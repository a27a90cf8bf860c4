#include "batch/results/program.hpp"

#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "batch/results/hash.hpp"
#include "common/files/io.hpp"

namespace forestcoll::cli::batch {
namespace {

constexpr const char* kRunningProgram = "/proc/self/exe";

// The loader's list of shared objects, asked for our own.
int add_own_library(dl_phdr_info* object, std::size_t /*size*/, void* files) {
  const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("libforestcoll.")) {
    static_cast<std::vector<std::string>*>(files)->emplace_back(path);
  }
  return 0;
}

}  // namespace

Expected<std::string> program_fingerprint() {
  std::vector<std::string> files = {kRunningProgram};
  dl_iterate_phdr(add_own_library, &files);
  std::string hashes;
  for (const std::string& file : files) {
    const auto bytes = read_input(file);
    if (!bytes) return bytes.errors();
    // The library's hash: a program with what a debugger needs has hundreds of megabytes.
    hashes += fmt::format("{:016x} {};", std::hash<std::string_view>()(*bytes), bytes->size());
  }
  return content_hash(hashes);
}

}  // namespace forestcoll::cli::batch
