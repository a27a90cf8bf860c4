#include "forest/symmetry.hpp"

namespace forestcoll {

Symmetry::Symmetry(std::vector<Generator> generators) : generators_(std::move(generators)) {
  for (const Generator& generator : generators_) {
    size_ *= static_cast<std::size_t>(generator.order);
    nodes_.add_generator(generator.nodes, width(generator));
    ranks_.add_generator(generator.ranks, width(generator));
  }
}

int Symmetry::width(const Generator& generator) {
  return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(generator.order - 1)));
}

Element Symmetry::element(std::size_t number) const {
  Element g;
  int shift = 0;
  for (const Generator& generator : generators_) {
    const auto order = static_cast<std::size_t>(generator.order);
    g.exponents |= static_cast<std::uint32_t>(number % order) << shift;
    number /= order;
    shift += width(generator);
  }
  return g;
}

Element Symmetry::inverse(Element g) const {
  Element result;
  int shift = 0;
  for (const Generator& generator : generators_) {
    const auto order = static_cast<std::uint32_t>(generator.order);
    const auto mask = (std::uint32_t{1} << width(generator)) - 1;
    const std::uint32_t exponent = g.exponents >> shift & mask;
    result.exponents |= (order - exponent) % order << shift;
    shift += width(generator);
  }
  return result;
}

}  // namespace forestcoll
