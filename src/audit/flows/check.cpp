#include "audit/flows/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/flows/rates.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMaxFlowBytes = std::int64_t{1} << 60;
constexpr std::int64_t kMaxFlowParts = std::int64_t{1} << 32;

// A number for people is the fraction, rounded.
bool is_near(double value, double exact) {
  constexpr double kRounding = 1e-6;
  return std::abs(value - exact) <= kRounding * exact;
}

class FlowsCheck {
 public:
  FlowsCheck(const FlowsFile& flows, const Topology* topology, Findings& findings, Verdict& verdict)
      : flows_(flows), topology_(topology), findings_(findings), verdict_(verdict) {}

  void run() {
    check_head();
    if (findings_.count() > 0 || (topology_ != nullptr && !map_topology())) return;
    for (pair_ = 0; pair_ < flows_.pairs.size(); ++pair_) check_pair(flows_.pairs[pair_]);
    check_all_pairs();
    if (findings_.count() > 0 || !network_) return;
    claims_.buffer = Ratio(total_, is_rooted() ? 1 : verdict_.ranks);
    check_flow_rates(checked_, claims_, *topology_, *network_, findings_, verdict_);
  }

 private:
  void field(const char* name, std::string message) {
    findings_.add(Rule::attribute, std::string("/") + name, std::move(message));
  }
  void path_is(Rule rule, std::size_t number, std::string message) {
    findings_.add(rule, fmt::format("pair {}, path {}", pair_, number - pair().begin),
                  std::move(message));
  }
  [[nodiscard]] const FlowPair& pair() const { return flows_.pairs[pair_]; }
  [[nodiscard]] const std::string& id(FlowNode n) const {
    return flows_.ids[static_cast<std::size_t>(n)];
  }
  [[nodiscard]] std::int32_t rank_of(FlowNode n) const {
    return n < 0 ? -1 : rank_by_node_[static_cast<std::size_t>(n)];
  }
  [[nodiscard]] bool has_bytes() const { return flows_.collective == "alltoallv"; }
  [[nodiscard]] bool is_rooted() const {
    return flows_.collective == "scatter" || flows_.collective == "gather";
  }
  // Whether a pair has something: of a scatter those from the root, of a gather those to it.
  [[nodiscard]] bool is_due(std::int32_t src, std::int32_t dst) const {
    if (!is_rooted()) return true;
    return verdict_.root->value == (flows_.collective == "scatter" ? src : dst);
  }

  void check_head() {
    if (flows_.version != 1) field("version", fmt::format("expected 1, found {}", flows_.version));
    if (flows_.collective != "alltoall" && !has_bytes() && !is_rooted()) {
      field("collective",
            fmt::format("expected alltoall, alltoallv, scatter or gather, found \"{}\"",
                        flows_.collective.substr(0, 40)));
    }
    if (flows_.k < 1 || flows_.k > kMaxFlowParts) {
      field("k", fmt::format("expected an integer from 1 to 2^32, found {}", flows_.k));
    }
    if (flows_.rounds < 1) {
      field("rounds", fmt::format("expected a positive integer, found {}", flows_.rounds));
    }
    if (flows_.pairs.empty()) field("pairs", "the list of pairs is missing or empty");
    if (flows_.own_bytes && (!has_bytes() || *flows_.own_bytes < 0)) {
      field("own_bytes", "expected 0 or more, of an alltoallv alone");
    }
    if (const auto claimed = read_rate("algbw", flows_.algbw)) claims_.algbw = *claimed;
    if (!flows_.algbw.exact) field("algbw", "expected an object with \"exact\"");
    claims_.algbw_in_rounds = read_rate("algbw_in_rounds", flows_.algbw_in_rounds);
    claims_.optimum = read_rate("optimum", flows_.optimum);
    if (claims_.optimum && claims_.algbw > *claims_.optimum) {
      findings_.add(Rule::claim, std::string("/algbw"),
                    fmt::format("the file claims {} GB/s, above the {} GB/s that it names as the "
                                "optimum",
                                claims_.algbw.to_string(), claims_.optimum->to_string()));
    }
    check_ranks();
    check_root();
    verdict_.collective_name = has_bytes() || is_rooted() ? flows_.collective : "alltoall";
    verdict_.collective = parse_collective(verdict_.collective_name).value_or(Collective::alltoall);
    verdict_.ranks = static_cast<std::int64_t>(flows_.ranks.size());
    verdict_.chunks = verdict_.ranks * std::min(flows_.k, kMaxFlowParts);
    total_ = flows_.own_bytes.value_or(0);
    claims_.sent.assign(flows_.ranks.size(), 0);
    claims_.received = claims_.sent;
  }

