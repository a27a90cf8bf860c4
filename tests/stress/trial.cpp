#include "stress/trial.hpp"

#include <ctime>
#include <utility>

#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/verify.hpp"
#include "support/oracles.hpp"

namespace forestcoll::stress {
namespace {

// Nodes up to which all cuts are looked at.
constexpr std::size_t kFewNodes = 12;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string find_rate_flaw(const Network& network, const Weights& weights, const Rate& rate) {
  const Ratio expected = network.graph.node_count() <= kFewNodes
                             ? test::brute_force_inverse_rate(network, weights)
                             : rate_by_bisection(network, weights);
  if (rate.inverse == expected) return {};
  return "1/x* is " + rate.inverse.to_string() + ", not " + expected.to_string();
}

// The search for lower trees takes most of the time; it is not what may go wrong here most. The
// greatest effort takes minutes and makes the same moves.
Effort effort_of(std::uint64_t seed) {
  return seed / kKinds.size() % 2 == 1 ? Effort::normal : Effort::fast;
}

// Only large numbers are a reason not to try, and only large capacities make large numbers.
Attempt refused(Attempt attempt, const Diagnostic& diagnostic) {
  attempt.refusal = to_string(diagnostic);
  if (diagnostic.code != Code::E14) attempt.flaw = attempt.refusal;
  return attempt;
}

class Trial {
 public:
  Trial(const Network& network, std::uint64_t seed, std::vector<Attempt>& attempts)
      : network_(network), seed_(seed), attempts_(attempts) {}

  void run(const std::string& name, const Weights& weights) {
    const Rate rate = optimal_rate(network_, weights);
    if (std::string flaw = find_rate_flaw(network_, weights, rate); !flaw.empty()) {
      attempts_.push_back({.what = name + ", rate", .flaw = std::move(flaw)});
      return;
    }
    pack_both_ways(name + ", k optimal", weights, scale_to_optimum(network_, rate));
    const auto k = static_cast<std::int64_t>(1 + seed_ / kKinds.size() % 7);
    const std::string at = name + ", k " + std::to_string(k);
    const auto scaling = scale_to_k(network_, weights, rate, k);
    if (!scaling) {
      attempts_.push_back(refused({.what = at}, scaling.errors().front()));
      return;
    }
    if (scaling->scale < Ratio(k) * rate.inverse) {
      attempts_.push_back({.what = at, .flaw = "a scale below the bound"});
    }
    pack_both_ways(at, weights, *scaling);
  }

 private:
  void pack_both_ways(const std::string& name, const Weights& weights, const Scaling& scaling) {
    for (const bool symmetry : {true, false}) {
      Attempt attempt{.what = name + (symmetry ? ", symmetry" : ", no symmetry"),
                      .balanced = is_balanced(network_, scaling.capacity)};
      const double begin = processor_seconds();
      const auto packing =
          pack(network_, weights, scaling, {.effort = effort_of(seed_), .symmetry = symmetry});
      attempt.seconds = processor_seconds() - begin;
      if (packing) {
        attempt.flaw = find_flaw(weights, scaling, *packing, attempt.balanced);
        attempt.raise = packing->scaling.scale.to_double() / scaling.scale.to_double();
      } else {
        attempt = refused(std::move(attempt), packing.errors().front());
      }
      attempts_.push_back(std::move(attempt));
    }
  }

  [[nodiscard]] std::string find_flaw(const Weights& weights, const Scaling& asked,
                                      const Packing& packing, bool balanced) const {
    if (packing.scaling.k != asked.k) return "k became " + std::to_string(packing.scaling.k);
    if (packing.scaling.scale < asked.scale) return "claims more than the bound";
    if (balanced && packing.scaling.scale != asked.scale) {
      return "balanced, and raised from " + asked.scale.to_string() + " to " +
             packing.scaling.scale.to_string();
    }
    return test::find_forest_flaw(network_, weights, packing.scaling, packing.forest);
  }

  const Network& network_;
  std::uint64_t seed_;
  std::vector<Attempt>& attempts_;
};

}  // namespace

bool is_balanced(const Network& network, const IdVector<ArcId, Capacity>& capacity) {
  std::vector<Capacity> surplus(network.graph.node_count(), 0);
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    surplus[network.graph.tail(ArcId(a)).index()] -= capacity[ArcId(a)];
    surplus[network.graph.head(ArcId(a)).index()] += capacity[ArcId(a)];
  }
  for (std::size_t v = 0; v < surplus.size(); ++v) {
    if (!network.is_compute(NodeId(v)) && surplus[v] != 0) return false;
  }
  return true;
}

std::vector<Attempt> try_fabric(Kind kind, std::uint64_t seed) {
  const Network network = random_fabric_of(kind, seed);
  std::vector<Attempt> attempts;
  Trial trial(network, seed, attempts);
  trial.run("equal shares", uniform_weights(network));
  trial.run("random shares", random_weights(network.ranks.size(), seed));
  return attempts;
}

}  // namespace forestcoll::stress
