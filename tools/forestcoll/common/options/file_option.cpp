#include "common/options/file_option.hpp"

namespace forestcoll::cli {

CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& what, const std::string& type) {
  const auto refuse_no_name = [](const std::string& text) {
    return text.empty() ? "expected the name of a file, found nothing [S03]" : std::string();
  };
  return command.add_option(name, path, what)
      ->check(CLI::Validator(refuse_no_name, ""))
      ->type_name(type);
}

void add_schedule_argument(CLI::App& command, std::string& path) {
  command
      .add_option("SCHEDULE", path,
                  "MSCCL XML, an MSCCL++ plan, forest or flows JSON (told apart by content), or -\n"
                  "for standard input")
      ->required();
}

void add_root_option(CLI::App& command, std::string& root) {
  command.add_option("--root", root, "Root of broadcast and reduce: a GPU's id or its rank")
      ->type_name("GPU");
}

}  // namespace forestcoll::cli
