#include "forest/read_symmetry.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace forestcoll::emit {
namespace {

// The exponents of an element stand side by side in so many bits.
constexpr int kMaxBits = 32;

std::size_t at(Name name) {
  return static_cast<std::size_t>(name);
}

class SymmetryMaker {
 public:
  explicit SymmetryMaker(const NamedNodes& named) : named_(named) {}

  std::optional<Symmetry> make(const std::vector<DocumentGenerator>& generators) {
    std::vector<Symmetry::Generator> made;
    int bits = 0;
    for (const DocumentGenerator& generator : generators) {
      if (generator.order < 1 || generator.order >= std::int64_t{1} << 31) {
        return fail("expected a positive order below 2^31, found " +
                    std::to_string(generator.order));
      }
      made.push_back(identity(static_cast<std::int32_t>(generator.order)));
      if (!turn(generator, made.back())) return std::nullopt;
      bits += Symmetry::width(made.back());
    }
    if (bits > kMaxBits) return fail("more images than 2^32");
    for (std::size_t a = 0; a < made.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (!commute(made[a], made[b])) return fail("two generators do not commute");
      }
    }
    return Symmetry(std::move(made));
  }

  std::string flaw;

 private:
  std::nullopt_t fail(std::string why) {
    flaw = std::move(why);
    return std::nullopt;
  }

  [[nodiscard]] Symmetry::Generator identity(std::int32_t order) const {
    Symmetry::Generator generator{order, {}, {}};
    for (std::size_t v = 0; v < named_.topology.nodes.size(); ++v) {
      generator.nodes.push_back(NodeId(v));
    }
    std::size_t ranks = 0;
    for (const Rank rank : named_.ranks) ranks += rank.valid() ? 1 : 0;
    for (std::size_t r = 0; r < ranks; ++r) generator.ranks.push_back(Rank(r));
    return generator;
  }

  // Each node once, ranks to ranks, and all back at home after `order` steps.
  bool turn(const DocumentGenerator& written, Symmetry::Generator& generator) {
    std::vector<bool> met(named_.nodes.size(), false);
    for (const std::vector<Name>& cycle : written.cycles) {
      if (cycle.empty() || written.order % static_cast<std::int64_t>(cycle.size()) != 0) {
        fail("a cycle of " + std::to_string(cycle.size()) + " nodes does not come round in " +
             std::to_string(written.order) + " steps");
        return false;
      }
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        const std::size_t from = at(cycle[i]), to = at(cycle[(i + 1) % cycle.size()]);
        if (met[from]) {
          fail("a node stands in its cycles twice");
          return false;
        }
        met[from] = true;
        if (named_.ranks[from].valid() != named_.ranks[to].valid() || type(from) != type(to)) {
          fail("a node moves to the place of one of another kind");
          return false;
        }
        generator.nodes[named_.nodes[from]] = named_.nodes[to];
        if (named_.ranks[from].valid()) generator.ranks[named_.ranks[from]] = named_.ranks[to];
      }
    }
    return true;
  }

  [[nodiscard]] NodeType type(std::size_t name) const {
    return named_.topology.nodes[named_.nodes[name]].type;
  }

  [[nodiscard]] static bool commute(const Symmetry::Generator& a, const Symmetry::Generator& b) {
    for (std::size_t v = 0; v < a.nodes.size(); ++v) {
      if (a.nodes[b.nodes[NodeId(v)]] != b.nodes[a.nodes[NodeId(v)]]) return false;
    }
    return true;
  }

  const NamedNodes& named_;
};

}  // namespace

std::optional<Symmetry> make_symmetry(const std::vector<DocumentGenerator>& generators,
                                      const NamedNodes& named, std::string& flaw) {
  SymmetryMaker maker(named);
  auto symmetry = maker.make(generators);
  flaw = std::move(maker.flaw);
  return symmetry;
}

}  // namespace forestcoll::emit
