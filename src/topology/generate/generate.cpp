#include "forestcoll/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/nearest.hpp"
#include "topology/generate/machine.hpp"
#include "topology/generate/makers.hpp"
#include "topology/generate/parameters.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

using topology::Maker;

std::vector<Maker> all_makers() {
  std::vector<Maker> all = topology::box_makers();
  for (auto family :
       {topology::lattice_makers, topology::network_makers, topology::digraph_makers}) {
    auto makers = family();
    std::ranges::move(makers, std::back_inserter(all));
  }
  return all;
}

// A wiring by its expression, which has no name among the generators.
Expected<TopologyDocument> generate_wiring(const std::string& expression,
                                           const std::map<std::string, std::string>& values) {
  const Generator generator{expression, "", {{"bandwidth", "of each link, per direction", "1"}}};
  topology::Parameters parameters(generator, values);
  const topology::NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  const auto wiring = make_wiring(expression);
  Diagnostics errors = parameters.errors();
  if (!wiring) errors.insert(errors.end(), wiring.errors().begin(), wiring.errors().end());
  if (!errors.empty()) return errors;
  return to_document(*wiring, bandwidth.text);
}

Diagnostic unknown(std::string_view name, const std::vector<Maker>& makers) {
  const auto name_of_maker = [](const Maker& maker) -> const auto& {
    return maker.generator.name;
  };
  const std::string meant = nearest_word(name, makers, name_of_maker);
  return make_error(Code::G01, fmt::format("no fabric is called {}", topology::quote(name)),
                    meant.empty() ? "`generators()` names them all."
                                  : fmt::format("Did you mean {}?", topology::quote(meant)));
}

}  // namespace

std::vector<Generator> generators() {
  std::vector<Generator> all;
  for (Maker& maker : all_makers()) all.push_back(std::move(maker.generator));
  return all;
}

Expected<TopologyDocument> generate(std::string_view name,
                                    const std::map<std::string, std::string>& values) {
  if (looks_like_wiring(name)) return generate_wiring(std::string(name), values);
  const auto makers = all_makers();
  const auto maker = std::ranges::find_if(
      makers, [&](const Maker& candidate) { return candidate.generator.name == name; });
  if (maker == makers.end()) return unknown(name, makers);
  topology::Parameters parameters(maker->generator, values);
  TopologyDocument document = maker->make(parameters);
  if (!parameters.ok()) return parameters.errors();
  return document;
}

Expected<GeneratedMachine> generate_machine(std::string_view text, std::string_view file,
                                            const std::map<std::string, std::string>& values) {
  topology::Findings findings(file);
  const auto machine = topology::read_machine(text, findings);
  if (!machine) return findings.all();
  const Maker maker =
      machine->box ? topology::maker_of(*machine->box) : topology::maker_of(*machine->torus);
  topology::Parameters parameters(maker.generator, values);
  TopologyDocument document = maker.make(parameters);
  if (!parameters.ok()) return parameters.errors();
  return GeneratedMachine{std::move(document), findings.warnings()};
}

}  // namespace forestcoll
