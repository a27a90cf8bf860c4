#include <algorithm>
#include <limits>

#include "forestcoll/design.hpp"
#include "solver/design/candidates.hpp"

namespace forestcoll {
namespace {

using solver::Objectives;

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

std::vector<bool> solver::pareto_front(const std::vector<Objectives>& all) {
  std::vector<bool> front;
  for (const Objectives& mine : all) {
    front.push_back(
        std::ranges::none_of(all, [&](const Objectives& other) { return dominates(other, mine); }));
  }
  return front;
}

std::vector<bool> pareto_front(std::span<const WiringFigures> figures, DirectAim aim) {
  std::vector<Objectives> all;
  for (const WiringFigures& one : figures) all.push_back(objectives_of(one, aim));
  return solver::pareto_front(all);
}

std::vector<bool> perhaps_on_front(std::span<const WiringFigures> figures, DirectAim aim) {
  const std::vector<bool> front = pareto_front(figures, aim);
  std::vector<WiringFigures> rivals;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (front[i]) rivals.push_back(figures[i]);
  }
  std::vector<bool> perhaps;
  for (const WiringFigures& one : figures) {
    rivals.push_back(one);
    rivals.back().alltoall.most = one.alltoall.least;
    perhaps.push_back(pareto_front(rivals, aim).back());
    rivals.pop_back();
  }
  return perhaps;
}

}  // namespace forestcoll
