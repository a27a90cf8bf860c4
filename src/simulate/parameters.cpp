// Reads simulation parameters from JSON: the user's file, and the built-in ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "audit/common/line_index.hpp"
#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/gpus.hpp"

namespace forestcoll {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "forestcoll-simulation-parameters";
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kShown = 40;  // characters of what was found
constexpr double kMost = 1e15;

std::string found(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "…";
  return text;
}

// A number of ProtocolParameters: its key, and what it may be.
struct NumberField {
  const char* key;
  double ProtocolParameters::*value;
  double least, most;
  bool unlimited;  // null means that there is no limit
};
constexpr std::array<NumberField, 7> kNumbers = {{
    {"step_us", &ProtocolParameters::step_us, 0, 1e9, false},
    {"message_us", &ProtocolParameters::message_us, 0, 1e9, false},
    {"network_message_us", &ProtocolParameters::network_message_us, 0, 1e9, false},
    {"efficiency", &ProtocolParameters::efficiency, 1e-6, 1, false},
    {"threadblock_gbs", &ProtocolParameters::threadblock_gbs, 1e-6, kMost, true},
    {"reduction_gbs", &ProtocolParameters::reduction_gbs, 1e-6, kMost, true},
    {"pass_bytes", &ProtocolParameters::pass_bytes, 1, kMost, false},
}};

class ParameterReader {
 public:
  explicit ParameterReader(std::string_view file) : file_(file) {}

  Expected<SimulationParameters> read(std::string_view text) {
    if (text.size() > kMaxBytes) {
      wrong("", fmt::format("the file has {} bytes; at most {} are read", text.size(), kMaxBytes));
      return errors_;
    }
    Json json;
    try {
      json = Json::parse(text);
    } catch (const Json::parse_error& error) {
      const std::size_t at = error.byte > 0 ? error.byte - 1 : 0;
      wrong(audit::LineIndex(text).position(std::min(at, text.size())), "not well-formed JSON");
      return errors_;
    } catch (const Json::exception&) {
      wrong("", "a number that no computer holds");
      return errors_;
    }
    SimulationParameters parameters;
    if (json.is_object()) {
      read_file(json, parameters);
    } else {
      wrong("", "expected an object, found " + found(json));
    }
    if (!errors_.empty()) return errors_;
    return parameters;
  }

 private:
  void wrong(std::string where, std::string message) {
    errors_.push_back(make_error(Code::M02, std::move(message),
                                 fmt::format("see tools/schema/{}.schema.json", kFormat),
                                 {.file = std::string(file_), .where = std::move(where)}));
  }

  void check_keys(const Json& object, const std::string& place,
                  const std::set<std::string>& known) {
    for (const auto& [key, value] : object.items()) {
      if (!known.contains(key)) {
        wrong(place + "/" + key.substr(0, kShown),
              fmt::format("an unknown key; there are {}", fmt::join(known, ", ")));
      }
    }
  }

  void read_file(const Json& json, SimulationParameters& parameters) {
    if (json.value("format", Json()) != kFormat) {
      wrong("/format",
            fmt::format("expected \"{}\", found {}", kFormat, found(json.value("format", Json()))));
    }
    if (json.value("version", Json()) != 1) {
      wrong("/version", "expected 1, found " + found(json.value("version", Json())));
    }
    check_keys(json, "",
               {"format", "version", "name", "source", "hop_us", "threadblocks",
                "in_network_efficiency", "protocols"});
    parameters.name = text(json, "name").value_or("custom");
    parameters.source = text(json, "source").value_or("");
    read_number(json, "", "hop_us", 0, 1e9, false, parameters.hop_us);
    read_number(json, "", "threadblocks", 1, kMost, true, parameters.threadblocks);
    read_number(json, "", "in_network_efficiency", 1e-6, 1, false,
                parameters.in_network_efficiency);
    if (!json.contains("protocols")) return;
    const Json& protocols = json["protocols"];
    if (!protocols.is_object()) {
      return wrong("/protocols", "expected an object, found " + found(protocols));
    }
    check_keys(protocols, "/protocols", {"Simple", "LL", "LL128"});
    for (const auto& [key, into] :
         {std::pair("Simple", &parameters.simple), std::pair("LL", &parameters.ll),
          std::pair("LL128", &parameters.ll128)}) {
      if (protocols.contains(key)) read_protocol(protocols[key], key, *into);
    }
  }

  std::optional<std::string> text(const Json& json, const char* key) {
    if (!json.contains(key)) return std::nullopt;
    if (json[key].is_string()) return json[key].get<std::string>();
    wrong(std::string("/") + key, "expected a text, found " + found(json[key]));
    return std::nullopt;
  }

  void read_protocol(const Json& json, const std::string& name, ProtocolParameters& into) {
    const std::string place = "/protocols/" + name;
    if (!json.is_object()) return wrong(place, "expected an object, found " + found(json));
    std::set<std::string> known = {"slots"};
    for (const NumberField& field : kNumbers) known.insert(field.key);
    check_keys(json, place, known);
    for (const NumberField& field : kNumbers) {
      read_number(json, place, field.key, field.least, field.most, field.unlimited,
                  into.*field.value);
    }
    if (!json.contains("slots")) return;
    const Json& slots = json["slots"];
    if (slots.is_number_integer() && slots >= 1 && slots <= 1024) {
      into.slots = slots.get<std::int32_t>();
    } else {
      wrong(place + "/slots", "expected an integer from 1 to 1024, found " + found(slots));
    }
  }

  void read_number(const Json& json, const std::string& place, const char* key, double least,
                   double most, bool unlimited, double& into) {
    if (!json.contains(key)) return;
    const Json& value = json[key];
    if (unlimited && value.is_null()) {
      into = std::numeric_limits<double>::infinity();
    } else if (value.is_number() && value >= least && value <= most) {
      into = value.get<double>();
    } else {
      wrong(place + "/" + key, fmt::format("expected a number from {} to {}{}, found {}", least,
                                           most, unlimited ? " or null" : "", found(value)));
    }
  }

  std::string_view file_;
  Diagnostics errors_;
};

}  // namespace

Expected<SimulationParameters> parse_simulation_parameters(std::string_view json,
                                                           std::string_view file) {
  return ParameterReader(file).read(json);
}

SimulationParameters with_buffers(SimulationParameters parameters, std::int64_t buffer_bytes) {
  if (buffer_bytes == 0) return parameters;
  parameters.simple.pass_bytes *=
      static_cast<double>(buffer_bytes) / static_cast<double>(kDefaultBufferBytes);
  return parameters;
}

std::vector<std::string> simulation_gpus() {
  std::vector<std::string> names;
  for (const simulate::GpuParameters& gpu : simulate::gpu_parameters())
    names.emplace_back(gpu.name);
  names.emplace_back(SimulationParameters{}.name);
  return names;
}

Expected<SimulationParameters> find_simulation_parameters(std::string_view name) {
  const std::string wanted = lower_case(name);
  if (wanted == SimulationParameters{}.name) return SimulationParameters{};
  for (const simulate::GpuParameters& gpu : simulate::gpu_parameters()) {
    if (gpu.name == wanted) return parse_simulation_parameters(gpu.json, gpu.name);
  }
  return make_error(
      Code::M03, fmt::format("there are no parameters for a GPU \"{}\"", name.substr(0, kShown)),
      fmt::format("there are {}; others come from a file", fmt::join(simulation_gpus(), ", ")));
}

}  // namespace forestcoll
