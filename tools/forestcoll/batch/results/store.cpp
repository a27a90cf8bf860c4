#include "batch/results/store.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "batch/items/discovery.hpp"
#include "common/files/io.hpp"

namespace forestcoll::cli::batch {
namespace {

namespace fs = std::filesystem;

constexpr boost::uuids::uuid kNameSpace = {{0x8d, 0x1c, 0x2e, 0x5b, 0x0a, 0x77, 0x4f, 0x3e, 0x9b,
                                            0x60, 0xc4, 0x1f, 0x52, 0xd9, 0x36, 0xa8}};

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

constexpr std::size_t kLargestRecord = std::size_t{1} << 20;

// The record carries a hash of itself: a record that is damaged is no record.
std::optional<Record> parse_record(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("record") || !json.contains("hash")) return std::nullopt;
  const Json& body = json["record"];
  if (json["hash"] != content_hash(to_text(body)) || !body.is_object()) return std::nullopt;
  if (!body.contains("key") || !body["key"].is_string()) return std::nullopt;
  const auto figures = parse_figures(body);
  if (!figures || !body.contains("outputs") || !body["outputs"].is_array()) return std::nullopt;
  Record record{body["key"].get<std::string>(), {}, *figures};
  for (const Json& output : body["outputs"]) {
    auto file = output.is_object() ? parse_output_file(output) : std::nullopt;
    if (!file) return std::nullopt;
    record.outputs.push_back(*std::move(file));
  }
  return record;
}

// A file by itself, or the files below a directory in the order of their names.
std::vector<std::string> output_names(const std::string& directory, const std::string& path) {
  if (path.empty()) return {};
  const fs::path root = path_in(directory, path);
  std::error_code error;
  if (!fs::is_directory(root, error)) return {path};
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    if (entry.is_directory(error)) continue;
    names.push_back(path + "/" + entry.path().lexically_relative(root).generic_string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string content_hash(std::string_view bytes) {
  const boost::uuids::name_generator_sha1 generator(kNameSpace);
  return boost::uuids::to_string(generator(bytes.data(), bytes.size()));
}

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

std::string item_key(const std::string& program, const std::string& fingerprint,
                     const std::vector<std::string>& words) {
  std::string text = "forestcoll-batch 2";
  const auto add = [&text](std::string_view part) {
    text += '\0';
    text += part;
  };
  add(program);
  add(fingerprint);
  for (const std::string& word : words) add(word);
  return content_hash(text);
}

Expected<void> write_record(const std::string& path, const Record& record) {
  Json body = {{"format", "forestcoll-batch-record"},
               {"version", 1},
               {"key", record.key},
               {"outputs", Json::array()}};
  for (const OutputFile& file : record.outputs) body["outputs"].push_back(to_json(file));
  add_figures(body, record.figures);
  const std::string hash = content_hash(to_text(body));
  const std::string text = to_text({{"record", std::move(body)}, {"hash", hash}});
  return write_output(path, text, false);  // a record that is lost is made again
}

Expected<std::vector<OutputFile>> fingerprint_outputs(const std::string& directory,
                                                      const std::string& path) {
  std::vector<OutputFile> outputs;
  for (const std::string& name : output_names(directory, path)) {
    const auto text = read_input(path_in(directory, name));
    if (!text) return text.errors();
    outputs.push_back({printable(name), content_hash(*text), text->size()});
  }
  return outputs;
}

Lookup look_up(const std::string& directory, const Item& item) {
  const auto text = read_input(path_in(directory, item.record), kLargestRecord);
  if (!text) return {};
  auto record = parse_record(*text);
  if (!record) return {.record = {}, .miss = Miss::damaged};
  if (record->key != item.key) return {.record = {}, .miss = Miss::other_key};
  const auto present = fingerprint_outputs(directory, item.output);
  if (!present || *present != record->outputs) return {.record = {}, .miss = Miss::damaged};
  return {.record = std::move(record), .miss = Miss::absent};
}

}  // namespace forestcoll::cli::batch
