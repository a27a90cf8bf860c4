#include "batch/results/store.hpp"

#include <cstddef>
#include <utility>

#include "batch/items/discovery.hpp"
#include "batch/results/hash.hpp"
#include "common/files/io.hpp"

namespace forestcoll::cli::batch {
namespace {

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

}  // namespace

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

Expected<OutputFile> fingerprint_file(const std::string& directory, const std::string& path) {
  const auto text = read_input(path_in(directory, path));
  if (!text) return text.errors();
  return OutputFile{printable(path), content_hash(*text), text->size()};
}

Lookup look_up(const std::string& directory, const Item& item) {
  const auto text = read_input(path_in(directory, item.record), kLargestRecord);
  if (!text) return {};
  auto record = parse_record(*text);
  if (!record) return {.record = {}, .miss = Miss::damaged};
  if (record->key != item.key) return {.record = {}, .miss = Miss::other_key};
  std::vector<OutputFile> present;
  if (!item.output.empty()) {
    const auto file = fingerprint_file(directory, item.output);
    if (!file) return {.record = {}, .miss = Miss::damaged};
    present.push_back(*file);
  }
  if (present != record->outputs) return {.record = {}, .miss = Miss::damaged};
  return {.record = std::move(record), .miss = Miss::absent};
}

}  // namespace forestcoll::cli::batch
