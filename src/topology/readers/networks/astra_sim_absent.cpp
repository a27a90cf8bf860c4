// In place of the reader of ASTRA-sim's files where yaml-cpp is left out (-DFORESTCOLL_YAML=OFF).
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {

std::optional<Graph> read_astra_sim(const Context& context) {
  context.findings.error(Code::I05, "", "this program was built without yaml-cpp, which reads YAML",
                         "Build it with -DFORESTCOLL_YAML=ON.");
  return std::nullopt;
}

}  // namespace forestcoll::importing
