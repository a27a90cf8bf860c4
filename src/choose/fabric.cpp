#include "forestcoll/fabric.hpp"

#include <utility>

namespace forestcoll {

Expected<Fabric> make_fabric(Topology topology, const Metadata& metadata) {
  ChosenGpu gpu = choose_gpu(topology, metadata);
  return make_fabric(std::move(topology), std::move(gpu));
}

Expected<Fabric> make_fabric(Topology topology, ChosenGpu gpu) {
  auto network = to_digraph(topology);
  if (!network) return network.errors();
  return Fabric{std::move(topology), *std::move(network), std::move(gpu)};
}

}  // namespace forestcoll
