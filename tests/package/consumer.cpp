// Uses the whole library from outside: from a topology's text to all that the program makes of it.
//
//   consumer TOPOLOGY DIRECTORY      DIRECTORY/<collective>.<format> for each
#include <forestcoll/collective.hpp>
#include <forestcoll/compile.hpp>
#include <forestcoll/topology.hpp>
#include <forestcoll/topology_text.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

namespace {

using forestcoll::Collective;
using forestcoll::Format;

constexpr std::pair<Format, const char*> kFormats[] = {
    {Format::msccl, "msccl"},           {Format::mscclpp, "mscclpp"},
    {Format::forest, "forest"},         {Format::forest_symmetric, "forest-symmetric"},
    {Format::forest_xml, "forest-xml"}, {Format::dot, "dot"},
};

int fail(const forestcoll::Diagnostics& errors) {
  for (const auto& error : errors) std::cerr << to_string(error) << "\n";
  return 1;
}

// What the program makes where nothing else is asked for.
int write(const forestcoll::Fabric& fabric, Collective collective, Format format,
          const std::string& file) {
  forestcoll::CompileOptions options;
  options.synthesis.collective = collective;
  options.format = format;
  const auto compiled = compile(fabric, options);
  if (!compiled) return fail(compiled.errors());
  if (!compiled->verdict.ok) return fail(compiled->verdict.findings);
  std::ofstream(file) << compiled->text;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream file(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto parsed = forestcoll::parse_topology(text, argv[1]);
  if (!parsed) return fail(parsed.errors());
  const auto fabric = make_fabric(std::move(parsed->topology), forestcoll::metadata_of(text));
  if (!fabric) return fail(fabric.errors());
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
    for (const auto& [format, name] : kFormats) {
      const std::string path =
          std::string(argv[2]) + "/" + std::string(to_string(collective)) + "." + name;
      if (const int status = write(*fabric, collective, format, path); status != 0) return status;
    }
  }
}
