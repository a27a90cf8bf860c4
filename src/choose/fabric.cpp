#include "forestcoll/fabric.hpp"

#include <utility>

namespace forestcoll {

Expected<Fabric> make_fabric(Topology topology, const Metadata& metadata) {
  auto network = to_digraph(topology);
  if (!network) return network.errors();
  ChosenGpu gpu = choose_gpu(topology, metadata);
  return Fabric{std::move(topology), *std::move(network), std::move(gpu)};
}

}  // namespace forestcoll
