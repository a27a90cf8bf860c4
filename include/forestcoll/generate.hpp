// Named fabrics: real machines, clusters of them, and the networks of the literature.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

struct GeneratorParameter {
  std::string name;      ///< "boxes"
  std::string meaning;   ///< what it sets, with its unit
  std::string standard;  ///< the value where none is given
};

struct Generator {
  std::string name;     ///< "dgx-a100"
  std::string summary;  ///< one line
  std::vector<GeneratorParameter> parameters;
};

/// All generators, machines first, in an order of their own.
[[nodiscard]] std::vector<Generator> generators();

/// The topology file of a fabric: templates where boxes are alike, so that it stays small whatever
/// its number of GPUs; the sources of its bandwidths in `description` and `metadata`. Values are
/// as on the command line: "8", "4x4x4", "200 Gb/s", "rail". In place of a generator's name stands
/// the expression of a wiring (`make_wiring`), with the one parameter "bandwidth".
/// Errors: G01 no such generator; G02 it has no such parameter; G03 a value that cannot be; those
/// of `make_wiring`.
/// Cost: linear in the file.
[[nodiscard]] Expected<TopologyDocument> generate(
    std::string_view name, const std::map<std::string, std::string>& values = {});

}  // namespace forestcoll
