#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "audit/common/findings.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/fabric/fabric.hpp"

namespace forestcoll {
namespace {

constexpr const char* kManagement = "management";
constexpr const char* kNoBottleneck = "1000000GBps";

// The largest number of which all parts are multiples, or nearly.
double unit_of_parts(const std::set<double>& parts) {
  constexpr int kMostTimes = 64;
  constexpr double kNearly = 1e-6;
  const double least = *parts.begin();
  for (int divisor = 1; divisor <= kMostTimes; ++divisor) {
    const auto is_multiple = [&](double part) {
      const double times = part / least * divisor;
      return std::abs(times - std::round(times)) <= kNearly * times;
    };
    if (std::ranges::all_of(parts, is_multiple)) return least / divisor;
  }
  return least;
}

class SimgridPlatform {
 public:
  SimgridPlatform(const Topology& topology, simulate::Fabric fabric)
      : topology_(topology), fabric_(std::move(fabric)) {}

  std::string write() {
    document_.append_child(pugi::node_declaration).append_attribute("version") = "1.0";
    document_.append_child(pugi::node_doctype)
        .set_value("platform SYSTEM \"https://simgrid.org/simgrid.dtd\"");
    pugi::xml_node platform = document_.append_child("platform");
    platform.append_attribute("version") = "4.1";
    zone_ = platform.append_child("zone");
    zone_.append_attribute("id") = "fabric";
    zone_.append_attribute("routing") = "Full";
    find_routes();
    write_hosts();
    write_links();
    write_routes();
    std::ostringstream text;
    document_.save(text, " ");
    return text.str();
  }

 private:
  // By pair of ranks; -1: no switches join them.
  void find_routes() {
    std::vector<std::set<double>> parts(fabric_.capacity().size());
    const std::size_t ranks = fabric_.network().ranks.size();
    for (std::size_t from = 0; from < ranks; ++from) {
      for (std::size_t to = 0; to < ranks; ++to) {
        audit::Findings findings("");
        routes_.push_back(from == to ? -1 : fabric_.between(Rank(from), Rank(to), findings));
        if (routes_.back() < 0) continue;
        for (const simulate::LinkPart& part : fabric_.route(routes_.back()).parts) {
          parts[static_cast<std::size_t>(part.link)].insert(part.part);
        }
      }
    }
    for (std::size_t link = 0; link < parts.size(); ++link) {
      unit_.push_back(parts[link].empty() ? 0 : unit_of_parts(parts[link]));
      const bool is_whole = parts[link].size() == 1 && unit_.back() == 1;
      const bool is_limit = link >= fabric_.latency_us().size();
      latency_.push_back(is_whole && !is_limit ? fabric_.latency_us()[link] : 0);
    }
  }

  void write_hosts() {
    for (const NodeId gpu : fabric_.network().ranks) {
      pugi::xml_node host = zone_.append_child("host");
      host.append_attribute("id") = topology_.nodes[gpu].id.c_str();
      host.append_attribute("speed") = "1Gf";
    }
  }

  void write_links() {
    for (std::size_t link = 0; link < unit_.size(); ++link) {
      if (unit_[link] == 0) continue;  // nobody's route
      add_link(name(link), fmt::format("{}GBps", fabric_.capacity()[link] * 1e-9 / unit_[link]),
               fmt::format("{}us", latency_[link]), "SHARED");
    }
    const auto& ranks = fabric_.network().ranks;
    for (std::size_t from = 0; from < ranks.size(); ++from) {
      for (std::size_t to = 0; to < ranks.size(); ++to) {
        const double missing = missing_latency(routes_[from * ranks.size() + to]);
        if (missing == 0) continue;
        add_link(delay_name(from, to), kNoBottleneck, fmt::format("{}us", missing), "SHARED");
      }
    }
    add_link(kManagement, "10GBps", "1us", "FATPIPE");
  }

  void add_link(const std::string& id, const std::string& bandwidth, const std::string& latency,
                const char* sharing) {
    pugi::xml_node link = zone_.append_child("link");
    link.append_attribute("id") = id.c_str();
    link.append_attribute("bandwidth") = bandwidth.c_str();
    link.append_attribute("latency") = latency.c_str();
    link.append_attribute("sharing_policy") = sharing;
  }

  void write_routes() {
    const auto& ranks = fabric_.network().ranks;
    for (std::size_t from = 0; from < ranks.size(); ++from) {
      for (std::size_t to = 0; to < ranks.size(); ++to) {
        if (from == to) continue;
        pugi::xml_node route = zone_.append_child("route");
        route.append_attribute("src") = topology_.nodes[ranks[from]].id.c_str();
        route.append_attribute("dst") = topology_.nodes[ranks[to]].id.c_str();
        route.append_attribute("symmetrical") = "NO";
        const std::int32_t number = routes_[from * ranks.size() + to];
        if (missing_latency(number) > 0) add_to(route, delay_name(from, to));
        write_route(route, number);
      }
    }
  }

  void write_route(pugi::xml_node& route, std::int32_t number) const {
    if (number < 0) return add_to(route, kManagement);
    for (const simulate::LinkPart& part : fabric_.route(number).parts) {
      const auto link = static_cast<std::size_t>(part.link);
      for (auto times = std::lround(part.part / unit_[link]); times > 0; --times) {
        add_to(route, name(link));
      }
    }
  }
  static void add_to(pugi::xml_node& route, const std::string& id) {
    route.append_child("link_ctn").append_attribute("id") = id.c_str();
  }

  // Of a route, beside that of its links: those over which messages are spread have none, since all
  // of them stand in one route. A pair gets a link of its own for it: a link that all pairs share,
  // though no bottleneck, changes how SimGrid shares out the others.
  [[nodiscard]] double missing_latency(std::int32_t number) const {
    constexpr double kNone = 1e-9;  // µs, of rounding
    if (number < 0) return 0;
    const simulate::SimulatedRoute& route = fabric_.route(number);
    double missing = route.latency_us;
    for (const simulate::LinkPart& part : route.parts) {
      missing -= latency_[static_cast<std::size_t>(part.link)];
    }
    return missing > kNone ? missing : 0;
  }

  [[nodiscard]] std::string name(std::size_t link) const {
    const Digraph& graph = fabric_.network().graph;
    if (link >= graph.arc_count()) return fmt::format("limit {}", link - graph.arc_count());
    return topology_.nodes[graph.tail(ArcId(link))].id + "->" +
           topology_.nodes[graph.head(ArcId(link))].id;
  }
  [[nodiscard]] std::string delay_name(std::size_t from, std::size_t to) const {
    const auto& ranks = fabric_.network().ranks;
    return "delay " + topology_.nodes[ranks[from]].id + "->" + topology_.nodes[ranks[to]].id;
  }

  const Topology& topology_;
  simulate::Fabric fabric_;
  pugi::xml_document document_;
  pugi::xml_node zone_;
  std::vector<std::int32_t> routes_;
  std::vector<double> unit_;     // of the parts that a link carries of messages; 0: none
  std::vector<double> latency_;  // of a link in the platform, µs
};

}  // namespace

Expected<std::string> to_simgrid(const Topology& topology) {
  auto fabric = simulate::Fabric::make(topology);
  if (!fabric) return fabric.errors();
  return SimgridPlatform(topology, *std::move(fabric)).write();
}

}  // namespace forestcoll
