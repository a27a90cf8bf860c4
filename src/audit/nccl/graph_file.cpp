#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <vector>

#include "audit/nccl/files.hpp"
#include "base/words.hpp"
#include "forestcoll/failures.hpp"
#include "topology/model/reach.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMostGraphChannels = 32;     // half of MAXCHANNELS: each is used twice
constexpr std::int64_t kMostGraphDevice = 1 << 20;  // more than any box has
constexpr std::array<std::string_view, 9> kPathTypes = {"LOC", "NVL", "NVB", "PIX", "PXB",
                                                        "P2C", "PXN", "PHB", "SYS"};
constexpr std::array<std::string_view, 5> kGraphNames = {"rings", "trees", "CollNet chains", "NVLS",
                                                         "CollNet direct"};
constexpr std::int64_t kNvlsGraph = 3;

struct GraphChannel {
  std::vector<std::int64_t> gpus;
  std::size_t nets_before = 0, nets_after = 0;
};

struct Graph {
  std::int64_t id = 0, pattern = 0;
  std::string place;               // "graph 0"
  bool goes_through_gpus = false;  // where no link leads from one to the next
  std::vector<GraphChannel> channels;
};

// Newer releases write devices in hexadecimal and with a prefix, older ones in decimal.
std::optional<std::int64_t> device_in(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  return number_in<std::int64_t>(text, is_hexadecimal ? 16 : 10);
}

class GraphReader {
 public:
  explicit GraphReader(Findings& findings) : findings_(findings) {}

  std::vector<Graph> read(const pugi::xml_node& root) {
    std::vector<Graph> graphs;
    if (std::string_view(root.attribute("version").value()) != "1") {
      wrong(Rule::unsupported, "graphs", "NCCL reads version=\"1\" alone");
    }
    std::set<std::int64_t> ids;
    for (const pugi::xml_node& element : root.children("graph")) {
      Graph graph = read_graph(element);
      if (!ids.insert(graph.id).second) {
        wrong(Rule::numbering, graph.place, "this id stands twice: the last one counts");
      }
      graphs.push_back(std::move(graph));
    }
    if (graphs.empty()) wrong(Rule::never_selected, "graphs", "no <graph>: NCCL searches itself");
    return graphs;
  }

  /// Devices from 10 on without a prefix, which older releases alone read as they are meant.
  [[nodiscard]] bool has_decimals() const { return has_decimals_; }

 private:
  void wrong(Rule rule, std::string_view place, std::string message) {
    findings_.add(rule, std::string(place), std::move(message));
  }

  std::int64_t integer(const pugi::xml_node& element, const char* name, std::string_view place,
                       std::int64_t least, std::int64_t most) {
    const std::string_view text = element.attribute(name).value();
    const auto value = number_in<std::int64_t>(text);
    if (value && *value >= least && *value <= most) return *value;
    wrong(Rule::attribute, place,
          fmt::format("{}=\"{}\": expected a number from {} to {}", name, text.substr(0, 40), least,
                      most));
    return least;
  }

  void check_speed(const pugi::xml_node& element, const char* name, std::string_view place) {
    const std::string_view text = element.attribute(name).value();
    const auto speed = number_in<double>(text);
    if (speed && *speed > 0 && *speed < 1e6) return;
    wrong(Rule::attribute, place,
          fmt::format("{}=\"{}\": expected GB/s of a channel", name, text.substr(0, 40)));
  }

  void check_type(const pugi::xml_node& element, const char* name, std::string_view place) {
    const std::string_view text = element.attribute(name).value();
    if (std::ranges::find(kPathTypes, text) != kPathTypes.end()) return;
    wrong(Rule::attribute, place,
          fmt::format("{}=\"{}\": expected one of {}", name, text.substr(0, 40),
                      fmt::join(kPathTypes, ", ")));
  }

