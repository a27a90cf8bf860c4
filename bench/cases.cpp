#include "cases.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "forestcoll/generate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::bench {
namespace {

using Json = nlohmann::json;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "forestcoll_bench: %s\n", why.c_str());
  std::exit(2);
}

template <class T>
T value_of(Expected<T> result, const std::string& name) {
  if (!result) give_up(name + ": " + result.errors().front().message);
  return *std::move(result);
}

When when(const Json& text) {
  if (text == "always") return When::always;
  if (text == "large") return When::large;
  if (text == "never") return When::never;
  give_up("cases.json: expected always, large or never, found " + text.dump());
}

Case read_case(const Json& entry) {
  const auto optimum = parse_ratio(entry.at("allgather_gbps"));
  if (!optimum) give_up("cases.json: no fraction: " + entry.at("allgather_gbps").dump());
  return {.name = entry.at("name"),
          .generator = entry.at("fabric"),
          .parameters = entry.at("parameters"),
          .failures = {.drop = entry.value("drop", std::vector<std::string>()),
                       .derate = entry.value("derate", std::vector<std::string>())},
          .allgather = *optimum,
          .rate = when(entry.at("rate")),
          .pack = when(entry.at("pack")),
          .generic = when(entry.at("generic")),
          .yardstick = when(entry.at("yardstick"))};
}

std::vector<Case> read_cases() {
  std::ifstream file(FORESTCOLL_BENCH_CASES);
  std::vector<Case> cases;
  try {
    const Json document = Json::parse(file);
    for (const Json& entry : document.at("cases")) cases.push_back(read_case(entry));
  } catch (const Json::exception& error) {
    give_up(std::string("cases.json: ") + error.what());
  }
  if (cases.empty()) give_up("cases.json: no cases");
  return cases;
}

Network make_network(const Case& definition) {
  const std::string& name = definition.name;
  const auto document = value_of(generate(definition.generator, definition.parameters), name);
  const auto parsed = value_of(parse_topology(to_topology_json(document), name), name);
  const auto degraded = value_of(degrade(parsed.topology, definition.failures), name);
  return value_of(to_digraph(degraded.topology), name);
}

}  // namespace

std::span<const Case> all_cases() {
  static const std::vector<Case> cases = read_cases();
  return cases;
}

const Network& Fabric::network() {
  if (!network_) {
    network_ = make_network(definition_);
    weights_ = uniform_weights(*network_);
  }
  return *network_;
}

const Weights& Fabric::weights() {
  static_cast<void>(network());  // makes them
  return weights_;
}

const Scaling& Fabric::scaling() {
  if (!scaling_) scaling_ = scale_to_optimum(network(), optimal_rate(network(), weights()));
  return *scaling_;
}

}  // namespace forestcoll::bench
