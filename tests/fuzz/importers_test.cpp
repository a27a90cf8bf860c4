// Every importer on the files of all others: a wrong name on the command line is refused in words.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "forestcoll/import.hpp"
#include "fuzz/targets.hpp"
#include "support/files.hpp"

namespace {

TEST(Fuzz, EveryImporterOnEveryFile) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           forestcoll::test::source_path("tests/fuzz/corpus/import"))) {
    const std::string text = forestcoll::test::read_file(entry.path());
    ASSERT_FALSE(text.empty()) << entry.path();
    ++files;
    for (std::size_t source = 0; source < forestcoll::import_sources().size(); ++source) {
      for (const unsigned options : {0x00U, 0x81U, 0x9AU, 0x27U, 0x79U}) {
        const std::string choice = {static_cast<char>(source), static_cast<char>(options)};
        fuzz::importer(choice + text);
        fuzz::importer(choice + text.substr(0, text.size() / 2));
      }
    }
  }
  EXPECT_GE(files, forestcoll::import_sources().size());
}

}  // namespace
