#include "batch/workers/wire.hpp"

#include <sstream>
#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

std::string to_bytes(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Json error_json(const std::optional<ItemError>& error) {
  if (!error) return nullptr;
  return Json::array({name_of(error->code), error->message, error->where});
}

// Whatever throws here is a message that is not ours.
template <class Parse>
auto parsed(const std::string& bytes, Parse parse)
    -> std::optional<decltype(parse(std::declval<const Json&>()))> {
  try {
    return parse(Json::from_cbor(bytes));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::optional<ItemError> parse_error(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return ItemError{parse_code(json.at(0).get<std::string>()), json.at(1).get<std::string>(),
                   json.at(2).get<std::string>()};
}

Task parse_task(const Json& json) {
  return {.topology = json.at("topology").get<std::string>(),
          .directory = json.at("directory").get<std::string>(),
          .output = json.at("output").get<std::string>(),
          .record = json.at("record").get<std::string>(),
          .key = json.at("key").get<std::string>(),
          .words = json.at("words").get<Words>(),
          .threads = json.at("threads").get<int>()};
}

std::vector<ProbeTask> parse_probe_tasks(const Json& json) {
  std::vector<ProbeTask> tasks;
  for (const Json& task : json.at("probe")) {
    tasks.push_back({.path = task.at(0).get<std::string>(),
                     .words = task.at(1).get<Words>(),
                     .confidence = static_cast<Confidence>(task.at(2).get<std::uint8_t>())});
  }
  return tasks;
}

Answer parse_answer(const Json& json) {
  Answer answer;
  if (!json.at("figures").is_null()) answer.figures = parse_figures(json.at("figures"));
  for (const Json& output : json.at("outputs")) {
    answer.outputs.push_back({output.at("path").get<std::string>(),
                              output.at("hash").get<std::string>(),
                              output.at("bytes").get<std::uint64_t>()});
  }
  answer.error = parse_error(json.at("error"));
  return answer;
}

Probe parse_probe(const Json& json) {
  return {.is_topology = json.at("is_topology").get<bool>(),
          .fingerprint = json.at("fingerprint").get<std::string>(),
          .gpus = json.at("gpus").get<std::uint64_t>(),
          .nodes = json.at("nodes").get<std::uint64_t>(),
          .links = json.at("links").get<std::uint64_t>(),
          .error = parse_error(json.at("error"))};
}

}  // namespace

std::string encode(const Task& task) {
  return to_bytes({{"topology", task.topology},
                   {"directory", task.directory},
                   {"output", task.output},
                   {"record", task.record},
                   {"key", task.key},
                   {"words", task.words},
                   {"threads", task.threads}});
}

std::string encode(const std::vector<ProbeTask>& tasks) {
  Json list = Json::array();
  for (const ProbeTask& task : tasks) {
    list.push_back(
        Json::array({task.path, task.words, static_cast<std::uint8_t>(task.confidence)}));
  }
  Json json = Json::object();
  json["probe"] = std::move(list);
  return to_bytes(json);
}

std::string encode(const Answer& answer) {
  Json json = {{"figures", nullptr}, {"outputs", Json::array()}};
  if (answer.figures) {
    json["figures"] = Json::object();
    add_figures(json["figures"], *answer.figures);
  }
  for (const OutputFile& file : answer.outputs) json["outputs"].push_back(to_json(file));
  json["error"] = error_json(answer.error);
  return to_bytes(json);
}

std::string encode(const Probe& probe) {
  return to_bytes({{"is_topology", probe.is_topology},
                   {"fingerprint", probe.fingerprint},
                   {"gpus", probe.gpus},
                   {"nodes", probe.nodes},
                   {"links", probe.links},
                   {"error", error_json(probe.error)}});
}

std::optional<Task> decode_task(const std::string& bytes) {
  return parsed(bytes, parse_task);
}

std::optional<std::vector<ProbeTask>> decode_probe_tasks(const std::string& bytes) {
  return parsed(bytes, parse_probe_tasks);
}

std::optional<Answer> decode_answer(const std::string& bytes) {
  return parsed(bytes, parse_answer);
}

std::vector<Probe> decode_probes(const std::string& bytes) {
  std::vector<Probe> probes;
  std::istringstream stream(bytes);
  while (stream.peek() != std::istringstream::traits_type::eof()) {
    try {
      probes.push_back(parse_probe(Json::from_cbor(stream, false)));
    } catch (const Json::exception&) {
      break;  // the last one was cut off
    }
  }
  return probes;
}

}  // namespace forestcoll::cli::batch
