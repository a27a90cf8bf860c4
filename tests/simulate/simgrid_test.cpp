// Platforms for SimGrid: what a message loads every link with is what our simulator has it load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "audit/common/fabric_load.hpp"
#include "forestcoll/simulate.hpp"
#include "support/files.hpp"

namespace forestcoll {
namespace {

using ::testing::ElementsAre;

struct ReadLink {
  double gbs = 0, latency_us = 0;
};

class ReadPlatform {
 public:
  explicit ReadPlatform(const Topology& topology) {
    const auto text = to_simgrid(topology);
    EXPECT_TRUE(text);
    EXPECT_TRUE(document_.load_string(text->c_str(), pugi::parse_full));
    zone_ = document_.child("platform").child("zone");
    for (const auto& link : zone_.children("link")) {
      links_[link.attribute("id").value()] = {number(link, "bandwidth", "GBps"),
                                              number(link, "latency", "us")};
    }
  }

  [[nodiscard]] std::vector<std::string> hosts() const {
    std::vector<std::string> hosts;
    for (const auto& host : zone_.children("host"))
      hosts.emplace_back(host.attribute("id").value());
    return hosts;
  }
  [[nodiscard]] const ReadLink& link(const std::string& id) const { return links_.at(id); }
  // Of every ordered pair, the links by how often they stand there.
  [[nodiscard]] std::map<std::string, int> route(const std::string& from,
                                                 const std::string& to) const {
    std::map<std::string, int> times;
    int found = 0;
    for (const auto& candidate : zone_.children("route")) {
      if (candidate.attribute("src").value() != from) continue;
      if (candidate.attribute("dst").value() != to) continue;
      ++found;
      for (const auto& part : candidate.children("link_ctn")) ++times[part.attribute("id").value()];
    }
    EXPECT_EQ(found, 1);
    return times;
  }

 private:
  static double number(const pugi::xml_node& link, const char* key, const std::string& unit) {
    const std::string text = link.attribute(key).value();
    EXPECT_TRUE(text.ends_with(unit)) << text;
    return std::stod(text);
  }

