// ASTRA-sim's analytical network: a YAML file with a shape, a size and a bandwidth per dimension.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <exception>
#include <set>

#include "base/words.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {
namespace {

constexpr std::size_t kMaxYamlBytes = 1 << 20;
constexpr const char* kMendYaml = "Correct the file there: a list of plain values for each key.";
constexpr std::int64_t kMaxSimulatedLinks = 500'000;

// One dimension of ASTRA-sim's network.
struct Dimension {
  std::string shape;
  std::int64_t count = 0;
  Ratio bandwidth;               // GB/s of a link
  std::optional<Ratio> latency;  // µs
};

class AstraSim {
 public:
  explicit AstraSim(const Context& context) : context_(context) {}

  std::optional<Graph> read(const YAML::Node& root) {
    if (!root.IsMap() || !root["topology"] || !root["npus_count"] || !root["bandwidth"]) {
      fail(Code::I01, YAML::Mark::null_mark(), "expected topology, npus_count and bandwidth",
           "Give the network file of the analytical backend.");
      return std::nullopt;
    }
    if (!check_keys(root)) return std::nullopt;
    const auto shapes = list(root, "topology"), counts = list(root, "npus_count");
    const auto bandwidths = list(root, "bandwidth");
    const auto latencies = root["latency"] ? list(root, "latency") : std::vector<std::string>();
    if (failed_) return std::nullopt;
    const bool no_latency = !root["latency"];
    if (shapes.size() != counts.size() || shapes.size() != bandwidths.size() ||
        (!no_latency && shapes.size() != latencies.size())) {
      fail(Code::I02, root.Mark(),
           fmt::format("{} shapes, {} counts, {} bandwidths and {} latencies", shapes.size(),
                       counts.size(), bandwidths.size(), latencies.size()),
           "Give every dimension one of each.");
      return std::nullopt;
    }
    for (std::size_t d = 0; d < shapes.size(); ++d) {
      add_dimension(root, shapes[d], counts[d], bandwidths[d],
                    no_latency ? std::nullopt : std::optional(latencies[d]));
    }
    if (failed_ || !check_size(root)) return std::nullopt;
    return make_graph();
  }

 private:
  void fail(Code code, const YAML::Mark& mark, std::string message, std::string remedy) {
    const std::string where =
        mark.is_null() ? "" : fmt::format("{}:{}", mark.line + 1, mark.column + 1);
    context_.findings.error(code, where, std::move(message), std::move(remedy));
    failed_ = true;
  }

  // YAML allows no key twice, and its reader takes the first.
  bool check_keys(const YAML::Node& root) {
    std::set<std::string> met;
    for (const auto& entry : root) {
      if (!entry.first.IsScalar() || met.insert(entry.first.Scalar()).second) continue;
      fail(Code::I02, entry.first.Mark(),
           fmt::format("the key {} stands twice", quote(entry.first.Scalar())),
           "Leave one of them out.");
    }
    return !failed_;
  }

  std::vector<std::string> list(const YAML::Node& root, const std::string& key) {
    const YAML::Node node = root[key];
    std::vector<std::string> values;
    if (node.IsScalar()) return {node.Scalar()};
    if (!node.IsSequence()) {
      fail(Code::I02, node.Mark(), fmt::format("{}: expected a list", key),
           "Write a value for each dimension: [a, b].");
      return values;
    }
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) {
        fail(Code::I02, item.Mark(), fmt::format("{}: expected a list of plain values", key),
             "Write a value for each dimension: [a, b].");
        return values;
      }
      values.push_back(item.Scalar());
    }
    return values;
  }

  void add_dimension(const YAML::Node& root, const std::string& shape, const std::string& count,
                     const std::string& bandwidth, const std::optional<std::string>& latency) {
    constexpr std::array<std::string_view, 3> kKnown = {"Ring", "Switch", "FullyConnected"};
    if (std::ranges::find(kKnown, shape) == kKnown.end()) {
      return fail(Code::I03, root["topology"].Mark(),
                  fmt::format("expected Ring, Switch or FullyConnected, found {}", quote(shape)),
                  "Other shapes of dimensions are not read.");
    }
    const auto number = natural(count);
    const auto rate = parse_ratio(bandwidth);
    const auto delay = latency ? parse_ratio(*latency) : std::nullopt;
    const auto micros = delay ? checked_mul(*delay, Ratio(1, 1000)) : std::nullopt;
    if (!number || *number < 1 || *number > static_cast<std::int64_t>(kMaxParts)) {
      return fail(Code::I03, root["npus_count"].Mark(),
                  fmt::format("npus_count: found {}", quote(count)), "Give a number from 1 on.");
    }
    if (!rate || *rate <= Ratio(0)) {
      return fail(Code::I03, root["bandwidth"].Mark(),
                  fmt::format("bandwidth: expected GB/s, found {}", quote(bandwidth)),
                  "Give a positive number for each dimension.");
    }
    if (latency && (!micros || *micros < Ratio(0))) {
      return fail(Code::I03, root["latency"].Mark(),
                  fmt::format("latency: expected ns, found {}", quote(*latency)),
                  "Give a number from 0 on for each dimension.");
    }
    dimensions_.push_back(
        {.shape = shape, .count = *number, .bandwidth = *rate, .latency = micros});
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
    fail(Code::I09, root.Mark(), "the network has too many NPUs or links",
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

}  // namespace

std::optional<Graph> read_astra_sim(const Context& context) {
  if (context.text.size() > kMaxYamlBytes) {
    context.findings.error(Code::I09, "", "the file is larger than any description of dimensions",
                           "Give the network file of the analytical backend.");
    return std::nullopt;
  }
  try {
    const YAML::Node root = YAML::Load(std::string(context.text));
    return AstraSim(context).read(root);
  } catch (const YAML::Exception& error) {
    const std::string where =
        error.mark.is_null() ? ""
                             : fmt::format("{}:{}", error.mark.line + 1, error.mark.column + 1);
    context.findings.error(Code::I02, where, fmt::format("not YAML: {}", error.msg), kMendYaml);
  } catch (const std::exception& error) {
    context.findings.error(Code::I02, "", fmt::format("not YAML: {}", error.what()), kMendYaml);
  }
  return std::nullopt;
}

}  // namespace forestcoll::importing
