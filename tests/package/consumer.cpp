// Uses the whole library from outside: topology, rate, schedule, text, verdict.
#include <forestcoll/emit.hpp>
#include <forestcoll/network.hpp>
#include <forestcoll/schedule.hpp>
#include <forestcoll/synthesize.hpp>
#include <forestcoll/topology.hpp>
#include <forestcoll/verify.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

int fail(const forestcoll::Diagnostics& errors) {
  for (const auto& error : errors) std::cerr << to_string(error) << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto parsed = forestcoll::parse_topology(text, argv[1]);
  if (!parsed) return fail(parsed.errors());
  const auto network = to_digraph(parsed->topology);
  if (!network) return fail(network.errors());
  const auto synthesis = synthesize(*network, {});
  if (!synthesis) return fail(synthesis.errors());
  const auto schedule = lower(synthesis->forest, {});
  if (!schedule) return fail(schedule.errors());
  const auto xml = to_msccl_xml(*schedule, synthesis->forest, parsed->topology, {});
  const auto verdict = forestcoll::verify(xml, "consumer.xml", &parsed->topology, {});
  if (!verdict) return fail(verdict.errors());
  if (!verdict->ok) return fail(verdict->findings);
  std::cout << parsed->topology.name << ": allreduce at " << synthesis->forest.algbw.to_string()
            << " GB/s\n";
  return synthesis->forest.algbw == synthesis->forest.optimum ? 0 : 1;
}
