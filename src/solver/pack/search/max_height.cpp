// Lower trees at lower rates: what is found at a height, and at all lower ones.
#include "solver/pack/search/max_height.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "solver/pack/search/low_forests.hpp"

namespace forestcoll {
namespace {

Diagnostic impossible(std::int32_t max_height, std::int32_t least) {
  return make_error(Code::E16,
                    "no tree of height " + std::to_string(max_height) +
                        " reaches all ranks: the farthest is " + std::to_string(least) +
                        " hops away",
                    "allow a height of " + std::to_string(least) + " or more");
}

Diagnostic worth_nothing(std::int32_t max_height) {
  return make_error(Code::R01,
                    "no trees of height " + std::to_string(max_height) +
                        " are found that are as fast as others that are known",
                    "allow higher trees");
}

}  // namespace

Expected<Packing> pack_within_height(const Network& network, const Weights& weights,
                                     const Scaling& scaling, std::int32_t max_height,
                                     const PackOptions& options, const OtherNumbers& others) {
  solver::LowForests forests(network, weights, scaling, options, others);
  if (max_height < forests.least()) return impossible(max_height, forests.least());
  auto done = forests.find_at(max_height);
  for (std::int32_t height = max_height - 1;
       done && forests.is_small() && !forests.is_at_optimum(max_height) &&
       height >= forests.least();
       --height) {
    done = forests.find_low(height, max_height);
  }
  auto best = forests.known().take_within(max_height);
  const bool is_worth = best && forests.is_within_scale(best->scaling);
  if (is_worth) return *std::move(best);
  if (best || done) return worth_nothing(max_height);
  return done.errors();
}

Expected<std::vector<HeightAtRate>> rate_against_height(const Network& network,
                                                        const Weights& weights,
                                                        const Scaling& scaling,
                                                        const PackOptions& options,
                                                        const OtherNumbers& others) {
  solver::LowForests forests(network, weights, scaling, options, others);
  constexpr std::int32_t kAnyHeight = std::numeric_limits<std::int32_t>::max();
  auto done = forests.find_any(kAnyHeight);
  const Packing* fastest = forests.known().best_within(kAnyHeight);
  if (fastest == nullptr) return done.errors();
  for (std::int32_t height = fastest->forest.max_height() - 1; done && height >= forests.least();
       --height) {
    done = forests.find_at(height);
    if (!done && !was_stopped(done.errors())) return done.errors();
    const Packing* found = forests.known().best_within(height);
    if (found != nullptr && !forests.is_small()) height = found->forest.max_height();
  }
  return forests.known().rows();
}

}  // namespace forestcoll