  std::optional<Ratio> read_rate(const char* key, const FlowsRate& claimed) {
    const std::optional<std::string>& text = claimed.exact;
    const auto rate = text ? parse_ratio(*text) : std::nullopt;
    if (text && (!rate || *rate <= Ratio(0))) {
      field(key, fmt::format("exact: expected a positive number such as 25 or 1040/3, found \"{}\"",
                             text->substr(0, 40)));
    }
    if (rate && claimed.value && !is_near(*claimed.value, rate->to_double())) {
      field(key, fmt::format("value: {} is not {}", *claimed.value, rate->to_string()));
    }
    return rate;
  }

  void check_ranks() {
    if (flows_.ranks.size() < 2) {
      field("ranks", fmt::format("expected at least 2 nodes, found {}", flows_.ranks.size()));
    }
    rank_by_node_.assign(flows_.ids.size(), -1);
    for (std::size_t r = 0; r < flows_.ranks.size(); ++r) {
      std::int32_t& rank = rank_by_node_[static_cast<std::size_t>(flows_.ranks[r])];
      if (rank >= 0) field("ranks", fmt::format("{} stands twice", id(flows_.ranks[r])));
      rank = static_cast<std::int32_t>(r);
    }
  }

  void check_root() {
    if (flows_.root.has_value() != is_rooted()) {
      field("root", "a scatter and a gather have a root, and no others");
    }
    if (!flows_.root) return;
    for (std::size_t r = 0; r < flows_.ranks.size(); ++r) {
      if (id(flows_.ranks[r]) == *flows_.root) verdict_.root = Rank(r);
    }
    if (!verdict_.root) field("root", "not in the list of ranks");
  }

  bool map_topology() {
    auto network = to_digraph(*topology_);
    if (!network) {
      findings_.add(Rule::fabric, std::string(),
                    "the topology has no exact digraph: " + network.errors().front().message);
      return false;
    }
    const bool same_ranks =
        std::ranges::equal(flows_.ranks, network->ranks,
                           [&](FlowNode a, NodeId b) { return id(a) == topology_->nodes[b].id; });
    if (!same_ranks) {
      findings_.add(Rule::fabric, std::string("/ranks"),
                    "the GPUs, or their order, are not those of the topology",
                    "give the topology that the flows were made for, with the same `drop`, "
                    "`members` and `ranks`");
      return false;
    }
    node_of_ = nodes_with_ids(*topology_, flows_.ids);
    network_ = *std::move(network);
    return true;
  }

  void pair_is(Rule rule, std::string message) {
    findings_.add(rule, fmt::format("pair {}", pair_), std::move(message));
  }

  void check_pair(const FlowPair& pair) {
    const std::int32_t src = rank_of(pair.src), dst = rank_of(pair.dst);
    if (src < 0 || dst < 0 || src == dst) {
      pair_is(Rule::attribute, "src and dst: expected two different GPUs of the list of ranks");
      return;
    }
    if (!is_due(src, dst)) {
      pair_is(Rule::attribute, fmt::format("{} has nothing for {} in a {} of this root",
                                           id(pair.src), id(pair.dst), flows_.collective));
      return;
    }
    ends_.emplace_back(src, dst);
    const std::int64_t bytes = has_bytes() ? pair.bytes.value_or(0) : 1;
    if (bytes < 1 || bytes > kMaxFlowBytes - total_ || pair.bytes.has_value() != has_bytes()) {
      pair_is(Rule::attribute,
              has_bytes()
                  ? "bytes: expected a positive integer that exact arithmetic holds, all "
                    "pairs together"
                  : "bytes: do not belong to an alltoall, a scatter or a gather, whose pairs have "
                    "the same");
      return;
    }
    total_ += bytes;
    claims_.sent[Rank(src)] += bytes;
    claims_.received[Rank(dst)] += bytes;
    std::int64_t parts = 0;
    for (std::size_t p = pair.begin; p < pair.end; ++p) parts += check_path(p, bytes);
    if (parts != flows_.k) {
      pair_is(Rule::result, fmt::format("{} gets {} of what {} has for it", id(pair.dst),
                                        Ratio(parts, flows_.k).to_string(), id(pair.src)));
    }
  }

  // Its parts; 0 where the share is none. Sums stay within exact arithmetic: k is bounded, and a
  // share is at most 1.
  std::int64_t check_path(std::size_t number, std::int64_t bytes) {
    const FlowPath& path = flows_.paths[number];
    const auto share = parse_ratio(path.share);
    const auto parts = share ? checked_mul(*share, Ratio(flows_.k)) : std::nullopt;
    if (!parts || parts->den() != 1 || parts->num() < 1 || parts->num() > flows_.k) {
      path_is(Rule::attribute, number,
              fmt::format("share: expected a multiple of 1/{} up to 1, found \"{}\"", flows_.k,
                          path.share.substr(0, 40)));
      return 0;
    }
    if (leads_astray(number, path)) return parts->num();
    CheckedPath checked;
    check_rounds(number, path, checked.rounds);
    if (network_ && follow_links(number, path, checked.arcs)) {
      const auto amount = checked_mul(*share, Ratio(bytes));
      checked.amount = amount.value_or(Ratio(0));
      if (!amount) path_is(Rule::too_large, number, "its share does not fit exact arithmetic");
      checked_.push_back(std::move(checked));
    }
    return parts->num();
  }