  pugi::xml_document document_;
  pugi::xml_node zone_;
  std::map<std::string, ReadLink> links_;
};

Topology parsed(const std::string& text) {
  auto topology = parse_topology(text, "test.json");
  EXPECT_TRUE(topology);
  return std::move(topology->topology);
}

// Parallel cables are one link; a message over two spines loads each in half, so both have twice
// their bandwidth; what only relays join has a link that is no bottleneck.
TEST(Simgrid, HasHostsInRankOrderLinksAndRoutes) {
  const ReadPlatform platform(parsed(R"({"format": "forestcoll-topology", "version": 1,
    "name": "two spines",
    "nodes": [{"id": "g[0-1]", "type": "compute"}, {"id": "h", "type": "compute"},
              {"id": "s[0-1]", "type": "switch"}],
    "links": [{"src": "g[0-1]", "dst": "s0", "bandwidth": 25, "latency": 0.5},
              {"src": "g[0-1]", "dst": "s1", "bandwidth": 25},
              {"src": "g0", "dst": "s0", "bandwidth": 5, "latency": 2},
              {"src": "h", "dst": "g1", "bandwidth": "100/3"}],
    "rank_order": ["h", "g1", "g0"]})"));
  EXPECT_THAT(platform.hosts(), ElementsAre("h", "g1", "g0"));
  EXPECT_DOUBLE_EQ(platform.link("g0->s0").gbs, 60);
  EXPECT_DOUBLE_EQ(platform.link("s1->g0").gbs, 50);
  EXPECT_NEAR(platform.link("h->g1").gbs, 100.0 / 3, 1e-3);
  const std::map<std::string, int> spread = {
      {"delay g0->g1", 1}, {"g0->s0", 1}, {"s0->g1", 1}, {"g0->s1", 1}, {"s1->g1", 1}};
  EXPECT_EQ(platform.route("g0", "g1"), spread);
  EXPECT_DOUBLE_EQ(platform.link("delay g0->g1").latency_us, 2.5);
  EXPECT_DOUBLE_EQ(platform.link("g0->s0").latency_us, 0);
  EXPECT_EQ(platform.route("h", "g1"), (std::map<std::string, int>{{"h->g1", 1}}));
  // g1 is a GPU, and relays nothing by itself.
  EXPECT_EQ(platform.route("h", "g0"), (std::map<std::string, int>{{"management", 1}}));
}

// Links over which no message is spread keep their own latency.
TEST(Simgrid, LatenciesAreThoseOfTheLinks) {
  const ReadPlatform platform(parsed(test::bundled_text("dgx-a100-x2")));
  double latency = 0;
  for (const auto& [id, times] : platform.route("box0/gpu0", "box1/gpu0")) {
    EXPECT_FALSE(id.starts_with("delay ")) << id;
    EXPECT_EQ(times, 1);
    latency += platform.link(id).latency_us;
  }
  EXPECT_DOUBLE_EQ(latency, 4);
}

// A byte takes as much of every link's time as the loads that `verify` reckons with say.
TEST(Simgrid, LoadsLinksAsTheSimulatorDoes) {
  const std::string uneven = R"({"format": "forestcoll-topology", "version": 1, "name": "uneven",
    "nodes": [{"id": "g[0-3]", "type": "compute"}, {"id": "leaf[0-1]", "type": "switch"},
              {"id": "spine[0-2]", "type": "switch"}],
    "links": [{"src": "g[0-1]", "dst": "leaf0", "bandwidth": 30},
              {"src": "g[2-3]", "dst": "leaf1", "bandwidth": 30},
              {"src": "leaf0", "dst": "spine0", "bandwidth": 10},
              {"src": "leaf0", "dst": "spine1", "bandwidth": 20},
              {"src": "leaf0", "dst": "spine2", "bandwidth": 5},
              {"src": "leaf1", "dst": "spine[0-2]", "bandwidth": 20}]})";
  std::vector<std::string> texts = {uneven};
  for (const std::string name : {"fat-tree-4", "dgx-a100-x2", "mixed-a100-h100", "dragonfly-72"}) {
    texts.push_back(test::bundled_text(name));
  }
  for (const std::string& text : texts) {
    const Topology topology = parsed(text);
    const auto network = to_digraph(topology);
    const ReadPlatform platform(topology);
    const std::size_t ranks = network->ranks.size();
    for (std::size_t from = 0; from < ranks; from += 5) {
      for (std::size_t to = 1; to < ranks; to += 3) {
        if (from == to) continue;
        const audit::Transfers transfer = {
            {{static_cast<std::int32_t>(from), static_cast<std::int32_t>(to)}, 1}};
        audit::Findings findings("");
        const auto loads = audit::route_transfers(*network, transfer, findings);
        if (findings.count() > 0) continue;  // relays alone lead there
        auto route = platform.route(topology.nodes[network->ranks[from]].id,
                                    topology.nodes[network->ranks[to]].id);
        for (std::size_t a = 0; a < loads->size(); ++a) {
          const double load = (*loads)[ArcId(a)].to_double();
          if (load == 0) continue;
          const std::string id = topology.nodes[network->graph.tail(ArcId(a))].id + "->" +
                                 topology.nodes[network->graph.head(ArcId(a))].id;
          const double gbs =
              static_cast<double>(network->capacity[ArcId(a)]) * network->unit.to_double();
          EXPECT_NEAR(route[id] / platform.link(id).gbs, load / gbs, 1e-5 * load / gbs) << id;
          route.erase(id);
        }
        for (const auto& [id, times] : route) EXPECT_TRUE(id.starts_with("delay ")) << id;
      }
    }
  }
}

}  // namespace
}  // namespace forestcoll
