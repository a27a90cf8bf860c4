// What an operation has to be, however it was written.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "forestcoll/codes.hpp"
#include "forestcoll/job.hpp"

namespace forestcoll {
namespace {

constexpr std::int64_t kMostPriority = 1000;

ErrorPlace below(const ErrorPlace& place, const std::string& step) {
  return {place.file, place.where + step};
}

Expected<void> check_groups(const JobOperation& operation, std::size_t ranks,
                            const ErrorPlace& place) {
  std::vector<bool> seen(ranks, false);
  std::size_t largest = 0;
  for (std::size_t g = 0; g < operation.groups.size(); ++g) {
    const auto& group = operation.groups[g];
    largest = std::max(largest, group.size());
    if (group.empty()) {
      return make_error(Code::O05, "a group has no ranks", "name its ranks, or leave it out",
                        below(place, fmt::format("/groups/{}", g)));
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      const ErrorPlace here = below(place, fmt::format("/groups/{}/{}", g, i));
      const Rank r = group[i];
      if (!r.valid() || r.index() >= ranks) {
        return make_error(Code::O03,
                          fmt::format("expected a rank from 0 to {}, found {}", ranks - 1, r.value),
                          "ranks count the GPUs of the fabric in rank order", here);
      }
      if (seen[r.index()]) {
        const bool in_this = std::ranges::count(group, r) > 1;
        return make_error(Code::O04,
                          fmt::format("rank {} is {}", r.value,
                                      in_this ? "twice in a group" : "in two groups at once"),
                          "a rank is in one group of an operation; what else it does at the same "
                          "time is another operation",
                          here);
      }
      seen[r.index()] = true;
    }
  }
  if (largest >= 2) return {};
  return make_error(Code::O05, "no group has two ranks: there is nothing to move",
                    "name at least two ranks in a group", below(place, "/groups"));
}

Expected<void> check_root(const JobOperation& operation, const ErrorPlace& place) {
  const std::string_view name = to_string(operation.collective);
  const ErrorPlace here = below(place, "/root");
  if (!is_rooted(operation.collective)) {
    if (!operation.root) return {};
    return make_error(Code::O07, fmt::format("{} has no root", name), "leave the root out", here);
  }
  if (!operation.root) {
    return make_error(Code::O07, fmt::format("{} needs a root", name),
                      "give the root's rank within each group, such as 0", here);
  }
  const std::size_t smallest = std::ranges::min_element(operation.groups, {}, [](const auto& g) {
                                 return g.size();
                               })->size();
  if (*operation.root < smallest) return {};
  return make_error(
      Code::O07,
      fmt::format("the root has rank {}, and a group has {} members", *operation.root, smallest),
      "a root is given by its rank within the group, from 0", here);
}

bool has_other_size(const JobOperation& operation) {
  return std::ranges::any_of(operation.groups, [&](const auto& group) {
    return group.size() != operation.demand->ranks();
  });
}

bool moves_nothing(const Demand& demand) {
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) {
      if (demand(Rank(s), Rank(t)) > 0) return false;
    }
  }
  return true;
}

Expected<void> check_amounts(const JobOperation& operation, const ErrorPlace& place) {
  if (operation.weight < 1 || operation.weight > kMostPriority) {
    return make_error(Code::O07, fmt::format("expected a weight, found {}", operation.weight),
                      "give a whole number from 1 to 1000", below(place, "/weight"));
  }
  if (operation.bytes && *operation.bytes <= 0) {
    return make_error(Code::O07, fmt::format("expected bytes, found {}", *operation.bytes),
                      "give the bytes of each group's whole buffer, 1 or more",
                      below(place, "/bytes"));
  }
  if (!operation.demand) return {};
  const ErrorPlace here = below(place, "/demand");
  if (operation.collective != Collective::alltoall || operation.bytes) {
    return make_error(Code::O07, "a demand is of an alltoall, and says all of its bytes",
                      "leave the demand out, or the bytes", here);
  }
  if (has_other_size(operation)) {
    return make_error(Code::O07,
                      fmt::format("the demand is among {} ranks, and a group has another number",
                                  operation.demand->ranks()),
                      "give a row and a column for every member of a group", here);
  }
  if (!moves_nothing(*operation.demand)) return {};
  return make_error(Code::O07, "the demand is 0 for all pairs of different ranks",
                    "leave the operation out", here);
}

}  // namespace

Expected<void> check_operation(const JobOperation& operation, std::size_t ranks,
                               const ErrorPlace& place) {
  if (auto done = check_groups(operation, ranks, place); !done) return done;
  if (auto done = check_root(operation, place); !done) return done;
  return check_amounts(operation, place);
}

}  // namespace forestcoll
