#include "simulate/joint_source.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "simulate/model.hpp"

namespace forestcoll::simulate {
namespace {

// Puts one schedule's activities beside those that are there.
class Joiner {
 public:
  Joiner(EventGraph& all, const Fabric& fabric)
      : all_(all), fabric_(fabric), links_(fabric.capacity().size()) {}

  void add(const ClassGraph& one, std::span<const std::int32_t> link) {
    const std::vector<std::int32_t> number = numbers_of(one, link);
    const auto first = static_cast<std::int32_t>(all_.activities.size());
    const auto first_kind = static_cast<std::int32_t>(all_.kinds.size());
    for (FlowKind kind : one.graph.kinds) {
      for (LinkPart& part : kind.route) part.link = number[index(part.link)];
      fabric_.add_limits(kind.route);  // parts have none
      all_.kinds.push_back(std::move(kind));
    }
    for (Activity activity : one.graph.activities) {
      if (activity.kind >= 0) activity.kind += first_kind;
      all_.activities.push_back(activity);
    }
    for (Wait wait : one.graph.waits) {
      wait.from += first;
      wait.to += first;
      all_.waits.push_back(wait);
    }
  }

 private:
  // The whole fabric's number of each link of a graph without classes, and of each worker.
  std::vector<std::int32_t> numbers_of(const ClassGraph& one, std::span<const std::int32_t> link) {
    std::vector<std::int32_t> number(one.capacity.size(), -1);
    for (std::size_t i = 0; i < one.of_link.size(); ++i) {
      if (one.of_link[i] >= 0) number[index(one.of_link[i])] = link[i];
    }
    for (std::size_t k = 0; k < number.size(); ++k) {
      if (number[k] >= 0) continue;
      number[k] = static_cast<std::int32_t>(links_ + all_.workers.size());
      all_.workers.push_back(one.capacity[k]);
    }
    return number;
  }

  EventGraph& all_;
  const Fabric& fabric_;
  std::size_t links_;  // of the whole fabric, and limits
};

}  // namespace

double JointSource::full_pass(const SimulationParameters& parameters) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Member& member : members_) {
    least = std::min(least, member.model->full_pass(parameters) / member.share);
  }
  return least;
}

EventGraph JointSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                             double bytes) const {
  EventGraph all;
  Joiner joiner(all, fabric);
  std::map<std::pair<const Simulator::Model*, double>, ClassGraph> made;  // groups alike share one
  for (const Member& member : members_) {
    const std::pair key(member.model.get(), member.share);
    auto at = made.find(key);
    if (at == made.end()) {
      at = made.emplace(key, member.model->make_each(parameters, bytes * member.share)).first;
    }
    joiner.add(at->second, member.link);
  }
  return all;
}

}  // namespace forestcoll::simulate
