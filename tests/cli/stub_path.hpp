// Scripts under a PATH of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {

inline constexpr const char* kBash = "/bin/bash";

/// A file of tools/.
inline std::string tool(const std::string& name) {
  return source_path("tools/" + name);
}

/// A directory that is the whole PATH: `names` from the machine, and what is added.
class Path {
 public:
  explicit Path(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      for (const std::string directory : {"/usr/bin/", "/bin/"}) {
        if (!std::filesystem::exists(directory + name)) continue;
        std::filesystem::create_symlink(directory + name, scratch_ / name);
        break;
      }
    }
  }
  void add_script(const std::string& name, const std::string& text) const {
    scratch_.write(name, "#!/bin/bash\n" + text);
    std::filesystem::permissions(scratch_ / name, std::filesystem::perms::owner_all);
  }
  void add_program() const {
    std::filesystem::create_symlink(program_path(), scratch_ / "forestcoll");
  }
  [[nodiscard]] std::string setting() const { return "PATH=" + (scratch_ / ""); }

 private:
  Scratch scratch_;
};

}  // namespace forestcoll::testing
