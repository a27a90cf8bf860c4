#include "fastest/selectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "forestcoll/topology.hpp"

namespace forestcoll::fastest {
namespace {

constexpr double kBytesPerMicrosecond = 1e3;  // at 1 GB/s
constexpr std::int64_t kKibibyte = 1024;

// Of NCCL's model: µs, and the part of a link that is data.
struct NcclCosts {
  const char *algorithm, *protocol;
  double base, per_nvlink, per_network, efficiency;
};
constexpr std::array<NcclCosts, 6> kNcclCosts = {{
    {"nccl-ring", "LL", 6.6, 0.6, 2.7, 0.5},
    {"nccl-ring", "Simple", 8.4, 3.4, 14.0, 1},
    {"double-tree", "LL", 6.8, 0.6, 5.0, 0.5},
    {"double-tree", "Simple", 8.4, 4.0, 14.0, 1},
    {"nccl-ring", "LL128", 14.0, 1.9, 4.0, 0.9375},
    {"double-tree", "LL128", 14.0, 1.25, 8.5, 0.9375},
}};

struct Size {
  double ranks = 0, boxes = 0;
};

Size size_of(const Fabric& fabric) {
  return {static_cast<double>(fabric.network.ranks.size()),
          static_cast<double>(box_count(fabric.topology))};
}

// A ring goes round once for each phase; a tree goes up and down.
double latency(const NcclCosts& costs, const Size& size, Collective collective) {
  const double phases = collective == Collective::allreduce ? 2 : 1;
  if (costs.algorithm == std::string("nccl-ring")) {
    const double network = size.boxes > 1 ? phases * size.boxes : 0;
    const double steps = phases * (size.ranks - 1);
    return costs.base + std::max(0.0, steps - network) * costs.per_nvlink +
           network * costs.per_network;
  }
  const double in_box = size.ranks / size.boxes - 1;
  return costs.base + phases * (in_box * costs.per_nvlink +
                                std::ceil(std::log2(size.boxes)) * costs.per_network);
}

// GB/s on the links; none where there is no such algorithm here.
std::optional<double> rate_of(const Contest& contest, const std::string& algorithm) {
  for (const Candidate& candidate : contest.candidates()) {
    if (candidate.algorithm == algorithm) return candidate.forest().algbw.to_double();
  }
  return std::nullopt;
}

Pick cheapest(const std::vector<NcclOption>& options, std::int64_t bytes) {
  return std::ranges::min_element(
             options, {}, [&](const NcclOption& option) { return option.microseconds(bytes); })
      ->pick;
}

std::string shots(double ranks, std::int64_t bytes) {
  const bool is_one = ranks <= 2 || (ranks <= 4 && bytes < 512 * kKibibyte) ||
                      (ranks <= 8 && bytes < 256 * kKibibyte);
  return is_one ? "one-shot" : "two-shot";
}

// What one of today's boxes has; larger fabrics that NVLink joins are none of its rule's.
constexpr double kMostRanksOfNvls = 8;

bool has_nvls(const Fabric& fabric, const Size& size) {
  const SwitchRoles roles = switch_roles(fabric.topology);
  return size.boxes == 1 && size.ranks <= kMostRanksOfNvls &&
         std::ranges::any_of(roles,
                             [](const SwitchRole& role) { return role.copies && role.combines; });
}

Pick with_nvls(std::int64_t bytes) {
  if (bytes <= 16 * kKibibyte) return {"all-pairs-once", "LL"};
  if (bytes <= 32 * kKibibyte) return {"forestcoll", "", true};
  if (bytes <= 64 * kKibibyte) return {"all-pairs", "LL"};
  return {"nvls", ""};
}

}  // namespace

double NcclOption::microseconds(std::int64_t bytes) const {
  return latency_us + static_cast<double>(bytes) / (gbs * kBytesPerMicrosecond);
}

std::vector<NcclOption> nccl_options(const Contest& contest, const Fabric& fabric,
                                     bool with_ll128) {
  const Size size = size_of(fabric);
  const std::vector<std::string> allowed = contest.protocols();
  std::vector<NcclOption> options;
  for (const NcclCosts& costs : kNcclCosts) {
    const auto rate = rate_of(contest, costs.algorithm);
    if (!rate || std::ranges::find(allowed, costs.protocol) == allowed.end()) continue;
    if (!with_ll128 && costs.protocol == std::string("LL128")) continue;
    options.push_back({{costs.algorithm, costs.protocol},
                       latency(costs, size, contest.compile().synthesis.collective),
                       *rate * costs.efficiency});
  }
  return options;
}

std::vector<Selector> selectors(const Contest& contest, const Fabric& fabric) {
  std::vector<Selector> result;
  if (contest.candidates().front().routes) {
    if (contest.of_plans()) return result;  // nothing runs it by itself there
    // Grouped sends and receives, whatever the size.
    result.push_back({kNcclPick, [](std::int64_t) { return Pick{"direct", ""}; }});
    return result;
  }
  auto options = nccl_options(contest, fabric, false);
  if (!options.empty()) {
    result.push_back({kNcclPick, [options = std::move(options)](std::int64_t bytes) {
                        return cheapest(options, bytes);
                      }});
  }
  const Size size = size_of(fabric);
  if (contest.compile().synthesis.collective == Collective::allreduce && size.boxes == 1) {
    result.push_back(
        {kMscclppPick, [ranks = size.ranks, nvls = has_nvls(fabric, size)](std::int64_t bytes) {
           return nvls ? with_nvls(bytes) : Pick{shots(ranks, bytes), ""};
         }});
  }
  return result;
}

Contest::Takes takes(const Contest& contest, const Selector& selector, std::int64_t bytes) {
  return [&contest, pick = selector.pick(bytes)](std::size_t c) {
    const bool is_protocol =
        pick.protocol.empty() || contest.contenders()[c].protocol == pick.protocol;
    const Candidate& candidate = contest.candidate(c);
    const bool has_packets = candidate.switched && candidate.switched->plan.packets;
    return candidate.algorithm == pick.algorithm && is_protocol && !candidate.is_cut &&
           has_packets == pick.packets_in_switches;
  };
}

std::vector<std::optional<Winner>> picks(Contest& contest, const Selector& selector,
                                         const std::vector<std::int64_t>& sizes,
                                         const std::vector<double>& of_interest) {
  std::vector<std::optional<Winner>> result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    result.push_back(contest.winner(sizes[i], takes(contest, selector, sizes[i]), Contest::Of::all,
                                    {.of_interest = of_interest[i]}));
  }
  return result;
}

}  // namespace forestcoll::fastest
