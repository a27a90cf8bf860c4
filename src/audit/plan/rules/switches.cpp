#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "audit/plan/channels.hpp"
#include "audit/plan/rules/rules.hpp"

namespace forestcoll::audit {
namespace {

class SwitchGroups {
 public:
  SwitchGroups(const PlanFile& plan, Findings& findings) : plan_(plan), findings_(findings) {
    for (const PlanGpu& gpu : plan.gpus) {
      groups_.push_back(groups_of(gpu));
      for (PlanGroup& group : groups_.back()) std::sort(group.ranks.begin(), group.ranks.end());
    }
    next_.resize(groups_.size(), 0);
  }

  void run() {
    for (std::size_t r = 0; r < groups_.size(); ++r) check_ranks(r);
    if (!findings_.blocked()) set_up();
  }

 private:
  void add(std::size_t r, std::string message, std::string remedy = {}) {
    findings_.add(Rule::connection, Place{static_cast<std::int32_t>(r), -1, -1, 0, {}},
                  std::move(message), std::move(remedy));
  }

  void check_ranks(std::size_t r) {
    for (const PlanChannels& list : plan_.gpus[r].channels) {
      if (list.kind == ChannelKind::switched && !list.has_buffer) {
        findings_.add(Rule::attribute, Place{static_cast<std::int32_t>(r), -1, -1, 0, {}},
                      "switch channels without buffer_type");
      }
    }
    for (const PlanGroup& group : groups_[r]) {
      const auto& ranks = group.ranks;
      const bool known = !ranks.empty() && ranks.front() >= 0 &&
                         ranks.back() < std::ssize(plan_.gpus) &&
                         std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end();
      if (!known) {
        add(r, fmt::format("rank_groups: expected different ranks below {}, found {}",
                           plan_.gpus.size(), fmt::join(ranks, ", ")));
      } else if (!std::binary_search(ranks.begin(), ranks.end(), static_cast<std::int64_t>(r))) {
        add(r, fmt::format("rank_groups: the group of ranks {} does not hold the rank itself",
                           fmt::join(ranks, ", ")));
      }
    }
  }

  // Whoever waits for a group is asked again when one of its ranks has set up another.
  void set_up() {
    std::vector<std::size_t> ready(groups_.size());
    for (std::size_t r = 0; r < ready.size(); ++r) ready[r] = r;
    while (!ready.empty()) {
      const std::size_t r = ready.back();
      ready.pop_back();
      if (next_[r] == groups_[r].size()) continue;
      const PlanGroup& group = groups_[r][next_[r]];
      if (!std::all_of(group.ranks.begin(), group.ranks.end(),
                       [&](std::int64_t other) { return awaits(other, group); })) {
        continue;
      }
      for (const std::int64_t other : group.ranks) {
        ++next_[static_cast<std::size_t>(other)];
        ready.push_back(static_cast<std::size_t>(other));
      }
    }
    for (std::size_t r = 0; r < groups_.size(); ++r) {
      if (next_[r] == groups_[r].size()) continue;
      const PlanGroup& group = groups_[r][next_[r]];
      add(r,
          fmt::format(
              "switch channel {} of ranks {} on the {} buffer: not all of them set it up at "
              "this place of their lists",
              next_[r], fmt::join(group.ranks, ", "), to_string(group.buffer)),
          "list the groups in the same order at every rank, with the same ranks and buffer");
      return;
    }
  }

  [[nodiscard]] bool awaits(std::int64_t rank, const PlanGroup& group) const {
    const auto r = static_cast<std::size_t>(rank);
    if (next_[r] == groups_[r].size()) return false;
    const PlanGroup& own = groups_[r][next_[r]];
    return own.buffer == group.buffer && own.ranks == group.ranks;
  }

  const PlanFile& plan_;
  Findings& findings_;
  std::vector<std::vector<PlanGroup>> groups_;  // of each rank
  std::vector<std::size_t> next_;               // how many of them it has set up
};

}  // namespace

void check_switch_groups(const PlanFile& plan, Findings& findings) {
  SwitchGroups(plan, findings).run();
}

}  // namespace forestcoll::audit
