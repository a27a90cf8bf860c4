#include "audit/forest/images.hpp"

#include <fmt/format.h>

#include <utility>

#include "forestcoll/ratio.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMaxTotal = std::int64_t{1} << 60;

}  // namespace

Images::Images(const ForestFile& forest, const TreeList& list, const std::string& where,
               Findings& findings) {
  std::int64_t total = 1;
  for (std::size_t g = 0; g < list.symmetry.size(); ++g) {
    const Generator& generator = list.symmetry[g];
    const auto fail = [&](std::string message) {
      findings.add(Rule::attribute, fmt::format("/symmetry/{}/{}", where, g), std::move(message));
    };
    std::vector<Name> image(forest.names.size());
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<Name>(i);
    if (generator.order < 1 || generator.order > kMaxTotal / total) {
      fail(fmt::format("order: expected a positive integer within exact arithmetic, found {}",
                       generator.order));
      orders_.push_back(1);
      images_.push_back(std::move(image));
      continue;
    }
    total *= generator.order;
    std::vector<bool> seen(forest.names.size(), false);
    for (const std::vector<Name>& cycle : generator.cycles) {
      if (cycle.empty() || generator.order % static_cast<std::int64_t>(cycle.size()) != 0) {
        fail(fmt::format("a cycle of {} nodes does not come round in {} steps", cycle.size(),
                         generator.order));
      }
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        const auto at = static_cast<std::size_t>(cycle[i]);
        if (seen[at]) fail(fmt::format("{} stands twice", forest.names[at]));
        seen[at] = true;
        image[at] = cycle[(i + 1) % cycle.size()];
      }
    }
    orders_.push_back(generator.order);
    images_.push_back(std::move(image));
  }
}

std::optional<std::vector<std::int64_t>> Images::spread(
    std::vector<std::int64_t> amount,
    const std::function<std::size_t(std::size_t generator, std::size_t thing)>& image) const {
  std::vector<std::size_t> cycle;
  for (std::size_t g = 0; g < orders_.size(); ++g) {
    std::vector<bool> seen(amount.size(), false);
    for (std::size_t i = 0; i < amount.size(); ++i) {
      if (seen[i]) continue;
      cycle.clear();
      Int128 sum = 0;
      for (std::size_t at = i; !seen[at]; at = image(g, at)) {
        seen[at] = true;
        cycle.push_back(at);
        sum += amount[at];
      }
      if (sum > kMaxTotal) return std::nullopt;
      // The order is this many rounds of the cycle.
      sum *= orders_[g] / static_cast<std::int64_t>(cycle.size());
      if (sum > kMaxTotal) return std::nullopt;
      for (const std::size_t at : cycle) amount[at] = static_cast<std::int64_t>(sum);
    }
  }
  return amount;
}

}  // namespace forestcoll::audit
