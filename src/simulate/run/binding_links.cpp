#include "simulate/run/binding_links.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace forestcoll::simulate {
namespace {

class BindingLinks {
 public:
  BindingLinks(std::span<const double> capacity, std::span<const FlowKind> kinds)
      : capacity_(capacity), kinds_(kinds), crossing_(capacity.size()) {
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      for (const LinkPart& part : kinds[k].route) {
        auto& crossing = crossing_[index(part.link)];
        const auto kind = static_cast<std::int32_t>(k);
        if (crossing.empty() || crossing.back() != kind) crossing.push_back(kind);
      }
    }
  }

  std::vector<char> find() const {
    std::vector<char> binding(capacity_.size(), 1);
    for (std::size_t l = 0; l < capacity_.size(); ++l) {
      binding[l] = is_covered(static_cast<std::int32_t>(l)) ? 0 : 1;
    }
    return binding;
  }

 private:
  [[nodiscard]] bool is_covered(std::int32_t link) const {
    const auto& crossing = crossing_[index(link)];
    if (crossing.empty()) return false;
    return std::ranges::any_of(kinds_[index(crossing.front())].route, [&](const LinkPart& other) {
      return other.link != link && covers(other.link, link);
    });
  }

  // Whether `link` is never full before `other`; of two that are always full together, the first.
  [[nodiscard]] bool covers(std::int32_t other, std::int32_t link) const {
    const auto& crossing = crossing_[index(link)];
    bool is_less = crossing.size() < crossing_[index(other)].size();
    for (const std::int32_t k : crossing) {
      const double here = load(k, link), there = load(k, other);
      if (here > there) return false;
      is_less = is_less || here < there;
    }
    return is_less || other < link;
  }

  // Of a flow of one byte per second, as a part of what the link carries.
  [[nodiscard]] double load(std::int32_t kind, std::int32_t link) const {
    double all = 0;
    for (const LinkPart& part : kinds_[index(kind)].route) {
      if (part.link == link) all += part.part;
    }
    return all / capacity_[index(link)];
  }

  std::span<const double> capacity_;
  std::span<const FlowKind> kinds_;
  std::vector<std::vector<std::int32_t>> crossing_;  // kinds, by link
};

}  // namespace

std::vector<char> binding_links(std::span<const double> capacity, std::span<const FlowKind> kinds) {
  return BindingLinks(capacity, kinds).find();
}

}  // namespace forestcoll::simulate
