// The edge lists of ns-3 and SimAI: a line of counts, a line with the numbers of the switches, and
// a line for each link.
#include <fmt/format.h>

#include "base/words.hpp"
#include "topology/format/units.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {
namespace {

using topology::Quantity;

// "400Gbps"
std::optional<Ratio> parse_rate(std::string_view text) {
  if (!text.ends_with("bps")) return std::nullopt;
  return topology::parse_quantity(Quantity::bandwidth, text, Ratio(1));
}

// An edge list. Its first line counts: nodes, (GPUs a server, NVSwitches,) switches, links, (GPU).
class EdgeList {
 public:
  explicit EdgeList(const Context& context) : context_(context) {
    for (const TextLine& line : lines_of(context.text)) {
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
  void fail(Code code, std::size_t offset, std::string message) {
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
      fail(Code::I01, 0, "expected a first line that counts nodes, switches and links");
      return false;
    }
    // The line of no switches is empty, and such lines have been passed over.
    if (switches_ == 0) lines_.insert(lines_.begin() + 1, {.text = "", .offset = lines_[0].offset});
    const auto found = static_cast<std::int64_t>(lines_.size()) - 2;
    if (links_ != found) {
      fail(Code::I02, lines_.back().offset,
           fmt::format("the first line promises {} links, and there are {}", links_, found));
      return false;
    }
    // A fabric is connected.
    if (nodes_ > links_ + 1 || switches_ > nodes_) {
      fail(Code::I02, 0,
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
        fail(Code::I03, lines_[1].offset, fmt::format("a switch is called {}", quote(word)));
        return false;
      }
      is_switch_[*id] = true;
      is_nvswitch_[*id] = read++ < nvswitches_;
    }
    if (read == switches_) return true;
    fail(Code::I02, lines_.size() < 2 ? 0 : lines_[1].offset,
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
  void read_link(const TextLine& line) {
    const auto words = words_of(line.text);
    const auto malformed = [&] {
      fail(Code::I02, line.offset,
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
  std::vector<TextLine> lines_;
  std::int64_t nodes_ = 0, per_server_ = 0, nvswitches_ = 0, switches_ = 0, links_ = 0;
  std::vector<bool> is_switch_, is_nvswitch_;
  Graph graph_;
  bool failed_ = false;
};

}  // namespace

std::optional<Graph> read_simai(const Context& context) {
  return EdgeList(context).read();
}

}  // namespace forestcoll::importing
