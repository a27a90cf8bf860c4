// Networks of simulators: ASTRA-sim's analytical YAML, and the edge lists of ns-3 and SimAI.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <exception>
#include <set>

#include "topology/import/readers.hpp"
#include "topology/import/words.hpp"
#include "topology/units.hpp"

namespace forestcoll::importing {
namespace {

using topology::Quantity;

constexpr std::size_t kMaxYamlBytes = 1 << 20;
constexpr std::int64_t kMaxSimulatedLinks = 500'000;

// One dimension of ASTRA-sim's network.
struct Dimension {
  std::string shape;
  std::int64_t count = 0;
  Ratio bandwidth;  // GB/s of a link
  Ratio latency;    // µs
};

class AstraSim {
 public:
  explicit AstraSim(const Context& context) : context_(context) {}

  std::optional<Graph> read(const YAML::Node& root) {
    if (!root.IsMap() || !root["topology"] || !root["npus_count"] || !root["bandwidth"]) {
      fail("I01", YAML::Mark::null_mark(), "expected topology, npus_count and bandwidth", "");
      return std::nullopt;
    }
    const auto shapes = list(root, "topology"), counts = list(root, "npus_count");
    const auto bandwidths = list(root, "bandwidth");
    const auto latencies = root["latency"] ? list(root, "latency") : std::vector<std::string>();
    if (failed_) return std::nullopt;
    const bool no_latency = !root["latency"];
    if (shapes.size() != counts.size() || shapes.size() != bandwidths.size() ||
        (!no_latency && shapes.size() != latencies.size())) {
      fail("I02", root.Mark(),
           fmt::format("{} shapes, {} counts, {} bandwidths and {} latencies", shapes.size(),
                       counts.size(), bandwidths.size(), latencies.size()),
           "Give every dimension one of each.");
      return std::nullopt;
    }
    for (std::size_t d = 0; d < shapes.size(); ++d) {
      add_dimension(root, shapes[d], counts[d], bandwidths[d], no_latency ? "0" : latencies[d]);
    }
    if (failed_ || !check_size(root)) return std::nullopt;
    return make_graph();
  }

 private:
  void fail(std::string_view code, const YAML::Mark& mark, std::string message,
            std::string remedy) {
    const std::string where =
        mark.is_null() ? "" : fmt::format("{}:{}", mark.line + 1, mark.column + 1);
    context_.findings.error(code, where, std::move(message), std::move(remedy));
    failed_ = true;
  }

  std::vector<std::string> list(const YAML::Node& root, const std::string& key) {
    const YAML::Node node = root[key];
    std::vector<std::string> values;
    if (node.IsScalar()) return {node.Scalar()};
    if (!node.IsSequence()) {
      fail("I02", node.Mark(), fmt::format("{}: expected a list", key), "");
      return values;
    }
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) {
        fail("I02", item.Mark(), fmt::format("{}: expected a list of plain values", key), "");
        return values;
      }
      values.push_back(item.Scalar());
    }
    return values;
  }

  void add_dimension(const YAML::Node& root, const std::string& shape, const std::string& count,
                     const std::string& bandwidth, const std::string& latency) {
    constexpr std::array<std::string_view, 3> known = {"Ring", "Switch", "FullyConnected"};
    if (std::ranges::find(known, shape) == known.end()) {
      return fail("I03", root["topology"].Mark(),
                  fmt::format("expected Ring, Switch or FullyConnected, found {}", quote(shape)),
                  "");
    }
    const auto number = natural(count);
    const auto rate = parse_ratio(bandwidth);
    const auto delay = parse_ratio(latency);
    const auto micros = delay ? checked_mul(*delay, Ratio(1, 1000)) : std::nullopt;
    if (!number || *number < 1 || *number > static_cast<std::int64_t>(kMaxParts)) {
      return fail("I03", root["npus_count"].Mark(),
                  fmt::format("npus_count: found {}", quote(count)), "Give a number from 1 on.");
    }
    if (!rate || *rate <= Ratio(0)) {
      return fail("I03", root["bandwidth"].Mark(),
                  fmt::format("bandwidth: expected GB/s, found {}", quote(bandwidth)), "");
    }
    if (!micros || *micros < Ratio(0)) {
      return fail("I03", root["latency"].Mark(),
                  fmt::format("latency: expected ns, found {}", quote(latency)), "");
    }
    dimensions_.push_back(
        {.shape = shape, .count = *number, .bandwidth = *rate, .latency = *micros});
  }

