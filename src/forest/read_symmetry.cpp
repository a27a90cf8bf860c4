#include "forest/read_symmetry.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace forestcoll::forest {
namespace {

// The exponents of an element stand side by side in so many bits.
constexpr int kMaxBits = 32;

std::size_t at(audit::Name name) {
  return static_cast<std::size_t>(name);
}

class SymmetryMaker {
 public:
  SymmetryMaker(const DocumentNodes& nodes, const Topology& topology, std::string_view file,
                const std::string& where)
      : nodes_(nodes), topology_(topology), file_(file), where_(where) {}

  Expected<Symmetry> make(const std::vector<audit::Generator>& generators) {
    std::vector<Symmetry::Generator> made;
    int bits = 0;
    for (const audit::Generator& generator : generators) {
      if (generator.order < 1 || generator.order >= std::int64_t{1} << 31) {
        return flaw("expected a positive order below 2^31, found " +
                    std::to_string(generator.order));
      }
      made.push_back(identity(static_cast<std::int32_t>(generator.order)));
      if (const auto done = turn(generator, made.back()); !done) return done.errors();
      bits += Symmetry::width(made.back());
    }
    if (bits > kMaxBits) return flaw("more images than 2^32");
    for (std::size_t a = 0; a < made.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (!commute(made[a], made[b])) return flaw("two generators do not commute");
      }
    }
    return Symmetry(std::move(made));
  }

 private:
  [[nodiscard]] Diagnostic flaw(std::string message) const {
    return flaw_of_forest(Code::F02, file_, where_, std::move(message));
  }

  [[nodiscard]] Symmetry::Generator identity(std::int32_t order) const {
    Symmetry::Generator generator{order, {}, {}};
    for (std::size_t v = 0; v < topology_.nodes.size(); ++v) {
      generator.nodes.push_back(NodeId(v));
    }
    std::size_t ranks = 0;
    for (const Rank rank : nodes_.rank_of) ranks += rank.valid() ? 1 : 0;
    for (std::size_t r = 0; r < ranks; ++r) generator.ranks.push_back(Rank(r));
    return generator;
  }

  // Each node once, ranks to ranks, and all back at home after `order` steps.
  Expected<void> turn(const audit::Generator& written, Symmetry::Generator& generator) {
    std::vector<bool> met(nodes_.node.size(), false);
    for (const std::vector<audit::Name>& cycle : written.cycles) {
      if (cycle.empty() || written.order % static_cast<std::int64_t>(cycle.size()) != 0) {
        return flaw("a cycle of " + std::to_string(cycle.size()) +
                    " nodes does not come round in " + std::to_string(written.order) + " steps");
      }
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        const std::size_t from = at(cycle[i]), to = at(cycle[(i + 1) % cycle.size()]);
        if (met[from]) return flaw("a node stands in its cycles twice");
        met[from] = true;
        if (nodes_.rank_of[from].valid() != nodes_.rank_of[to].valid() || type(from) != type(to)) {
          return flaw("a node moves to the place of one of another kind");
        }
        generator.nodes[nodes_.node[from]] = nodes_.node[to];
        if (nodes_.rank_of[from].valid())
          generator.ranks[nodes_.rank_of[from]] = nodes_.rank_of[to];
      }
    }
    return {};
  }

  [[nodiscard]] NodeType type(std::size_t name) const {
    return topology_.nodes[nodes_.node[name]].type;
  }

  [[nodiscard]] static bool commute(const Symmetry::Generator& a, const Symmetry::Generator& b) {
    for (std::size_t v = 0; v < a.nodes.size(); ++v) {
      if (a.nodes[b.nodes[NodeId(v)]] != b.nodes[a.nodes[NodeId(v)]]) return false;
    }
    return true;
  }

  const DocumentNodes& nodes_;
  const Topology& topology_;
  std::string_view file_;
  const std::string& where_;
};

}  // namespace

Expected<Symmetry> make_symmetry(const std::vector<audit::Generator>& generators,
                                 const DocumentNodes& nodes, const Topology& topology,
                                 std::string_view file, const std::string& where) {
  return SymmetryMaker(nodes, topology, file, where).make(generators);
}

}  // namespace forestcoll::forest