  bool leads_astray(std::size_t number, const FlowPath& path) {
    if (path.nodes.size() < 2 || path.nodes.front() != pair().src ||
        path.nodes.back() != pair().dst) {
      path_is(Rule::path, number,
              fmt::format("does not lead from {} to {}", id(pair().src), id(pair().dst)));
      return true;
    }
    // Every leg anew: a switch is passed again where a GPU between sends data back.
    std::vector<FlowNode> leg;
    for (const FlowNode node : path.nodes) {
      if (std::ranges::find(leg, node) != leg.end()) {
        path_is(Rule::path, number, fmt::format("a leg passes {} twice", id(node)));
        return true;
      }
      leg.push_back(node);
      if (rank_of(node) >= 0) leg = {node};
    }
    return false;
  }

  // A leg goes from one GPU to the next; `by_link` gets the round of every link's leg.
  void check_rounds(std::size_t number, const FlowPath& path, std::vector<std::int64_t>& by_link) {
    std::size_t legs = 0;
    for (std::size_t i = 0; i + 1 < path.nodes.size(); ++i) {
      if (rank_of(path.nodes[i]) >= 0) ++legs;
      by_link.push_back(legs <= path.rounds.size() ? path.rounds[legs - 1] : 0);
    }
    if (legs != path.rounds.size()) {
      path_is(Rule::attribute, number,
              fmt::format("rounds: expected one for each of {} legs, found {}", legs,
                          path.rounds.size()));
      return;
    }
    for (std::size_t leg = 0; leg < legs; ++leg) {
      const std::int64_t round = path.rounds[leg];
      if (round < 0 || round >= flows_.rounds) {
        path_is(Rule::attribute, number,
                fmt::format("rounds: expected 0 to {}, found {}", flows_.rounds - 1, round));
      } else if (leg > 0 && round <= path.rounds[leg - 1]) {
        path_is(Rule::undefined_read, number,
                fmt::format("leg {} is in round {}, and its data comes in round {}", leg, round,
                            path.rounds[leg - 1]));
      }
    }
  }

  bool follow_links(std::size_t number, const FlowPath& path, std::vector<ArcId>& arcs) {
    for (std::size_t i = 0; i + 1 < path.nodes.size(); ++i) {
      const NodeId tail = node_of_[static_cast<std::size_t>(path.nodes[i])];
      const NodeId head = node_of_[static_cast<std::size_t>(path.nodes[i + 1])];
      const ArcId arc = tail.valid() && head.valid() ? network_->graph.find(tail, head) : ArcId();
      if (!arc.valid()) {
        path_is(Rule::path, number,
                fmt::format("there is no link from {} to {}", id(path.nodes[i]),
                            id(path.nodes[i + 1])));
        return false;
      }
      arcs.push_back(arc);
    }
    return true;
  }

  void check_all_pairs() {
    std::sort(ends_.begin(), ends_.end());
    const auto twice = std::adjacent_find(ends_.begin(), ends_.end());
    if (twice != ends_.end()) {
      findings_.add(Rule::attribute, std::string("/pairs"),
                    fmt::format("the pair of {} and {} stands twice", name(twice->first),
                                name(twice->second)));
      return;
    }
    if (has_bytes() || findings_.count() > 0) return;
    const std::int64_t n = verdict_.ranks;
    total_ += is_rooted() ? 1 : n;  // what ranks have for themselves
    if (std::ssize(ends_) == (is_rooted() ? n - 1 : n * (n - 1))) return;
    auto next = ends_.begin();
    for (std::int32_t s = 0; s < n; ++s) {
      for (std::int32_t t = 0; t < n; ++t) {
        if (s == t || !is_due(s, t)) continue;
        if (next != ends_.end() && *next == std::pair(s, t)) {
          ++next;
          continue;
        }
        findings_.add(Rule::result, std::string("/pairs"),
                      fmt::format("{} gets nothing of what {} has for it", name(t), name(s)));
        return;
      }
    }
  }
  [[nodiscard]] const std::string& name(std::int32_t rank) const {
    return id(flows_.ranks[static_cast<std::size_t>(rank)]);
  }

  const FlowsFile& flows_;
  const Topology* topology_;
  Findings& findings_;
  Verdict& verdict_;
  FlowsClaims claims_;
  std::vector<std::int32_t> rank_by_node_;  // −1: not a rank
  std::vector<NodeId> node_of_;             // invalid: not a node of the topology
  std::optional<Network> network_;
  std::size_t pair_ = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> ends_;
  std::int64_t total_ = 0;  // data of all pairs, and what ranks have for themselves
  std::vector<CheckedPath> checked_;
};

}  // namespace

void check_flows(const FlowsFile& flows, const Topology* topology, Findings& findings,
                 Verdict& verdict) {
  FlowsCheck(flows, topology, findings, verdict).run();
}

}  // namespace forestcoll::audit
