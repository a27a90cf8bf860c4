// Every importer on the files of all others: a wrong name on the command line is refused in words.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "forestcoll/import.hpp"
#include "fuzz/targets.hpp"

namespace {

TEST(Fuzz, EveryImporterOnEveryFile) {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SOURCE_DIR "/tests/fuzz/corpus/import")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
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
