#include "audit/forest/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace forestcoll::audit {
namespace {

class FactReader {
 public:
  FactReader(const ForestFile& forest, const Topology* topology, Findings& findings,
             Verdict& verdict)
      : forest_(forest), topology_(topology), findings_(findings), verdict_(verdict) {}

  std::optional<ForestFacts> run() {
    if (!check_header() || (topology_ != nullptr && !map_topology())) return std::nullopt;
    return std::move(facts_);
  }

 private:
  void field(const char* name, std::string message) {
    findings_.add(Rule::attribute, std::string("/") + name, std::move(message));
  }

  bool check_header() {
    const std::size_t before = findings_.count();
    if (forest_.version < 1 || forest_.version > 3) {
      field("version", fmt::format("expected 1, 2 or 3, found {}", forest_.version));
    }
    const auto collective = parse_collective(forest_.collective);
    if (!collective || is_personalized(*collective)) {
      field("collective", fmt::format("expected allgather, reduce_scatter, allreduce, broadcast or "
                                      "reduce, found \"{}\"",
                                      forest_.collective.substr(0, 40)));
    }
    check_numbers();
    if (!forest_.algbw) field("algbw", "expected an object with \"exact\"");
    const auto claimed = read_rate("algbw", forest_.algbw);
    if (claimed) facts_.claimed = *claimed;
    facts_.optimum = read_rate("optimum", forest_.optimum);
    check_ranks();
    if (findings_.count() > before) return false;
    verdict_.collective = *collective;
    verdict_.ranks = static_cast<std::int64_t>(forest_.ranks.size());
    if (!check_weights()) return false;
    verdict_.chunks = forest_.version == 3
                          ? forest_.chunks
                          : forest_.k * (is_rooted(*collective) ? 1 : total_weight());
    choose_phases();
    return findings_.count() == before;
  }

  // Where trees branch at switches, they are counted together, since switches can be roots.
  void check_numbers() {
    if (forest_.version != 3) {
      if (forest_.k < 1) {
        field("k", fmt::format("expected a positive integer, found {}", forest_.k));
      }
      if (forest_.chunks != 0) field("chunks", "belong to version 3 of the format");
      return;
    }
    const auto& collective = forest_.collective;
    if (collective != "allreduce" && collective != "broadcast" && collective != "reduce") {
      field("version",
            "3 is for an allreduce, broadcast or reduce, whose trees branch at switches");
    }
    if (forest_.chunks < 1 || forest_.chunks > kMaxTrees) {
      field("chunks",
            fmt::format("expected an integer from 1 to {}, found {}", kMaxTrees, forest_.chunks));
    }
    if (forest_.k != 0) field("k", "does not belong to version 3 of the format: it has chunks");
    if (forest_.has_weights) field("weights", "do not belong to version 3 of the format");
  }

  std::optional<Ratio> read_rate(const char* key, const std::optional<std::string>& text) {
    const auto rate = text ? parse_ratio(*text) : std::nullopt;
    if (text && !rate) {
      field(key, fmt::format("exact: expected a number such as 25 or 1040/3, found \"{}\"",
                             text->substr(0, 40)));
    }
    return rate;
  }

  void check_ranks() {
    if (forest_.ranks.size() < 2) {
      field("ranks", fmt::format("expected at least 2 nodes, found {}", forest_.ranks.size()));
    }
    facts_.rank_by_name.assign(forest_.names.size(), -1);
    for (std::size_t r = 0; r < forest_.ranks.size(); ++r) {
      std::int32_t& rank = facts_.rank_by_name[static_cast<std::size_t>(forest_.ranks[r])];
      if (rank >= 0) field("ranks", fmt::format("{} stands twice", name(forest_.ranks[r])));
      rank = static_cast<std::int32_t>(r);
    }
    const std::int64_t ranks = std::max<std::int64_t>(1, std::int64_t(forest_.ranks.size()));
    if (forest_.k > kMaxTrees / ranks) {
      field("k", fmt::format("{} trees per root are more than exact arithmetic holds", forest_.k));
    }
  }

