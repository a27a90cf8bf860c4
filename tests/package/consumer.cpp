// Uses the whole library from outside: from a topology's text to the schedule that the program
// makes.
#include <forestcoll/compile.hpp>
#include <forestcoll/topology.hpp>
#include <forestcoll/topology_text.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

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
  auto parsed = forestcoll::parse_topology(text, argv[1]);
  if (!parsed) return fail(parsed.errors());
  const auto fabric = make_fabric(std::move(parsed->topology), forestcoll::metadata_of(text));
  if (!fabric) return fail(fabric.errors());
  const auto compiled = compile(*fabric, {});
  if (!compiled) return fail(compiled.errors());
  if (!compiled->verdict.ok) return fail(compiled->verdict.findings);
  std::cout << compiled->text;
}
