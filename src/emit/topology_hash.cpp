// Numbers are hashed byte by byte from the lowest, and texts with their length in front, so that
// different contents cannot run together into the same bytes.
#include "emit/topology_hash.hpp"

#include <string_view>

namespace forestcoll::emit {
namespace {

class Fnv1a {
 public:
  void add(std::int64_t number) {
    auto bits = static_cast<std::uint64_t>(number);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) add_byte(bits & 0xff);
  }
  void add(const Ratio& ratio) {
    add(ratio.num());
    add(ratio.den());
  }
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint64_t topology_hash(const Topology& topology) {
  Fnv1a hash;
  hash.add(static_cast<std::int64_t>(topology.nodes.size()));
  for (const TopologyNode& node : topology.nodes) {
    hash.add(node.id);
    hash.add(node.box);
    hash.add(static_cast<std::int64_t>(node.type));
    hash.add((node.multicast ? 1 : 0) + (node.reduce ? 2 : 0) + (node.enabled ? 4 : 0) +
             (node.echo ? 0 : 8));
    hash.add(node.weight);
  }
  hash.add(static_cast<std::int64_t>(topology.links.size()));
  for (const TopologyLink& link : topology.links) {
    hash.add(link.src.value);
    hash.add(link.dst.value);
    hash.add(link.bandwidth);
    hash.add(link.latency.value_or(Ratio(0)));
    hash.add((link.full_duplex ? 1 : 0) + (link.enabled ? 2 : 0));
  }
  for (const NodeId rank : topology.ranks) hash.add(rank.value);
  return hash.value();
}

}  // namespace forestcoll::emit