  // REQUIRES: the ranks are right. What a rank owns is 1 where the file names no weights.
  bool check_weights() {
    const std::size_t before = findings_.count();
    facts_.weight.assign(forest_.ranks.size(), 1);
    if (!forest_.has_weights) return true;
    if (is_rooted(verdict_.collective)) {
      field("weights", fmt::format("do not belong to a {}: its root owns everything",
                                   forestcoll::to_string(verdict_.collective)));
    }
    if (forest_.weights.size() != forest_.ranks.size()) {
      field("weights", fmt::format("expected one per rank, {} in all, found {}",
                                   forest_.ranks.size(), forest_.weights.size()));
      return false;
    }
    facts_.weight = forest_.weights;
    std::int64_t left = kMaxTrees / forest_.k;
    for (std::size_t r = 0; r < facts_.weight.size(); ++r) {
      if (facts_.weight[r] >= 0 && facts_.weight[r] <= left) {
        left -= facts_.weight[r];
        continue;
      }
      field("weights", fmt::format("{} has {}: expected integers from 0 on whose sum times k "
                                   "exact arithmetic holds",
                                   name(forest_.ranks[r]), facts_.weight[r]));
      return false;
    }
    if (total_weight() == 0) field("weights", "no rank owns anything");
    return findings_.count() == before;
  }

  [[nodiscard]] std::int64_t total_weight() const {
    return std::accumulate(facts_.weight.begin(), facts_.weight.end(), std::int64_t{0});
  }

  void choose_phases() {
    const Collective c = verdict_.collective;
    if (c == Collective::allreduce) {
      facts_.phases = {{"reduce", &forest_.reduce, true}, {"broadcast", &forest_.broadcast, false}};
    } else {
      facts_.phases = {{"trees", &forest_.trees, has_reduce(c)}};
    }
    for (const ForestPhase& phase : facts_.phases) {
      if (!phase.list->present) {
        field(phase.name,
              fmt::format("the list of trees of a {} is missing", forestcoll::to_string(c)));
      }
    }
    const bool two = facts_.phases.size() == 2;
    for (const auto& [key, list, wanted] :
         {std::tuple("trees", &forest_.trees, !two), std::tuple("reduce", &forest_.reduce, two),
          std::tuple("broadcast", &forest_.broadcast, two)}) {
      if (list->present && !wanted) {
        field(key, fmt::format("does not belong to a {}", forestcoll::to_string(c)));
      }
    }
  }

  bool map_topology() {
    auto network = to_digraph(*topology_);
    if (!network) {
      findings_.add(Rule::fabric, std::string("/topology"),
                    "the topology has no exact digraph: " + network.errors().front().message);
      return false;
    }
    facts_.network = *std::move(network);
    facts_.node_by_name = nodes_with_ids(*topology_, forest_.names);
    return check_rank_order();
  }

  bool check_rank_order() {
    if (forest_.ranks.size() != facts_.network->ranks.size()) {
      findings_.add(Rule::fabric, std::string("/ranks"),
                    fmt::format("the file has {} ranks, the topology {}", forest_.ranks.size(),
                                facts_.network->ranks.size()),
                    "give the topology that the forest was made for, with the same `members` and "
                    "`drop`");
      return false;
    }
    for (std::size_t r = 0; r < forest_.ranks.size(); ++r) {
      const NodeId expected = facts_.network->ranks[r];
      if (facts_.node_by_name[static_cast<std::size_t>(forest_.ranks[r])] == expected) continue;
      findings_.add(Rule::fabric, std::string("/ranks"),
                    fmt::format("rank {} is {} in the file and {} in the topology", r,
                                name(forest_.ranks[r]), topology_->nodes[expected].id),
                    "give the topology that the forest was made for, with the same `ranks`");
      return false;
    }
    return check_shares();
  }

  bool check_shares() {
    if (is_rooted(verdict_.collective)) return true;
    // Where a part of an allreduce is added up is the algorithm's own affair: all end with all.
    if (verdict_.collective == Collective::allreduce) return true;
    const auto& shares = facts_.network->weight;
    for (std::size_t r = 0; r < facts_.weight.size(); ++r) {
      const std::int64_t expected = shares.empty() ? 1 : shares[Rank(r)];
      if (facts_.weight[r] == expected) continue;
      findings_.add(Rule::fabric, std::string("/weights"),
                    fmt::format("{} owns {} units of the data in the file and {} in the topology",
                                name(forest_.ranks[r]), facts_.weight[r], expected),
                    "give the topology that the forest was made for");
      return false;
    }
    return true;
  }

  [[nodiscard]] const std::string& name(Name n) const {
    return forest_.names[static_cast<std::size_t>(n)];
  }

  const ForestFile& forest_;
  const Topology* topology_;
  Findings& findings_;
  Verdict& verdict_;
  ForestFacts facts_;
};

}  // namespace

std::optional<ForestFacts> read_facts(const ForestFile& forest, const Topology* topology,
                                      Findings& findings, Verdict& verdict) {
  return FactReader(forest, topology, findings, verdict).run();
}

}  // namespace forestcoll::audit