  bool check_size(const YAML::Node& root) {
    std::int64_t npus = 1;
    for (const Dimension& dimension : dimensions_) {
      npus *= dimension.count;
      if (npus > static_cast<std::int64_t>(kMaxParts)) break;
    }
    std::int64_t links = 0;
    for (const Dimension& dimension : dimensions_) {
      links += npus * (dimension.shape == "FullyConnected" ? dimension.count : 1);
    }
    if (npus <= static_cast<std::int64_t>(kMaxParts) && links <= kMaxSimulatedLinks) return true;
    fail("I09", root.Mark(), "the network has too many NPUs or links",
         fmt::format("At most {} and {} are read.", kMaxParts, kMaxSimulatedLinks));
    return false;
  }

  // NPUs are numbered with the first dimension running fastest.
  std::optional<Graph> make_graph() {
    std::int64_t npus = 1;
    for (const Dimension& dimension : dimensions_) npus *= dimension.count;
    for (std::int64_t i = 0; i < npus; ++i) graph_.nodes.push_back({.id = npu(i)});
    std::int64_t stride = 1, switches = 0;
    for (const Dimension& dimension : dimensions_) {
      for (std::int64_t i = 0; i < npus; ++i) {
        if (i / stride % dimension.count != 0) continue;
        add_line(dimension, i, stride, switches);
      }
      stride *= dimension.count;
    }
    return std::move(graph_);
  }

  // The NPUs that differ from `first` in one dimension.
  void add_line(const Dimension& dimension, std::int64_t first, std::int64_t stride,
                std::int64_t& switches) {
    const std::int64_t n = dimension.count;
    if (n == 1) return;
    if (dimension.shape == "Switch") {
      const std::string hub = fmt::format("switch{}", switches++);
      graph_.nodes.push_back({.id = hub, .type = NodeType::switch_node});
      for (std::int64_t i = 0; i < n; ++i) add(dimension, npu(first + i * stride), hub);
    } else if (dimension.shape == "Ring") {
      // A ring of two is one link.
      for (std::int64_t i = 0; i < (n == 2 ? 1 : n); ++i) {
        add(dimension, npu(first + i * stride), npu(first + (i + 1) % n * stride));
      }
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = i + 1; j < n; ++j) {
          add(dimension, npu(first + i * stride), npu(first + j * stride));
        }
      }
    }
  }

  static std::string npu(std::int64_t number) { return fmt::format("npu{}", number); }

  void add(const Dimension& dimension, std::string src, std::string dst) {
    graph_.links.push_back({.link = {.src = std::move(src),
                                     .dst = std::move(dst),
                                     .bandwidth = dimension.bandwidth,
                                     .latency = dimension.latency}});
  }

  const Context& context_;
  std::vector<Dimension> dimensions_;
  Graph graph_;
  bool failed_ = false;
};

// "400Gbps"
std::optional<Ratio> parse_rate(std::string_view text) {
  if (!text.ends_with("bps")) return std::nullopt;
  std::string with_slash(text.substr(0, text.size() - 2));  // "400Gb"
  return topology::parse_quantity(Quantity::bandwidth, with_slash + "/s", Ratio(1));
}

// An edge list. Its first line counts: nodes, (GPUs a server, NVSwitches,) switches, links, (GPU).
class EdgeList {
 public:
  explicit EdgeList(const Context& context) : context_(context) {
    for (const Line& line : lines_of(context.text)) {
      if (!words_of(line.text).empty()) lines_.push_back(line);
    }
  }

  std::optional<Graph> read() {
    if (!read_counts() || !read_switches()) return std::nullopt;
    name_nodes();
    for (std::size_t i = 2; i < lines_.size(); ++i) read_link(lines_[i]);
    if (failed_) return std::nullopt;
    return std::move(graph_);
  }

 private:
  void fail(std::string_view code, std::size_t offset, std::string message) {
    context_.findings.error(code, context_.place(offset), std::move(message),
                            "Is the file cut off?");
    failed_ = true;
  }

  bool read_counts() {
    std::vector<std::int64_t> counts;
    const auto words = lines_.empty() ? std::vector<std::string_view>{} : words_of(lines_[0].text);
    for (const std::string_view word : words) {
      const auto count = natural(word);
      if (!count) break;
      counts.push_back(*count);
    }
    if (counts.size() == 3) {
      nodes_ = counts[0];
      switches_ = counts[1];
      links_ = counts[2];
    } else if (counts.size() == 5) {
      nodes_ = counts[0];
      per_server_ = counts[1];
      nvswitches_ = counts[2];
      switches_ = counts[2] + counts[3];
      links_ = counts[4];
    } else {
      fail("I01", 0, "expected a first line that counts nodes, switches and links");
      return false;
    }
    const auto found = static_cast<std::int64_t>(lines_.size()) - 2;
    if (links_ != found) {
      fail("I02", lines_.back().offset,
           fmt::format("the first line promises {} links, and there are {}", links_, found));
      return false;
    }
    // A fabric is connected.
    if (nodes_ > links_ + 1 || switches_ > nodes_) {
      fail("I02", 0,
           fmt::format("{} nodes, {} of them switches, and {} links", nodes_, switches_, links_));
      return false;
    }
    return true;
  }

