#include "common/options/file_option.hpp"

#include "common/options/validator_text.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {

CLI::Validator file_name() {
  const auto refuse_no_name = [](const std::string& text) {
    if (!text.empty()) return std::string();
    return validator_text(Code::S03, "expected the name of a file, found nothing");
  };
  return {refuse_no_name, ""};
}

CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& what, const std::string& type) {
  return command.add_option(name, path, what)->check(file_name())->type_name(type);
}

void add_schedule_argument(CLI::App& command, std::string& path) {
  command
      .add_option("SCHEDULE", path,
                  "MSCCL XML, an MSCCL++ plan, forest or flows JSON (told apart by content), or -\n"
                  "for standard input")
      ->required();
}

void add_root_option(CLI::App& command, std::string& root) {
  command
      .add_option("--root", root,
                  "Root of broadcast, reduce, scatter and gather: a GPU's id or its rank")
      ->type_name("GPU");
}

}  // namespace forestcoll::cli
