#include "topology/import/box_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "topology/import/pcie.hpp"

namespace forestcoll::importing {
namespace {

class LinkMaker {
 public:
  LinkMaker(const Context& context, const Machine& machine) : context_(context), machine_(machine) {
    for (const GpuLink& link : machine.links) {
      counts_[link.gpu][link.kind] += link.count;
      if (link.end == End::gpu) {
        add_to_pair(link);
      } else {
        add_to_switch(link);
      }
    }
  }

  BoxLinks make() {
    BoxLinks links{.inside = between_gpus(),
                   .to_switches = to_switches_,
                   .sockets = sockets_,
                   .socket_of = {}};
    for (const auto& [bridge, number] : socket_of_) links.socket_of[bridge] = sockets_[number];
    add_between_sockets(links.inside);
    warn_of_missing_links();
    return links;
  }

 private:
  // Between two GPUs; both ends state a link, and should state the same.
  std::vector<FlatLink> between_gpus() {
    std::vector<FlatLink> links;
    for (const auto& [ends, stated] : pairs_) {
      const auto [a, b] = ends;
      const auto back = pairs_.find({b, a});
      const bool equal = back != pairs_.end() && same_bundles(stated, back->second);
      if (equal && a > b) continue;  // stated from the other end
      if (!equal && (a < b || back == pairs_.end())) {
        warn_of_difference(a, b, sum(stated), back == pairs_.end() ? 0 : sum(back->second));
      }
      for (const GpuLink& link : stated) {
        links.push_back({.src = machine_.gpus[a].id(),
                         .dst = machine_.gpus[b].id(),
                         .bandwidth = link.bandwidth,
                         .count = link.count,
                         .kind = link.kind,
                         .full_duplex = equal});
      }
    }
    return links;
  }

  // CPUs that NVLink leads to are joined with each other.
  void add_between_sockets(std::vector<FlatLink>& links) const {
    if (sockets_.size() > 1 && !machine_.cpu_link_guess.empty()) {
      context_.report.guesses.push_back(cpu_guess(machine_));
    }
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      for (std::size_t j = i + 1; j < sockets_.size(); ++j) {
        links.push_back({.src = sockets_[i],
                         .dst = sockets_[j],
                         .bandwidth = machine_.cpu_link.value_or(Ratio(6)),
                         .kind = "cpu"});
      }
    }
  }

  // W05: NCCL accepts a dead link in silence.
  void warn_of_missing_links() const {
    std::set<std::string> kinds;
    for (const GpuLink& link : machine_.links) kinds.insert(link.kind);
    for (const std::string& kind : kinds) {
      std::int64_t most = 0;
      for (std::size_t g = 0; g < machine_.gpus.size(); ++g) most = std::max(most, count(g, kind));
      std::vector<std::string> fewer;
      for (std::size_t g = 0; g < machine_.gpus.size(); ++g) {
        if (count(g, kind) < most) {
          fewer.push_back(fmt::format("{} ({})", machine_.gpus[g].id(), count(g, kind)));
        }
      }
      // Where half of them or more have fewer, the board is made like that.
      const bool by_design = fewer.size() > 1 && 2 * fewer.size() >= machine_.gpus.size();
      if (fewer.empty() || by_design) continue;
      context_.findings.warning(
          Code::W05, "",
          fmt::format("fewer {} links than the {} of other GPUs: {}", kind, most, listed(fewer)),
          "Dead links? NCCL accepts them in silence. Some boards are made like this.");
    }
  }

  // Several elements of a file may state parts of one bundle.
  void add_to_pair(const GpuLink& link) {
    auto& stated = pairs_[{link.gpu, link.target}];
    for (GpuLink& other : stated) {
      if (other.kind != link.kind || other.bandwidth != link.bandwidth) continue;
      other.count += link.count;
      return;
    }
    stated.push_back(link);
  }

  void add_to_switch(const GpuLink& link) {
    const std::string id = machine_.gpus[link.gpu].id();
    const std::string end =
        link.end == End::cpu ? socket(link.target) : machine_.nvswitch_id(link.target);
    const auto [at, is_new] =
        bundles_.emplace(std::tuple(id, end, link.kind, link.bandwidth), to_switches_.size());
    if (!is_new) {
      to_switches_[at->second].count += link.count;
      return;
    }
    to_switches_.push_back({.src = id,
                            .dst = end,
                            .bandwidth = link.bandwidth,
                            .count = link.count,
                            .kind = link.kind});
  }

  const std::string& socket(std::size_t bridge) {
    const auto [at, is_new] = socket_of_.emplace(bridge, sockets_.size());
    if (is_new) sockets_.push_back(fmt::format("socket{}", at->second));
    return sockets_[at->second];
  }

  static bool same_bundles(const std::vector<GpuLink>& one, const std::vector<GpuLink>& other) {
    return std::ranges::is_permutation(one, other, [](const GpuLink& a, const GpuLink& b) {
      return a.count == b.count && a.bandwidth == b.bandwidth && a.kind == b.kind;
    });
  }

  // For people.
  static double sum(const std::vector<GpuLink>& links) {
    double total = 0;
    for (const GpuLink& link : links) {
      total += link.bandwidth.to_double() * static_cast<double>(link.count);
    }
    return total;
  }

  [[nodiscard]] std::int64_t count(std::size_t gpu, const std::string& kind) const {
    const auto of_gpu = counts_.find(gpu);
    if (of_gpu == counts_.end()) return 0;
    const auto found = of_gpu->second.find(kind);
    return found == of_gpu->second.end() ? 0 : found->second;
  }

  void warn_of_difference(std::size_t a, std::size_t b, double there, double back) {
    context_.findings.warning(
        Code::I22, "",
        fmt::format("{} has {:.6g} GB/s to {}, which has {:.6g} GB/s back", machine_.gpus[a].id(),
                    there, machine_.gpus[b].id(), back),
        "Each direction is taken as the file has it. A dead link? Dump the topology anew.");
  }

  const Context& context_;
  const Machine& machine_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<GpuLink>> pairs_;
  std::map<std::size_t, std::map<std::string, std::int64_t>> counts_;
  std::vector<FlatLink> to_switches_;
  std::map<std::tuple<std::string, std::string, std::string, Ratio>, std::size_t> bundles_;
  std::map<std::size_t, std::size_t> socket_of_;  // of a CPU among the bridges
  std::vector<std::string> sockets_;
};

}  // namespace

BoxLinks box_links(const Context& context, const Machine& machine) {
  return LinkMaker(context, machine).make();
}

}  // namespace forestcoll::importing