  bool read_switches() {
    const auto words =
        lines_.size() < 2 ? std::vector<std::string_view>{} : words_of(lines_[1].text);
    is_switch_.resize(static_cast<std::size_t>(nodes_));
    is_nvswitch_.resize(static_cast<std::size_t>(nodes_));
    std::int64_t read = 0;
    for (const std::string_view word : words) {
      const auto id = node(word);
      if (!id || is_switch_[*id]) {
        fail("I03", lines_[1].offset, fmt::format("a switch is called {}", quote(word)));
        return false;
      }
      is_switch_[*id] = true;
      is_nvswitch_[*id] = read++ < nvswitches_;
    }
    if (read == switches_) return true;
    fail("I02", lines_.size() < 2 ? 0 : lines_[1].offset,
         fmt::format("expected the numbers of {} switches, found {}", switches_, read));
    return false;
  }

  [[nodiscard]] std::optional<std::size_t> node(std::string_view word) const {
    const auto id = natural(word);
    if (!id || *id >= nodes_) return std::nullopt;
    return static_cast<std::size_t>(*id);
  }

  void name_nodes() {
    std::int64_t gpus = 0;
    for (std::size_t id = 0; id < is_switch_.size(); ++id) {
      if (is_switch_[id]) {
        const std::string name = fmt::format("{}{}", is_nvswitch_[id] ? "nvsw" : "switch", id);
        graph_.nodes.push_back({.id = name, .type = NodeType::switch_node});
        continue;
      }
      const std::string box = per_server_ > 0 ? fmt::format("server{}", gpus / per_server_) : "";
      graph_.nodes.push_back({.id = fmt::format("gpu{}", id), .box = box});
      ++gpus;
    }
  }

  // src dst rate latency error-rate
  void read_link(const Line& line) {
    const auto words = words_of(line.text);
    const auto malformed = [&] {
      fail("I02", line.offset,
           fmt::format("expected a link such as \"0 16 400Gbps 0.0005ms 0\", found {}",
                       quote(line.text)));
    };
    if (words.size() < 4) return malformed();
    const auto src = node(words[0]), dst = node(words[1]);
    const auto rate = parse_rate(words[2]);
    const auto delay = topology::parse_quantity(Quantity::latency, words[3], Ratio(1));
    if (!src || !dst || !rate || *rate <= Ratio(0) || !delay || *delay < Ratio(0)) {
      return malformed();
    }
    const bool nvlink = is_nvswitch_[*src] || is_nvswitch_[*dst];
    graph_.links.push_back({.link = {.src = graph_.nodes[*src].id,
                                     .dst = graph_.nodes[*dst].id,
                                     .bandwidth = *rate,
                                     .kind = nvlink ? "nvlink" : "net",
                                     .latency = *delay}});
  }

  const Context& context_;
  std::vector<Line> lines_;
  std::int64_t nodes_ = 0, per_server_ = 0, nvswitches_ = 0, switches_ = 0, links_ = 0;
  std::vector<bool> is_switch_, is_nvswitch_;
  Graph graph_;
  bool failed_ = false;
};

}  // namespace

std::optional<Graph> read_astra_sim(const Context& context) {
  if (context.text.size() > kMaxYamlBytes) {
    context.findings.error("I09", "", "the file is larger than any description of dimensions", "");
    return std::nullopt;
  }
  try {
    const YAML::Node root = YAML::Load(std::string(context.text));
    return AstraSim(context).read(root);
  } catch (const YAML::Exception& error) {
    const std::string where =
        error.mark.is_null() ? ""
                             : fmt::format("{}:{}", error.mark.line + 1, error.mark.column + 1);
    context.findings.error("I02", where, fmt::format("not YAML: {}", error.msg), "");
  } catch (const std::exception& error) {
    context.findings.error("I02", "", fmt::format("not YAML: {}", error.what()), "");
  }
  return std::nullopt;
}

std::optional<Graph> read_simai(const Context& context) {
  return EdgeList(context).read();
}

}  // namespace forestcoll::importing
