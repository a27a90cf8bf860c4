#include "common/options/json_version_option.hpp"

#include "common/options/shared_options.hpp"

namespace forestcoll::cli {

void add_json_version_option(CLI::App& command, bool always_written) {
  CLI::Option* option =
      command
          .add_option("--json-version", CLI::callback_t([](const CLI::results_t&) { return true; }),
                      "Form of JSON reports; 1: with the keys that they had before. Kept for two\n"
                      "releases")
          ->check(one_of({"1", "2"}));
  if (!always_written) option->needs(command.get_option("--json"));
}

int asked_json_version(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--json-version");
  if (option == nullptr || option->count() == 0) return 2;
  return option->results().front() == "1" ? 1 : 2;
}

}  // namespace forestcoll::cli
