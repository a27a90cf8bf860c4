#include <algorithm>
#include <limits>

#include "forestcoll/design_direct.hpp"

namespace forestcoll {
namespace {

using Objectives = std::vector<Ratio>;

Objectives objectives_of(const WiringFigures& f, DirectAim aim) {
  const Ratio steps(static_cast<std::int64_t>(f.steps));
  switch (aim) {
    case DirectAim::allgather:
      return {steps, f.allgather};
    case DirectAim::bfb:
      return {steps, f.bfb.value_or(Ratio(std::numeric_limits<std::int64_t>::max()))};
    case DirectAim::alltoall:
      return {steps, f.alltoall.most};
    case DirectAim::all:
      return {steps, f.allgather, f.alltoall.most};
  }
  return {};
}

bool dominates(const Objectives& a, const Objectives& b) {
  return a != b && std::ranges::equal(a, b, [](const Ratio& x, const Ratio& y) { return x <= y; });
}

}  // namespace

std::vector<bool> pareto_front(std::span<const WiringFigures> figures, DirectAim aim) {
  std::vector<Objectives> all;
  for (const WiringFigures& one : figures) all.push_back(objectives_of(one, aim));
  std::vector<bool> front;
  for (const Objectives& mine : all) {
    front.push_back(
        std::ranges::none_of(all, [&](const Objectives& other) { return dominates(other, mine); }));
  }
  return front;
}

}  // namespace forestcoll