  Graph read_graph(const pugi::xml_node& element) {
    Graph graph;
    graph.id = integer(element, "id", "graphs", 0, 4);
    graph.place = fmt::format("graph {}", graph.id);
    graph.pattern = integer(element, "pattern", graph.place, 1, 6);
    check_pattern(graph);
    (void)integer(element, "crossnic", graph.place, 0, 1);
    (void)integer(element, "samechannels", graph.place, 0, 1);
    const std::int64_t claimed = integer(element, "nchannels", graph.place, 1, kMostGraphChannels);
    for (const char* name : {"speedintra", "speedinter"}) check_speed(element, name, graph.place);
    for (const char* name : {"typeintra", "typeinter"}) check_type(element, name, graph.place);
    const std::string_view type = element.attribute("typeintra").value();
    graph.goes_through_gpus = type != "LOC" && type != "NVL";
    for (const pugi::xml_node& channel : element.children("channel")) {
      if (std::ssize(graph.channels) == kMostGraphChannels) break;
      graph.channels.push_back(read_channel(channel, graph));
    }
    const auto count =
        std::distance(element.children("channel").begin(), element.children("channel").end());
    if (count != claimed) {
      wrong(Rule::attribute, graph.place,
            fmt::format("nchannels=\"{}\", and {} channels stand there", claimed, count));
    }
    return graph;
  }

  // NCCL_TOPO_PATTERN_…: trees have 1 to 3, the others one each.
  void check_pattern(const Graph& graph) {
    const bool is_right = graph.id == 0   ? graph.pattern == 4
                          : graph.id == 1 ? graph.pattern <= 3
                          : graph.id == 3 ? graph.pattern == 5
                          : graph.id == 4 ? graph.pattern == 6
                                          : graph.pattern <= 3;
    if (is_right) return;
    wrong(Rule::unsupported, graph.place,
          fmt::format("pattern {} is not one of {}", graph.pattern,
                      kGraphNames[static_cast<std::size_t>(graph.id)]));
  }

  GraphChannel read_channel(const pugi::xml_node& element, const Graph& graph) {
    GraphChannel channel;
    const std::string place = fmt::format("{}, channel {}", graph.place, graph.channels.size());
    for (const pugi::xml_node& child : element.children()) {
      const std::string_view name = child.name();
      if (name != "gpu" && name != "net") continue;
      const std::string_view text = child.attribute("dev").value();
      const auto device = device_in(text);
      if (!device || *device < 0 || (name == "gpu" && *device > kMostGraphDevice)) {
        wrong(Rule::attribute, place,
              fmt::format("<{}> dev=\"{}\": expected a device such as 0x7", name,
                          text.substr(0, 40)));
        continue;
      }
      if (*device >= 10 && !text.starts_with("0x")) has_decimals_ = true;
      if (name == "gpu") {
        channel.gpus.push_back(*device);
      } else {
        ++(channel.gpus.empty() ? channel.nets_before : channel.nets_after);
      }
    }
    return channel;
  }

  Findings& findings_;
  bool has_decimals_ = false;
};

// All channels alike: the same GPUs, once each, and NICs at both ends or none.
void check_channels(const Graph& graph, std::size_t gpus, Findings& findings) {
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    const GraphChannel& channel = graph.channels[c];
    const std::string place = fmt::format("{}, channel {}", graph.place, c);
    std::set<std::int64_t> once(channel.gpus.begin(), channel.gpus.end());
    if (channel.gpus.empty()) {
      findings.add(Rule::path, place, "no GPU stands there");
    } else if (once.size() != channel.gpus.size()) {
      findings.add(Rule::path, place, "a GPU stands twice");
    } else if (graph.id != kNvlsGraph && channel.gpus.size() != gpus) {
      findings.add(Rule::path, place,
                   fmt::format("it visits {} of the {} GPUs of a box", channel.gpus.size(), gpus));
    } else if (*once.rbegin() >= static_cast<std::int64_t>(gpus)) {
      findings.add(
          Rule::path, place,
          fmt::format("device {} is not among the {} GPUs of a box", *once.rbegin(), gpus));
    }
    const GraphChannel& first = graph.channels.front();
    if (channel.nets_before > 1 || channel.nets_before != channel.nets_after ||
        channel.nets_before != first.nets_before) {
      findings.add(Rule::path, place,
                   "expected one <net> before the GPUs and one behind, or none in any channel");
    }
  }
}

using BoxMembers = std::vector<std::vector<Rank>>;

BoxMembers members_of(const Topology& topology) {
  const auto boxes = boxes_of_ranks(topology);
  BoxMembers members;
  std::vector<std::int32_t> numbers;
  for (std::size_t r = 0; r < topology.ranks.size(); ++r) {
    const auto at = std::ranges::find(numbers, boxes[Rank(r)]);
    const auto box = static_cast<std::size_t>(at - numbers.begin());
    if (at == numbers.end()) {
      numbers.push_back(boxes[Rank(r)]);
      members.emplace_back();
    }
    members[box].emplace_back(r);
  }
  return members;
}

// Over two links, through another GPU of the box.
bool is_beside_next(const Network& network, const std::vector<Rank>& box, NodeId from, NodeId to) {
  return std::ranges::any_of(box, [&](Rank between) {
    const NodeId gpu = network.ranks[between.index()];
    return network.graph.find(from, gpu).valid() && network.graph.find(gpu, to).valid();
  });
}

void check_steps(const Graph& rings, const Topology& topology, Findings& findings) {
  const auto network = to_digraph(without_relays(topology));
  if (!network) return;
  for (const auto& box : members_of(topology)) {
    std::vector<IdVector<NodeId, bool>> reached;
    for (const Rank rank : box) {
      reached.push_back(topology::found_through_switches(*network, network->ranks[rank.index()]));
    }
    for (std::size_t c = 0; c < rings.channels.size(); ++c) {
      const auto& gpus = rings.channels[c].gpus;
      const bool is_closed = rings.channels[c].nets_before == 0;
      for (std::size_t i = 0; i + (is_closed ? 0 : 1) < gpus.size() && gpus.size() > 1; ++i) {
        const auto from = static_cast<std::size_t>(gpus[i]);
        const auto to = static_cast<std::size_t>(gpus[(i + 1) % gpus.size()]);
        const NodeId tail = network->ranks[box[from].index()];
        const NodeId head = network->ranks[box[to].index()];
        if (reached[from][head]) continue;
        if (rings.goes_through_gpus && is_beside_next(*network, box, tail, head)) continue;
        findings.add(Rule::fabric, fmt::format("{}, channel {}", rings.place, c),
                     fmt::format("no link leads from {} to {}, the next of the ring",
                                 topology.nodes[tail].id, topology.nodes[head].id),
                     "give the topology that the graphs were made for");
      }
    }
  }
}

// GPUs of a box: of the topology, else of the first channel that has most.
std::optional<std::size_t> gpus_of_box(const std::vector<Graph>& graphs, const Topology* topology,
                                       Findings& findings) {
  if (topology != nullptr) {
    const BoxMembers members = members_of(*topology);
    for (const auto& box : members) {
      if (box.size() == members.front().size()) continue;
      findings.add(Rule::fabric, std::string(),
                   "the boxes of the topology have different numbers of GPUs, and a graph file is "
                   "one for all");
      return std::nullopt;
    }
    return members.front().size();
  }
  std::size_t most = 0;
  for (const Graph& graph : graphs) {
    for (const GraphChannel& channel : graph.channels) most = std::max(most, channel.gpus.size());
  }
  return most;
}

}  // namespace

bool looks_like_graph(std::string_view text) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<graphs")) return true;
    const std::string_view end = rest.starts_with("<!--") ? "-->"
                                 : rest.starts_with("<?") ? "?>"
                                                          : "";
    if (end.empty()) return false;
    at = text.find(end, at);
    if (at == std::string_view::npos) return false;
  }
  return false;
}

void check_graph(std::string_view text, const Topology* topology, Findings& findings,
                 Verdict& verdict) {
  verdict.format = "nccl-graph";
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    findings.add(Rule::unreadable, std::string(), fmt::format("not XML: {}", parsed.description()));
    return;
  }
  GraphReader reader(findings);
  const std::vector<Graph> graphs = reader.read(document.child("graphs"));
  const auto gpus = gpus_of_box(graphs, topology, findings);
  if (!gpus) return;
  std::vector<std::string> names;
  for (const Graph& graph : graphs) {
    check_channels(graph, *gpus, findings);
    names.push_back(fmt::format("{} in {} channel{}",
                                kGraphNames[static_cast<std::size_t>(graph.id)],
                                graph.channels.size(), graph.channels.size() == 1 ? "" : "s"));
    verdict.channels = std::max(verdict.channels, static_cast<std::int32_t>(graph.channels.size()));
  }
  verdict.chunks = static_cast<std::int64_t>(graphs.size());
  verdict.outcome = fmt::format("{} over {} GPUs of a box", fmt::join(names, ", "), *gpus);
  if (reader.has_decimals()) {
    verdict.outcome += "; newer releases of NCCL read devices from 10 on as hexadecimal";
  }
  if (topology == nullptr || findings.count() > 0) return;
  for (const Graph& graph : graphs) {
    if (graph.id == 0) check_steps(graph, *topology, findings);
  }
}

}  // namespace forestcoll::audit
